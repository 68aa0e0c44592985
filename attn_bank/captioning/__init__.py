"""Problem set 06: weights over the cells of a picture, soft and hard, and what they explain."""

import torch
from torch import Generator, Tensor

from attn_bank.draws import draw_normal

NUMBER = "06"


def draw_weights(generator: Generator, *shape: int) -> Tensor:
    """Positive numbers that sum to 1 over the last axis."""
    return torch.softmax(1.5 * draw_normal(generator, *shape), -1)
