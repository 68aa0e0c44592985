"""Right answers to part D: each earns every point."""

import math

import torch


def by_sort(query, key, value, k):
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    squared_width = squared.sort(dim=-1).values[..., k - 1 : k]
    tiny = torch.finfo(squared.dtype).tiny
    return torch.softmax(-squared / (2 * squared_width).clamp_min(tiny), -1) @ value


def by_kthvalue_and_mask(query, key, value, k):
    squared = (query[..., :, None, :] - key[..., None, :, :]).pow(2).sum(-1)
    squared_width = squared.kthvalue(k, dim=-1, keepdim=True).values
    degenerate = squared_width == 0
    scores = -squared / squared_width.masked_fill(degenerate, 1) / 2
    scores = scores.masked_fill(degenerate & (squared > 0), -math.inf)
    return torch.softmax(scores, -1) @ value


def by_topk_and_distances(query, key, value, k):
    distance = torch.cdist(query, key)
    width = distance.topk(k, dim=-1, largest=False).values.amax(-1, keepdim=True)
    in_widths = distance / width.where(width > 0, 1)
    kernel = torch.where(width > 0, torch.exp(-(in_widths**2) / 2), (distance == 0).to(key.dtype))
    return kernel @ value / kernel.sum(-1, keepdim=True)


def by_index_of_the_k_th_key(query, key, value, k):
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    nearest = squared.detach().argsort(-1)[..., k - 1 : k]
    squared_width = squared.gather(-1, nearest)
    scores = torch.nan_to_num(-squared / squared_width, nan=0.0, neginf=-math.inf) / 2
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    return torch.einsum("...qk,...kv->...qv", weights, value)


def by_loops(query, key, value, k):
    if query.ndim > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([by_loops(*part, k) for part in parts])
    rows = []
    for one in query:
        squared = (one - key).square().sum(1)
        squared_width = torch.sort(squared).values[k - 1]
        if squared_width == 0:
            rows.append(value[squared == 0].mean(0))
            continue
        kernel = torch.exp(-squared / (2 * squared_width))
        rows.append(kernel @ value / kernel.sum())
    return torch.stack(rows)
