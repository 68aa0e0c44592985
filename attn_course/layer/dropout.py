"""Dropout of attention weights: on a CPU from a few random bits for each."""

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.shapes import is_traced

# Random bits are drawn 64 at a time, and 16 of them decide about a weight.
LEVELS = 2**16


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
