"""A softmax over the keys seen so far: attention from one block of keys after another."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attn_course.layer.dropout import drop


class OnlineSoftmax(NamedTuple):
    """The sums that a block of queries keeps of its keys, in at least single precision.

    Attributes:
        best: The highest score of each query, `(*batch, query_len, 1)`.
        total: Sum of `exp(score - best)`, of the same shape.
        blend: Sum of `exp(score - best) * value`, `(*batch, query_len, d_value)`.

    Source: Milakov and Gimelshein 2018.
    """

    best: Tensor
    total: Tensor
    blend: Tensor

    @classmethod
    def before(cls, query: Tensor, value: Tensor, sinks: Tensor | None = None) -> "OnlineSoftmax":
        """The state before the first key.

        Args:
            query: The queries of the block.
            value: The values, for their width.
            sinks: Scores of no key, `(*batch)` or one for each head: their powers are in the total.
        """
        dtype = torch.promote_types(query.dtype, torch.float32)
        blend = query.new_zeros(*query.shape[:-1], value.shape[-1], dtype=dtype)
        scores = query.new_full((*query.shape[:-1], 1), -math.inf, dtype=dtype)
        if sinks is not None:
            scores = sinks[..., None, None].to(dtype).expand_as(scores)
        best = scores.detach()
        return cls(best, torch.exp(scores - best.masked_fill(best == -math.inf, 0)), blend)

    def output(self) -> Tensor:
        """The weighted mean; 0 for a query that has seen no key it may attend to."""
        return self.blend / self.total.where(self.total > 0, 1)


def update(
    state: OnlineSoftmax,
    scores: Tensor,
    allowed: Tensor | None,
    value: Tensor,
    dropout: float = 0.0,
) -> OnlineSoftmax:
    """The state after one more block of keys."""
    scores = scores.to(state.total.dtype)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    # the subtracted maximum cancels, so no gradient has to pass through it
    best = torch.maximum(state.best, scores.detach().amax(-1, keepdim=True))
    finite = best.masked_fill(best == -math.inf, 0)
    kept, powers = torch.exp(state.best - finite), torch.exp(scores - finite)
    total = state.total * kept + powers.sum(-1, keepdim=True)
    blend = state.blend * kept + drop(powers, dropout) @ value.to(powers.dtype)
    return OnlineSoftmax(best, total, blend)
