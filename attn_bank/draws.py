"""Random inputs for the checks of several problem sets."""

import torch
from torch import Generator, Tensor


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_uniform(generator: Generator, *shape: int) -> Tensor:
    return torch.rand(shape, generator=generator, dtype=torch.float64)


def draw_weight(generator: Generator, d_output: int, d_input: int) -> Tensor:
    """A matrix as in `nn.Linear` that keeps the size of what it is multiplied with."""
    return draw_normal(generator, d_output, d_input) / d_input**0.5


def in_front(*axes: int | None) -> tuple[int, ...]:
    """The axes before the last two: those that there are."""
    return tuple(length for length in axes if length is not None)
