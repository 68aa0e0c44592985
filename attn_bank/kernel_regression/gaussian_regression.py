"""Part A of problem set 02: the Nadaraya-Watson estimate by hand, with a Gaussian kernel."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Tensor

from attn_bank.draws import draw_normal, draw_uniform
from attn_bank.kernel_regression import draw_points, draw_uneven_keys, squared_distances

Width = float | Tensor
FEW = 11


def reference(query: Tensor, key: Tensor, value: Tensor, width: Width) -> Tensor:
    return torch.softmax(-squared_distances(query, key) / width**2 / 2, -1) @ value


def draw_near(generator: torch.Generator, **sizes: int) -> Inputs:
    """Points so near that beside their kernel values a millionth of a millionth is nothing."""
    inputs = draw_points(generator, **sizes)
    return inputs | {"query": inputs["query"] / 2, "key": inputs["key"] / 2}


def draw_underflow(
    generator: torch.Generator, query_len: int, key_len: int, d_value: int, far: int
) -> Inputs:
    """Every kernel value underflows: the queries lie 20 widths and more from the nearest key.

    The second lies nearly in the middle of two keys, which a kernel that falls off less mixes.
    """
    key = draw_uneven_keys(generator, key_len)
    chosen = torch.randperm(key_len, generator=generator)[:query_len]
    query = key[chosen] + 0.375
    query[0] += far
    # of few: two of many may lie so near that their places, squared, are the same in float32
    narrow = int(key[:FEW].diff(dim=0).argmin())
    query[1] = (key[narrow] + key[narrow + 1]) / 2 - 1 / 16
    value = draw_normal(generator, key_len, d_value)
    return {"query": query, "key": key, "value": value, "width": 1 / 64}


def draw_years(generator: torch.Generator, query_len: int, key_len: int, d_value: int) -> Inputs:
    """Keys far from 0 and close together; single precision holds them, but not their squares."""
    first = torch.randint(1800, 1900, (1,), generator=generator)
    key = (first + torch.arange(key_len)).double().unsqueeze(-1)
    part = (draw_uniform(generator, query_len, 1) * 64).floor() / 64
    query = key[torch.randperm(key_len, generator=generator)[:query_len]] + part
    value = draw_normal(generator, key_len, d_value)
    return {"query": query, "key": key, "value": value, "width": 2.0}


def draw_with_width_to_learn(generator: torch.Generator, **sizes: int) -> Inputs:
    inputs = draw_points(generator, **sizes)
    return inputs | {"width": torch.tensor(inputs["width"], dtype=torch.float64)}


mistake = Mistakes()


@mistake(points=1, also=(given(reference, width=lambda width: width / 2**0.5),))
def forgets_the_half(query, key, value, width):
    """your kernel is `exp(-u²)`; the Gaussian is `exp(-u²/2)`"""
    return torch.softmax(-squared_distances(query, key) / width**2, -1) @ value


@mistake
def forgets_to_square_the_distance(query, key, value, width):
    """your kernel is `exp(-u/2)`, with a peak at the query; the Gaussian has the square of the
    distance, `exp(-u²/2)`"""
    return torch.softmax(-squared_distances(query, key).sqrt() / width / 2, -1) @ value


@mistake(computes=given(reference, width=lambda width: width**0.5))
def forgets_to_square_the_width():
    """you divide the squared distance by the width; `u` is the distance in widths, so `u²` holds
    the square of the width too"""


@mistake(computes=given(reference, width=lambda width: 1 / width))
def multiplies_by_the_width():
    """you multiply the distance by the width, so a larger width makes your kernel narrower; divide
    by it"""


@mistake
def forgets_the_minus(query, key, value, width):
    """your far keys get the most weight: the score of a key is minus half of `u²`"""
    return torch.softmax(squared_distances(query, key) / (2 * width**2), -1) @ value


@mistake(points=1.5)
def knows_one_feature(query, key, value, width):
    """`query - key.mT` is the table of differences only where points have one number; with more,
    let new axes broadcast, `query.unsqueeze(-2) - key.unsqueeze(-3)`, and add the squares up"""
    return torch.softmax(-((query - key.mT) / width).square() / 2, -1) @ value


@mistake(points=1.5)
def adds_the_features_before_squaring(query, key, value, width):
    """you add the differences up and square the sum, so that they can cancel; square each
    difference, then add over the numbers of a key"""
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)).sum(-1)
    return torch.softmax(-((difference / width) ** 2) / 2, -1) @ value


@mistake(points=1.5)
def takes_the_mean_over_the_features(query, key, value, width):
    """your squared distance is a mean over the numbers of a key; it is a sum"""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().mean(-1)
    return torch.softmax(-squared / (2 * width**2), -1) @ value


@mistake
def normalises_over_the_queries(query, key, value, width):
    """your weights sum to 1 over the queries; for each query they should over the keys, the last
    axis of the scores"""
    return torch.softmax(-squared_distances(query, key) / (2 * width**2), -2) @ value


@mistake(slip=True, points=2)
def normalises_axis_1(query, key, value, width):
    """you took axis 1, which is the keys only where no batch axis comes before: count from the
    back, `dim=-1`"""
    return torch.softmax(-squared_distances(query, key) / (2 * width**2), 1) @ value


@mistake
def takes_softmax_of_the_kernel(query, key, value, width):
    """you take the softmax of the kernel; softmax wants the logarithm of the kernel, `-u²/2`"""
    return torch.softmax(torch.exp(-squared_distances(query, key) / (2 * width**2)), -1) @ value


@mistake
def forgets_to_normalise(query, key, value, width):
    """your weights do not sum to 1: divide by their sum over the keys"""
    return torch.exp(-squared_distances(query, key) / (2 * width**2)) @ value


@mistake(points=3)
def divides_nothing_by_nothing(query, key, value, width):
    """your kernel underflows to 0 for every key, and 0/0 is NaN; only differences of the scores
    count, so subtract the largest score of each query before `exp`, as softmax does"""
    kernel = torch.exp(-squared_distances(query, key) / (2 * width**2))
    return kernel @ value / kernel.sum(-1, keepdim=True)


@mistake(points=3)
def takes_one_nearest_key_for_all(query, key, value, width):
    """you take off the largest score of the whole table; a query that lies farther away still has
    0/0, which is NaN. Take from each query's scores their own largest"""
    scores = -squared_distances(query, key) / (2 * width**2)
    kernel = torch.exp(scores - scores.max())
    return kernel @ value / kernel.sum(-1, keepdim=True)


def _take_zero_for_nan(query: Tensor, key: Tensor, value: Tensor, width: Width) -> Tensor:
    return divides_nothing_by_nothing(query, key, value, width).nan_to_num(0)


@mistake(points=2.5, also=(_take_zero_for_nan,))
def saves_the_division_by_a_small_number(query, key, value, width):
    """where every kernel value underflows you give the estimate 0, which no value supports: a small
    number in the denominator, or a 0 for NaN, hides 0/0. Subtract the largest score of each query
    before `exp` instead"""
    kernel = torch.exp(-squared_distances(query, key) / (2 * width**2))
    return kernel @ value / (kernel.sum(-1, keepdim=True) + 1e-12)


@mistake(points=3)
def falls_back_on_the_mean(query, key, value, width):
    """where every kernel value underflows you return the mean of all values; the limit of the
    formula is the value of the nearest key, and softmax of the scores finds it"""
    kernel = torch.exp(-squared_distances(query, key) / (2 * width**2))
    total = kernel.sum(-1, keepdim=True)
    estimate = kernel @ value / total.where(total > 0, 1)
    return torch.where(total > 0, estimate, value.mean(-2, keepdim=True))


def _expanded_and_clamped(query: Tensor, key: Tensor, value: Tensor, width: Width) -> Tensor:
    squared = query.square().sum(-1, keepdim=True) - 2 * query @ key.mT
    squared = (squared + key.square().sum(-1).unsqueeze(-2)).clamp(min=0)
    return torch.softmax(-squared / (2 * width**2), -1) @ value


@mistake(points=3.5, also=(_expanded_and_clamped,))
def expands_the_square(query, key, value, width):
    """`|q|² - 2q·k + |k|²`, which `torch.cdist` takes too from 26 points on, loses the digits: near
    the year 1900 the squares are millions; subtract first, then square"""
    squares = query.square().sum(-1, keepdim=True) + key.square().sum(-1).unsqueeze(-2)
    return torch.softmax(-(squares - 2 * query @ key.mT) / (2 * width**2), -1) @ value


@mistake(points=1)
def takes_the_nearest_key(query, key, value, width):
    """you return the value of the nearest key; all keys count, the nearer the more"""
    squared = squared_distances(query, key)
    return (squared == squared.amin(-1, keepdim=True)).to(value.dtype) @ value


@mistake(slip=True, points=2)
def knows_no_batch(query, key, value, width):
    """your new axes are counted from the left, which fits two axes only; count from the right:
    `query.unsqueeze(-2) - key.unsqueeze(-3)`"""
    squared = (query[:, None] - key[None, :]).square().sum(-1)
    return torch.softmax(-squared / (2 * width**2), -1) @ value


@mistake(points=3.5, computes=given(reference, width=float))
def turns_the_width_into_a_number():
    """you turn `width` into a number of its own, as `float`, `item()` and `torch.tensor` do, so no
    gradient can reach it and nobody can learn it; compute with the tensor that you were given"""


@mistake
def drops_the_axis_of_the_sum(query, key, value, width):
    """the sum of the kernel has lost its axis, so that it divides the wrong numbers: keep it,
    `keepdim=True`, or let softmax divide"""
    kernel = torch.exp(-squared_distances(query, key) / (2 * width**2))
    return kernel / kernel.sum(-1) @ value


@mistake(points=1)
def takes_the_distance_for_its_square(query, key, value, width):
    """your kernel falls with the distance divided by twice the squared width; the distance itself
    has to be squared as well: `-d² / 2w²`"""
    distance = squared_distances(query, key).sqrt()
    return torch.softmax(-distance / (2 * width**2), -1) @ value


@mistake
def takes_the_dot_product(query, key, value, width):
    """your scores are dot products; the Gaussian kernel goes by the distance"""
    return torch.softmax(query @ key.mT / (2 * width**2), -1) @ value


def _of_one(query: Tensor, key: Tensor, value: Tensor, width: Width) -> Tensor:
    return torch.softmax(-squared_distances(query, key).sqrt() / width, -1) @ value


@mistake(points=1, also=(_of_one,))
def decays_by_the_distance(query, key, value, width):
    """your kernel falls with the distance and not with its square: it is `exp(-u²/2)`"""
    return torch.softmax(-squared_distances(query, key).sqrt() / width**2, -1) @ value


@mistake(points=1.5)
def adds_absolute_differences(query, key, value, width):
    """your distance is the sum of the absolute differences; the Euclidean one is the root of the
    sum of their squares"""
    distance = (query.unsqueeze(-2) - key.unsqueeze(-3)).abs().sum(-1)
    return torch.softmax(-(distance**2) / (2 * width**2), -1) @ value


@mistake(points=1.5)
def looks_at_the_first_feature(query, key, value, width):
    """you measure the first number of a key alone; the distance goes over all of them"""
    return reference(query[..., :1], key[..., :1], value, width)


@mistake
def stops_at_the_weights(query, key, value, width):
    """you return the weights; the estimate is weights times `value`"""
    return torch.softmax(-squared_distances(query, key) / (2 * width**2), -1)


@mistake
def divides_by_the_number_of_keys(query, key, value, width):
    """you divide by the number of keys; divide by the sum of the kernel over them"""
    return torch.exp(-squared_distances(query, key) / (2 * width**2)) @ value / key.shape[-2]


EXERCISE = Exercise(
    function="gaussian_regression",
    reference=reference,
    title="the estimator by hand, for a width of any size",
    minutes=15,
    axes={"key_len": 97, "d_key": 31, "d_value": 31},
    avoid=("attention", "estimators"),
    contract=Contract(batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "each estimate is the mean of the values, weighted by the Gaussian kernel of the"
            " distance; further axes may come before",
            1.5,
            draw_near,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_key": 2, "d_value": 7},
                {"batch": 2, "query_len": 3, "key_len": 7, "d_key": 5, "d_value": 1},
                {"groups": 3, "batch": 2, "query_len": 2, "key_len": 5, "d_key": 2, "d_value": 3},
            ),
            hidden_sizes=(
                {"query_len": 1, "key_len": 11, "d_key": 1, "d_value": 3},
                {"batch": 5, "query_len": 7, "key_len": 3, "d_key": 2, "d_value": 2},
                {"query_len": 2, "key_len": 1, "d_key": 3, "d_value": 5},
                {"groups": 2, "batch": 3, "query_len": 5, "key_len": 7, "d_key": 3, "d_value": 2},
            ),
        ),
        Check(
            "where the width is so small, or the query so far away, that every kernel value"
            " underflows to 0, the nearest key decides",
            1,
            draw_underflow,
            sizes=({"query_len": 3, "key_len": 5, "d_value": 2, "far": 0},),
            hidden_sizes=(
                {"query_len": 5, "key_len": 11, "d_value": 3, "far": 200},
                {"query_len": 2, "key_len": 7, "d_value": 1, "far": -200},
            ),
        ),
        Check(
            "keys such as years, far from 0 and close together, lose no digits",
            0.5,
            draw_years,
            sizes=({"query_len": 3, "key_len": 29, "d_value": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 31, "d_value": 1},),
        ),
        Check(
            "the right gradient reaches `query`, `key`, `value`, and a `width` that is a tensor",
            0.5,
            draw_with_width_to_learn,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 2, "d_value": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_key": 1, "d_value": 7},),
            gradient=("query", "key", "value", "width"),
        ),
    ),
    mistakes=mistake.collected,
)
