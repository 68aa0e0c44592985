"""Words as numbers, and sentences as batches: the steps between a text and a model.

A sentence of numbers ends in EOS. In a batch it is padded with PAD to the length of the longest.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from attn_course.data.draw import Draw
from attn_course.seq2seq import BOS, EOS, PAD

# The number of every word that is not in a vocabulary.
UNK = 3
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
# Sentences are sorted by length within chunks of this many: enough for neighbours of nearly the
# same length, few enough that an epoch is not in the order of length.
CHUNK = 2000

IdPair = tuple[Sequence[int], Sequence[int]]


class Vocabulary:
    """The words that a model knows, each with a number; the first four numbers are special.

    Its length counts the special ones: it is the `vocab_size` of a model.

    Args:
        words: Different words, in the order of their numbers; the first one gets number 4.

    Raises:
        ValueError: A word comes twice, or is one of the special ones.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._all = SPECIAL + self.words
        self._number = {word: number for number, word in enumerate(self._all)}
        if len(self._number) < len(self._all):
            twice = next(word for i, word in enumerate(self._all) if self._number[word] != i)
            raise ValueError(f"{twice!r} comes twice in the vocabulary")

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "Vocabulary":
        """The vocabulary of all words in some sentences, in alphabetical order."""
        return cls(sorted({word for sentence in sentences for word in sentence}))

    def __len__(self) -> int:
        return len(self._all)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The numbers of the words, then EOS; an unknown word gets the number UNK = 3."""
        return [*(self._number.get(word, UNK) for word in tokens), EOS]

    def decode(self, ids: Iterable[int] | Tensor) -> tuple[str, ...]:
        """The words with these numbers, up to the first EOS, including `<pad>` and the like.

        Raises:
            ValueError: No word has one of the numbers.
        """
        found = []
        for number in map(int, ids):
            if number == EOS:
                break
            if not 0 <= number < len(self):
                raise ValueError(f"no word has number {number}: there are {len(self)}")
            found.append(self._all[number])
        return tuple(found)


class Batch(NamedTuple):
    """Sentences of numbers to learn from, of shape (batch, length), padded at the end.

    Attributes:
        source: The sentences to read; each row ends in EOS.
        target_input: The words that the decoder reads: BOS, then the translation.
        target_output: The words that it should predict: the translation, then EOS.
    """

    source: Tensor
    target_input: Tensor
    target_output: Tensor

    def to(self, device: torch.device | str) -> "Batch":
        """The batch on another device."""
        return Batch(*(tokens.to(device) for tokens in self))


def pad(sequences: Sequence[Sequence[int]]) -> Int64[Tensor, "batch length"]:
    """Sequences as the rows of one tensor, padded at the end with PAD.

    Raises:
        ValueError: There is no sequence, or one is empty.
    """
    if not sequences:
        raise ValueError("there is no sequence to pad")
    for number, sequence in enumerate(sequences):
        if not len(sequence):
            raise ValueError(f"sequence {number} is empty")
    length = max(map(len, sequences))
    return torch.tensor([[*ids, *[PAD] * (length - len(ids))] for ids in sequences])


def make_batch(pairs: Sequence[IdPair]) -> Batch:
    """One batch of pairs of sentences, in the form that `batches` describes."""
    source, target = zip(*pairs, strict=True)
    return Batch(pad(source), pad([[BOS, *ids[:-1]] for ids in target]), pad(target))


def batches(pairs_of_ids: Sequence[IdPair], batch_size: int, seed: int) -> Iterator[Batch]:
    """Yield batches without end, of sentences of similar length, in a new order each epoch.

    Args:
        pairs_of_ids: Pairs of a source and a target, as `Vocabulary.encode` makes them, with EOS.
        batch_size: Number of sentences in a batch; the last batch of a chunk may have fewer.
        seed: The same seed gives the same batches.

    Raises:
        ValueError: There are no pairs, a sentence is empty or does not end in EOS, the batch size
            is not positive, or the seed is negative.
    """
    if not pairs_of_ids:
        raise ValueError("there is no pair of sentences to make batches of")
    if batch_size < 1:
        raise ValueError(f"{batch_size=} must be at least 1")
    for number, pair in enumerate(pairs_of_ids):
        for side, ids in zip(("source", "target"), pair, strict=True):
            if not len(ids) or ids[-1] != EOS:
                raise ValueError(f"{side} {number} does not end in EOS = {EOS}: {list(ids)}")
    return _endless(pairs_of_ids, batch_size, Draw(seed))


def _endless(pairs: Sequence[IdPair], batch_size: int, draw: Draw) -> Iterator[Batch]:
    while True:
        order, epoch = draw.shuffled(pairs), []
        for start in range(0, len(order), CHUNK):
            chunk = sorted(order[start : start + CHUNK], key=lambda pair: len(pair[1]))
            epoch += [chunk[k : k + batch_size] for k in range(0, len(chunk), batch_size)]
        yield from map(make_batch, draw.shuffled(epoch))
