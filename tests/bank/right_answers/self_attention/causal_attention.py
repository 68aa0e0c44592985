"""Right answers to part B: each earns every point."""

import math

import torch


def by_tril(query, key, value, real):
    length = query.shape[-2]
    seen = torch.ones(length, length, dtype=torch.bool, device=query.device).tril()
    seen = seen & real[..., None, :]
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return torch.where(seen, weights, 0) @ value


def by_adding_minus_infinity(query, key, value, real):
    length, empty = query.shape[-2], ~(real.cumsum(-1) > 0)
    wall = torch.full((length, length), -torch.inf, dtype=query.dtype, device=query.device)
    wall = (
        wall.triu(1) + torch.zeros_like(query[..., 0]).masked_fill(~real, -torch.inf)[..., None, :]
    )
    wall = wall.masked_fill(empty[..., None], 0)
    scores = torch.einsum("...ik,...jk->...ij", query, key) * key.shape[-1] ** -0.5
    return (torch.softmax(scores + wall, -1) @ value).masked_fill(empty[..., None], 0)


def by_prefixes(query, key, value, real):
    rows = []
    for place in range(query.shape[-2]):
        upto = slice(place + 1)
        asked = query[..., place : place + 1, :] / math.sqrt(query.shape[-1])
        scores = (asked @ key[..., upto, :].mT).squeeze(-2)
        allowed = real[..., upto]
        weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), -1)
        weights = weights.masked_fill(~allowed, 0)
        rows.append((weights.unsqueeze(-2) @ value[..., upto, :]).squeeze(-2))
    return torch.stack(rows, -2)


def by_powers(query, key, value, real):
    place = torch.arange(query.shape[-2], device=query.device)
    seen = (place[:, None] >= place) & real.unsqueeze(-2)
    scores = query @ key.mT / key.shape[-1] ** 0.5
    # the largest score that is seen comes off, so that no power is more than 1
    largest = scores.masked_fill(~seen, -torch.inf).amax(-1, keepdim=True).detach()
    largest = largest.masked_fill(largest.isinf(), 0)
    powers = (scores - largest).masked_fill(~seen, -torch.inf).exp()
    return powers @ value / powers.sum(-1, keepdim=True).clamp_min(1e-30)
