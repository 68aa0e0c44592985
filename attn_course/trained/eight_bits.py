"""Weights as whole numbers of 8 bits, with a factor for each row: a quarter of the bytes."""

import torch
from torch import Tensor

MOST = 127
FACTOR = ".factor"


def to_eight_bits(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Each matrix as whole numbers from -127 to 127 and a factor for each row; the rest as it is.

    The greatest number of a row, by its size, becomes 127 or -127.
    """
    stored = {}
    for name, weight in weights.items():
        if weight.ndim < 2:
            stored[name] = weight.contiguous()
            continue
        factor = weight.abs().amax(1).clamp(min=torch.finfo(weight.dtype).tiny) / MOST
        stored[name] = (weight / factor[:, None]).round().to(torch.int8)
        stored[name + FACTOR] = factor
    return stored


def from_eight_bits(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights that `to_eight_bits` stored, each off by at most half a factor."""
    return {
        name: weight * stored[name + FACTOR][:, None] if weight.dtype == torch.int8 else weight
        for name, weight in stored.items()
        if not name.endswith(FACTOR)
    }
