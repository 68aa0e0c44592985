"""Right answers to part F: each earns every point."""

import torch


def by_squares(query, key, exponent):
    scores = (query * query.shape[-1] ** exponent) @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return (scores**2).mean(), (1 - weights.square().sum(-1)).mean()


def by_numbers(query, key, exponent):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** exponent
    weights = scores.softmax(-1)
    rows = weights.numel() / weights.shape[-1]
    return scores.pow(2).sum().item() / scores.numel(), float((weights - weights**2).sum() / rows)


def by_jacobians(query, key, exponent):
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    slack = torch.einsum("...ii->...", jacobian)
    return torch.mean(scores * scores), torch.mean(slack)


def by_rows(query, key, exponent):
    factor, d_key = query.shape[-1] ** exponent, query.shape[-1]
    sizes, slacks = [], []
    tables = query.reshape(-1, *query.shape[-2:]), key.reshape(-1, key.shape[-2], d_key)
    for queries, keys in zip(*tables, strict=True):
        for one in queries:
            row = keys @ one * factor
            weights = torch.softmax(row, 0)
            sizes.append(row @ row / len(row))
            slacks.append(1 - weights @ weights)
    return torch.stack(sizes).mean(), torch.stack(slacks).mean()
