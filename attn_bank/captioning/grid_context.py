"""Part A of problem set 06: the mean of the cells of a grid, by one softmax over all of them."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_course.captions.image_grid import grid_context as mean_of_cells
from attn_course.captions.image_grid import grid_weights


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
    """Cells here and there are forbidden; of the last picture, all."""
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
    inputs["mask"][-1] = False
    inputs["scores"][..., 0, 1] = 20_000
    return inputs


def _fill(scores: Tensor, mask: Tensor, value: float = -torch.inf) -> Tensor:
    return scores.masked_fill(~mask, value)


def _flat(scores: Tensor) -> Tensor:
    """Softmax over all cells together."""
    return torch.softmax(scores.flatten(-2), -1).view(scores.shape)


def _add(weights: Tensor, features: Tensor) -> Tensor:
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


mistake = Mistakes()


@mistake
def takes_a_softmax_in_each_row(scores, features, mask):
    """each row of your grid has a softmax of its own, so that the weights of a picture sum to the
    number of rows; all cells compete with each other: flatten the grid first"""
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(weights, features)


@mistake
def takes_a_softmax_in_each_column(scores, features, mask):
    """each column of your grid has a softmax of its own; all cells compete with each other: flatten
    the grid first"""
    weights = torch.softmax(_fill(scores, mask), -2).masked_fill(~mask, 0)
    return _add(weights, features)


@mistake
def takes_one_softmax_after_the_other(scores, features, mask):
    """one softmax over the columns and then one over the rows is not one softmax over all cells:
    the second takes weights for scores. Flatten the grid first"""
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(torch.softmax(_fill(weights, mask), -2).masked_fill(~mask, 0), features)


def _share_out_seen_rows(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    rows = mask.any(-1).sum(-1).clamp(min=1)[..., None]
    return takes_a_softmax_in_each_row(scores, features, mask) / rows


@mistake(also=(_share_out_seen_rows,))
def shares_rows_out_evenly(scores, features, mask):
    """your weights sum to 1 over the picture, but every row gets the same share of it; a row of
    blank paper deserves less. Take one softmax over all cells"""
    weights = torch.softmax(_fill(scores, mask), -1).masked_fill(~mask, 0)
    return _add(weights, features) / scores.shape[-2]


@mistake
def takes_one_softmax_for_the_batch(scores, features, mask):
    """your weights sum to 1 over all pictures together; they should over the cells of each"""
    weights = torch.softmax(_fill(scores, mask).flatten(), 0).view(scores.shape)
    return _add(weights, features)


def _read_features_by_columns(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores, features.transpose(-3, -2).reshape(features.shape), mask)


@mistake(also=(_read_features_by_columns,))
def reads_one_grid_by_columns(scores, features, mask):
    """of weights and features, one goes column by column and the other row by row, so that cells
    get the weights of others; flatten both in the same way"""
    weights = grid_weights(_fill(scores, mask)).mT.reshape(scores.shape)
    return _add(weights, features)


@mistake
def multiplies_cell_by_feature(scores, features, mask):
    """`weights * features` aligns axes from the right, and lays the columns of the grid over the
    features. For a 3 x 3 grid of 3 features that runs, and is wrong; give the weights an axis for
    the features: `weights.unsqueeze(-1)`"""
    weights = grid_weights(_fill(scores, mask))
    return (weights * features).sum((-3, -2))


@mistake
def multiplies_rows_by_features(scores, features, mask):
    """two things to mend: each row of your grid has a softmax of its own, so flatten the grid
    first; and `weights * features` lays the columns of the grid over the features, so give the
    weights an axis for the features: `weights.unsqueeze(-1)`"""
    return (torch.softmax(_fill(scores, mask), -1) * features).sum((-3, -2))


@mistake
def keeps_the_grid(scores, features, mask):
    """you stop before the sum: add the weighted features of all cells up"""
    return grid_weights(_fill(scores, mask)).unsqueeze(-1) * features


@mistake
def puts_the_cells_side_by_side(scores, features, mask):
    """you put the weighted features of all cells side by side, so that the context grows with the
    grid; add them up"""
    return keeps_the_grid(scores, features, mask).flatten(-3)


@mistake
def sums_over_the_rows_only(scores, features, mask):
    """you add up along one side of the grid; both sides go"""
    return keeps_the_grid(scores, features, mask).sum(-3)


def _divide_by_seen_cells(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return reference(scores, features, mask) / mask.sum((-2, -1)).clamp(min=1)[..., None]


@mistake(also=(_divide_by_seen_cells,))
def divides_by_the_number_of_cells(scores, features, mask):
    """you take the mean of the weighted features; the weights sum to 1 already, so add up"""
    return keeps_the_grid(scores, features, mask).mean((-3, -2))


@mistake
def takes_the_scores_for_weights(scores, features, mask):
    """you take the scores for weights; the softmax makes weights of them"""
    return _add(scores.masked_fill(~mask, 0), features)


@mistake
def takes_the_best_cell(scores, features, mask):
    """you take the features of the cell that scores highest; soft attention is the mean of all
    cells"""
    best = _fill(scores, mask).flatten(-2).argmax(-1, keepdim=True)
    at_best = torch.zeros_like(scores).flatten(-2).scatter(-1, best, 1).view(scores.shape)
    return _add(at_best * mask, features)


@mistake
def sums_over_the_features(scores, features, mask):
    """you add up the features of each cell; add up the cells, feature by feature"""
    return keeps_the_grid(scores, features, mask).sum(-1)


@mistake(slip=True, points=2)
def counts_axes_from_the_front(scores, features, mask):
    """you sum over the axes 1 and 2, which are the grid only behind one batch axis; count from the
    back: `(-3, -2)`"""
    weights = grid_weights(_fill(scores, mask))
    return (weights.unsqueeze(-1) * features).sum((1, 2))


@mistake(slip=True, points=2)
def takes_the_first_axis_for_a_batch(scores, features, mask):
    """you take the first axis for a batch; there may be none, or two. Count axes from the back:
    `flatten(-2)` for the scores, `(-3, -2)` for the features"""
    walled = _fill(scores, mask).flatten(1)
    weights = torch.softmax(walled, 1).view(scores.shape).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((1, 2))


@mistake(points=1.5)
def forgets_the_mask(scores, features, mask):
    """you let forbidden cells take part; fill their scores with minus infinity"""
    return _add(_flat(scores), features)


@mistake(computes=given(reference, mask=torch.logical_not))
def turns_the_mask_round():
    """you look at the cells that are forbidden: `masked_fill` fills where its mask is True, so give
    it `~mask`"""


@mistake(points=1.5)
def masks_after_the_softmax(scores, features, mask):
    """you mask after the softmax, so that the weights sum to less than 1; mask the scores, before
    it"""
    return _add(_flat(scores) * mask, features)


def _divide_and_clear(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = _flat(scores).masked_fill(~mask, 0)
    return _add((weights / weights.sum((-2, -1), keepdim=True)).masked_fill(~mask, 0), features)


@mistake(points=2.5, also=(_divide_and_clear,))
def shares_out_again_after_the_softmax(scores, features, mask):
    """forbidden cells count before they are masked, in a softmax or as the largest score that is
    taken off: where one of them scores high, nothing is left to divide; mask the scores first"""
    weights = _flat(scores) * mask
    total = weights.sum((-2, -1), keepdim=True)
    return _add(weights / total.where(total > 0, 1), features)


def _multiply_and_clear(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """With zeros for pictures that have nothing to see."""
    seen = mask.flatten(-2).any(-1, keepdim=True)
    return _add(_flat(scores * mask), features) * seen


@mistake(points=1.5, also=(_multiply_and_clear,))
def multiplies_scores_by_the_mask(scores, features, mask):
    """the scores of forbidden cells are about 0, and `exp(0)` is 1: they still take weight. The
    score that takes none is minus infinity"""
    return _add(_flat(scores * mask), features)


def _subtract_a_wall_that_all_share(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(scores - 1e9 * ~mask), features)


@mistake(points=1.5, also=(_subtract_a_wall_that_all_share,))
def looks_where_all_is_forbidden(scores, features, mask):
    """where every cell of a picture is forbidden, your weights still sum to 1, and the context is
    not 0; give such a picture no weight"""
    none = ~mask.flatten(-2).any(-1)[..., None, None]
    return _add(_flat(_fill(scores, mask | none)), features)


@mistake(points=1.5)
def fills_with_minus_ten_thousand(scores, features, mask):
    """you fill with a large negative number; where every cell is forbidden, all have the same score
    and share the weight. Fill with minus infinity, and give such a picture the weight 0"""
    return _add(_flat(_fill(scores, mask, -1e4)), features)


@mistake(points=2.5)
def subtracts_a_wall(scores, features, mask):
    """you take a large number off the scores of forbidden cells; a score may be larger. Do not
    subtract but replace it, by minus infinity: `masked_fill`"""
    weights = _flat(scores - 1e4 * ~mask)
    return _add(weights * mask.flatten(-2).any(-1)[..., None, None], features)


@mistake(points=1.5)
def divides_nothing_by_nothing(scores, features, mask):
    """where every cell is forbidden, the softmax divides 0 by 0; give such a picture the context
    0"""
    return _add(_flat(_fill(scores, mask)), features)


@mistake(points=3, right="the output is right")
def replaces_nan_afterwards(scores, features, mask):
    """the weights are still NaN where every cell is forbidden, and so are the gradients: put 0 in
    their place before they meet the features"""
    return _add(_flat(_fill(scores, mask)), features).nan_to_num(0)


def _take_all_powers(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    powers = torch.exp(scores) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


@mistake(points=3, also=(_take_all_powers,))
def takes_powers_as_they_are(scores, features, mask):
    """you take the powers of the scores as they are; `exp(200)` is more than a number can hold, and
    infinity divided by infinity is `nan`; `torch.softmax` takes the largest score off first"""
    powers = torch.exp(scores.masked_fill(~mask, 0)) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


@mistake(points=3)
def takes_the_largest_of_all_off(scores, features, mask):
    """you take the largest score of all pictures off, and pictures that score much lower become
    zeros; take the largest of its own picture off each, or let `torch.softmax` do it"""
    powers = torch.exp((scores - scores[mask].max()).masked_fill(~mask, 0)) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


@mistake(points=3.5, right="your context is right")
def changes_scores(scores, features, mask):
    """you write into the scores that you were given, as all names do that end in `_`; `masked_fill`
    makes new ones"""
    context = reference(scores, features, mask)
    scores.data[~mask] = -1e30
    return context


@mistake(points=1.5)
def fills_with_zero_and_clears(scores, features, mask):
    """forbidden cells take weight with the score 0 before you clear their weights, so that the
    others sum to less than 1; fill their scores with minus infinity"""
    return _add(_flat(_fill(scores, mask, 0)) * mask, features)


@mistake(points=2.5)
def fills_with_a_score_that_others_have(scores, features, mask):
    """the score that you fill in is not below all others: where they are lower still, forbidden
    cells take the weight, and nothing is left once you clear it. Fill with minus infinity"""
    return _add(_flat(_fill(scores, mask, -100)) * mask, features)


@mistake(computes=given(reference, scores=torch.zeros_like))
def weighs_all_cells_alike():
    """all cells that may be seen weigh the same in yours, whatever their scores; take the softmax
    of the scores"""


@mistake
def scales_the_scores(scores, features, mask):
    """you divide the scores by the root of the number of features; take their softmax as they
    are"""
    return reference(scores / features.shape[-1] ** 0.5, features, mask)


@mistake
def softens_twice(scores, features, mask):
    """you take the softmax of weights, which makes them nearly alike; one softmax, of the scores,
    is enough"""
    return reference(grid_weights(_fill(scores, mask)), features, mask)


def _divide_sigmoids(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    weights = torch.sigmoid(scores) * mask
    return _add(weights / weights.sum((-2, -1), keepdim=True).clamp(min=1e-9), features)


@mistake(also=(_divide_sigmoids,))
def takes_a_sigmoid(scores, features, mask):
    """you take the sigmoid of each score; cells compete with each other in a softmax"""
    return _add(torch.sigmoid(scores) * mask, features)


@mistake
def tears_cells_apart(scores, features, mask):
    """your `view` or `reshape` takes the features of a picture in another order than they lie in,
    so that numbers of different cells mix; let `flatten(-3, -2)` put cell behind cell"""
    torn = features.reshape(*features.shape[:-3], features.shape[-1], -1).mT
    return reference(scores, torn.reshape(features.shape), mask)


@mistake(points=1.5, computes=given(reference, mask=lambda mask: mask.mT.reshape(mask.shape)))
def reads_the_mask_by_columns():
    """you read the mask column by column and the scores row by row, so that other cells are
    forbidden; flatten both in the same way"""


@mistake
def takes_the_largest_of_each_row_off(scores, features, mask):
    """you take a number of its own off each row before the powers, which changes how the rows
    compare; take one number off all cells of a picture, the largest of them"""
    walled = _fill(scores, mask, -1e30)
    powers = torch.exp(walled - walled.amax(-1, keepdim=True)) * mask
    total = powers.sum((-2, -1), keepdim=True)
    return _add(powers / total.where(total > 0, 1), features)


def _divide_masked_powers(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    powers = torch.exp(scores) * mask
    return _add(powers / powers.sum((-2, -1), keepdim=True), features)


def _divide_and_replace(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _divide_masked_powers(scores, features, mask).nan_to_num(0)


@mistake(points=1.5, also=(_divide_masked_powers, _divide_and_replace))
def divides_powers_and_nothing(scores, features, mask):
    """your weights are `nan` in two cases, whatever you put in its place afterwards: where every
    cell is forbidden, 0 divided by 0; and where scores are in the hundreds, 0 by 0 again if you
    mask after a softmax, or infinity by infinity if you take the powers as they are. Mask the
    scores first, and let `torch.softmax` take the powers"""
    powers = torch.exp(_fill(scores, mask))
    return _add(powers / powers.sum((-2, -1), keepdim=True), features)


@mistake(points=1.5)
def multiplies_two_softmaxes(scores, features, mask):
    """you multiply a softmax over the rows with one over the columns, and the product does not sum
    to 1; take one softmax over all cells"""
    walled = _fill(scores, mask)
    weights = torch.softmax(walled, -1) * torch.softmax(walled, -2)
    return _add(weights.nan_to_num(0), features)


def _clear_seen_cells(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    return _add(_flat(_fill(scores, mask)).masked_fill(mask, 0), features)


@mistake(also=(_clear_seen_cells,))
def turns_one_mask_round(scores, features, mask):
    """you fill twice, and once with the mask the wrong way round, so that no cell is left; both
    times it is `~mask` where you fill"""
    return _add(_flat(_fill(scores, ~mask)).masked_fill(~mask, 0), features)


EXERCISE = Exercise(
    function="grid_context",
    reference=reference,
    title="one softmax for the whole grid",
    minutes=20,
    axes={"batch": 17, "height": 17, "width": 19, "d_feature": 31},
    avoid=("attention",),
    contract=Contract(like=1, batch=("scores", "features", "mask"), any_axes=True),
    checks=(
        Check(
            "one softmax over all cells of a picture, and the mean of their features by it; any"
            " number of axes may come before",
            1.5,
            draw_grid,
            sizes=(
                {"batch": 3, "height": 3, "width": 3, "d_feature": 3},
                {"height": 3, "width": 5, "d_feature": 7},
                {"batch": 2, "beams": 3, "height": 2, "width": 3, "d_feature": 5},
            ),
            hidden_sizes=(
                {"height": 7, "width": 2, "d_feature": 3},
                {"batch": 3, "beams": 2, "height": 2, "width": 5, "d_feature": 1},
            ),
        ),
        Check(
            "cells that may not be looked at have no weight, however high they score, and others"
            " some hundreds above zero or below; where none may, the context is 0",
            1,
            draw_loud_grid,
            sizes=({"batch": 3, "height": 3, "width": 5, "d_feature": 2},),
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
    mistakes=mistake.collected,
)
