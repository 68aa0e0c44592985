"""The output of attention without its table of weights: fused where possible, else in blocks.

`attn_course.scaled_dot_product.attention` is the same function, written as the equation. Its memory
grows with query_len times key_len; the memory of `fast_attention` grows with their sum.
"""

import math
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_course.layer.blocks import blocks, numbers_in_a_block, recomputed
from attn_course.layer.dropout import drop, growth, with_dropout
from attn_course.layer.fused_attention import dot_products_overflow, fused
from attn_course.layer.parts import AttentionInputs, PositionScores, as_at_the_call, placed
from attn_course.scaled_dot_product import Rule, Score, scaled_dot_scores
from attn_course.shapes import check_together, checked, is_traced, refuse_nan

# With a rule and fewer queries, a call of the fused kernel costs more than the work it does.
QUERIES_AT_ONCE = 512
SMALLEST_BLOCK = 16


@checked(nan_shows=True)
def fast_attention(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
    *,
    rule: Rule | None = None,
    score: Score = scaled_dot_scores,
    position_scores: PositionScores | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    block_len: int | None = None,
) -> Float[Tensor, "*batch query_len d_value"]:
    """Mean of the values, weighted by how well each key answers the query.

    Args:
        query: The vector with which each position looks.
        key: The vector that each position offers to queries.
        value: The vector that each position contributes, according to its weight.
        mask: True where the query may attend; None allows every key.
        rule: A mask that is never held as a whole, such as `causal` or `window(64)`. A pair counts
            only if both the mask and the rule allow it. Keys that the rule forbids to all queries
            of a block cost nothing.
        score: Compares queries and keys. For a part of the queries and of the keys, it must return
            that part of the scores. `scaled_dot_scores` uses PyTorch's kernel, which has no second
            derivative; `partial(scaled_dot_scores)` uses the blocks, which have one.
        position_scores: Added to the scores: a function of the positions of queries and keys, such
            as those in `attn_course.layer.position_scores`. The queries are the last positions, as
            for a rule.
        scale: Factor of the dot products in place of `1 / sqrt(d_key)`; only for
            `scaled_dot_scores`.
        dropout: Share of the weights that are set to 0, drawn anew at each call. On a CPU it is
            rounded to a multiple of 1/65536.
        block_len: The most queries, and the most keys, in one block. If None, a block is as large
            as one number per pair and feature allows within about 36 MB, on a GPU 256 MB; within
            `torch.compile` there is then one block, so that one compilation serves all lengths.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN
            to which a query may attend, a score is NaN or plus infinity, the block length is not
            positive, or a scale is given for another score.

    Source: Milakov and Gimelshein 2018 (softmax in one pass); Rabe and Staats 2021; Dao et al.
    2022.
    """
    if key.shape[-2] == 0:
        raise ValueError("key_len=0: there is no key to attend to")
    if block_len is not None and block_len < 1:
        raise ValueError(f"{block_len=} must be positive")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be between 0 and 1, but got {dropout}")
    is_dot = score is scaled_dot_scores
    if scale is not None and not is_dot:
        raise ValueError(f"{scale=} is for scaled_dot_scores; let the score itself scale")
    if isinstance(position_scores, torch.nn.Module):
        position_scores = as_at_the_call(position_scores)
    inputs = AttentionInputs(query, key, value, mask, rule, position_scores, block_len, scale)
    # on a CPU the fused kernel does not support dropout, and holds the whole table
    if is_dot and dropout > 0 and not query.is_cuda:
        return with_dropout(inputs, dropout)
    if is_dot and not dot_products_overflow(inputs):
        return fused(inputs._replace(block_len=block_len or _at_most(QUERIES_AT_ONCE)), dropout)
    if is_dot:
        # the kernel would take a query whose scores are all NaN for one without a key
        refuse_nan("fast_attention", [("query", query), ("key", key)])
        score = inputs.dot_scores()
    if not is_traced():
        inputs = inputs._replace(block_len=block_len or _fitting_block_len(query, key))
    if query.dtype in (torch.float16, torch.bfloat16):
        # else the gradients that blocks send back would be rounded at each addition
        inputs = inputs._replace(query=query.float(), key=key.float(), value=value.float())
    way = partial(_rows, as_at_the_call(score), dropout, query.dtype)
    parts = blocks(query.shape[-2], inputs.block_len)
    return torch.cat([recomputed(way, inputs, part, random=dropout > 0) for part in parts], -2)


def _at_most(block_len: int) -> int | None:
    return None if is_traced() else block_len


def _fitting_block_len(query: Tensor, key: Tensor) -> int:
    """Side of a block in which a score may make one vector, as wide as a query, for each pair."""
    numbers_of_a_pair = max(1, math.prod(query.shape[:-2]) * query.shape[-1])
    pairs = query.shape[-2] * key.shape[-2]
    fitting = numbers_in_a_block(numbers_of_a_pair * pairs, query.device) // numbers_of_a_pair
    return max(SMALLEST_BLOCK, math.isqrt(fitting))


def _rows(
    score: Score, dropout: float, dtype: torch.dtype, inputs: AttentionInputs, rows: slice
) -> Tensor:
    """The output for one block of queries, from one block of keys after another."""
    query, key, value = inputs.query[..., rows, :], inputs.key, inputs.value
    state = _Running.before(query, value)
    for columns, allowed in inputs.reached(rows):
        part = [each.to(dtype) for each in (query, key[..., columns, :], value[..., columns, :])]
        scores = partial(placed, score, inputs.added(rows, columns))
        # tensors one by one: those in a tuple would be kept, not recomputed
        absorb = partial(_absorb, scores, dropout)
        state = _Running(*recomputed(absorb, *part, allowed, *state, random=dropout > 0))
    return (state.output_so_far() * growth(dropout)).to(dtype)


class _Running(NamedTuple):
    """A softmax over the keys seen so far, in at least single precision.

    Args:
        best: The highest score of each query, (*batch, query_len, 1).
        total: Sum of `exp(score - best)`, of the same shape.
        blend: Sum of `exp(score - best) * value`, (*batch, query_len, d_value).
    """

    best: Tensor
    total: Tensor
    blend: Tensor

    @classmethod
    def before(cls, query: Tensor, value: Tensor) -> "_Running":
        """The state before the first key."""
        dtype = torch.promote_types(query.dtype, torch.float32)
        zeros = query.new_zeros(*query.shape[:-1], 1 + value.shape[-1], dtype=dtype)
        return cls(torch.full_like(zeros[..., :1], -math.inf), zeros[..., :1], zeros[..., 1:])

    def output_so_far(self) -> Tensor:
        """The weighted mean; 0 for a query that has seen no key it may attend to."""
        return self.blend / self.total.where(self.total > 0, 1)


def _fitting(scores: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The scores, if they are one for each pair, in the dtype of the values."""
    wanted = (*query.shape[:-1], key.shape[-2])
    if scores.shape != wanted:
        raise ValueError(
            f"the scores of {query.shape[-2]} queries and {key.shape[-2]} keys have shape "
            f"{tuple(scores.shape)}; expected {wanted}"
        )
    if scores.dtype != value.dtype and not is_traced():
        check_together("fast_attention", {"scores": scores, "value": value})
    return scores


def _absorb(
    score: Score,
    dropout: float,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None,
    *so_far: Tensor,
) -> _Running:
    """The state after one more block of keys."""
    state = _Running(*so_far)
    scores = _fitting(score(query, key), query, key, value).to(state.total.dtype)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    # the subtracted maximum cancels, so no gradient has to pass through it
    best = torch.maximum(state.best, scores.detach().amax(-1, keepdim=True))
    finite = best.masked_fill(best == -math.inf, 0)
    kept, powers = torch.exp(state.best - finite), torch.exp(scores - finite)
    total = state.total * kept + powers.sum(-1, keepdim=True)
    blend = state.blend * kept + drop(powers, dropout) @ value.to(powers.dtype)
    return _Running(best, total, blend)
