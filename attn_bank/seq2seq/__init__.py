"""Problem set 03: sequence to sequence, where all of a sentence goes through one vector."""

import torch
from torch import Generator, Tensor

from attn_course.seq2seq import EOS, PAD

NUMBER = "03"
FIRST_WORD = EOS + 1


def draw_lengths(generator: Generator, batch: int, most: int, least: int = 1) -> Tensor:
    """The number of words in each sentence: one has the most, and one has the least."""
    length = torch.randint(least, most + 1, (batch,), generator=generator)
    longest, shortest = torch.randperm(batch, generator=generator)[:2]
    length[longest], length[shortest] = most, least
    return length


def draw_words(generator: Generator, *shape: int, vocab_size: int) -> Tensor:
    return torch.randint(FIRST_WORD, vocab_size, shape, generator=generator)


def end_and_pad(words: Tensor, length: Tensor) -> Tensor:
    """Sentences of so many words: behind them one EOS, then PAD."""
    position = torch.arange(words.shape[1])
    ended = words.masked_fill(position == length.unsqueeze(1), EOS)
    return ended.masked_fill(position > length.unsqueeze(1), PAD)


def draw_sentences(generator: Generator, batch: int, length: int, vocab_size: int) -> Tensor:
    """Sentences that end in EOS, padded to `length`; one fills its row, one is a lone EOS."""
    words = draw_words(generator, batch, length, vocab_size=vocab_size)
    return end_and_pad(words, draw_lengths(generator, batch, length - 1, least=0))
