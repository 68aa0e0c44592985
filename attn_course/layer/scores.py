"""Scores besides the scaled dot product, for `fast_attention` and `MultiHeadAttention`."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.shapes import checked, require_positive


@dataclass(frozen=True)
class CappedScores:
    """Scaled dot products that stay between `-cap` and `cap`, and hardly change near 0.

    It is `cap * tanh(scale * query · key / cap)`, so that no single key takes all the weight.

    Attributes:
        cap: The bound, in the units of a score.
        scale: Factor of the dot products; `1 / sqrt(d_key)` if None.

    Raises:
        ValueError: `cap` is not positive.

    Source: Gemma Team 2024 (Gemma 2), section 2.
    """

    cap: float
    scale: float | None = None
    # how many numbers it makes for a query and a key: blocks may be the larger
    numbers_of_a_pair: ClassVar[int] = 1

    def __post_init__(self) -> None:
        require_positive("cap", self.cap)

    @checked
    def __call__(
        self,
        query: Float[Tensor, "*batch query_len d_key"],
        key: Float[Tensor, "*batch key_len d_key"],
    ) -> Float[Tensor, "*batch query_len key_len"]:
        """The scores of all keys for all queries."""
        scale = max(1, query.shape[-1]) ** -0.5 if self.scale is None else self.scale
        # half precision would round the scale, and could overflow before the bound
        wide = torch.promote_types(query.dtype, torch.float32)
        scores = query.to(wide) * (scale / self.cap) @ key.to(wide).mT
        return (self.cap * torch.tanh(scores)).to(query.dtype)
