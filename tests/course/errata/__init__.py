"""The printed form, the right form, and a judge of both, for each checked row of the errata.

A slip is a function named by its rows. It returns the printed form, typed as it stands, the right
form, by the package where it has one, and a witness that knows neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.testing import assert_close

# The words of a judge: `says` of a slip must be in them, so that nothing fails for another reason.
VALUES, SHAPE = "are not close", "'shape' do not match"


@dataclass(frozen=True)
class Slip:
    """The two forms, and a judge that raises an error for what is wrong."""

    printed: Callable[[], Any]
    right: Callable[[], Any]
    judge: Callable[[Any], None]


@dataclass(frozen=True)
class Check:
    """A function that makes a slip, and the words heard when its printed form is tried."""

    make: Callable[[], Slip]
    says: str


CHECKS: dict[str, Check] = {}


def slip(*rows: str, says: str = VALUES) -> Callable[[Callable[[], Slip]], Callable[[], Slip]]:
    """Register a slip under the names of its rows; the printed form fails with what it `says`."""

    def register(make: Callable[[], Slip]) -> Callable[[], Slip]:
        for row in rows:
            assert row not in CHECKS, row
            CHECKS[row] = Check(make, says)
        return make

    return register


def agrees_with(witness: Tensor | np.ndarray) -> Callable[[Tensor], None]:
    """Return a judge to whom what equals the witness, in shape and value, is right."""
    return lambda result: assert_close(result, torch.as_tensor(witness), rtol=1e-9, atol=1e-9)


def draw(*shapes: tuple[int, ...], seed: int = 0) -> list[Tensor]:
    """Return normal numbers in double precision, a tensor for each shape."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.double) for shape in shapes]
