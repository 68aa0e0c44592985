"""Right answers to part C's loss: each earns every point."""

import torch
from torch import nn
from torch.nn import functional


def by_cross_entropy(logits, tokens):
    vocab_size = logits.shape[-1]
    return functional.cross_entropy(
        logits[:, :-1, :].reshape(-1, vocab_size), tokens[:, 1:].reshape(-1)
    )


def with_the_vocabulary_second(logits, tokens):
    return nn.CrossEntropyLoss()(logits[:, :-1].transpose(1, 2), tokens[:, 1:])


def by_gathering(logits, tokens):
    log_p = logits.log_softmax(-1)[:, :-1]
    return -torch.gather(log_p, 2, tokens[:, 1:].unsqueeze(2)).mean()


def text_by_text(logits, tokens):
    losses = []
    for said, text in zip(logits, tokens, strict=True):
        losses.append(functional.nll_loss(said[:-1].log_softmax(-1), text[1:], reduction="none"))
    return torch.cat(losses).mean()


def place_by_place(logits, tokens):
    total, number = 0, 0
    for place in range(1, tokens.shape[1]):
        said, truth = logits[:, place - 1], tokens[:, place]
        right = said[torch.arange(len(truth)), truth]
        total = total + (said.logsumexp(-1) - right).sum()
        number += len(truth)
    return total / number
