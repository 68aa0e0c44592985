"""Problem set 08: self-attention, its mask, its positions, and what it knows of order."""

from torch import Generator, Tensor

from attn_bank.draws import draw_normal

NUMBER = "08"


def draw_projection(generator: Generator, d_input: int, d_output: int) -> Tensor:
    """A matrix that a row is multiplied with from the right, keeping its size."""
    return draw_normal(generator, d_input, d_output) / d_input**0.5
