"""Part A of problem set 01: softmax by hand, stable for scores of any size."""

import math

import torch
from torch import Tensor

from attn_course.grading.spec import Check, Exercise, Inputs, Mistake


def reference(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


def draw_scores(generator: torch.Generator, scale: float = 1.0, **sizes: int) -> Inputs:
    shape = tuple(sizes.values())
    return {"scores": scale * torch.randn(shape, generator=generator, dtype=torch.float64)}


def draw_large_scores(generator: torch.Generator, **sizes: int) -> Inputs:
    """Scores far above and, in other rows, far below what `exp` can hold."""
    scores = draw_scores(generator, scale=3.0, **sizes)["scores"]
    scores[0] += 1000
    scores[-1] -= 1000
    return {"scores": scores}


def draw_forbidden_keys(generator: torch.Generator, **sizes: int) -> Inputs:
    """Some scores are minus infinity; every row keeps a finite one."""
    scores = draw_scores(generator, **sizes)["scores"]
    scores[..., 1::2] = -math.inf
    return {"scores": scores}


def forgets_to_normalise(scores: Tensor) -> Tensor:
    return torch.exp(scores - scores.amax(-1, keepdim=True))


def normalises_over_the_queries(scores: Tensor) -> Tensor:
    if scores.ndim == 1:
        return reference(scores)
    return torch.softmax(scores, dim=-2)


def normalises_over_everything(scores: Tensor) -> Tensor:
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def normalises_over_the_first_axis(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=0)


def overflows(scores: Tensor) -> Tensor:
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(-1, keepdim=True)


def subtracts_one_maximum_for_all(scores: Tensor) -> Tensor:
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(-1, keepdim=True)


def divides_without_exponential(scores: Tensor) -> Tensor:
    return scores / scores.sum(-1, keepdim=True)


def subtracts_the_mean(scores: Tensor) -> Tensor:
    exponentials = torch.exp(scores - scores.mean(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


def changes_the_scores(scores: Tensor) -> Tensor:
    with torch.no_grad():
        scores -= scores.amax(-1, keepdim=True)
    return torch.softmax(scores, dim=-1)


def detaches(scores: Tensor) -> Tensor:
    return torch.softmax(scores.detach(), dim=-1)


def works_in_double_precision(scores: Tensor) -> Tensor:
    return torch.softmax(scores.double(), dim=-1)


EXERCISE = Exercise(
    function="softmax",
    reference=reference,
    avoid=("softmax", "log_softmax", "logsumexp", "softmin", "gumbel_softmax"),
    checks=(
        Check(
            "each row of weights is the softmax of its row of scores, whatever axes come before",
            1.5,
            draw_scores,
            sizes=({"query_len": 3, "key_len": 5}, {"batch": 2, "query_len": 3, "key_len": 5}),
            hidden_sizes=({"key_len": 7}, {"a": 2, "b": 3, "query_len": 5, "key_len": 11}),
        ),
        Check(
            "scores in the thousands, positive or negative, give no `nan`",
            1,
            draw_large_scores,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 5, "key_len": 7},),
        ),
        Check(
            "a score of minus infinity gives the weight 0",
            0.5,
            draw_forbidden_keys,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 2, "key_len": 7},),
        ),
        Check(
            "the right gradient reaches the scores",
            0.5,
            draw_scores,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 5, "key_len": 2},),
            gradient=("scores",),
        ),
        Check(
            "the scores of the caller stay as they are",
            0.5,
            draw_scores,
            sizes=({"query_len": 3, "key_len": 5},),
            untouched=True,
        ),
    ),
    mistakes=(
        Mistake(
            forgets_to_normalise,
            "your rows do not sum to 1: divide each row by its sum",
            score=0.5,
        ),
    ),
)
