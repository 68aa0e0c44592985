"""Part A of problem set 01: softmax by hand, stable for scores of any size."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes
from torch import Tensor


def reference(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


def draw_scores(generator: torch.Generator, scale: float = 1.0, **sizes: int) -> Inputs:
    shape = tuple(sizes.values())
    return {"scores": scale * torch.randn(shape, generator=generator, dtype=torch.float64)}


def draw_large_scores(generator: torch.Generator, forbid: bool = False, **sizes: int) -> Inputs:
    """Scores far above or far below what `exp` can hold, or, in the second row, both.

    With `forbid` the last row lies at -30,000, and every second score in it is minus infinity.
    """
    scores = draw_scores(generator, scale=3.0, **sizes)["scores"]
    scores[0] += 1000
    scores[1] += 2000
    scores[1, 1:] -= 4000
    scores[-1] -= 30_000 if forbid else 1000
    if forbid:
        scores[-1, 1::2] = -math.inf
    return {"scores": scores}


def draw_forbidden_keys(generator: torch.Generator, start: int = 1, **sizes: int) -> Inputs:
    """Every second score is minus infinity; every row keeps a finite one."""
    scores = draw_scores(generator, **sizes)["scores"]
    scores[..., start::2] = -math.inf
    return {"scores": scores}


mistake = Mistakes()


@mistake
def forgets_to_normalise(scores):
    """your weights are positive, but a row of them does not sum to 1: divide each row by its own
    sum"""
    return torch.exp(scores - scores.amax(-1, keepdim=True))


@mistake
def normalises_over_the_queries(scores):
    """your weights sum to 1 over the queries, down each column; they should sum to 1 over the keys,
    along the last axis (`dim=-1`)"""
    return torch.softmax(scores, dim=-2 if scores.ndim > 1 else -1)


def _overflow_over_the_first_axis(scores: Tensor) -> Tensor:
    raised = torch.exp(scores)
    return raised / raised.sum(0)


def _subtract_one_maximum_over_the_first_axis(scores: Tensor) -> Tensor:
    return _overflow_over_the_first_axis(scores - scores.max())


def _subtract_each_maximum_over_the_first_axis(scores: Tensor) -> Tensor:
    return _overflow_over_the_first_axis(scores - scores.amax(-1, keepdim=True))


@mistake(
    also=(
        _subtract_one_maximum_over_the_first_axis,
        _subtract_each_maximum_over_the_first_axis,
    )
)
def normalises_over_the_first_axis(scores):
    """you sum over the first axis; each row of weights should sum to 1, along the last axis
    (`dim=-1`)"""
    return torch.softmax(scores, dim=0)


@mistake
def normalises_over_everything(scores):
    """all your weights together sum to 1; each row should, so sum over the last axis only
    (`dim=-1`)"""
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


@mistake(slip=True, points=2.5)
def counts_axes_from_the_front(scores):
    """you took axis 1, which is the last one only where there are two: count from the back,
    `dim=-1`"""
    return torch.softmax(scores, dim=1)


@mistake(points=2.5, right="your formula is right")
def overflows(scores):
    """`exp` of a score above 88 is infinite in float32, and infinity over
    infinity is `nan`. Adding one number to all scores of a row changes no weight. Which number
    makes every power at most 1?"""
    raised = torch.exp(scores)
    return raised / raised.sum(-1, keepdim=True)


@mistake
def shifts_the_powers_alone(scores):
    """you take the largest score off above the line only; it cancels if the sum is taken of the
    same powers"""
    return torch.exp(scores - scores.amax(-1, keepdim=True)) / scores.exp().sum(-1, keepdim=True)


@mistake(points=2.5)
def subtracts_one_maximum_for_all(scores):
    """you subtracted the largest of all scores; in a row that lies far below it every power is then
    0, and 0 over 0 is `nan`. Subtract from each row its own maximum (`keepdim=True` keeps the
    axis)"""
    raised = torch.exp(scores - scores.max())
    return raised / raised.sum(-1, keepdim=True)


def _cut_from_above(scores: Tensor) -> Tensor:
    raised = torch.exp(scores.clamp(max=80))
    return raised / raised.sum(-1, keepdim=True)


@mistake(points=2.5, also=(_cut_from_above,))
def cuts_large_scores_off(scores):
    """you cut the scores off at a fixed number: two scores beyond it look the same, and their
    weights with them. Subtract the row's maximum, which changes no weight"""
    raised = torch.exp(scores.clamp(-80, 80))
    return raised / raised.sum(-1, keepdim=True)


def _subtract_the_smallest(scores: Tensor) -> Tensor:
    raised = torch.exp(scores - scores.amin(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@mistake(points=2, also=(_subtract_the_smallest,))
def subtracts_the_mean(scores):
    """you subtracted another number of a row than its maximum, such as its mean or its smallest
    score. That changes no weight either, but it does not keep the powers small, and both are minus
    infinity as soon as one score is. Subtract the maximum"""
    raised = torch.exp(scores - scores.mean(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@mistake
def raises_two_and_not_e(scores):
    """you raised 2 to the scores; softmax raises e, `torch.exp`"""
    raised = 2 ** (scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@mistake
def divides_without_exponential(scores):
    """you divided the scores by their sum; negative scores then give negative weights. Raise e to
    the scores first (`torch.exp`)"""
    return scores / scores.sum(-1, keepdim=True)


@mistake
def divides_by_the_largest(scores):
    """you divided the scores by their maximum, which changes their differences, and with them the
    weights; subtract it"""
    raised = torch.exp(scores / scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@mistake
def takes_the_places_as_well(scores):
    """`max` along an axis returns two things, the largest scores and their places: take `.values`,
    or write `amax`"""
    return torch.exp(scores - scores.max(-1, keepdim=True))


@mistake
def adds_a_small_number_to_the_sum(scores):
    """you added a small number to the sum, so a row sums to a little less than 1. After the maximum
    is subtracted the sum is at least 1, and nothing needs to be added"""
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / (raised.sum(-1, keepdim=True) + 1e-3)


@mistake
def drops_the_axis_of_the_maximum(scores):
    """the maximum or the sum of each row has lost its axis, so that rows and columns do not fit, or
    fit by chance and wrongly: keep it, `keepdim=True`"""
    raised = torch.exp(scores - scores.amax(-1))
    return raised / raised.sum(-1)


@mistake(also=(_overflow_over_the_first_axis,))
def overflows_and_normalises_over_the_queries(scores):
    """your sum does not run over the keys, the last axis (`dim=-1`), so that the rows do not sum to
    1. And `exp` of a large score is infinite: subtract the maximum of each row first"""
    raised = torch.exp(scores)
    return raised / raised.sum(-2 if scores.ndim > 1 else -1, keepdim=True)


@mistake(points=2.5)
def replaces_nan(scores):
    """you put a number in the place of `nan`; where the powers overflow, the right weights are lost
    by then. Subtract the maximum of each row before `exp`, and there is no `nan`"""
    raised = torch.exp(scores)
    return (raised / raised.sum(-1, keepdim=True)).nan_to_num(0)


@mistake(points=2)
def takes_minus_infinity_for_a_gap(scores):
    """you put 0 where a score is minus infinity, and `exp(0)` is 1; leave it as it is, and its
    weight comes out as 0"""
    return torch.softmax(scores.nan_to_num(neginf=0.0), -1)


@mistake
def divides_by_the_mean(scores):
    """you divided the powers by their mean, so that a row sums to the number of keys: divide by
    their sum"""
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.mean(-1, keepdim=True)


def _subtract_a_size_that_may_be_infinite(scores: Tensor) -> Tensor:
    raised = torch.exp(scores - scores.abs().amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


def _subtract_nothing_below_zero(scores: Tensor) -> Tensor:
    raised = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return raised / raised.sum(-1, keepdim=True)


@mistake(points=2.5, also=(_subtract_a_size_that_may_be_infinite, _subtract_nothing_below_zero))
def divides_nothing_by_nothing_far_below_zero(scores):
    """in a row far below 0 every power is 0, and 0 over 0 is `nan`: you never raise such a row, as
    where the largest absolute value is subtracted, or nothing. Subtract the largest score of each
    row, be it above 0 or below"""
    finite = scores.masked_fill(scores == -math.inf, 0)
    raised = torch.exp(scores - finite.abs().amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@mistake(points=3.5, right="your weights are right")
def cuts_the_sum_off(scores):
    """no gradient comes through the sum: when a score rises, the other weights fall by way of the
    denominator, so leave out `detach` and `item`"""
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True).detach()


@mistake
def divides_by_one_sum_for_all(scores):
    """you take off the maximum of each row, but divide by one sum for all rows; each row has its
    own"""
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum()


@mistake
def adds_one_to_the_sum(scores):
    """there is a 1 in your denominator besides the powers, so a row sums to less than 1"""
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / (1 + raised.sum(-1, keepdim=True))


@mistake
def shares_out_sigmoids(scores):
    """you take the `sigmoid` of each score before you divide by the sum; softmax takes the power"""
    raised = torch.sigmoid(scores)
    return raised / raised.sum(-1, keepdim=True)


@mistake
def takes_the_largest_alone(scores):
    """you give the largest score the whole weight; every finite score gets a share"""
    return (scores == scores.amax(-1, keepdim=True)).to(scores.dtype)


@mistake(points=2.5)
def takes_the_logarithm_of_an_overflow(scores):
    """you take the logarithm of a sum of powers that overflows, or is 0, where scores are in the
    thousands; take the maximum off first"""
    return torch.exp(scores - torch.exp(scores).sum(-1, keepdim=True).log())


@mistake(points=3.5)
def subtracts_the_first_score(scores):
    """you subtract the first score of each row, which may be minus infinity, or so low that the
    others overflow; subtract the largest"""
    raised = torch.exp(scores - scores[..., :1])
    return raised / raised.sum(-1, keepdim=True)


def _cut_from_below(scores: Tensor) -> Tensor:
    return torch.softmax(scores.clamp(min=-1e4), -1)


@mistake(points=2.5, also=(_cut_from_below,))
def takes_a_low_number_for_minus_infinity(scores):
    """you put a low number, -10,000 for example, in the place of minus infinity: where the other
    scores of the row lie lower still, it takes their weight. Leave minus infinity as it is, and its
    weight comes out as 0"""
    return torch.softmax(scores.nan_to_num(neginf=-1e4), -1)


EXERCISE = Exercise(
    function="softmax",
    reference=reference,
    title="softmax by hand, for scores of any size",
    minutes=15,
    axes={"query_len": 43, "key_len": 97},
    avoid=("softmax", "log-sum-exp", "cross entropy", "attention"),
    contract=Contract(batch=("scores",), any_axes=True),
    checks=(
        Check(
            "each row of weights is the softmax of its row of scores, whatever axes come before",
            1,
            draw_scores,
            sizes=(
                {"query_len": 3, "key_len": 5},
                {"batch": 2, "query_len": 3, "key_len": 5},
                {"key_len": 5},
                {"a": 3, "b": 2, "query_len": 2, "key_len": 5},
            ),
            hidden_sizes=({"key_len": 7}, {"a": 2, "b": 3, "query_len": 5, "key_len": 11}),
        ),
        Check(
            "scores in the thousands, positive or negative, give the right weights, and no `nan`",
            1.5,
            draw_large_scores,
            sizes=(
                {"query_len": 3, "key_len": 5},
                {"query_len": 3, "key_len": 5, "forbid": True},
            ),
            hidden_sizes=(
                {"query_len": 5, "key_len": 7},
                {"query_len": 4, "key_len": 3, "forbid": True},
            ),
        ),
        Check(
            "a score of minus infinity gives the weight 0",
            0.5,
            draw_forbidden_keys,
            sizes=({"query_len": 3, "key_len": 5}, {"query_len": 2, "key_len": 5, "start": 0}),
            hidden_sizes=(
                {"query_len": 2, "key_len": 7},
                {"query_len": 3, "key_len": 7, "start": 0},
            ),
        ),
        Check(
            "the right gradient reaches the scores",
            0.5,
            draw_scores,
            sizes=({"query_len": 3, "key_len": 5},),
            hidden_sizes=({"query_len": 5, "key_len": 2},),
            gradient=("scores",),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={},
)
