"""Scores of directions alone, and weights that are a difference of two softmaxes."""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from attn_course.retrieval import masked_softmax
from attn_course.shapes import checked


@checked
def normalized_scores(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
    gain: float | Tensor,
) -> Float[Tensor, "*batch query_len key_len"]:
    """Cosines of queries and keys, times a gain: no weight can make them larger than that.

    Args:
        query: Queries of any length.
        key: Keys of any length.
        gain: The score of two vectors that point the same way; usually learned.

    Source: Henry et al. 2020.
    """
    return gain * functional.normalize(query, dim=-1) @ functional.normalize(key, dim=-1).mT


@checked
def difference_of_weights(
    scores: Float[Tensor, "*batch query_len key_len"],
    other: Float[Tensor, "*batch query_len key_len"],
    share: float | Tensor,
    mask: Bool[Tensor, "*#batch #query_len key_len"] | None = None,
) -> Float[Tensor, "*batch query_len key_len"]:
    """Softmax of some scores minus a share of the softmax of others: weights may be negative.

    Source: Ye et al. 2025, eq. 1.
    """
    return masked_softmax(scores, mask) - share * masked_softmax(other, mask)
