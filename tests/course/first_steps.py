"""The first steps of a training, as a recipe would take them, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from torch import Tensor, nn

from attn_course.training import History, train


def first_steps(
    number: int,
    model: nn.Module,
    stream: Iterator,
    loss: Callable,
    steps: int,
    **settings: object,
) -> History:
    """Train as `train` does, until so many batches have been seen."""
    losses: list[float] = []

    def noted(model: nn.Module, batch: object) -> Tensor:
        losses.append(loss(model, batch))
        return losses[-1]

    with pytest.raises(ValueError, match=f"batches ended after {number}"):
        train(model, islice(stream, number), noted, steps, **settings)
    return History([value.item() for value in losses])
