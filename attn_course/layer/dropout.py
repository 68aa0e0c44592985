"""Scaled dot-product attention with dropout on a CPU, where PyTorch's fused kernel has none."""

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.layer.blocks import NUMBERS_IN_A_SMALL_BLOCK, SMALL_NUMBERS, blocks, recomputed
from attn_course.layer.fused_attention import reached
from attn_course.layer.parts import AttentionInputs, placed
from attn_course.retrieval import masked_softmax
from attn_course.shapes import is_traced

SMALLEST_BLOCK = 16
# Random bits are drawn 64 at a time, and 16 of them decide about a weight.
LEVELS = 2**16


def with_dropout(inputs: AttentionInputs, dropout: float) -> Tensor:
    """Attend by the equation, one block of queries after another, so that a block stays in cache.

    A small table is kept for the gradient, and a large one computed again.
    """
    query, key = inputs.query, inputs.key
    if inputs.block_len is None and not is_traced():
        numbers_of_a_row = max(1, math.prod(query.shape[:-2]) * key.shape[-2])
        fitting = max(SMALLEST_BLOCK, NUMBERS_IN_A_SMALL_BLOCK // numbers_of_a_row)
        inputs = inputs._replace(block_len=fitting)
    way = partial(_rows, dropout)
    parts = list(blocks(query.shape[-2], inputs.block_len))
    if len(parts) == 1 or math.prod(query.shape[:-1]) * key.shape[-2] <= SMALL_NUMBERS:
        rows = [way(inputs, part) for part in parts]
    else:
        rows = [recomputed(way, inputs, part, random=True) for part in parts]
    return torch.cat(rows, -2) if len(rows) > 1 else rows[0]


def _rows(dropout: float, inputs: AttentionInputs, rows: slice) -> Tensor:
    """The output for one block of queries, from all the keys that they reach."""
    query, key, value = inputs.query[..., rows, :], inputs.key, inputs.value
    allowed, reach = inputs.allowed(rows, slice(None)), slice(None)
    if inputs.rule is not None and allowed is not None:
        reach = reached(allowed)
        allowed = allowed[..., reach]
    scores = placed(inputs.dot_scores(), inputs.added(rows, reach), query, key[..., reach, :])
    weights = drop(masked_softmax(scores, allowed), dropout)
    return weights @ (value[..., reach, :] * growth(dropout))


def drop(weights: Tensor, share: float) -> Tensor:
    """Set a share of the weights to 0; `growth` says what makes up for it.

    On a CPU the share is rounded to a multiple of 1/65536: a few random bits for each weight take a
    third of the time of a random number.
    """
    level = round(share * LEVELS)
    if weights.device.type == "cpu" and level < LEVELS and not is_traced():
        bits = torch.empty(-(-weights.numel() // 4), dtype=torch.int64, device="cpu")
        try:
            numbers = bits.random_(-(2**63), None).view(torch.int16)[: weights.numel()]
            return weights.where((numbers >= level - LEVELS // 2).view(weights.shape), 0)
        except RuntimeError:  # torch.vmap may forbid random numbers, or want them in its own way
            pass
    return functional.dropout(weights, share) / growth(share)


def growth(share: float) -> float:
    """Factor by which the other weights grow when a share of them is set to 0."""
    level = round(share * LEVELS)
    return 1.0 if level == LEVELS else LEVELS / (LEVELS - level)
