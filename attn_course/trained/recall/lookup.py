"""A layer that learns to look up a label, trained in seconds: does the root of chapter 07 matter?

The layer sees 16 of 64 symbols, each with one of ten labels, and is asked for the label of one.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attn_course.scaled_dot_product import attention

NUM_SYMBOLS, NUM_LABELS = 64, 10


class Start(NamedTuple):
    """A layer before training, and the vectors that its exercises are made of.

    Attributes:
        draw: Draws the exercises.
        symbols: A vector for each symbol, (64, d).
        labels: A vector for each label, (10, d).
        matrices: W_Q, W_K and W_V, (d, d), and the read-out, (10, d).
    """

    draw: torch.Generator
    symbols: Tensor
    labels: Tensor
    matrices: list[Tensor]


def fresh(seed: int, d: int = 256) -> Start:
    """Draw the vectors, with variance 1, and the matrices, with variance 1/d."""
    draw = torch.Generator().manual_seed(seed)
    sizes = (d, d, d, NUM_LABELS, NUM_SYMBOLS, NUM_LABELS)
    *drawn, symbols, labels = (torch.randn(n, d, generator=draw) for n in sizes)
    return Start(draw, symbols, labels, [(one / d**0.5).requires_grad_() for one in drawn])


def exercise(
    symbols: Tensor, labels: Tensor, draw: torch.Generator, batch: int = 64, shown: int = 16
) -> tuple[Tensor, Tensor, Tensor]:
    """The symbol asked for, (batch, 1, d), labelled symbols, (batch, shown, d), and the label."""
    order = torch.rand(batch, NUM_SYMBOLS, generator=draw).argsort(-1)[:, :shown]
    label = torch.randint(NUM_LABELS, (batch, shown), generator=draw)
    asked = symbols[order[:, :1]]  # the first: the layer sees no places
    table = (symbols[:, None] + labels)[order, label]
    return asked, table, label[:, 0]


def answers(
    score: Callable[[Tensor, Tensor], Tensor],
    asked: Tensor,
    table: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W: Tensor,
) -> Tensor:
    """The logits of `attention(asked @ W_Q, table @ W_K, table @ W_V) @ W.mT`, but faster.

    Rows are as wide as keys, so the root of a scaled score is the same in either order.
    """
    mean = attention(asked @ W_Q @ W_K.mT, table, table, score=score)
    return (mean @ W_V @ W.mT)[:, 0]


def learn(
    score: Callable[[Tensor, Tensor], Tensor], start: Start, steps: int = 90, rate: float = 1e-3
) -> Iterator[Tensor]:
    """Train with Adam; yield the share of right answers before each step.

    Args:
        score: Of the layer: with the root or without.
        start: Its matrices are trained in place.
        steps: Each on 64 new exercises.
        rate: Learning rate of W_Q and W_K; that of the other two is 0.001.
    """
    draw, symbols, labels, matrices = start
    groups: list[dict[str, object]] = [
        {"params": matrices[:2], "lr": rate},
        {"params": matrices[2:]},
    ]
    adam = torch.optim.Adam(groups, lr=1e-3, fused=True)
    for _ in range(steps):
        asked, table, answer = exercise(symbols, labels, draw)
        logits = answers(score, asked, table, *matrices)
        adam.zero_grad()
        torch.nn.functional.cross_entropy(logits, answer).backward()
        adam.step()
        yield (logits.argmax(-1) == answer).float().mean()
