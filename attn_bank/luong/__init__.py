"""Problem set 05: multiplicative scores, local attention, input feeding, and what weights tell."""

import torch
from torch import Generator, Tensor

NUMBER = "05"


def draw_mask(generator: Generator, batch: int, length: int) -> Tensor:
    """True at words: one sentence fills its row, another has two words of padding or more."""
    lengths = torch.randint(1, length + 1, (batch,), generator=generator)
    lengths[0], lengths[-1] = length, torch.randint(1, length - 1, (), generator=generator)
    return torch.arange(length) < lengths.unsqueeze(-1)
