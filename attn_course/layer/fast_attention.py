"""The output of attention without its table of weights: fused where possible, else in blocks.

`attn_course.scaled_dot_product.attention` is the same function, written as the equation. Its memory
grows with query_len times key_len; the memory of `fast_attention` grows with their sum.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_course.layer.block_inputs import (
    AttentionInputs,
    PositionBias,
    as_at_the_call,
    scores_of,
    softmax_beside,
)
from attn_course.layer.blocks import (
    NUMBERS_IN_A_SQUARE,
    SMALL_NUMBERS,
    blocks,
    numbers_in_a_block,
    recomputed,
)
from attn_course.layer.dropout import drop, growth
from attn_course.layer.fused_attention import dot_products_overflow, fused
from attn_course.layer.online_softmax import OnlineSoftmax, update
from attn_course.scaled_dot_product import Rule, Score, scaled_dot_scores
from attn_course.shapes import checked, is_traced, known_nonzero, refuse_nan

SMALLEST_BLOCK = 16


@checked(nan_propagates=True)
def fast_attention(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
    *,
    rule: Rule | None = None,
    score: Score = scaled_dot_scores,
    position_bias: PositionBias | None = None,
    scale: float | None = None,
    sinks: Float[Tensor, "*#batch"] | None = None,
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
        position_bias: Added to the scores: a function of the positions of queries and keys, such
            as those in `attn_course.layer.position_bias`. The queries are the last positions, as
            for a rule.
        scale: Factor of the dot products in place of `1 / sqrt(d_key)`; only for
            `scaled_dot_scores`.
        sinks: A score of no key for each sentence, or each head if these are the last axis of the
            batch. It has its share of the softmax and no value, so the weights sum to less than 1.
            There is no kernel for them: blocks are used.
        dropout: Share of the weights that are set to 0, drawn anew at each call. On a CPU it is
            rounded to a multiple of 1/65536.
        block_len: The most queries, and the most keys, in one block. If None, a block is as large
            as one number per pair and feature allows within about 36 MB, on a GPU 256 MB, and small
            tables are kept for the gradient; within `torch.compile` there is then one block, so
            that one compilation serves all lengths.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN
            to which a query may attend, a score is NaN or plus infinity, the block length is not
            positive, or a scale is given for another score.
        RuntimeError: At the backward pass, if an argument, or a tensor that a score, a rule or a
            bias refers to, has been changed in place since.
            :py:func:`~attn_course.layer.references.tensors_of` says which are found. Putting
            another tensor in the place of one goes unnoticed.

    Source: Milakov and Gimelshein 2018 (softmax in one pass); Rabe and Staats 2021; Dao et al.
    2022; OpenAI 2025 (gpt-oss; the sinks).
    """
    if block_len is not None and block_len < 1:
        raise ValueError(f"{block_len=} must be positive")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be between 0 and 1, but got {dropout}")
    if scale is not None and score is not scaled_dot_scores:
        raise ValueError(f"{scale=} is for scaled_dot_scores; let the score itself scale")
    inputs = AttentionInputs(
        query, key, value, mask, rule, position_bias, block_len, scale, sinks=sinks
    )
    return unchecked_fast_attention(inputs, score, dropout)


def unchecked_fast_attention(
    inputs: AttentionInputs, score: Score = scaled_dot_scores, dropout: float = 0.0
) -> Tensor:
    """`fast_attention` of arguments that fit, where heads of queries may share heads of keys.

    Raises:
        ValueError: There are no keys, a score is NaN or infinite, or the position bias has another
            shape.
    """
    query = inputs.query
    if inputs.key.shape[-2] == 0:
        raise ValueError("key_len=0: there is no key to attend to")
    if isinstance(inputs.position_bias, torch.nn.Module):
        inputs = inputs._replace(position_bias=as_at_the_call(inputs.position_bias))
    if score is not scaled_dot_scores:
        numbers_of_a_pair = getattr(score, "numbers_of_a_pair", query.shape[-1])
        return _in_blocks(as_at_the_call(score), numbers_of_a_pair, inputs, dropout)
    # on a CPU the fused kernel does not support dropout, and holds the whole table
    if inputs.sinks is None and (dropout == 0 or query.is_cuda):
        output = fused(inputs, dropout)
        # the kernel takes a query whose scores are all NaN for one without a key
        if known_nonzero(output) or not dot_products_overflow(inputs):
            return output
        refuse_nan("fast_attention", [("query", query), ("key", inputs.key)])
    return _in_blocks(inputs.dot_scores(), 1, inputs, dropout)


def _in_blocks(
    score: Score, numbers_of_a_pair: int, inputs: AttentionInputs, dropout: float
) -> Tensor:
    """Attend by the equation, one block of queries after another.

    Args:
        score: Compares queries and keys.
        numbers_of_a_pair: How many numbers the score makes for a query and a key.
        inputs: The arguments.
        dropout: Share of the weights that are set to 0.

    Raises:
        ValueError: An argument holds NaN, or a score is NaN or plus infinity.
    """
    way = partial(_rows, score, dropout, inputs.query.dtype)
    # gradients that blocks send back in half precision would be rounded at each addition
    inputs = inputs.for_all_heads().in_single_precision()
    try:
        if is_traced():
            return recomputed(way, inputs, slice(None), random=dropout > 0)
        rows = list(_block_after_block(way, numbers_of_a_pair, inputs, random=dropout > 0))
    except ValueError:  # of the scores; rather say which argument is to blame
        refuse_nan("fast_attention", [("query", inputs.query), ("key", inputs.key)])
        raise
    return torch.cat(rows, -2) if len(rows) > 1 else rows[0]


def _block_after_block(
    way: Callable[[AttentionInputs, slice], Tensor],
    numbers_of_a_pair: int,
    inputs: AttentionInputs,
    *,
    random: bool,
) -> Iterator[Tensor]:
    """Yield the outputs of blocks of queries; a small table is kept, a large one computed again."""
    query_len, key_len = inputs.query.shape[-2], inputs.key.shape[-2]
    numbers = max(1, math.prod(inputs.query.shape[:-2]) * numbers_of_a_pair)
    is_small = inputs.block_len is None and numbers * query_len * key_len <= SMALL_NUMBERS
    row_len, inputs = _cut(inputs, numbers)
    for rows in blocks(query_len, row_len):
        yield way(inputs, rows) if is_small else recomputed(way, inputs, rows, random=random)


def _cut(inputs: AttentionInputs, numbers: int) -> tuple[int, AttentionInputs]:
    """The most queries in a block, and the inputs with the most keys if not all fit into one.

    Args:
        inputs: The arguments.
        numbers: How many numbers a query and a key of all sequences make.
    """
    if inputs.block_len is not None:
        return inputs.block_len, inputs
    query_len, key_len = inputs.query.shape[-2], inputs.key.shape[-2]
    fitting = numbers_in_a_block(numbers * query_len * key_len, inputs.query.device) // numbers
    side = max(SMALLEST_BLOCK, math.isqrt(fitting))
    last = inputs.reach_of_rule(slice(max(0, query_len - side), query_len))
    reach, batch = last.stop - last.start, math.prod(inputs.query.shape[:-2])
    # where a pair has many numbers, its one score makes pieces that the C library keeps
    keeps_few = numbers == batch or batch * query_len * reach <= SMALL_NUMBERS
    if keeps_few or inputs.query.is_cuda:
        if row_len := fitting // reach:
            return row_len, inputs
    else:
        side = max(SMALLEST_BLOCK, math.isqrt(NUMBERS_IN_A_SQUARE // numbers))
    return side, inputs._replace(block_len=side)


def _rows(
    score: Score, dropout: float, dtype: torch.dtype, inputs: AttentionInputs, rows: slice
) -> Tensor:
    """The output for one block of queries, from all the keys that they reach."""
    query, key, value = inputs.query[..., rows, :].to(dtype), inputs.key, inputs.value
    if inputs.block_len is not None:
        return _rows_in_blocks(score, dropout, dtype, inputs, rows)
    reach, allowed = inputs.reached(rows)
    scores = scores_of(score, query, key[..., reach, :].to(dtype), inputs.added(rows, reach))
    scores = scores.to(torch.promote_types(dtype, torch.float32))
    weights = drop(softmax_beside(inputs.sinks, scores, allowed), dropout)
    return (weights @ value[..., reach, :].to(weights.dtype) * growth(dropout)).to(dtype)


def _rows_in_blocks(
    score: Score, dropout: float, dtype: torch.dtype, inputs: AttentionInputs, rows: slice
) -> Tensor:
    """The same from one block of keys after another."""
    query, key, value = inputs.query[..., rows, :].to(dtype), inputs.key, inputs.value
    state = OnlineSoftmax.before(query, value, inputs.sinks)
    for columns, allowed in inputs.reached_in_blocks(rows):
        part = key[..., columns, :].to(dtype), value[..., columns, :].to(dtype)
        absorb = partial(_update, score, inputs.added(rows, columns), dropout)
        # tensors one by one: those in a tuple would be kept, not recomputed
        state = OnlineSoftmax(
            *recomputed(absorb, query, *part, allowed, *state, random=dropout > 0)
        )
    return (state.output() * growth(dropout)).to(dtype)


def _update(
    score: Score,
    added: Tensor | None,
    dropout: float,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None,
    *state: Tensor,
) -> OnlineSoftmax:
    scores = scores_of(score, query, key, added)
    return update(OnlineSoftmax(*state), scores, allowed, value, dropout)
