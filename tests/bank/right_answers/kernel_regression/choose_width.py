"""Right answers to part E: each earns every point."""

import math

import torch

from attn_course import kernel_regression


def by_the_package(key, value, widths):
    errors = {}
    for width in widths:
        estimate = kernel_regression.leave_one_out(key, value, width)
        errors[width] = torch.mean((estimate - value) ** 2).item()
    width = min(errors, key=errors.get)
    return width, 1 - errors[width] / value.var(correction=0).item()


def by_argmin_over_a_stack(key, value, widths):
    squared = torch.cdist(key, key, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    scores = -squared / (2 * key.new_tensor(widths).reshape(-1, 1, 1) ** 2)
    scores = scores.masked_fill(torch.eye(len(key), dtype=torch.bool, device=key.device), -math.inf)
    error = (torch.softmax(scores, -1) @ value - value).square().mean((1, 2))
    best = int(error.argmin())
    return widths[best], 1 - error[best] / ((value - value.mean()) ** 2).mean()


def by_sorted_pairs(key, value, widths):
    pairs = sorted((_error(key, value, width), width) for width in widths)
    error, width = pairs[0]
    total = (value - value.mean()).square().sum().item()
    return (width, (total - error) / total)


def by_double_precision(key, value, widths):
    width = min(sorted(widths), key=lambda w: _error(key.double(), value.double(), w))
    error = _error(key.double(), value.double(), width)
    spread = value.double().sub(value.double().mean()).square().sum().item()
    return [width, 1 - error / spread]


def by_deleting_each_in_turn(key, value, widths):
    best = None
    for width in widths:
        error = 0.0
        for i in range(len(key)):
            others = torch.arange(len(key), device=key.device) != i
            score = -((key[others] - key[i]) / width).square().sum(1) / 2
            error += (torch.softmax(score, 0) @ value[others, 0] - value[i, 0]).item() ** 2
        if best is None or error < best[1]:
            best = width, error
    mean = value.mean()
    return best[0], 1 - best[1] / sum((v - mean).item() ** 2 for v in value[:, 0])


def _error(key, value, width):
    apart = (key.unsqueeze(1) - key).square().sum(-1)
    scores = -apart / (2 * width**2)
    scores.fill_diagonal_(-math.inf)
    return (torch.softmax(scores, -1) @ value - value).square().sum().item()
