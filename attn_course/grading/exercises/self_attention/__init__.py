"""Problem set 08: self-attention, its mask, its positions, and what it knows of order."""

import torch
from torch import Generator, Tensor

NUMBER = "08"


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_projection(generator: Generator, d_input: int, d_output: int) -> Tensor:
    """A matrix that a row is multiplied with from the right, keeping its size."""
    return draw_normal(generator, d_input, d_output) / d_input**0.5


def in_front(batch: int | None, beams: int | None = None) -> tuple[int, ...]:
    """The axes before the last two."""
    return tuple(size for size in (batch, beams) if size is not None)
