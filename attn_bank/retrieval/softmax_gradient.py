"""Part D of problem set 01: what a score does to every weight, against a published reading."""

import torch
from torch import Tensor

from attn_grade.exercise import Check, Exercise, Promises
from attn_grade.inside.plain import Inputs
from attn_grade.mistakes import Mistakes
from attn_grade.wrong_answers import given, then


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
    """you let each score move its own weight only: that is the diagonal of the Jacobian. Every
    score also stands in the denominator of all the other weights, and moves them down when it goes
    up"""
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


@mistake(points=1)
def counts_axes_from_the_front(weights, upstream):
    """you summed over axis 1, which is the last one only where there are two: count from the back,
    `-1`"""
    return weights * (upstream - (weights * upstream).sum(1, keepdim=True))


@mistake(computes=given(reference, weights=lambda weights: torch.softmax(weights, dim=-1)))
def takes_weights_for_scores():
    """you took a softmax of `weights`; they are weights already"""


@mistake
def returns_the_jacobian(weights, upstream):
    """this is the Jacobian, and it is right. What is asked for is its product with `upstream`, one
    number a score"""
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


EXERCISE = Exercise(
    function="softmax_gradient",
    reference=reference,
    title="find the slip in a published formula",
    minutes=20,
    avoid=(
        *("softmax", "log_softmax", "softmax_backward_data", "grad", "backward"),
        *("vjp", "jvp", "jacobian", "jacrev", "jacfwd", "linearize"),
    ),
    promises=Promises(
        batch=("weights", "upstream"),
        any_axes=True,
        waives={"cuts off": "it is a gradient itself, and no second one is asked for"},
    ),
    checks=(
        Check(
            "each score gets the gradient that comes through all weights of its row, whatever "
            "axes come before",
            2.5,
            draw_weights,
            sizes=({"query_len": 3, "key_len": 5}, {"batch": 2, "query_len": 3, "key_len": 5}),
            hidden_sizes=({"key_len": 7}, {"a": 2, "b": 3, "query_len": 5, "key_len": 11}),
        ),
        Check(
            "the scores of a row without any weight get the gradient 0",
            1,
            draw_rows_without_weight,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 2, "key_len": 7},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={},
)
