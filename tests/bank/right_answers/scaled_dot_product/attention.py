"""Right answers to part A: each earns every point."""

import math

import torch


def by_scaled_keys(query, key, value):
    weights = torch.softmax(query @ (key / math.sqrt(key.shape[-1])).transpose(-2, -1), dim=-1)
    return weights @ value


def by_two_fourth_roots(query, key, value):
    root = query.shape[-1] ** 0.25
    return ((query / root) @ (key / root).mT).softmax(-1) @ value


def by_einsum(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query * query.shape[-1] ** -0.5, key)
    return torch.einsum("...qk,...kv->...qv", torch.softmax(scores, -1), value)


def by_own_softmax(query, key, value):
    scores = query.div(math.sqrt(query.size(-1))).matmul(key.mT)
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised @ value / raised.sum(-1, keepdim=True)


def by_loops(query, key, value):
    if query.ndim > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([by_loops(*part) for part in parts])
    root = math.sqrt(query.shape[-1])
    rows = [torch.softmax((key @ (one / root)), 0) @ value for one in query]
    return torch.stack(rows)


def by_mapping(query, key, value):
    """One query, made to serve all by vmap."""
    if query.ndim > 2:
        return torch.func.vmap(by_mapping)(query, key, value)
    root = math.sqrt(query.shape[-1])
    return torch.func.vmap(lambda one: torch.softmax(key @ (one / root), 0) @ value)(query)


def by_single_precision_inside(query, key, value):
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = query.to(wide) @ key.to(wide).mT / math.sqrt(query.shape[-1])
    return (torch.nn.functional.softmax(scores, dim=-1) @ value.to(wide)).to(value.dtype)


def by_writing_into_its_own(query, key, value):
    scores = query.clone()
    scores /= math.sqrt(query.shape[-1])
    scores = scores @ key.mT
    scores -= scores.detach().amax(-1, keepdim=True)
    scores.exp_()
    return scores @ value / scores.sum(-1, keepdim=True)
