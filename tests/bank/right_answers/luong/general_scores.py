"""Right answers to part A: each earns every point."""

import torch


def by_projected_queries(query, key, weight):
    return (query @ weight) @ key.transpose(-2, -1)


def by_projected_keys(query, key, weight):
    return query @ torch.nn.functional.linear(key, weight).mT


def by_einsum(query, key, weight):
    return torch.einsum("...qd,de,...ke->...qk", query, weight, key)


def by_bilinear(query, key, weight):
    pairs = (*query.shape[:-1], key.shape[-2])
    every_query = query.unsqueeze(-2).expand(*pairs, -1).contiguous()
    every_key = key.unsqueeze(-3).expand(*pairs, -1).contiguous()
    return torch.nn.functional.bilinear(every_query, every_key, weight.unsqueeze(0)).squeeze(-1)


def by_sums(query, key, weight):
    met = (query.unsqueeze(-1) * weight).sum(-2)
    return (met.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)


def by_loops(query, key, weight):
    if query.ndim > 2:
        return torch.stack([by_loops(q, k, weight) for q, k in zip(query, key, strict=True)])
    return torch.stack([torch.stack([q @ weight @ k for k in key]) for q in query])
