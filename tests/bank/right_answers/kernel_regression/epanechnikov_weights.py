"""Right answers to part B: each earns every point."""

import math

import torch


def by_a_harmless_denominator(query, key, width):
    squared = (query[..., :, None, :] - key[..., None, :, :]).pow(2).sum(-1) / width**2
    kernel = torch.relu(1 - squared)
    total = kernel.sum(dim=-1, keepdim=True)
    return kernel / torch.where(total == 0, torch.ones_like(total), total)


def by_the_density(query, key, width):
    distance = torch.cdist(query, key) / width
    kernel = 0.75 * torch.where(distance < 1, 1 - distance**2, 0)
    return kernel / kernel.sum(-1, keepdim=True).clamp_min(torch.finfo(kernel.dtype).tiny)


def by_l1_normalise(query, key, width):
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    kernel = (1 - difference.square().sum(-1)).relu()
    return torch.nn.functional.normalize(kernel, p=1, dim=-1, eps=1e-12)


def by_masked_softmax(query, key, width):
    number = 1 - (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / width**2
    inside = number > 0
    scores = number.where(inside, 1).log().masked_fill(~inside, -math.inf)
    nobody = ~inside.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(nobody, 0), -1).masked_fill(nobody, 0)


def by_the_squared_window(query, key, width):
    squared = torch.linalg.vector_norm(query.unsqueeze(-2) - key.unsqueeze(-3), dim=-1) ** 2
    room = (width**2 - squared) * (squared < width**2)
    total = torch.einsum("...k->...", room).unsqueeze(-1)
    return room / (total + (total == 0))


def by_loops(query, key, width):
    if query.ndim > 2:
        return torch.stack([by_loops(q, k, width) for q, k in zip(query, key, strict=True)])
    rows = []
    for one in query:
        kernel = (1 - ((one - key) / width).square().sum(1)).relu()
        rows.append(kernel / kernel.sum() if kernel.sum() > 0 else torch.zeros_like(kernel))
    return torch.stack(rows)
