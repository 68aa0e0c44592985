"""A state of the figure of the attention layer, in numbers of the package."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.scaled_dot_product import (
    causal_mask,
    combine,
    mask_of,
    padding_mask,
    scaled_dot_scores,
    window,
)

# The ways to scale a dot product, and their names for the reader; the last is a misprint.
SCALES = {"divide": "÷ √{}", "keep": "as they are", "multiply": "× √{}"}


@dataclass(frozen=True)
class State:
    """A state of the figure, and what follows from it.

    Args:
        words: A word for each token.
        query: A row for each token, float64, rounded as on the page.
        key: A row for each token, likewise.
        scale: One of `SCALES`.
        temperature: The number by which the scores are divided.
        causal: True if the causal mask is on.
        half_width: The reach of the window to either side, in tokens; None if it is off.
        length: Number of tokens that are not padding; None if the padding mask is off.
    """

    words: Sequence[str]
    query: Float[Tensor, "length d_key"]
    key: Float[Tensor, "length d_key"]
    scale: str = "divide"
    temperature: float = 1.0
    causal: bool = False
    half_width: int | None = None
    length: int | None = None

    @cached_property
    def d_key(self) -> int:
        return self.query.shape[-1]

    @cached_property
    def temperatures(self) -> list[float]:
        """The temperatures to choose from; at some of them one scale looks like another."""
        spaced = [float(f"{10**power:.2g}") for power in torch.linspace(-1, 1, 41).tolist()]
        root = float(f"{math.sqrt(self.d_key):.3g}")
        return sorted({*spaced, root, float(self.d_key), self.temperature})

    @cached_property
    def mask(self) -> Bool[Tensor, "length length"] | None:
        size = len(self.words)
        masks = [causal_mask(size) if self.causal else None]
        if self.half_width is not None:
            masks.append(mask_of(window(self.half_width), size, size))
        if self.length is not None:
            masks.append(padding_mask(torch.tensor(self.length), size).expand(size, size))
        return combine(*masks)

    @cached_property
    def products(self) -> Float[Tensor, "length length"]:
        return dot_scores(self.query, self.key)

    @cached_property
    def scores(self) -> Float[Tensor, "length length"]:
        """The scores that enter the softmax: scaled, and divided by the temperature."""
        scaled = {
            "divide": lambda: scaled_dot_scores(self.query, self.key),
            "keep": lambda: self.products,
            "multiply": lambda: self.products * math.sqrt(self.d_key),
        }
        return scaled[self.scale]() / self.temperature

    @cached_property
    def weights(self) -> Float[Tensor, "length length"]:
        return masked_softmax(self.scores, self.mask)


def rounded(numbers: Tensor) -> Tensor:
    """The numbers in float64, to three decimals."""
    rows = [[round(number, 3) for number in row] for row in numbers.detach().double().tolist()]
    return torch.tensor(rows, dtype=torch.float64)
