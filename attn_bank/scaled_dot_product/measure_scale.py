"""Part F of problem set 07: how large scores are, and how far their weights can still move."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Altered,
    Answer,
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_course.retrieval import dot_scores

Measured = tuple[float, float]


def reference(query: Tensor, key: Tensor, exponent: float) -> Measured:
    scores = _scores(query, key, exponent)
    return scores.square().mean().item(), _slack(torch.softmax(scores, -1))


def _scores(query: Tensor, key: Tensor, exponent: float) -> Tensor:
    return dot_scores(query, key) * query.shape[-1] ** exponent


def _slack(weights: Tensor) -> float:
    return (weights * (1 - weights)).sum(-1).mean().item()


def _size_of(measure: Callable[[Tensor], Tensor], power: float | None = None) -> Altered:
    """Another measure of the scores for the first number, whatever the second is.

    Args:
        measure: Called with the scores.
        power: Of the width, that scales them; `exponent` unless it is given.
    """

    def how(answer: Answer, query: Tensor, key: Tensor, exponent: float) -> Plain:
        size = measure(_scores(query, key, exponent if power is None else power)).item()
        return size, answer(query=query, key=key, exponent=exponent)[1]

    return Altered(reference, how)


def draw_layer(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    eighths: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """Independent features of variance 1, off their mean; the exponent comes in eighths."""
    before = in_front(batch, num_heads)
    return {
        "query": 0.3 + draw_normal(generator, *before, query_len, d_key),
        "key": 0.3 + draw_normal(generator, *before, key_len, d_key),
        "exponent": eighths / 8,
    }


mistake = Mistakes()


@mistake(computes=then(reference, lambda pair: pair[::-1]))
def returns_them_the_other_way_round():
    """you return the slack first; the mean square of the scores comes first"""


@mistake(computes=given(reference, exponent=-0.5))
def ignores_the_exponent():
    """you divide by the root whatever `exponent` says; the factor is `query.shape[-1] **
    exponent`"""


@mistake(computes=given(reference, exponent=lambda exponent: -exponent))
def turns_the_exponent_round():
    """you divide by `d ** exponent`; multiply by it: the exponent of the paper is -1/2"""


@mistake
def scales_by_the_number_of_keys(query, key, exponent):
    """you scale by a power of the number of keys; it is a power of the width, `query.shape[-1]`"""
    return reference(query * (key.shape[-2] / key.shape[-1]) ** exponent, key, exponent)


@mistake(computes=_size_of(lambda scores: scores.square().mean(), power=0))
def measures_before_it_scales():
    """you measure the scores before you scale them; the scaled ones are wanted"""


@mistake
def scales_after_the_softmax(query, key, exponent):
    """you scale the weights; scale the scores, before the softmax"""
    size, _ = reference(query, key, exponent)
    weights = torch.softmax(_scores(query, key, 0), -1) * query.shape[-1] ** exponent
    return size, _slack(weights)


@mistake(computes=_size_of(lambda scores: scores.var(correction=0)))
def takes_the_spread():
    """you take the variance; the mean of the squares is wanted, without the mean subtracted"""


@mistake(computes=_size_of(torch.var), also=(_size_of(torch.std),))
def takes_the_spread_of_a_sample():
    """you take `var()` or `std()`, which subtract the mean and divide by one less; the mean of the
    squares is wanted"""


@mistake(computes=_size_of(lambda scores: scores.square().mean().sqrt()))
def takes_the_root():
    """you take the root of the mean square; leave it out"""


@mistake(computes=_size_of(lambda scores: scores.mean().square()))
def squares_the_mean():
    """you square the mean of the scores; take the mean of their squares"""


@mistake(computes=_size_of(lambda scores: scores.softmax(-1).square().mean()))
def measures_the_weights():
    """you take the mean square of the weights; take the mean square of the scores"""


@mistake
def adds_up_the_squares(query, key, exponent):
    """you add up the squares of the weights; the slack is what they leave to 1, the sum of `weight
    * (1 - weight)`"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], weights.square().sum(-1).mean().item()


@mistake
def averages_over_the_keys_too(query, key, exponent):
    """you take the mean over the keys; the slack of a row is a sum over its keys, and only the rows
    are averaged"""
    size, slack = reference(query, key, exponent)
    return size, slack / key.shape[-2]


@mistake
def adds_up_the_queries(query, key, exponent):
    """you add the slack of all rows up; take the mean over the rows"""
    size, slack = reference(query, key, exponent)
    return size, slack * query.shape[:-1].numel()


@mistake
def takes_the_median(query, key, exponent):
    """you take the median row; the mean over the rows is wanted"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    slack = (weights * (1 - weights)).sum(-1)
    return reference(query, key, exponent)[0], slack.median().item()


@mistake
def takes_the_largest_weight(query, key, exponent):
    """you take what the largest weight leaves to 1; every key counts, by `weight * (1 - weight)`"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], (1 - weights.amax(-1)).mean().item()


@mistake
def counts_the_keys(query, key, exponent):
    """you return the effective number of keys; the slack is the sum of `weight * (1 - weight)`, at
    most 1"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    number = 1 / weights.square().sum(-1)
    return reference(query, key, exponent)[0], number.mean().item()


@mistake
def normalises_over_the_queries(query, key, exponent):
    """your weights sum to 1 over the queries; the softmax runs over the keys, the last axis"""
    weights = torch.softmax(_scores(query, key, exponent), -2)
    return reference(query, key, exponent)[0], _slack(weights)


def _add_up_axis_one(query: Tensor, key: Tensor, exponent: float) -> Measured:
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], (weights * (1 - weights)).sum(1).mean().item()


@mistake(slip=True, points=0.5, also=(_add_up_axis_one,))
def counts_axes_from_the_front(query, key, exponent):
    """you took axis 1, which is the keys' only where there is nothing in front; count from the
    back, `dim=-1`"""
    weights = torch.softmax(_scores(query, key, exponent), 1)
    return reference(query, key, exponent)[0], _slack(weights)


@mistake(computes=_size_of(lambda scores: scores.abs().mean()))
def takes_the_mean_size():
    """you take the mean of the absolute scores; square them first"""


@mistake
def squares_the_slack(query, key, exponent):
    """you square `weight * (1 - weight)`; only the scores are squared, for the first of the two
    numbers"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    slack = (weights * (1 - weights)).square().sum(-1).mean().item()
    return reference(query, key, exponent)[0], slack


@mistake
def scales_both(query, key, exponent):
    """you scale queries and keys both, so that the factor counts twice; scale one of them, or the
    scores"""
    return reference(query * query.shape[-1] ** exponent, key, exponent)


@mistake(points=1.5)
def overflows(query, key, exponent):
    """`exp` of a score above 88 is infinite in float32; torch's own `softmax` subtracts the largest
    score first"""
    raised = torch.exp(_scores(query, key, exponent))
    weights = raised / raised.sum(-1, keepdim=True)
    return reference(query, key, exponent)[0], _slack(weights)


@mistake(computes=_size_of(lambda scores: scores.square().sum(-1).mean()))
def adds_up_the_keys():
    """you add up the squared scores of a row and take the mean over the rows; the mean is over all
    scores"""


@mistake(computes=_size_of(lambda scores: scores.square().sum()))
def adds_up_all_scores():
    """you add up all squared scores; take their mean"""


@mistake
def multiplies_by_the_exponent(query, key, exponent):
    """you multiply by the exponent; the factor is a power: `query.shape[-1] ** exponent`"""
    return reference(query * query.shape[-1] ** (1 - exponent) * exponent, key, exponent)


@mistake
def measures_the_slack_before_it_scales(query, key, exponent):
    """your slack comes from the plain products; scale them before the softmax"""
    return reference(query, key, exponent)[0], reference(query, key, 0)[1]


@mistake
def exchanges_queries_and_keys(query, key, exponent):
    """your weights sum to 1 over the queries, and so do the sums of your slack; both run over the
    keys, the last axis"""
    return reference(key, query, exponent)


@mistake
def adds_the_slack_of_a_column(query, key, exponent):
    """your slack is a sum over the queries, down each column; it is one over the keys, and the mean
    is over rows"""
    size, slack = reference(query, key, exponent)
    return size, slack * query.shape[-2] / key.shape[-2]


@mistake
def scales_by_the_number_of_queries(query, key, exponent):
    """you scale by a power of the number of queries; it is a power of the width,
    `query.shape[-1]`"""
    return reference(query * (query.shape[-2] / query.shape[-1]) ** exponent, key, exponent)


@mistake(slip=True, points=0.5)
def takes_axis_one_for_the_width(query, key, exponent):
    """you take `query.shape[1]` for the width, which it is only where no axis comes before; count
    from the back: `query.shape[-1]`"""
    return reference(query * (query.shape[1] / query.shape[-1]) ** exponent, key, exponent)


@mistake
def adds_up_what_is_left_to_one(query, key, exponent):
    """you add up `1 - weight`; each has to be multiplied by its weight first"""
    return reference(query, key, exponent)[0], key.shape[-2] - 1.0


@mistake
def takes_the_largest_slack(query, key, exponent):
    """you take the largest `weight * (1 - weight)` of a row; add up all of them"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    slack = (weights * (1 - weights)).amax(-1).mean().item()
    return reference(query, key, exponent)[0], slack


@mistake
def takes_the_entropy(query, key, exponent):
    """you take the entropy of the weights; the slack is the sum of `weight * (1 - weight)`"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    entropy = -torch.xlogy(weights, weights).sum(-1).mean().item()
    return reference(query, key, exponent)[0], entropy


@mistake
def adds_up_the_whole_jacobian(query, key, exponent):
    """you add up the sizes of all derivatives, and so each counts twice; the slack is the sum of
    the diagonal alone"""
    size, slack = reference(query, key, exponent)
    return size, 2 * slack


@mistake
def takes_the_spread_of_the_weights(query, key, exponent):
    """you take the variance of the weights; the slack is the sum of `weight * (1 - weight)`"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], weights.var(-1).mean().item()


def _average_the_rows(query: Tensor, key: Tensor, exponent: float) -> Plain:
    scores = _scores(query, key, exponent)
    weights = torch.softmax(scores, -1)
    return scores.square().mean(-1), (weights * (1 - weights)).sum(-1).mean(-1)


def _average_the_keys_for_the_size(query: Tensor, key: Tensor, exponent: float) -> Plain:
    return _scores(query, key, exponent).square().mean(-1), reference(query, key, exponent)[1]


def _average_the_keys_alone(query: Tensor, key: Tensor, exponent: float) -> Plain:
    scores = _scores(query, key, exponent)
    weights = torch.softmax(scores, -1)
    return scores.square().mean(-1), (weights * (1 - weights)).sum(-1)


def _average_the_queries(query: Tensor, key: Tensor, exponent: float) -> Plain:
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], (weights * (1 - weights)).sum(-1).mean(-1)


@mistake(
    also=(
        _average_the_rows,
        _average_the_keys_for_the_size,
        _average_the_keys_alone,
        _average_the_queries,
    )
)
def returns_the_slack_of_each_row(query, key, exponent):
    """you return numbers for each row or each table of a batch; take the mean over all of them, so
    that two numbers are left"""
    weights = torch.softmax(_scores(query, key, exponent), -1)
    return reference(query, key, exponent)[0], (weights * (1 - weights)).sum(-1)


@mistake(computes=then(reference, lambda pair: torch.tensor(pair)))
def returns_one_tensor():
    """you return one tensor of two numbers; return the two of them: `return size, slack`"""


@mistake
def takes_one_softmax_for_all_queries(query, key, exponent):
    """your softmax runs over all scores of a table together; each query has weights of its own,
    which sum to 1 over the keys"""
    scores = _scores(query, key, exponent)
    weights = torch.softmax(scores.flatten(-2), -1).view(scores.shape)
    slack = (weights * (1 - weights)).sum((-2, -1)).mean().item()
    return reference(query, key, exponent)[0], slack


EXERCISE = Exercise(
    function="measure_scale",
    reference=reference,
    title="what the root is for: measured, then in words",
    minutes=35,
    axes={"query_len": 43, "key_len": 97},
    contract=Contract(batch=("query", "key"), any_axes=True),
    checks=(
        Check(
            "the mean square of the scores and the mean slack of the rows, for any exponent; any"
            " number of axes may come before",
            1,
            draw_layer,
            sizes=(
                {"query_len": 5, "key_len": 7, "d_key": 3, "eighths": -4},
                {"query_len": 7, "key_len": 3, "d_key": 5, "eighths": 2},
                {"batch": 3, "query_len": 2, "key_len": 5, "d_key": 7, "eighths": -3},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 2, "key_len": 3, "d_key": 5},
                    "eighths": -2,
                },
            ),
            hidden_sizes=(
                {"query_len": 3, "key_len": 11, "d_key": 2, "eighths": -8},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 5, "key_len": 3, "d_key": 11},
                    "eighths": -1,
                },
            ),
            tolerance=4096,
        ),
        Check(
            "a layer of width 256, with scores well above 100, gives no `nan`",
            0.5,
            draw_layer,
            sizes=({"query_len": 31, "key_len": 17, "d_key": 256, "eighths": 1},),
            hidden_sizes=({"query_len": 23, "key_len": 29, "d_key": 256, "eighths": 1},),
            tolerance=16384,
        ),
    ),
    mistakes=mistake.collected,
)
