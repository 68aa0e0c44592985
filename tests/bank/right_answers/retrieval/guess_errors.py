"""Right answers to part E of problem set 01."""

import torch
from torch import Tensor

from attn_course.retrieval import attend, distance_scores


def subtracts_every_pair(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    squared = ((query[:, None] - key) ** 2).sum(2)
    guesses = torch.softmax(-squared / temperatures.reshape(-1, 1, 1), dim=2) @ value
    return (guesses - truth).square().sum(-1).mean(-1)


def asks_the_package(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    scores = distance_scores(query, key)
    guesses = [attend(scores / temperature, value) for temperature in temperatures]
    return torch.stack([(guess - truth).pow(2).sum(1).mean() for guess in guesses])


def expands_the_square(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """|q|² is the same for all keys of a query, and is left out."""
    scores = 2 * query @ key.T - key.square().sum(-1)
    errors = torch.zeros_like(temperatures)
    for index, temperature in enumerate(temperatures.tolist()):
        guesses = (scores / temperature).softmax(-1) @ value
        errors[index] = torch.linalg.norm(guesses - truth) ** 2 / len(query)
    return errors


def loops_over_queries(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    errors = torch.zeros_like(temperatures)
    for one, right in zip(query, truth, strict=True):
        scores = -(key - one).square().sum(-1)
        weights = torch.softmax(scores / temperatures[:, None], dim=-1)
        errors += (weights @ value - right).square().sum(-1) / len(query)
    return errors


def measures_with_cdist(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    scores = -torch.cdist(query, key).square() / temperatures.reshape(-1, 1, 1)
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    guesses = torch.einsum("tij,jd->tid", raised / raised.sum(-1, keepdim=True), value)
    return (guesses - truth).flatten(1).square().sum(1) / len(query)
