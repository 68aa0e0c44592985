"""A small regression to train on, for the tests of the loop and for the processes that they start.

The model has dropout, whose random numbers must go on after a stop, and running means, which half a
step must not move.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attn_course.training import History, train

BATCH, D_IN, D_HIDDEN, D_OUT, STEPS = 11, 5, 7, 3, 24


class Points(NamedTuple):
    """A batch."""

    x: Tensor
    y: Tensor

    def to(self, device: torch.device | str) -> Points:
        """Return the batch on `device`."""
        return Points(self.x.to(device), self.y.to(device))


def points(seed: int = 0, number: int | None = None) -> Iterator[Points]:
    """Yield batches of a linear map to be learnt, the same for the same seed."""
    draw = torch.Generator().manual_seed(seed)
    true_map = torch.randn(D_IN, D_OUT, generator=torch.Generator().manual_seed(99))
    for _ in itertools.count() if number is None else range(number):
        x = torch.randn(BATCH, D_IN, generator=draw)
        yield Points(x, x @ true_map)


def new_model(dropout: float = 0.2, seed: int = 1) -> nn.Sequential:
    """Return an untrained model."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        hidden = nn.Linear(D_IN, D_HIDDEN), nn.BatchNorm1d(D_HIDDEN), nn.Tanh()
        return nn.Sequential(*hidden, nn.Dropout(dropout), nn.Linear(D_HIDDEN, D_OUT))


def squared_error(model: nn.Module, batch: Points) -> Tensor:
    """Return the mean squared error of a batch."""
    return (model(batch.x) - batch.y).square().mean()


def validation_error(model: nn.Module) -> float:
    """Return the mean squared error on points that no training batch holds."""
    return squared_error(model, next(points(seed=1234))).item()


# A run with validations and patience, whose state is all that a checkpoint can hold.
WHOLE = {"validate": validation_error, "validate_every": 5, "patience": 99}


def train_points(model: nn.Module, steps: int = STEPS, **settings: Any) -> History:
    """Train on the points."""
    return train(model, points(), squared_error, steps, **settings)
