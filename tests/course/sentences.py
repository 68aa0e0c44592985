"""Sentences to test translators with, a batch of them, and a translator asked word by word."""

import torch
from torch import Tensor, nn

from attn_course.seq2seq import BOS, EOS, PAD

VOCAB, TARGET_VOCAB = 23, 19
LENGTHS = (7, 2, 5)  # of the sources of a batch, EOS included
WORDS = (5, 4, 1)  # and of their translations


def sentences(lengths: tuple[int, ...], vocab_size: int, seed: int) -> Tensor:
    """Draw sentences of these lengths, EOS included, padded."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(EOS + 1, vocab_size, (len(lengths), max(lengths)), generator=generator)
    for row, length in zip(tokens, lengths, strict=True):
        row[length - 1] = EOS
        row[length:] = PAD
    return tokens


def some_batch(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Draw sources, target inputs and target outputs, all with padding."""
    output = sentences(WORDS, TARGET_VOCAB, seed + 1)
    shifted = torch.cat([torch.full((len(output), 1), BOS), output[:, :-1]], 1)
    return sentences(LENGTHS, VOCAB, seed), shifted.where(output != PAD, PAD), output


def stepwise(model: nn.Module, source: Tensor, target_input: Tensor) -> Tensor:
    """Return the logits of the words, asked for one after the other."""
    state, logits = model.start(source), []
    for token in target_input.unbind(1):
        one, state = model.step(token, state)
        logits.append(one)
    return torch.stack(logits, 1)
