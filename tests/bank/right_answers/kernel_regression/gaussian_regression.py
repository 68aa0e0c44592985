"""Right answers to part A: each earns every point."""

import math

import torch


def by_softmax(query, key, value, width):
    difference = (query[..., :, None, :] - key[..., None, :, :]) / width
    return torch.softmax(-0.5 * difference.square().sum(-1), dim=-1) @ value


def by_hand(query, key, value, width):
    scores = -torch.sum((query.unsqueeze(-2) - key.unsqueeze(-3)) ** 2, -1) / (2 * width**2)
    kernel = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return torch.matmul(kernel, value) / kernel.sum(-1, keepdim=True)


def by_logsumexp(query, key, value, width):
    how = "donot_use_mm_for_euclid_dist"  # which would lose digits from 26 keys on
    scores = -torch.cdist(query, key, compute_mode=how).div(width).pow(2).div(2)
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...qk,...kv->...qv", weights, value)


def by_nearest_key_as_unit(query, key, value, width):
    squared = torch.linalg.vector_norm(query.unsqueeze(-2) - key.unsqueeze(-3), dim=-1) ** 2
    nearest = squared.amin(-1, keepdim=True)
    kernel = torch.exp((nearest - squared) / 2 / width / width)
    weights = kernel / kernel.sum(-1, keepdim=True)
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)


def by_loops(query, key, value, width):
    if query.ndim > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([by_loops(*part, width) for part in parts])
    rows = []
    for one in query:
        scores = -((one - key) ** 2).sum(1) / 2 / width**2
        weights = (scores - scores.max()).exp()
        rows.append(sum(w * v for w, v in zip(weights, value, strict=True)) / weights.sum())
    return torch.stack(rows)


def by_double_precision_inside(query, key, value, width):
    wide = [t.double() for t in (query, key, value)]
    wide_width = width.double() if isinstance(width, torch.Tensor) else width
    return by_softmax(*wide, wide_width).to(query.dtype)


def by_own_tensors_in_place(query, key, value, width):
    scores = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    scores = scores / width**2
    scores *= -1 / 2
    scores -= scores.detach().amax(-1, keepdim=True)
    return scores.exp() @ value / scores.exp().sum(-1, keepdim=True)


def by_centred_keys(query, key, value, width):
    centre = key.mean(dim=-2, keepdim=True).round()
    scale = 1 / (math.sqrt(2) * width)
    query, key = (query - centre) * scale, (key - centre) * scale
    return torch.softmax(-(query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1), -1) @ value
