"""Part A of problem set 06: the mean of the cells of a grid, by one softmax over all of them."""

import torch
from torch import Generator, Tensor

from attn_course.grading.exercises.captioning import draw_normal, in_front
from attn_course.grading.spec import Check, Exercise, Inputs, Mistake
from attn_course.image_grid import grid_context as mean_of_cells
from attn_course.image_grid import grid_weights


def reference(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return mean_of_cells(grid_weights(scores.masked_fill(~mask, -torch.inf)), features)


def draw_grid(
    generator: Generator,
    height: int,
    width: int,
    d_feature: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    """All cells may be looked at."""
    shape = (*in_front(batch, beams), height, width)
    return {
        "scores": 1.5 * draw_normal(generator, *shape),
        "features": draw_normal(generator, *shape, d_feature),
        "mask": torch.ones(shape, dtype=torch.bool),
    }


def draw_masked_grid(generator: Generator, **sizes: int) -> Inputs:
    """Cells here and there are forbidden; of the last image, all."""
    inputs = draw_grid(generator, **sizes)
    mask = torch.rand(inputs["scores"].shape, generator=generator) < 0.7
    mask[..., 0, 0], mask[..., -1, -1] = True, False
    mask[-1] = False
    return inputs | {"mask": mask}


def draw_loud_grid(generator: Generator, **sizes: int) -> Inputs:
    """Scores from -300 to 300, row by row, in eighths; a forbidden cell scores highest by far."""
    inputs = draw_grid(generator, **sizes)
    height = inputs["scores"].shape[-2]
    level = 100 * (torch.arange(height) - height // 2).unsqueeze(-1)
    inputs["scores"] = (8 * inputs["scores"]).round() / 8 + level
    inputs["scores"][0] -= 500
    inputs["mask"][..., 0, 1] = False
    inputs["scores"][..., 0, 1] = 20_000
    return inputs


def _fill(scores: Tensor, mask: Tensor, value: float = -torch.inf) -> Tensor:
    return scores.masked_fill(~mask, value)


def _flat(scores: Tensor) -> Tensor:
    """Softmax over all cells together."""
    return torch.softmax(scores.flatten(-2), -1).view(scores.shape)


def _add(weights: Tensor, features: Tensor) -> Tensor:
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def takes_a_softmax_in_each_row(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(weights, features)


def takes_a_softmax_in_each_column(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(_fill(scores, mask), -2).masked_fill(~mask, 0)
    return _add(weights, features)


def takes_one_softmax_after_the_other(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(torch.softmax(_fill(weights, mask), -2).masked_fill(~mask, 0), features)


def shares_rows_out_evenly(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(weights, features) / scores.shape[-2]


def takes_one_softmax_for_the_batch(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(_fill(scores, mask).flatten(), 0).view(scores.shape)
    return _add(weights, features)


def reads_one_grid_by_columns(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = grid_weights(_fill(scores, mask)).mT.reshape(scores.shape)
    return _add(weights, features)


def multiplies_cell_by_feature(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = grid_weights(_fill(scores, mask))
    return (weights * features).sum((-3, -2))


def keeps_the_grid(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return grid_weights(_fill(scores, mask)).unsqueeze(-1) * features


def puts_the_cells_side_by_side(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return keeps_the_grid(scores, features, mask).flatten(-3)


def sums_over_the_rows_only(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return keeps_the_grid(scores, features, mask).sum(-3)


def divides_by_the_number_of_cells(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return keeps_the_grid(scores, features, mask).mean((-3, -2))


def takes_the_scores_for_weights(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(scores.masked_fill(~mask, 0), features)


def takes_the_best_cell(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    best = _fill(scores, mask).flatten(-2).argmax(-1, keepdim=True)
    at_best = torch.zeros_like(scores).flatten(-2).scatter(-1, best, 1).view(scores.shape)
    return _add(at_best * mask, features)


def sums_over_the_features(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return keeps_the_grid(scores, features, mask).sum(-1)


def counts_axes_from_the_front(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = grid_weights(_fill(scores, mask))
    return (weights.unsqueeze(-1) * features).sum((1, 2))


def takes_the_first_axis_for_a_batch(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    walled = _fill(scores, mask).flatten(1)
    weights = torch.softmax(walled, 1).view(scores.shape).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((1, 2))


def forgets_the_mask(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(scores), features)


def turns_the_mask_round(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores, features, ~mask)


def masks_after_the_softmax(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(scores) * mask, features)


def shares_out_again_after_the_softmax(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = _flat(scores) * mask
    total = weights.sum((-2, -1), keepdim=True)
    return _add(weights / total.where(total > 0, 1), features)


def multiplies_scores_by_the_mask(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(scores * mask), features)


def fills_with_minus_ten_thousand(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(_fill(scores, mask, -1e4)), features)


def subtracts_a_wall(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = _flat(scores - 1e4 * ~mask)
    return _add(weights * mask.flatten(-2).any(-1)[..., None, None], features)


def divides_nothing_by_nothing(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(_fill(scores, mask)), features)


def replaces_nan_afterwards(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(_fill(scores, mask)), features).nan_to_num(0)


def takes_powers_as_they_are(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    powers = torch.exp(scores.masked_fill(~mask, 0)) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


def takes_the_largest_of_all_off(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    powers = torch.exp((scores - scores[mask].max()).masked_fill(~mask, 0)) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


def writes_into_the_scores(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    context = reference(scores, features, mask)
    scores.data[~mask] = -1e30
    return context


def takes_weights_for_constants(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores.detach(), features, mask)


def works_in_single_precision(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores.float(), features.float(), mask)


def works_in_double_precision(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores.double(), features.double(), mask)


EXERCISE = Exercise(
    function="grid_context",
    reference=reference,
    avoid=("scaled_dot_product_attention", "multi_head_attention_forward"),
    checks=(
        Check(
            "one softmax over all cells of an image, and the mean of their features by it; any"
            " number of axes may come before",
            1.5,
            draw_grid,
            sizes=(
                {"batch": 3, "height": 3, "width": 3, "d_feature": 3},
                {"height": 3, "width": 5, "d_feature": 7},
            ),
            hidden_sizes=(
                {"height": 7, "width": 2, "d_feature": 3},
                {"batch": 3, "beams": 2, "height": 2, "width": 5, "d_feature": 1},
            ),
        ),
        Check(
            "cells that may not be looked at have no weight; where none may, the context is 0; the"
            " tensors of the caller stay as they are",
            1,
            draw_masked_grid,
            sizes=({"batch": 3, "height": 2, "width": 5, "d_feature": 3},),
            hidden_sizes=({"batch": 2, "height": 5, "width": 3, "d_feature": 7},),
            dtype=torch.float64,
            untouched=True,
        ),
        Check(
            "scores may be some hundreds, above zero or below, and those of forbidden cells the"
            " highest",
            0.5,
            draw_loud_grid,
            sizes=({"batch": 2, "height": 3, "width": 5, "d_feature": 2},),
            hidden_sizes=({"batch": 3, "height": 5, "width": 3, "d_feature": 3},),
            tolerance=512,
        ),
        Check(
            "the right gradient reaches `scores` and `features`, and is finite where the context"
            " is 0",
            1,
            draw_masked_grid,
            sizes=({"batch": 2, "height": 3, "width": 2, "d_feature": 5},),
            hidden_sizes=({"batch": 3, "height": 2, "width": 7, "d_feature": 3},),
            gradient=("scores", "features"),
        ),
    ),
    mistakes=(
        Mistake(
            takes_a_softmax_in_each_row,
            "each row of your grid has a softmax of its own, so that the weights of an image sum to"
            " the number of rows; all cells compete with each other: flatten the grid first",
            score=0,
        ),
        Mistake(
            takes_a_softmax_in_each_column,
            "each column of your grid has a softmax of its own; all cells compete with each other:"
            " flatten the grid first",
            score=0,
        ),
        Mistake(
            takes_one_softmax_after_the_other,
            "one softmax over the columns and then one over the rows is not one softmax over all"
            " cells: the second takes weights for scores. Flatten the grid first",
            score=0,
        ),
        Mistake(
            shares_rows_out_evenly,
            "your weights sum to 1 over the image, but every row gets the same share of it; a row"
            " of blank paper deserves less. Take one softmax over all cells",
            score=0,
        ),
        Mistake(
            takes_one_softmax_for_the_batch,
            "your weights sum to 1 over all images together; they should over the cells of each",
            score=0,
        ),
        Mistake(
            reads_one_grid_by_columns,
            "the weights are in the order of the columns and the features in that of the rows, so"
            " that cells get the weights of others; flatten both in the same way",
            score=0,
        ),
        Mistake(
            multiplies_cell_by_feature,
            "`weights * features` aligns axes from the right, and lays the columns of the grid over"
            " the features. For a 3 x 3 grid of 3 features that runs, and is wrong; give the"
            " weights an axis for the features: `weights.unsqueeze(-1)`",
            score=0,
        ),
        Mistake(
            keeps_the_grid,
            "you stop before the sum: add the weighted features of all cells up",
            score=0,
        ),
        Mistake(
            puts_the_cells_side_by_side,
            "you put the weighted features of all cells side by side, so that the context grows"
            " with the grid; add them up",
            score=0,
        ),
        Mistake(
            sums_over_the_rows_only,
            "you add up along one side of the grid; both sides go",
            score=0,
        ),
        Mistake(
            divides_by_the_number_of_cells,
            "you take the mean of the weighted features; the weights sum to 1 already, so add up",
            score=0,
        ),
        Mistake(
            takes_the_scores_for_weights,
            "you take the scores for weights; the softmax makes weights of them",
            score=0,
        ),
        Mistake(
            takes_the_best_cell,
            "you take the features of the cell that scores highest; soft attention is the mean of"
            " all cells",
            score=0,
        ),
        Mistake(
            sums_over_the_features,
            "you add up the features of each cell; add up the cells, feature by feature",
            score=0,
        ),
        Mistake(
            counts_axes_from_the_front,
            "you sum over the axes 1 and 2, which are those of the grid only behind one batch axis;"
            " count from the back: `(-3, -2)`",
            score=2.5,
        ),
        Mistake(
            takes_the_first_axis_for_a_batch,
            "you take the first axis for a batch; there may be none, or two. Count axes from the"
            " back: `flatten(-2)` for the scores, `(-3, -2)` for the features",
            score=2.5,
        ),
        Mistake(
            forgets_the_mask,
            "you let forbidden cells take part; fill their scores with minus infinity",
            score=1.5,
        ),
        Mistake(
            turns_the_mask_round,
            "you look at the cells that are forbidden: `masked_fill` fills where its mask is True,"
            " so give it `~mask`",
            score=0,
        ),
        Mistake(
            masks_after_the_softmax,
            "you mask after the softmax, so that the weights sum to less than 1; mask the scores,"
            " before it",
            score=1.5,
        ),
        Mistake(
            shares_out_again_after_the_softmax,
            "your softmax runs over forbidden cells too, and you divide again afterwards: where one"
            " of them scores high, nothing is left to divide; mask the scores before the softmax",
            score=3.5,
        ),
        Mistake(
            multiplies_scores_by_the_mask,
            "you set the scores of forbidden cells to 0, and `exp(0)` is 1: they still take weight."
            " The score that takes none is minus infinity",
            score=1.5,
        ),
        Mistake(
            fills_with_minus_ten_thousand,
            "you fill with a large negative number; where every cell is forbidden, all have the"
            " same score and share the weight. Fill with minus infinity, and give such an image the"
            " weight 0",
            score=2,
        ),
        Mistake(
            subtracts_a_wall,
            "you take a large number off the scores of forbidden cells; a score may be larger."
            " Do not subtract but replace it, by minus infinity: `masked_fill`",
            score=3.5,
        ),
        Mistake(
            divides_nothing_by_nothing,
            "where every cell is forbidden, the softmax divides 0 by 0; give such an image the"
            " context 0",
            score=2,
        ),
        Mistake(
            replaces_nan_afterwards,
            "the output is right, but the weights are still NaN where every cell is forbidden, and"
            " so are the gradients: put 0 in their place before they meet the features",
            score=3,
        ),
        Mistake(
            takes_powers_as_they_are,
            "you take the powers of the scores as they are; that of 200 is more than a number can"
            " hold, and infinity divided by infinity is `nan`; `torch.softmax` takes the largest"
            " score off first",
            score=3.5,
        ),
        Mistake(
            takes_the_largest_of_all_off,
            "you take the largest score of all images off, and images that score much lower become"
            " zeros; take the largest of its own image off each, or let `torch.softmax` do it",
            score=3.5,
        ),
        Mistake(
            writes_into_the_scores,
            "your context is right, but you write into the scores that you were given, as all names"
            " do that end in `_`; `masked_fill` makes new ones",
            score=3,
        ),
        Mistake(
            takes_weights_for_constants,
            "no gradient reaches the scores, so that nothing could learn where to look; drop"
            " `detach`, `data` and `no_grad`",
            score=3,
        ),
        Mistake(
            works_in_double_precision,
            "you compute in float64 and return it; the output has the dtype of the inputs",
            score=2,
        ),
        Mistake(
            works_in_single_precision,
            "you compute in float32, whatever came in; the output has the dtype of the inputs, and"
            " their precision",
            score=3,
        ),
    ),
)
