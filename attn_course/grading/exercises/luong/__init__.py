"""Problem set 05: multiplicative scores, local attention, input feeding, and what weights tell."""

import torch
from torch import Generator, Tensor

NUMBER = "05"


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_uniform(generator: Generator, *shape: int) -> Tensor:
    return torch.rand(shape, generator=generator, dtype=torch.float64)


def draw_weight(generator: Generator, d_output: int, d_input: int) -> Tensor:
    """A matrix that keeps the size of what it is multiplied with."""
    return draw_normal(generator, d_output, d_input) / d_input**0.5


def draw_mask(generator: Generator, batch: int, length: int) -> Tensor:
    """True at words: one sentence fills its row, another has two words of padding or more."""
    lengths = torch.randint(1, length + 1, (batch,), generator=generator)
    lengths[0], lengths[-1] = length, torch.randint(1, length - 1, (), generator=generator)
    return torch.arange(length) < lengths.unsqueeze(-1)


def in_front(batch: int | None) -> tuple[int, ...]:
    """The axes before the last two."""
    return () if batch is None else (batch,)
