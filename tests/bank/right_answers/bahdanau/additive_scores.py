"""Right answers to part A: each earns every point."""

import torch


def by_unsqueeze(query, key, w_query, w_key, score_weight):
    for_query = torch.nn.functional.linear(query, w_query).unsqueeze(2)
    for_key = torch.nn.functional.linear(key, w_key).unsqueeze(1)
    return torch.matmul(torch.tanh(for_query + for_key), score_weight)


def by_none(query, key, w_query, w_key, score_weight):
    hidden = (query @ w_query.T)[:, :, None, :] + (key @ w_key.T)[:, None, :, :]
    return (hidden.tanh() * score_weight).sum(dim=-1)


def by_einsum(query, key, w_query, w_key, score_weight):
    for_query = torch.einsum("bqd,sd->bqs", query, w_query)
    for_key = torch.einsum("bkd,sd->bks", key, w_key)
    hidden = torch.tanh(for_query.unsqueeze(2) + for_key.unsqueeze(1))
    return torch.einsum("bqks,s->bqk", hidden, score_weight)


def by_hidden_units_in_front(query, key, w_query, w_key, score_weight):
    for_query = w_query @ query.mT
    for_key = w_key @ key.mT
    hidden = torch.tanh(for_query.unsqueeze(-1) + for_key.unsqueeze(-2))
    return torch.tensordot(hidden, score_weight, dims=([1], [0]))


def by_exponentials(query, key, w_query, w_key, score_weight):
    hidden = (query @ w_query.mT).unsqueeze(-2) + (key @ w_key.mT).unsqueeze(-3)
    return (2 * torch.sigmoid(2 * hidden) - 1) @ score_weight


def by_double_precision_inside(query, key, w_query, w_key, score_weight):
    wide = (each.double() for each in (query, key, w_query, w_key, score_weight))
    return by_unsqueeze(*wide).to(query.dtype)
