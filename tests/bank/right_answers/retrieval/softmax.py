"""Right answers to part A of problem set 01."""

import math

import torch
from torch import Tensor


def subtracts_the_maximum(scores: Tensor) -> Tensor:
    raised = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return raised / raised.sum(dim=-1, keepdim=True)


def takes_the_logarithm_of_the_sum(scores: Tensor) -> Tensor:
    top = scores.amax(-1, keepdim=True)
    return (scores - top - (scores - top).exp().sum(-1, keepdim=True).log()).exp()


def loops_over_rows(scores: Tensor) -> Tensor:
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        raised = (row - row.max()).exp()
        rows.append(raised / raised.sum())
    return torch.stack(rows).reshape(scores.shape)


def compares_every_score_with_every_other(scores: Tensor) -> Tensor:
    """1 / Σ exp(e_l - e_j), where a key of score minus infinity is compared with none."""
    allowed = scores > -math.inf
    finite = torch.where(allowed, scores, scores.amax(-1, keepdim=True))
    ratios = (scores.unsqueeze(-2) - finite.unsqueeze(-1)).exp().sum(-1)
    return (1 / ratios).masked_fill(~allowed, 0)


def works_in_place_on_a_copy(scores: Tensor) -> Tensor:
    raised = scores.clone()
    raised -= scores.detach().amax(-1, keepdim=True)
    raised = raised.exp()
    return raised.div(torch.einsum("...j->...", raised).unsqueeze(-1))


def works_in_double_precision_inside(scores: Tensor) -> Tensor:
    raised = (scores.double() - scores.double().amax(-1, keepdim=True)).exp()
    return (raised / raised.sum(-1, keepdim=True)).to(scores.dtype)
