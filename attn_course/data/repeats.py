"""Random letters of which one part occurs twice: nothing can be predicted but the repeat."""

import string
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

SYMBOLS = string.ascii_lowercase + " "


class RepeatBatch(NamedTuple):
    """Sequences to learn from.

    Attributes:
        tokens: Numbers of symbols, (batch, length).
        again: True at the tokens of the repeat but its first, which nothing announces,
            (batch, length).
        distance: The number of positions from each of them back to where it stood first, (batch,).
    """

    tokens: Tensor
    again: Tensor
    distance: Tensor

    def to(self, device: torch.device | str) -> "RepeatBatch":
        """The batch on another device."""
        return RepeatBatch(*(part.to(device) for part in self))


def repeat_batches(
    seed: int,
    batch_size: int = 32,
    length: int = 64,
    *,
    num_symbols: int = len(SYMBOLS),
    sizes: tuple[int, int] = (8, 24),
    nearest: int = 0,
    differences: range | None = None,
    shuffled: bool = False,
) -> Iterator[RepeatBatch]:
    """Yield batches without end; the same seed gives the same.

    Args:
        seed: Seed of the draws.
        batch_size: Number of sequences in a batch.
        length: Number of tokens in a sequence.
        num_symbols: Number of different symbols; all are equally likely.
        sizes: Smallest and largest size of the part that occurs twice.
        nearest: The smallest distance from a token to its repeat, if that is above the size.
        differences: If given, the number of a symbol exceeds the one before, modulo their number,
            by one of these, so that other pairs are never neighbours.
        shuffled: If True, the part has another order where it stands first.

    Raises:
        ValueError: The part does not fit twice, or a number makes no sense.
    """
    least, most = sizes
    if not (1 <= least <= most and max(most, nearest) + most <= length and num_symbols > 1):
        raise ValueError(f"no two parts of {sizes=}, {nearest=} apart, fit {length=}")
    generator = torch.Generator().manual_seed(seed)
    left: list[RepeatBatch] = []  # sequences that are allowed, and not in a batch yet
    while True:
        while sum(len(part.tokens) for part in left) < batch_size:
            tokens = _symbols(generator, batch_size, length, num_symbols, differences)
            drawn = _repeat(tokens, sizes, nearest, shuffled, generator)
            left.append(_allowed(drawn, num_symbols, differences))
        whole = [torch.cat(parts) for parts in zip(*left, strict=True)]
        yield RepeatBatch(*(part[:batch_size] for part in whole))
        left = [RepeatBatch(*(part[batch_size:] for part in whole))]


def _repeat(
    tokens: Tensor,
    sizes: tuple[int, int],
    nearest: int,
    shuffled: bool,
    generator: torch.Generator,
) -> RepeatBatch:
    """Copy a part of each sequence to a later place."""
    number, length = tokens.shape
    size = torch.randint(sizes[0], sizes[1] + 1, (number, 1), generator=generator)
    distance = _between(size.clamp(min=nearest), length - size, generator)
    first = _between(torch.zeros_like(size), length - size - distance, generator)
    at = torch.arange(length)
    inside = (at >= first + distance) & (at < first + distance + size)
    tokens = tokens.gather(1, torch.where(inside, at - distance, at))
    if shuffled:
        tokens = _shuffle(tokens, (at >= first) & (at < first + size), generator)
    return RepeatBatch(tokens, inside & (at > first + distance), distance[:, 0])


def _allowed(batch: RepeatBatch, num_symbols: int, differences: range | None) -> RepeatBatch:
    """The sequences in which no other pairs have become neighbours where a copy begins or ends."""
    if differences is None:
        return batch
    steps = (batch.tokens[:, 1:] - batch.tokens[:, :-1]) % num_symbols
    fit = torch.isin(steps, torch.tensor(differences)).all(1)
    return RepeatBatch(*(part[fit] for part in batch))


def _between(low: Tensor, high: Tensor, generator: torch.Generator) -> Tensor:
    """Draw whole numbers from `low` to `high`, both included."""
    share = torch.rand(low.shape, generator=generator, dtype=torch.float64)
    return low + (share * (high - low + 1)).long()


def _symbols(
    generator: torch.Generator,
    number: int,
    length: int,
    num_symbols: int,
    differences: range | None,
) -> Tensor:
    tokens = torch.randint(num_symbols, (number, length), generator=generator)
    if differences is None:
        return tokens
    chosen = torch.randint(len(differences), (number, length), generator=generator)
    steps = torch.tensor(differences)[chosen]
    steps[:, 0] = tokens[:, 0]
    return steps.cumsum(1) % num_symbols


def _shuffle(tokens: Tensor, where: Tensor, generator: torch.Generator) -> Tensor:
    """Bring the tokens of a part into an order drawn by chance; the others stay."""
    lots = torch.rand(tokens.shape, generator=generator)
    at = torch.arange(tokens.shape[1]).expand_as(tokens)
    order = at.clone()
    for row, inside in enumerate(where):
        order[row, inside] = at[row, inside][lots[row, inside].argsort()]
    return tokens.gather(1, order)
