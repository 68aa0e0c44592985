"""Problem set 09: several heads, what is kept while they decode, and what one head cannot."""

from torch import Tensor

NUMBER = "09"


def split(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)
