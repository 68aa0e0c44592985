"""Right answers to part E, first snippet: each earns every point."""

import math

import torch


def by_scaled_queries(query, memory):
    weights = torch.softmax((query / math.sqrt(memory.shape[-1])) @ memory.mT, dim=-1)
    return weights @ memory


def by_the_last_of_the_axes(query, memory):
    scores = query.matmul(memory.transpose(-1, -2)).mul(query.shape[-1] ** -0.5)
    return torch.softmax(scores, scores.ndim - 1).matmul(memory)


def by_einsum(query, memory):
    scores = torch.einsum("...qd,...md->...qm", query, memory) / query.shape[-1] ** 0.5
    return torch.einsum("...qm,...md->...qd", scores.softmax(-1), memory)


def by_queries(query, memory):
    rows = []
    for one in query.unbind(-2):
        scores = (memory * one.unsqueeze(-2)).sum(-1) / math.sqrt(one.shape[-1])
        rows.append((torch.softmax(scores, -1).unsqueeze(-1) * memory).sum(-2))
    return torch.stack(rows, -2)
