"""Models without weights: how often does each character follow the few characters before it?

`make` counts in the training text of the novels, and records the bits a character on unseen text.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attn_course.data.novels import Part, novels
from attn_course.trained.store import write_record

ORDERS = (2, 5, 7, 9)
BITS = 6  # of the number of a character; up to ten characters make one number


class Order(NamedTuple):
    """Counts of the sequences of one length, and of the followers of their beginnings.

    Attributes:
        sequences: The numbers of the sequences, in order.
        counts: The count of each.
        contexts: The numbers of the sequences without their last characters, in order.
        totals: The sum of the counts for each context.
        followers: How many different characters follow each context.
        discount: What is taken from each count, and shared out by the order below.
    """

    sequences: np.ndarray
    counts: np.ndarray
    contexts: np.ndarray
    totals: np.ndarray
    followers: np.ndarray
    discount: float


def make() -> None:
    """Count, measure and record all orders: half a minute."""
    runs = []
    for order in ORDERS:
        start = time.process_time()
        orders = count(characters("training"), order)
        run = {"order": order, "counts": sum(len(one.sequences) for one in orders)}
        for part in ("validation", "test"):
            run[part] = round(bits(orders, characters(part)), 4)
        runs.append(run | {"cpu_seconds": round(time.process_time() - start, 1)})
    write_record(__file__, "kneser_ney", runs)


def characters(part: Part) -> np.ndarray:
    """A part of the novels as numbers of characters."""
    alphabet = sorted(set(novels("training")))
    numbers = dict(zip(alphabet, range(len(alphabet)), strict=True))
    return np.array([numbers[character] for character in novels(part)])


def bits(orders: Sequence[Order], text: np.ndarray) -> float:
    """Bits a character of a text, by these counts."""
    return float(-np.log2(probabilities(orders, text)).mean())


def count(text: np.ndarray, order: int) -> list[Order]:
    """The counts of sequences of 1, 2, ... `order` characters.

    The longest count as often as they occur. A shorter one counts once for each different character
    in front of it, because it is asked for where no longer one is known.

    Source: Kneser and Ney 1995; Chen and Goodman 1999 (interpolated).
    """
    return [_order(*_counted(text, length, order), length) for length in range(1, order + 1)]


def _counted(text: np.ndarray, length: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    if length == longest:
        return np.unique(sequences(text, length), return_counts=True)
    longer = np.unique(sequences(text, length + 1))
    return np.unique(longer & (1 << BITS * length) - 1, return_counts=True)


def sequences(text: np.ndarray, length: int) -> np.ndarray:
    """The numbers of all sequences of this length in a text."""
    numbers = np.zeros(len(text) - length + 1, dtype=np.int64)
    for at in range(length):
        numbers = numbers << BITS | text[at : at + len(numbers)]
    return numbers


def _order(found: np.ndarray, counts: np.ndarray, length: int) -> Order:
    contexts, place = np.unique(found >> BITS, return_inverse=True)
    once, twice = (counts == 1).sum(), (counts == 2).sum()
    discount = once / (once + 2 * twice) if once else 0.5
    totals = np.bincount(place, counts)
    return Order(found, counts, contexts, totals, np.bincount(place), float(discount))


def probabilities(orders: Sequence[Order], text: np.ndarray) -> np.ndarray:
    """The probability of each character of a text but the first few, given those before it."""
    longest = len(orders)
    p = np.full(len(text) - longest + 1, 2.0**-BITS)
    for length, order in enumerate(orders, 1):
        asked = sequences(text[longest - length :], length)
        count = _looked_up(order.sequences, order.counts, asked)
        total = _looked_up(order.contexts, order.totals, asked >> BITS)
        followers = _looked_up(order.contexts, order.followers, asked >> BITS)
        shared = order.discount * followers * p + np.maximum(count - order.discount, 0)
        p = np.where(total > 0, shared / np.maximum(total, 1), p)
    return p


def _looked_up(keys: np.ndarray, values: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The values of keys in order, or 0."""
    place = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
    return np.where(keys[place] == asked, values[place], 0)
