"""The output of attention without its table of weights: fused where possible, else in blocks.

`attn_course.scaled_dot_product.attention` is the same function, written as the equation. Its memory
grows with query_len times key_len; the memory of `fast_attention` grows with their sum.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from attn_course.blocks import blocks, numbers_in_a_block, recomputed
from attn_course.scaled_dot_product import (
    Rule,
    Score,
    allowed_by,
    causal,
    combine,
    positions,
    scaled_dot_scores,
)
from attn_course.shapes import checked, is_true_of_any, refuse_nan

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
        dropout: Share of the weights that are set to 0, drawn anew at each call.
        block_len: The most queries, and the most keys, in one block. If None, a block is as large
            as one number per pair and feature allows within about 36 MB.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN
            to which a query may attend, a score is NaN or plus infinity, or the block length is
            not positive.

    Source: Milakov and Gimelshein 2018 (softmax in one pass); Rabe and Staats 2021; Dao et al.
    2022.
    """
    if key.shape[-2] == 0:
        raise ValueError("key_len=0: there is no key to attend to")
    if block_len is not None and block_len < 1:
        raise ValueError(f"{block_len=} must be positive")
    # on a CPU the fused kernel does not support dropout, and holds the whole table
    if score is scaled_dot_scores and (dropout == 0 or query.is_cuda):
        # the kernel treats a query whose scores are all NaN as one that may attend to no key
        refuse_nan("fast_attention", [("query", query), ("key", key)])
        return _fused(_Inputs(query, key, value, mask, rule, block_len or QUERIES_AT_ONCE), dropout)
    block_len = block_len or _fitting_block_len(query, key)
    inputs = _Inputs(query, key, value, mask, rule, block_len)
    if isinstance(score, nn.Module):
        weights = {**dict(score.named_parameters()), **dict(score.named_buffers())}
        score = partial(_score_with, score, weights)
    rows = [
        recomputed(partial(_rows, score, dropout), inputs, part, random=dropout > 0)
        for part in blocks(query.shape[-2], block_len)
    ]
    return torch.cat(rows, -2)


def _fitting_block_len(query: Tensor, key: Tensor) -> int:
    """Side of a block in which a score may make one vector, as wide as a query, for each pair."""
    numbers_of_a_pair = max(1, math.prod(query.shape[:-2]) * query.shape[-1])
    pairs = query.shape[-2] * key.shape[-2]
    fitting = numbers_in_a_block(numbers_of_a_pair * pairs) // numbers_of_a_pair
    return max(SMALLEST_BLOCK, math.isqrt(fitting))


def _score_with(score: nn.Module, weights: dict[str, Tensor], query: Tensor, key: Tensor) -> Tensor:
    """The score with its weights at the call, even if they change before it is recomputed."""
    return functional_call(score, weights, (query, key))


class _Inputs(NamedTuple):
    """The arguments from which blocks are cut."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    rule: Rule | None
    block_len: int

    def allowed(self, rows: slice, columns: slice) -> Tensor | None:
        """The part of mask and rule that a block needs."""
        query_len, key_len = self.query.shape[-2], self.key.shape[-2]
        mask = self.mask
        if mask is not None:
            mask = mask[..., rows, :] if mask.shape[-2] > 1 else mask
            mask = mask[..., columns] if mask.shape[-1] > 1 else mask
        if self.rule is None:
            return mask
        query_position, key_position = positions(query_len, key_len, self.query.device)
        # in blocks, because a rule may make integers of its own for every pair
        parts = key_position[columns].split(self.block_len)
        ruled = [allowed_by(self.rule, query_position[rows], part) for part in parts]
        return combine(mask, torch.cat(ruled, -1) if len(ruled) > 1 else ruled[0])

    def reached(self, rows: slice) -> Iterator[tuple[slice, Tensor | None]]:
        """Yield the blocks of keys that a block of queries may attend to, with their masks.

        There is always at least one: without any, the output would be zero just the same, but it
        would not be connected to the inputs, and gradients could not be taken.
        """
        nothing = True
        for part in blocks(self.key.shape[-2], self.block_len):
            allowed = self.allowed(rows, part)
            if self.rule is None or allowed is None or not is_true_of_any(~allowed.any()):
                nothing = False
                yield part, allowed
        if nothing:
            yield slice(0, 1), self.allowed(rows, slice(0, 1))


def _rows(score: Score, dropout: float, inputs: _Inputs, rows: slice) -> Tensor:
    """The output for one block of queries, from one block of keys after another."""
    query, key, value = inputs.query[..., rows, :], inputs.key, inputs.value
    state = _Running.before(query, value)
    for columns, allowed in inputs.reached(rows):
        part = query, key[..., columns, :], value[..., columns, :], allowed
        # tensors one by one: those in a tuple would be kept, not recomputed
        absorb = partial(_absorb, score, dropout)
        state = _Running(*recomputed(absorb, *part, *state, random=dropout > 0))
    return state.output_so_far().to(value.dtype)


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
    scores = score(query, key).to(state.total.dtype)
    if scores.shape[-2:] != (query.shape[-2], key.shape[-2]):
        raise ValueError(
            f"the scores of {query.shape[-2]} queries and {key.shape[-2]} keys have shape "
            f"{tuple(scores.shape)}"
        )
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    # the subtracted maximum cancels, so no gradient has to pass through it
    best = torch.maximum(state.best, scores.detach().amax(-1, keepdim=True))
    finite = best.masked_fill(best == -math.inf, 0)
    kept, weights = torch.exp(state.best - finite), torch.exp(scores - finite)
    total = state.total * kept + weights.sum(-1, keepdim=True)
    blend = state.blend * kept + functional.dropout(weights, dropout) @ value.to(weights.dtype)
    return _Running(best, total, blend)


def _fused(inputs: _Inputs, dropout: float) -> Tensor:
    """Scaled dot-product attention with PyTorch's kernel, which has blocks of its own."""
    query, key, value, mask, rule, block_len = inputs
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"a dot product needs queries and keys of equal width, but d_query={query.shape[-1]} "
            f"and d_key={key.shape[-1]}"
        )
    whole = rule is causal and mask is None and query.shape[-2] == key.shape[-2]
    if whole or (rule is None and (mask is None or mask.shape[-2] <= block_len)):
        return _kernel(query, key, value, mask, dropout, is_causal=whole)
    parts = list(blocks(query.shape[-2], block_len))
    if len(parts) == 1:
        return _fused_rows(dropout, inputs, *parts)
    # the kernel turns its part of the mask into numbers, and keeps them for the gradient
    rows = [
        recomputed(partial(_fused_rows, dropout), inputs, part, random=dropout > 0)
        for part in parts
    ]
    return torch.cat(rows, -2)


def _fused_rows(dropout: float, inputs: _Inputs, rows: slice) -> Tensor:
    """The output for one block of queries, from all the keys that they reach."""
    query, key, value = inputs.query[..., rows, :], inputs.key, inputs.value
    allowed = inputs.allowed(rows, slice(None))
    assert allowed is not None  # without a mask or a rule nothing is cut into rows
    allowed = allowed.expand(*allowed.shape[:-1], key.shape[-2])
    reach = _reach(allowed)
    return _kernel(query, key[..., reach, :], value[..., reach, :], allowed[..., reach], dropout)


def _reach(allowed: Tensor) -> slice:
    """The slice from the first to the last key that any query may attend to; never empty."""
    if torch.compiler.is_compiling():
        return slice(None)
    try:
        reached = allowed.flatten(0, -2).any(0).nonzero()
        return slice(int(reached[0]), int(reached[-1]) + 1) if len(reached) else slice(0, 1)
    except RuntimeError:  # under torch.vmap and on the meta device there are no values to read
        return slice(None)


def _kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    is_causal: bool = False,
) -> Tensor:
    """Call the fused kernel, which expects four axes and equal widths."""
    batch, d_key, d_value = query.shape[:-2], key.shape[-1], value.shape[-1]
    if mask is not None and len(batch) > 2:
        mask = mask.expand(*batch, *mask.shape[-2:])

    def four(tensor: Tensor) -> Tensor:
        return _four_axes(_widen(tensor, max(d_key, d_value)))

    output = functional.scaled_dot_product_attention(
        four(query),
        four(key),
        four(value),
        attn_mask=None if mask is None else _four_axes(mask),
        dropout_p=dropout,
        is_causal=is_causal,
        scale=max(1, d_key) ** -0.5,
    )
    return output[..., :d_value].reshape(*batch, query.shape[-2], d_value)


def _widen(tensor: Tensor, width: int) -> Tensor:
    """Append zeros, which change no dot product."""
    missing = width - tensor.shape[-1]
    return functional.pad(tensor, (0, missing)) if missing else tensor


def _four_axes(tensor: Tensor) -> Tensor:
    if tensor.stride(-1) != 1:
        # otherwise PyTorch would choose the kernel without blocks, which holds the whole table
        tensor = tensor.clone(memory_format=torch.contiguous_format)
    if tensor.ndim > 4:
        return tensor.flatten(0, -4)
    return tensor[(None,) * (4 - tensor.ndim)]
