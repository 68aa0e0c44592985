"""Part D of problem set 01: what a score does to every weight, against a published reading."""

import torch
from torch import Tensor

from attn_course.grading.spec import Check, Exercise, Inputs, Mistake


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


def lets_each_score_move_its_own_weight(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (1 - weights) * upstream


def leaves_out_the_denominator(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * upstream


def subtracts_the_plain_sum(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - upstream.sum(-1, keepdim=True))


def subtracts_the_plain_mean(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - upstream.mean(-1, keepdim=True))


def shares_out_evenly(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * upstream - (weights * upstream).sum(-1, keepdim=True)


def leaves_out_the_weight_in_front(weights: Tensor, upstream: Tensor) -> Tensor:
    return upstream - (weights * upstream).sum(-1, keepdim=True)


def turns_the_sign(weights: Tensor, upstream: Tensor) -> Tensor:
    return -reference(weights, upstream)


def adds_where_it_should_subtract(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream + (weights * upstream).sum(-1, keepdim=True))


def sums_over_all_rows(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - (weights * upstream).sum())


def counts_axes_from_the_front(weights: Tensor, upstream: Tensor) -> Tensor:
    return weights * (upstream - (weights * upstream).sum(1, keepdim=True))


def takes_weights_for_scores(weights: Tensor, upstream: Tensor) -> Tensor:
    return reference(torch.softmax(weights, dim=-1), upstream)


def returns_the_jacobian(weights: Tensor, upstream: Tensor) -> Tensor:
    return torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


def divides_by_the_sum_of_the_weights(weights: Tensor, upstream: Tensor) -> Tensor:
    mean = (weights * upstream).sum(-1, keepdim=True) / weights.sum(-1, keepdim=True)
    return weights * (upstream - mean)


def changes_the_upstream(weights: Tensor, upstream: Tensor) -> Tensor:
    upstream -= (weights * upstream).sum(-1, keepdim=True)
    return weights * upstream


EXERCISE = Exercise(
    function="softmax_gradient",
    reference=reference,
    avoid=(
        *("softmax", "log_softmax", "softmax_backward_data", "grad", "backward"),
        *("vjp", "jvp", "jacobian", "jacrev", "jacfwd", "linearize"),
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
        Check(
            "`weights` and `upstream` stay as they are",
            0.5,
            draw_weights,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 5, "key_len": 3},),
            untouched=True,
        ),
    ),
    mistakes=(
        Mistake(
            lets_each_score_move_its_own_weight,
            "you let each score move its own weight only: that is the diagonal of the Jacobian. "
            "Every score also stands in the denominator of all the other weights, and moves them "
            "down when it goes up",
            score=0,
        ),
        Mistake(
            leaves_out_the_denominator,
            "you differentiated the numerator only. The denominator depends on every score too: "
            "use the rule for quotients",
            score=0,
        ),
        Mistake(
            subtracts_the_plain_sum,
            "you subtracted the plain sum of `upstream`; each entry counts by its weight in it, "
            "`weights * upstream`",
            score=0,
        ),
        Mistake(
            subtracts_the_plain_mean,
            "you subtracted the plain mean of `upstream`, in which all keys count alike; take "
            "the mean under the weights",
            score=0,
        ),
        Mistake(
            shares_out_evenly,
            "your second term is the same for every key of a row. What one key gains the others "
            "lose in proportion to their weights: multiply the second term by `weights` too",
            score=0,
        ),
        Mistake(
            leaves_out_the_weight_in_front,
            "the bracket is right; the weight in front of it is missing. A key without weight "
            "gets no gradient",
            score=0,
        ),
        Mistake(
            turns_the_sign,
            "all signs are turned: raising a score raises its own weight",
            score=0,
        ),
        Mistake(
            adds_where_it_should_subtract,
            "you added the second term; when a score goes up the other weights go down, so it is "
            "subtracted",
            score=0,
        ),
        Mistake(
            sums_over_all_rows,
            "you summed over all rows; each row has a softmax of its own: sum over the last axis, "
            "with `keepdim=True`",
            score=1,
        ),
        Mistake(
            counts_axes_from_the_front,
            "you summed over axis 1, which is the last one only where there are two: count from "
            "the back, `-1`",
            score=1.5,
        ),
        Mistake(
            takes_weights_for_scores,
            "you took a softmax of `weights`; they are weights already",
            score=0,
        ),
        Mistake(
            returns_the_jacobian,
            "this is the Jacobian, and it is right. What is asked for is its product with "
            "`upstream`, one number a score",
            score=0,
        ),
        Mistake(
            divides_by_the_sum_of_the_weights,
            "you divided by the sum of the weights. It is 1, so nothing changes, except for a "
            "query without keys, where it is 0: leave the division out",
            score=3,
        ),
        Mistake(
            changes_the_upstream,
            "your gradient is right, but you wrote into `upstream`, which the caller may need "
            "again: write `upstream = upstream - ...` and not `upstream -= ...`",
            score=3.5,
        ),
    ),
    equivalent_mutants={},
)
