"""Sequences whose last step asks for something earlier: the first symbol, or a key's partner.

Every step shows two symbols, a key and a value; the last one shows a key and no value.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

NUM_KEYS, NUM_VALUES = 32, 10
BLANK = NUM_VALUES  # the value at the step that asks
SHOWN, ASKED = 0, 1  # the keys of "the first symbol": of those that are shown, and of the last step


class RecallBatch(NamedTuple):
    """Sequences to learn from.

    Attributes:
        keys: From 0 to 31, (batch, length).
        values: From 0 to 9, and BLANK = 10 at the last step, (batch, length).
        answer: The value asked for, (batch,).
    """

    keys: Tensor
    values: Tensor
    answer: Tensor

    def to(self, device: torch.device | str) -> "RecallBatch":
        """The batch on another device."""
        return RecallBatch(*(part.to(device) for part in self))


def first_batches(seed: int, distance: int, batch_size: int = 64) -> Iterator[RecallBatch]:
    """Yield batches without end: which value was shown at the first step?

    Args:
        seed: The same seed gives the same batches.
        distance: Steps from the first step to the one that asks; the length is one more.
        batch_size: Number of sequences in a batch.

    Raises:
        ValueError: `distance` or `batch_size` is not positive.
    """
    _require(distance=distance, batch_size=batch_size)
    generator = torch.Generator().manual_seed(seed)
    keys = torch.full((batch_size, distance + 1), SHOWN)
    keys[:, -1] = ASKED
    while True:
        values = _values(batch_size, distance, generator)
        yield RecallBatch(keys.clone(), values, values[:, 0].clone())


def partner_batches(seed: int, num_pairs: int, batch_size: int = 64) -> Iterator[RecallBatch]:
    """Yield batches of associative recall without end: which value was shown with this key?

    The keys of a sequence differ, and the last step is equally likely to ask for any of them.

    Args:
        seed: The same seed gives the same batches.
        num_pairs: Number of keys with their values; the length is one more.
        batch_size: Number of sequences in a batch.

    Raises:
        ValueError: `num_pairs` is not from 1 to 32, or `batch_size` is not positive.
    """
    _require(num_pairs=num_pairs, batch_size=batch_size)
    if num_pairs > NUM_KEYS:
        raise ValueError(f"{num_pairs=} in a sequence, but there are {NUM_KEYS} keys")
    generator = torch.Generator().manual_seed(seed)
    while True:
        shuffled = torch.rand(batch_size, NUM_KEYS, generator=generator).argsort(1)
        asked = torch.randint(num_pairs, (batch_size, 1), generator=generator)
        keys = shuffled[:, :num_pairs]
        keys = torch.cat([keys, keys.gather(1, asked)], 1)
        values = _values(batch_size, num_pairs, generator)
        yield RecallBatch(keys, values, values.gather(1, asked).squeeze(1))


def told_batches(seed: int, num_pairs: int, batch_size: int = 64) -> Iterator[RecallBatch]:
    """Yield the batches of `partner_batches`, with the step that asks at the front as well.

    A model that reads them knows from the start which value it will need, and can forget the
    others. They are the control for the claim that the difficulty lies in keeping all pairs.

    Args:
        seed: The same seed gives the same batches.
        num_pairs: Number of keys with their values; the length is two more.
        batch_size: Number of sequences in a batch.

    Raises:
        ValueError: `num_pairs` is not from 1 to 32, or `batch_size` is not positive.
    """
    for batch in partner_batches(seed, num_pairs, batch_size):
        keys, values = (torch.cat([row[:, -1:], row], 1) for row in batch[:2])
        yield RecallBatch(keys, values, batch.answer)


def _values(batch_size: int, shown: int, generator: torch.Generator) -> Tensor:
    values = torch.randint(NUM_VALUES, (batch_size, shown + 1), generator=generator)
    values[:, -1] = BLANK
    return values


def _require(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}={size} must be positive")
