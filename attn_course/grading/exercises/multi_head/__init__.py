"""Problem set 09: several heads, what is kept while they decode, and what one head cannot."""

import torch
from torch import Generator, Tensor

NUMBER = "09"


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_weight(generator: Generator, d_output: int, d_input: int) -> Tensor:
    """A matrix as in `nn.Linear` that keeps the size of what it is multiplied with."""
    return draw_normal(generator, d_output, d_input) / d_input**0.5


def in_front(batch: int | None, beams: int | None = None) -> tuple[int, ...]:
    """The axes before the last two."""
    return tuple(axis for axis in (batch, beams) if axis is not None)


def split(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)
