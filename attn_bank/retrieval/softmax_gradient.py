"""Part D of problem set 01: what a score does to every weight, against a published reading."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Tensor


def reference(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))


def draw_weights(generator: torch.Generator, **sizes: int) -> Inputs:
    shape = tuple(sizes.values())
    scores, upstream = torch.randn(2, *shape, generator=generator, dtype=torch.float64)
    return {"weights": torch.softmax(scores, dim=-1), "upstream": upstream + 1}


def draw_rows_without_weight(generator: torch.Generator, **sizes: int) -> Inputs:
    """Every second query may attend to no key."""
    drawn = draw_weights(generator, **sizes)
    drawn["weights"][::2] = 0
    return drawn


mistake = Mistakes()


@mistake
def lets_each_score_move_its_own_weight(weights, upstream):
    """you let each score move its own weight only. Every score also stands in the denominator of
    all the other weights, and moves them down when it goes up"""
    return weights * (1 - weights) * upstream


@mistake
def leaves_out_the_denominator(weights, upstream):
    """you differentiated the numerator only. The denominator depends on every score too: use the
    rule for quotients"""
    return weights * upstream


@mistake
def subtracts_the_plain_sum(weights, upstream):
    """you subtracted the plain sum of `upstream`; each entry counts by its weight in it, `weights *
    upstream`"""
    return weights * (upstream - upstream.sum(-1, keepdim=True))


@mistake
def subtracts_the_plain_mean(weights, upstream):
    """you subtracted the plain mean of `upstream`, in which all keys count alike; take the mean
    under the weights"""
    return weights * (upstream - upstream.mean(-1, keepdim=True))


@mistake
def shares_out_evenly(weights, upstream):
    """your second term is the same for every key of a row. What one key gains the others lose in
    proportion to their weights: multiply the second term by `weights` too"""
    return weights * upstream - (weights * upstream).sum(-1, keepdim=True)


@mistake(right="the bracket is right")
def leaves_out_the_weight_in_front(weights, upstream):
    """the weight in front of the bracket is missing. A key without weight gets no gradient"""
    return upstream - (weights * upstream).sum(-1, keepdim=True)


@mistake(computes=then(reference, torch.neg))
def turns_the_sign():
    """all signs are turned: raising a score raises its own weight"""


@mistake
def adds_where_it_should_subtract(weights, upstream):
    """you added the second term; when a score goes up the other weights go down, so it is
    subtracted"""
    return weights * (upstream + (weights * upstream).sum(-1, keepdim=True))


@mistake(points=1)
def sums_over_all_rows(weights, upstream):
    """you summed over all rows; each row has a softmax of its own: sum over the last axis, with
    `keepdim=True`"""
    return weights * (upstream - (weights * upstream).sum())


@mistake(slip=True, points=1)
def counts_axes_from_the_front(weights, upstream):
    """you summed over axis 1, which is the last one only where there are two: count from the back,
    `-1`"""
    return weights * (upstream - (weights * upstream).sum(1, keepdim=True))


@mistake(computes=given(reference, weights=lambda weights: torch.softmax(weights, dim=-1)))
def takes_weights_for_scores():
    """you took a softmax of `weights`; they are weights already"""


@mistake
def returns_the_jacobian(weights, upstream):
    """this is the table of all derivatives of a weight by a score, and it is right. What is asked
    for is its product with `upstream`, one number a score"""
    return torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(points=3)
def divides_by_the_sum_of_the_weights(weights, upstream):
    """you divided by the sum of the weights. It is 1, so nothing changes, except for a query
    without keys, where it is 0: leave the division out"""
    mean = (weights * upstream).sum(-1, keepdim=True) / weights.sum(-1, keepdim=True)
    return weights * (upstream - mean)


@mistake
def takes_the_mean_of_the_products(weights, upstream):
    """you take the mean of `weights * upstream` over the row; its sum is wanted, for the weights
    make a mean of it already"""
    return weights * (upstream - (weights * upstream).mean(-1, keepdim=True))


@mistake
def leaves_the_diagonal_out(weights, upstream):
    """you keep only what a score does to the weights of the others, minus the product of two
    weights; to its own weight it also adds that weight: `weights * upstream` is missing"""
    return -weights * (weights * upstream).sum(-1, keepdim=True)


@mistake
def keeps_the_others_alone(weights, upstream):
    """you keep what a score does to the weights of the others; what it does to its own, `w - w²`,
    is missing"""
    product = weights * upstream
    return -weights * (product.sum(-1, keepdim=True) - product)


@mistake
def counts_each_weight_twice_in_the_mean(weights, upstream):
    """your mean of `upstream` counts each entry by the square of its weight; it counts by the
    weight itself"""
    return weights * (upstream - (weights**2 * upstream).sum(-1, keepdim=True))


def _sum_over_the_first_axis(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - (weights * upstream).sum(0, keepdim=True))


@mistake(also=(_sum_over_the_first_axis,))
def sums_down_the_columns(weights, upstream):
    """your sum runs over another axis than the last; it runs along each row"""
    axis = -2 if weights.ndim > 1 else -1
    return weights * (upstream - (weights * upstream).sum(axis, keepdim=True))


@mistake
def squares_the_weight_in_front_of_the_mean(weights, upstream):
    """you subtract the mean of the row times the square of each weight; it counts by the weight
    itself"""
    return weights * upstream - weights**2 * (weights * upstream).sum(-1, keepdim=True)


@mistake
def keeps_the_factor_of_the_slip(weights, upstream):
    """`1 - weights` is still in front; once the mean of the row is subtracted, only the weight
    itself multiplies"""
    return weights * (1 - weights) * (upstream - (weights * upstream).sum(-1, keepdim=True))


@mistake
def counts_the_diagonal_twice(weights, upstream):
    """a score's own weight is subtracted twice: `1 - weights` has it, and the sum over the row has
    it again"""
    return lets_each_score_move_its_own_weight(weights, upstream) - weights * (
        weights * upstream
    ).sum(-1, keepdim=True)


def _minus_the_others(weights: Tensor, upstream: Tensor) -> Tensor:
    product = weights * upstream
    return product - weights * (product.sum(-1, keepdim=True) - product)


@mistake(also=(_minus_the_others,))
def errs_between_the_diagonal_and_the_rest(weights, upstream):
    """the diagonal and the rest do not fit together: a score moves its own weight by `w - w²`, and
    each of the others by minus the product of the two weights"""
    product = weights * upstream
    others = product.sum(-1, keepdim=True) - product
    return weights * (1 - weights) * upstream + weights * others


def _jacobian(weights: Tensor, diagonal: Tensor) -> Tensor:
    return torch.diag_embed(diagonal) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake
def puts_another_diagonal(weights, upstream):
    """in your table of derivatives the diagonal is wrong: it is `w - w²`, so `diag(w)` less the
    outer product"""
    jacobian = _jacobian(weights, torch.ones_like(weights))
    return (jacobian @ upstream.unsqueeze(-1)).squeeze(-1)


@mistake
def takes_the_gradient_of_log_softmax(weights, upstream):
    """this is the gradient of `log_softmax`; the weights are asked, not their logarithms"""
    return upstream - weights * upstream.sum(-1, keepdim=True)


@mistake
def subtracts_the_largest(weights, upstream):
    """you subtract the largest of `upstream`; it is the mean of the row, by its weights"""
    return weights * (upstream - upstream.amax(-1, keepdim=True))


EXERCISE = Exercise(
    function="softmax_gradient",
    reference=reference,
    title="find the slip in a published formula",
    minutes=20,
    axes={"key_len": 43},
    avoid=("softmax", "log-sum-exp", "cross entropy", "attention", "autograd"),
    contract=Contract(
        batch=("weights", "upstream"),
        any_axes=True,
        exempts={"cuts off": "it is a gradient itself, and no second one is asked for"},
    ),
    checks=(
        Check(
            "each score gets the gradient that comes through all weights of its row, whatever "
            "axes come before",
            2.5,
            draw_weights,
            sizes=(
                {"query_len": 3, "key_len": 5},
                {"key_len": 5},
                {"batch": 2, "query_len": 3, "key_len": 5},
                {"a": 3, "b": 2, "query_len": 2, "key_len": 5},
            ),
            hidden_sizes=({"key_len": 7}, {"a": 2, "b": 3, "query_len": 5, "key_len": 11}),
        ),
        Check(
            "the scores of a row without any weight get the gradient 0, and other rows keep theirs",
            1,
            draw_rows_without_weight,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 2, "key_len": 7},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={},
)
