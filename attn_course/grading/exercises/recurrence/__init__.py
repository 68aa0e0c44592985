"""Problem set 10: recurrent networks, and claims about them that can be measured."""

import torch
from torch import Generator, Tensor

NUMBER = "10"


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_matrix(generator: Generator, d_output: int, d_input: int) -> Tensor:
    """A matrix as a layer of torch keeps it: one row for each output."""
    return draw_normal(generator, d_output, d_input) / d_input**0.5
