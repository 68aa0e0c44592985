"""Windows of a text, for a model that learns which token follows each token."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor


class WindowBatch(NamedTuple):
    """Parts of a text, each of neighbouring tokens.

    Attributes:
        tokens: Numbers of tokens, (batch, length); each but the first is one to predict.
    """

    tokens: Tensor

    def to(self, device: torch.device | str) -> "WindowBatch":
        """The batch on another device."""
        return WindowBatch(self.tokens.to(device))


def drawn_windows(
    text: Int[Tensor, " num_tokens"], length: int, batch_size: int, seed: int
) -> Iterator[WindowBatch]:
    """Yield batches of windows that begin anywhere, without end; the same seed gives the same.

    Raises:
        ValueError: The text is shorter than a window.
    """
    if len(text) < length:
        raise ValueError(f"a window of {length=} does not fit a text of {len(text)} tokens")
    generator = torch.Generator().manual_seed(seed)
    while True:
        begin = torch.randint(len(text) - length + 1, (batch_size, 1), generator=generator)
        yield WindowBatch(text[begin + torch.arange(length)])


def all_windows(
    text: Int[Tensor, " num_tokens"], length: int, step: int
) -> Int[Tensor, "num_windows length"]:
    """The windows of a text that begin every `step` tokens; what is left at its end is dropped."""
    return text.unfold(0, length, step)
