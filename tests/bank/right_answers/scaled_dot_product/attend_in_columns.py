"""Right answers to part E, second snippet: each earns every point."""

import math

import torch


def by_way_of_rows(query, key, value):
    query, key, value = (tensor.transpose(-2, -1) for tensor in (query, key, value))
    weights = torch.softmax(query @ key.mT / math.sqrt(key.shape[-1]), dim=-1)
    return (weights @ value).transpose(-2, -1)


def by_transposed_weights(query, key, value):
    scores = query.mT @ key / key.shape[-2] ** 0.5
    return value @ torch.softmax(scores, -1).mT


def by_einsum(query, key, value):
    scores = torch.einsum("...dk,...dq->...kq", key, query) * query.shape[-2] ** -0.5
    return torch.einsum("...vk,...kq->...vq", value, scores.softmax(-2))


def by_own_softmax(query, key, value):
    scores = key.mT @ (query / math.sqrt(query.size(-2)))
    raised = torch.exp(scores - scores.amax(-2, keepdim=True))
    return value @ raised / raised.sum(-2, keepdim=True)


def by_columns(query, key, value):
    columns = []
    for one in query.unbind(-1):
        scores = (key * one.unsqueeze(-1)).sum(-2) / math.sqrt(one.shape[-1])
        columns.append((value * torch.softmax(scores, -1).unsqueeze(-2)).sum(-1))
    return torch.stack(columns, -1)
