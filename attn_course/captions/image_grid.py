"""Weights over the cells of an image: the softmax, the mean, the pixels, and a penalty.

A cell is to a captioner what an annotated word is to a translator: lay the cells of the grid in a
row, and the softmax and the mean are the same as for words.
"""

from jaxtyping import Bool, Float
from torch import Tensor

from attn_course.retrieval import masked_softmax
from attn_course.shapes import checked, require_positive


@checked
def grid_weights(
    scores: Float[Tensor, "*batch grid_height grid_width"],
) -> Float[Tensor, "*batch grid_height grid_width"]:
    """Softmax over all cells of a grid together: one distribution, not one for each row.

    Raises:
        ValueError: There is no cell, or a score is NaN or plus infinity.
    """
    return masked_softmax(scores.flatten(-2).unsqueeze(-2)).view_as(scores)


@checked
def grid_context(
    weights: Float[Tensor, "*batch grid_height grid_width"],
    features: Float[Tensor, "*batch grid_height grid_width d_feature"],
) -> Float[Tensor, "*batch d_feature"]:
    """The weighted mean of the cells' features: the sum of each vector times its cell's weight.

    It is as wide as one feature vector, however many cells there are.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.

    Source: Xu et al. 2015, section 4.2.
    """
    return (weights.flatten(-2).unsqueeze(-2) @ features.flatten(-3, -2)).squeeze(-2)


@checked
def over_pixels(
    weights: Float[Tensor, "*batch grid_height grid_width"], cell: int
) -> Float[Tensor, "*batch height width"]:
    """Divide each cell's weight equally among its pixels, so that the sum stays the same.

    Args:
        weights: Weights of the cells.
        cell: Side of a cell, in pixels.

    Raises:
        ValueError: `cell` is not positive, or a weight is NaN.
    """
    require_positive("cell", cell)
    return weights.repeat_interleave(cell, -2).repeat_interleave(cell, -1) / cell**2


@checked
def doubly_stochastic_penalty(
    weights: Float[Tensor, "batch target_len num_cells"],
    mask: Bool[Tensor, "batch target_len"] | None = None,
    share: float = 1.0,
) -> Float[Tensor, ""]:
    """Penalty for cells that get unequal weight over a whole caption: `Σ_i (1 - Σ_t α)²`.

    The weights of each word sum to 1 over the cells. The penalty asks that the weights of each cell
    sum to `share` over the words, which is possible for all cells only if the caption has `share`
    words for each cell.

    Args:
        weights: Weights over the cells at each word of each caption.
        mask: True at words, False at padding, which does not count; None means no padding.
        share: The weight that every cell should get.

    Returns:
        The mean over the captions.

    Raises:
        ValueError: A shape does not fit, a weight is NaN, or `share` is not positive and finite.

    Source: Xu et al. 2015, section 4.2.1, where `share` is 1.
    """
    require_positive("share", share)
    if mask is not None:
        weights = weights * mask.unsqueeze(-1)
    return (share - weights.sum(1)).square().sum(-1).mean()
