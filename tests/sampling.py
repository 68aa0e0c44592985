"""A fixed part of what is many: `make test` looks at a sample, `make proofs` at the whole.

A sample is drawn by the names of the things in it, so it is the same on every machine and on every
day, and when a thing is added, at most one leaves it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
# `make proofs` sets this.
PROOFS = "ATTN_COURSE_PROOFS"
# The first marks a test that `make test` leaves out; the second, one that samples within, which
# `make proofs` runs again as a whole.
left_to_proofs = pytest.mark.left_to_proofs
sampled = pytest.mark.sampled


def takes_all() -> bool:
    """True where nothing may be left out."""
    return bool(os.environ.get(PROOFS))


def sample(things: Iterable[T], size: int, name: Callable[[T], str] = str) -> list[T]:
    """Return so many of the things, in their order, or all of them in `make proofs`."""
    everything = list(things)
    return everything if takes_all() else _drawn(everything, size, name)


def parameters(
    things: Iterable[str], size: int, always: Sequence[str] = (), never: Collection[str] = ()
) -> list:
    """Parametrise with all things; but for some, and a sample, they are left to `make proofs`.

    Args:
        things: All of them.
        size: So many are drawn.
        always: Those that `make test` takes besides.
        never: Those that are not drawn, since they take too long.
    """
    everything = list(things)
    others = [thing for thing in everything if thing not in always and thing not in never]
    taken = {*always, *_drawn(others, size, str)}
    return [
        pytest.param(thing, marks=() if thing in taken else left_to_proofs) for thing in everything
    ]


def _drawn(things: Sequence[T], size: int, name: Callable[[T], str]) -> list[T]:
    """Draw by the checksum of a name, which looks like chance and is none."""
    by_checksum = sorted(things, key=lambda thing: zlib.crc32(name(thing).encode()))
    drawn = {name(thing) for thing in by_checksum[:size]}
    return [thing for thing in things if name(thing) in drawn]
