"""Problem set 06: weights over the cells of an image, soft and hard, and what they explain."""

import torch
from torch import Generator, Tensor

NUMBER = "06"


def draw_normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def in_front(batch: int | None, beams: int | None = None) -> tuple[int, ...]:
    """The axes before the last ones."""
    return tuple(size for size in (batch, beams) if size is not None)


def draw_weights(generator: Generator, *shape: int) -> Tensor:
    """Positive numbers that sum to 1 over the last axis."""
    return torch.softmax(1.5 * draw_normal(generator, *shape), -1)
