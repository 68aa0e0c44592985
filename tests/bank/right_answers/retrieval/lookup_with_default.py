"""Right answers to part C of problem set 01."""

import math

import torch
from torch import Tensor


def clears_the_weights_afterwards(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    empty = ~mask.any(dim=-1, keepdim=True)
    allowed = mask | empty
    weights = torch.softmax(torch.where(allowed, scores, -math.inf), dim=-1)
    return weights.masked_fill(empty, 0) @ value + empty * default


def raises_and_multiplies(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    allowed = scores.masked_fill(~mask, -1e30)
    raised = torch.exp(allowed - allowed.amax(-1, keepdim=True)) * mask
    total = raised.sum(-1, keepdim=True)
    return torch.where(total > 0, raised / total.clamp_min(1e-30) @ value, default)


def joins_the_default_as_one_more_key(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    none = ~mask.any(-1, keepdim=True).expand(*scores.shape[:-1], 1)
    kept = torch.where(mask, scores, torch.full_like(scores, -math.inf))
    weights = torch.cat([kept, torch.where(none, 0.0, -math.inf).to(scores)], -1).softmax(-1)
    extra = default.expand(*value.shape[:-2], 1, -1)
    return weights @ torch.cat([value, extra], -2)


def loops_over_queries(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    mask = mask.expand_as(scores)
    if scores.ndim > 2:
        tables = zip(scores, value, mask, strict=True)
        return torch.stack([loops_over_queries(*table, default) for table in tables])
    rows = []
    for row, allowed in zip(scores, mask, strict=True):
        kept = allowed.nonzero().flatten()
        rows.append(torch.softmax(row[kept], 0) @ value[kept] if len(kept) else default)
    return torch.stack(rows)


def adds_a_large_negative_number(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    empty = ~mask.any(-1, keepdim=True)
    output = torch.einsum("...ij,...jd->...id", (scores + ~mask * -1e9).softmax(-1), value)
    return output * ~empty + default * empty


def clears_the_nan_in_the_weights(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """The gradient of `masked_fill` is 0 at a forbidden key, whatever arrives there."""
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1).nan_to_num(0)
    return weights @ value + ~mask.any(-1, keepdim=True) * default
