"""Sequences to copy or to reverse: a model only has to remember them.

There is no grammar to learn, and no word can be guessed from the others, so every mistake is
something that the model has forgotten.
"""

from collections.abc import Iterator

from attn_course.data.draw import Draw
from attn_course.data.tokens import SPECIAL
from attn_course.seq2seq import EOS

# The number of the first symbol: `FIRST_SYMBOL + num_symbols` is the `vocab_size` of a model.
FIRST_SYMBOL = len(SPECIAL)


def copy_pairs(
    seed: int, num_symbols: int = 20, lengths: tuple[int, int] = (1, 20)
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield random sequences without end, each paired with itself, for `data.tokens.batches`.

    Args:
        seed: The same seed gives the same sequences on every machine.
        num_symbols: Number of different symbols, numbered from 4; all are equally likely.
        lengths: Smallest and largest number of symbols, without EOS; all are equally likely.

    Raises:
        ValueError: There is no symbol, the lengths are not in order from 1 on, or the seed is
            negative.
    """
    least, most = lengths
    if num_symbols < 1:
        raise ValueError(f"{num_symbols=} must be at least 1")
    if not 1 <= least <= most:
        raise ValueError(f"{lengths=} must be two numbers in order, from 1 on")
    return ((ids, list(ids)) for ids in _sequences(Draw(seed), num_symbols, least, most))


def reversal_pairs(
    seed: int, num_symbols: int = 20, lengths: tuple[int, int] = (1, 20)
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the sequences of `copy_pairs`, each paired with its reverse; EOS stays last."""
    pairs = copy_pairs(seed, num_symbols, lengths)
    return ((source, [*source[-2::-1], EOS]) for source, _ in pairs)


def _sequences(draw: Draw, num_symbols: int, least: int, most: int) -> Iterator[list[int]]:
    while True:
        length = draw.between(least, most)
        yield [*(FIRST_SYMBOL + draw.below(num_symbols) for _ in range(length)), EOS]
