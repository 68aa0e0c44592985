"""Right answers to part C: each earns every point."""

import math

import torch


def by_two_fills(scores, share, mask, half_width):
    centre = mask.sum(-1, keepdim=True) * share
    distance = torch.arange(mask.shape[-1], device=mask.device) - centre[..., None]
    outside = ~(mask[..., None, :] & (distance.abs() <= half_width))
    nobody = outside.all(-1, keepdim=True)
    scores = scores.masked_fill(outside & ~nobody, -math.inf)
    weights = torch.softmax(scores, -1).masked_fill(outside, 0)
    return weights * torch.exp(-(distance**2) / (2 * (half_width / 2) ** 2))


def by_replacing_nan_at_once(scores, share, mask, half_width):
    length = mask.sum(-1).unsqueeze(-1)
    positions = torch.cumsum(torch.ones_like(scores), -1) - 1
    distance = positions - (length * share).unsqueeze(-1)
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = torch.softmax(scores.masked_fill(~seen, -math.inf), -1).nan_to_num(0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def by_a_large_number(scores, share, mask, half_width):
    length = mask.to(share.dtype).sum(-1, keepdim=True)
    position = torch.arange(mask.shape[-1], dtype=share.dtype, device=share.device)
    distance = position - (length * share).unsqueeze(-1)
    seen = torch.logical_and(mask.unsqueeze(-2), distance.abs().le(half_width))
    weights = torch.softmax(torch.where(seen, scores, -1e9), dim=-1) * seen
    return weights * torch.exp(-2 * distance.square() / half_width**2)


def by_own_softmax(scores, share, mask, half_width):
    centre = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    position = torch.arange(mask.shape[-1], device=mask.device)
    seen = (
        mask.unsqueeze(-2) & (position >= centre - half_width) & (position <= centre + half_width)
    )
    best = scores.detach().masked_fill(~seen, -1e30).amax(-1, keepdim=True)
    kernel = torch.exp((scores - best).masked_fill(~seen, 0)) * seen
    total = kernel.sum(-1, keepdim=True)
    sigma = half_width / 2
    bell = torch.exp(-0.5 * ((position - centre) / sigma) ** 2)
    return kernel / (total + (total == 0)) * bell


def by_loops(scores, share, mask, half_width):
    if scores.ndim > 2:
        parts = zip(scores, share, mask, strict=True)
        return torch.stack([by_loops(*part, half_width) for part in parts])
    length, rows = int(mask.sum()), []
    for row, one in zip(scores, share, strict=True):
        centre = length * one
        words = [s for s in range(length) if abs(s - centre) <= half_width]
        weights = torch.zeros_like(row)
        if words:
            place = torch.tensor(words, device=row.device)
            bell = torch.exp(-((place - centre) ** 2) / (half_width**2 / 2))
            weights = weights.index_put((place,), torch.softmax(row[place], 0) * bell)
        else:
            weights = weights + 0 * row * one
        rows.append(weights)
    return torch.stack(rows)
