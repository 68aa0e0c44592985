"""Random draws that are the same everywhere for the same seed, for data that must not differ."""

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Draws that depend on the seed alone, not on the machine or the version of Python.

    Python promises that `random.Random(seed).random()` will always give the same numbers. It makes
    no such promise for `choice` and `shuffle`, whose code has changed before. So everything here is
    made from `random()`.

    Args:
        seed: Any whole number from 0 on.

    Raises:
        ValueError: The seed is negative. Python drops the sign, so that -1 would give what 1 gives.
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"{seed=} is negative: a seed is a whole number from 0 on")
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit - 1`, all equally likely."""
        return int(self._random.random() * limit)

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """The items in a random order."""
        return sorted(items, key=lambda _: self._random.random())
