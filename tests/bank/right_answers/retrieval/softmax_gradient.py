"""Right answers to part D of problem set 01."""

import torch
from torch import Tensor


def multiplies_by_the_jacobian(weights: Tensor, upstream: Tensor) -> Tensor:
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return ((torch.diag_embed(weights) - outer) @ upstream.unsqueeze(-1)).squeeze(-1)


def sums_by_einsum(weights: Tensor, upstream: Tensor) -> Tensor:
    mean = torch.einsum("...j,...j->...", weights, upstream)
    return weights * upstream - weights * mean[..., None]


def compares_all_pairs(weights: Tensor, upstream: Tensor) -> Tensor:
    gaps = upstream.unsqueeze(-1) - upstream.unsqueeze(-2)
    return weights * (gaps @ weights.unsqueeze(-1)).squeeze(-1)


def loops_over_rows(weights: Tensor, upstream: Tensor) -> Tensor:
    result = torch.zeros_like(weights)
    rows = zip(*(t.reshape(-1, t.shape[-1]) for t in (weights, upstream, result)), strict=True)
    for alpha, gradient, row in rows:
        for score in range(len(alpha)):
            for weight in range(len(alpha)):
                kept = alpha[weight] if weight == score else 0
                row[score] += gradient[weight] * (kept - alpha[weight] * alpha[score])
    return result


def works_in_place_on_a_copy(weights: Tensor, upstream: Tensor) -> Tensor:
    result = upstream.clone()
    result -= torch.linalg.vecdot(weights, upstream).unsqueeze(-1)
    return result.mul_(weights)
