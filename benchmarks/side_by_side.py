"""Two ways of doing the same, timed in turns, so that what slows the machine slows both."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

Work = Callable[[], object]
# A name, our way and another.
Row = tuple[str, Work, Work]
ROUNDS = 15


class Pair(NamedTuple):
    """Medians over the rounds: two times in milliseconds, and the ratio of first to second."""

    one: float
    other: float
    ratio: float


def seconds(work: Work, calls: int = 1) -> float:
    """Time of one call on the clock, as the mean of a few in a row."""
    _wait_for_device()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    _wait_for_device()
    return (time.perf_counter() - start) / calls


def in_turns(one: Work, other: Work, calls: tuple[int, int] = (1, 1), rounds: int = ROUNDS) -> Pair:
    """Time both, one after the other, round after round."""
    times = [(seconds(one, calls[0]), seconds(other, calls[1])) for _ in range(rounds)]
    first, second = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    return Pair(first, second, statistics.median(a / b for a, b in times))


def _wait_for_device() -> None:
    """A GPU works on while Python has gone ahead."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
