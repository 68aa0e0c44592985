"""Part B of problem set 02: the weights of the kernel that is often printed as another one."""

from collections.abc import Callable
from itertools import product, starmap

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, using
from torch import Tensor

from attn_bank.draws import draw_normal, draw_uniform
from attn_bank.kernel_regression import draw_points, squared_distances
from attn_course.kernel_regression import kernel_scores, log_epanechnikov
from attn_course.retrieval import masked_softmax


def reference(query: Tensor, key: Tensor, width: float) -> Tensor:
    return masked_softmax(kernel_scores(query, key, width, log_epanechnikov))


def draw_near_keys(
    generator: torch.Generator, query_len: int, key_len: int, d_key: int, **before: int
) -> Inputs:
    """Queries beside a key, so that no window is empty; the first two keys share a window."""
    inputs = draw_points(generator, query_len, key_len, d_key, None, **before)
    key, width = inputs["key"], inputs["width"]
    step = draw_normal(generator, *key.shape[:-2], 1 + query_len, d_key)
    step = width / 2 * step / step.norm(dim=-1, keepdim=True)
    key[..., 1, :] = key[..., 0, :] + step[..., 0, :]
    key[..., -1, :] = key[..., 0, :] + 3 * width
    beside = torch.arange(query_len) % key_len
    return inputs | {"query": key[..., beside, :] + 0.6 * step[..., 1:, :]}


def draw_edges(generator: torch.Generator, key_len: int, d_key: int) -> Inputs:
    """One query each: no key near, a key at the edge of the window, one just inside, several.

    All numbers are short in base 2, so that no rounding moves a key across the edge.
    """
    inside = 32 + (draw_uniform(generator, key_len - 2) * 64).floor() / 64
    along = torch.cat([torch.tensor([10.0, 2 - 2.0**-19]).double(), inside])
    key, query = torch.zeros(key_len, d_key).double(), torch.zeros(4, d_key).double()
    key[:, -1] = along[torch.randperm(key_len, generator=generator)]
    query[:, -1] = torch.tensor([-64.0, 8.0, 0.0, 32.0])
    return {"query": query[torch.randperm(4, generator=generator)], "key": key, "width": 2.0}


def draw_empty_windows(generator: torch.Generator, **sizes: int) -> Inputs:
    """The first query is far from all keys; the second has one at its edge, the third one on it."""
    inputs = draw_near_keys(generator, **sizes)
    key = (inputs["key"] * 64).round() / 64
    inputs["query"][0] -= 50
    inputs["query"][1] = key[key[:, 0].argmax()]
    inputs["query"][1, 0] += 2
    inputs["query"][2] = key[0]
    return inputs | {"key": key, "width": 2.0}


def _kernel(query: Tensor, key: Tensor, width: float) -> Tensor:
    return torch.relu(1 - squared_distances(query, key) / width**2)


def _normalise(kernel: Tensor, axis: int = -1) -> Tensor:
    total = kernel.sum(axis, keepdim=True)
    return kernel / total.where(total > 0, 1)


def _divide(kernel: Tensor) -> Tensor:
    """Nothing by nothing, too."""
    return kernel / kernel.sum(-1, keepdim=True)


def _weights(query: Tensor, key: Tensor, width: float) -> Tensor:
    return _normalise(_kernel(query, key, width))


def _root(query: Tensor, key: Tensor) -> Tensor:
    return squared_distances(query, key).sqrt()


def _norm(query: Tensor, key: Tensor) -> Tensor:
    """The same; at 0 its gradient is 0, and the gradient of the root is infinite."""
    return (query.unsqueeze(-2) - key.unsqueeze(-3)).norm(dim=-1)


def _triangles(power: int = 1, unit: float | None = None) -> tuple[Answer, ...]:
    """The triangular kernel to this power, in all ways to write it; with a unit for the width."""

    def triangle(distance: Answer, not_below_0: Answer, divide: Answer) -> Answer:
        def weights(query: Tensor, key: Tensor, width: float) -> Tensor:
            return divide(not_below_0(1 - distance(query, key) / (unit or width)) ** power)

        return weights

    zeros = (lambda x: x.clamp_min(0)), torch.relu
    return tuple(starmap(triangle, product((_root, _norm), zeros, (_normalise, _divide))))


mistake = Mistakes()


@mistake(computes=_triangles()[0], also=_triangles()[1:])
def weights_by_the_triangle():
    """you wrote the kernel as it is printed, `max(0, 1 - u)`, which is the triangular one;
    Epanechnikov's is a parabola in `u`"""


@mistake
def squares_the_kernel(query, key, width):
    """you square the whole kernel, which makes it the quartic one, `max(0, 1 - u²)²`; only `u` is
    squared"""
    return _normalise(_kernel(query, key, width).square())


@mistake(computes=_triangles(2)[0], also=_triangles(2)[1:])
def squares_the_triangle():
    """you square the triangle, `max(0, 1 - u)²`; square `u` before you subtract it from 1"""


def _count_the_edge_too(query: Tensor, key: Tensor, width: float) -> Tensor:
    return _normalise((squared_distances(query, key) <= width**2).to(query.dtype))


@mistake(also=(_count_the_edge_too,))
def counts_every_key_of_the_window_alike(query, key, width):
    """you give all keys of the window the same weight, which is the boxcar kernel; the weight
    should fall towards the edge as `1 - u²`"""
    return _normalise((squared_distances(query, key) < width**2).to(query.dtype))


@mistake
def keeps_the_density(query, key, width):
    """you return the density `3/4 max(0, 1 - u²)`; divide by the sum over the keys, and the factor
    3/4 cancels"""
    return 0.75 * _kernel(query, key, width)


@mistake
def forgets_to_normalise(query, key, width):
    """you return the kernel; for weights, divide it by its sum over the keys"""
    return _kernel(query, key, width)


@mistake
def takes_softmax_of_the_kernel(query, key, width):
    """you take the softmax of the kernel, so keys outside the window count too; softmax wants the
    logarithm of the kernel, or divide the kernel by its sum"""
    return torch.softmax(_kernel(query, key, width), -1)


@mistake
def normalises_over_the_queries(query, key, width):
    """your weights sum to 1 over the queries; for each query they should over the keys, the last
    axis"""
    return _normalise(_kernel(query, key, width), -2)


@mistake
def keeps_negative_weights(query, key, width):
    """outside the window `1 - u²` is negative, and you count it; replace it by 0 there"""
    kernel = 1 - squared_distances(query, key) / width**2
    return kernel / kernel.sum(-1, keepdim=True)


@mistake
def takes_the_absolute_value(query, key, width):
    """you take the absolute value of `1 - u²`, which grows again outside the window; replace what
    is negative by 0"""
    return _normalise((1 - squared_distances(query, key) / width**2).abs())


@mistake
def ignores_the_width(query, key, width):
    """your window reaches to the distance 1 whatever `width` is; `u` is the distance divided by the
    width"""
    return _normalise(_kernel(query, key, 1.0))


@mistake
def forgets_to_square_the_width(query, key, width):
    """you divide the squared distance by the width; `u²` holds the square of the width too"""
    return _normalise(_kernel(query, key, width**0.5))


def _relu_of_each_feature(query: Tensor, key: Tensor, width: float) -> Tensor:
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    return _normalise(torch.relu(1 - difference.square()).prod(-1))


@mistake(points=1, also=(_relu_of_each_feature,))
def multiplies_over_the_features(query, key, width):
    """you multiply one kernel for each number of a key, which makes the window a box; here `u` is
    the one Euclidean distance, and the window is a ball"""
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    return _normalise((1 - difference.square()).clamp_min(0).prod(-1))


@mistake(points=3)
def divides_nothing_by_nothing(query, key, width):
    """a query with an empty window gets 0/0, which is NaN (a softmax divides, too); divide the
    kernel by its sum, and by 1 where that is 0, so that the weights become 0"""
    return _divide(_kernel(query, key, width))


@mistake
def takes_the_mean_over_the_features(query, key, width):
    """your squared distance is a mean over the numbers of a key; it is a sum"""
    return _weights(query, key, width * query.shape[-1] ** 0.5)


@mistake
def divides_by_twice_the_squared_width(query, key, width):
    """you divide the squared distance by `2 * width**2`; the 2 belongs to the Gaussian kernel"""
    return _weights(query, key, width * 2**0.5)


def _of_one_number(query: Tensor, key: Tensor, width: float) -> Tensor:
    return torch.relu(1 - ((query - key.mT) / width).square())


@mistake(also=(lambda **inputs: _divide(_of_one_number(**inputs)),))
def knows_one_number(query, key, width):
    """`query - key.mT` is the table of differences only where points have one number; with more,
    let new axes broadcast, `query.unsqueeze(-2) - key.unsqueeze(-3)`, and add the squares up"""
    return _normalise(_of_one_number(query, key, width))


@mistake(points=3)
def spreads_an_empty_window_over_all_keys(query, key, width):
    """a query with an empty window spreads its weight over all the keys that it must not see; its
    weights should be 0"""
    kernel = _kernel(query, key, width)
    scores = kernel.where(kernel > 0, 1).log().masked_fill(kernel == 0, -1e9)
    return torch.softmax(scores, -1)


def _divide_by_and(number: float) -> Callable[..., Tensor]:
    def weights(query: Tensor, key: Tensor, width: float) -> Tensor:
        kernel = _kernel(query, key, width)
        return kernel / (kernel.sum(-1, keepdim=True) + number)

    return weights


def _let_it_fall_to(number: float) -> Callable[..., Tensor]:
    def weights(query: Tensor, key: Tensor, width: float) -> Tensor:
        kernel = _kernel(query, key, width)
        return kernel / kernel.sum(-1, keepdim=True).clamp_min(number)

    return weights


def _divide_by_one_at_least(kernel: Tensor) -> Tensor:
    return kernel / kernel.sum(-1, keepdim=True).clamp_min(1)


def _triangle_by_one_at_least(query: Tensor, key: Tensor, width: float) -> Tensor:
    return _divide_by_one_at_least(torch.relu(1 - _norm(query, key) / width))


@mistake(also=(_triangle_by_one_at_least,))
def takes_a_sum_below_one_for_one(query, key, width):
    """where the kernel sums to less than 1 you divide by 1, and the weights sum to less than 1;
    divide by the sum whatever it is, and by 1 only where it is 0. And is your kernel `1 - u²`?"""
    return _divide_by_one_at_least(_kernel(query, key, width))


_SMALL = (
    *map(_divide_by_and, (1e-5, 1e-6, 1e-9)),
    *map(_let_it_fall_to, (1e-2, 1e-3, 1e-4, 1e-5)),
)


@mistake(points=2.5, also=_SMALL)
def saves_the_division_by_a_small_number(query, key, width):
    """a small number in the denominator makes the weights of a lone key at the edge sum to less
    than 1; change the denominator only where it is 0"""
    kernel = _kernel(query, key, width)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-8)


@mistake(points=3)
def counts_the_edge_as_inside(query, key, width):
    """you take a window for filled when its only key lies exactly at the edge; the kernel is 0
    there, so ask whether the sum of the kernel is 0"""
    kernel = _kernel(query, key, width)
    some = (squared_distances(query, key) <= width**2).any(-1, keepdim=True)
    return kernel / kernel.sum(-1, keepdim=True).where(some, 1)


def _clamp_and_replace(query: Tensor, key: Tensor, width: float) -> Tensor:
    return _divide((1 - squared_distances(query, key) / width**2).clamp_min(0)).nan_to_num(0)


@mistake(points=3, also=(_clamp_and_replace,))
def replaces_nan_afterwards(query, key, width):
    """you replace NaN after the division, and the gradient still goes through 0/0; make the
    denominator harmless before you divide"""
    squared = squared_distances(query, key) / width**2
    kernel = (1 - squared) * (squared < 1)
    return (kernel / kernel.sum(-1, keepdim=True)).nan_to_num(0)


def _of_two_axes(query: Tensor, key: Tensor, width: float) -> Tensor:
    return torch.relu(1 - (query[:, None] - key[None, :]).square().sum(-1) / width**2)


@mistake(slip=True, points=2, also=(lambda **inputs: _divide(_of_two_axes(**inputs)),))
def knows_no_batch(query, key, width):
    """your new axes are counted from the left, which fits two axes only; count from the right:
    `query.unsqueeze(-2) - key.unsqueeze(-3)`"""
    return _normalise(_of_two_axes(query, key, width))


def _at_least(number: float) -> Answer:
    """With a sum that is kept above a number, or above 0."""

    def weights(query: Tensor, key: Tensor, width: float) -> Tensor:
        kernel = _kernel(query, key, width)
        least = number or torch.finfo(kernel.dtype).tiny
        return kernel / kernel.sum(-1, keepdim=True).clamp_min(least)

    return weights


def _density(query: Tensor, key: Tensor, width: float) -> Tensor:
    return _normalise(0.75 * _kernel(query, key, width))


def _clamped(answer: Answer) -> Answer:
    return using(answer, "relu", lambda x: x.clamp_min(0))


@mistake(
    points=3,
    right="your weights are right",
    computes=_clamped(_weights),
    also=(
        using(_weights, "relu", lambda x: torch.maximum(x, torch.zeros_like(x))),
        *map(_clamped, (_density, *map(_at_least, (1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 0)))),
    ),
)
def clamps_at_the_edge():
    """a key at exactly one width, where the kernel is 0, gets a gradient, as `clamp`, `maximum` and
    `<=` give it; it is outside the window, so let its gradient be 0, as `relu` and `<` do"""


@mistake
def drops_the_axis_of_the_sum(query, key, width):
    """the sum of the kernel has lost its axis, so that it divides the wrong numbers: keep it,
    `keepdim=True`"""
    kernel = (1 - squared_distances(query, key) / width**2).clamp_min(0)
    return kernel / kernel.sum(-1)


@mistake(points=3)
def takes_a_root_and_squares_it_again(query, key, width):
    """you take a square root that you square again: its gradient is infinite where a key lies on
    the query, and turns to `nan`; stay with the squared distance"""
    distance = squared_distances(query, key).sqrt()
    return _normalise(torch.relu(1 - (distance / width) ** 2))


@mistake
def divides_by_the_number_of_keys_within(query, key, width):
    """you divide by the number of keys in the window, so the weights of a query do not sum to 1:
    divide by the sum of their kernels"""
    kernel = _kernel(query, key, width)
    return kernel / (kernel > 0).sum(-1, keepdim=True).clamp(min=1)


@mistake
def adds_a_thousandth_to_the_sum(query, key, width):
    """you add a thousandth to the denominator, and the weights of every query sum to less than 1,
    and to much less for a lone key at the edge; change the denominator only where it is 0"""
    kernel = _kernel(query, key, width)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-3)


@mistake
def takes_the_gaussian_kernel(query, key, width):
    """your kernel is the Gaussian; Epanechnikov's is a parabola that ends at one width"""
    return torch.softmax(-squared_distances(query, key) / (2 * width**2), -1)


@mistake(computes=_triangles(unit=1.0)[0], also=_triangles(unit=1.0)[1:])
def takes_the_triangle_without_a_width():
    """you wrote the line as it is printed, and both things are wrong with it: the kernel is a
    parabola in `u`, and `u` is the distance divided by the width"""


@mistake
def takes_a_higher_power_of_the_kernel(query, key, width):
    """your kernel is the third power of the parabola; Epanechnikov's is the parabola itself"""
    return _normalise(_kernel(query, key, width) ** 3)


def _keep_negative_ones(query: Tensor, key: Tensor, width: float) -> Tensor:
    kernel = 1 - squared_distances(query, key) / width**2
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.where(total > 0, 1)


@mistake(computes=_keep_negative_ones)
def keeps_what_is_below_zero():
    """some of your weights are negative: where the parabola is below 0 the kernel is 0"""


@mistake
def divides_by_the_largest(query, key, width):
    """you divide by the largest number of each row, so that the nearest key has the weight 1;
    divide by the sum"""
    kernel = _kernel(query, key, width)
    most = kernel.amax(-1, keepdim=True)
    return kernel / most.where(most > 0, 1)


@mistake
def divides_by_one_sum_for_all(query, key, width):
    """you divide by one sum for all queries; each row has its own, over the last axis"""
    kernel = _kernel(query, key, width)
    return kernel / kernel.sum().clamp_min(torch.finfo(kernel.dtype).tiny)


@mistake
def shortens_to_length_one(query, key, width):
    """you divide by the length of each row as a vector, the root of the sum of squares; weights are
    divided by their sum"""
    return torch.nn.functional.normalize(_kernel(query, key, width), dim=-1, eps=1e-30)


@mistake(points=3)
def gives_an_empty_window_to_one_key(query, key, width):
    """where the window is empty you give one key the whole weight; all weights are 0 there"""
    kernel = _kernel(query, key, width)
    first = torch.nn.functional.one_hot(kernel.argmax(-1), kernel.shape[-1])
    return torch.where(kernel.sum(-1, keepdim=True) > 0, _normalise(kernel), first.to(kernel))


@mistake(points=1)
def adds_absolute_differences(query, key, width):
    """your distance is the sum of the absolute differences; the Euclidean one is the root of the
    sum of their squares"""
    distance = (query.unsqueeze(-2) - key.unsqueeze(-3)).abs().sum(-1)
    return _normalise((1 - (distance / width) ** 2).clamp_min(0))


@mistake
def exchanges_queries_and_keys(query, key, width):
    """your rows are keys and your columns queries; a row belongs to a query"""
    return _normalise(_kernel(query, key, width)).mT


@mistake(points=2)
def takes_a_root_and_divides_nothing_by_nothing(query, key, width):
    """two things to mend: a query with an empty window gets 0/0, which is NaN, so divide by 1 where
    the sum of the kernel is 0; and you take a square root that you square again, whose gradient is
    infinite where a key lies on the query"""
    return _divide(torch.relu(1 - (_root(query, key) / width) ** 2))


EXERCISE = Exercise(
    function="epanechnikov_weights",
    reference=reference,
    title="find the slip: a kernel, as it is often printed",
    minutes=20,
    axes={"query_len": 43},
    contract=Contract(batch=("query", "key"), any_axes=True),
    checks=(
        Check(
            "the weights are in the proportion of Epanechnikov's kernel, and sum to 1 over the"
            " keys of each query; further axes may come before",
            1.5,
            draw_near_keys,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_key": 2},
                {"batch": 2, "query_len": 5, "key_len": 7, "d_key": 3},
                {"groups": 3, "batch": 2, "query_len": 2, "key_len": 5, "d_key": 2},
            ),
            hidden_sizes=(
                {"query_len": 2, "key_len": 11, "d_key": 1},
                {"batch": 3, "query_len": 7, "key_len": 5, "d_key": 2},
                {"groups": 2, "batch": 3, "query_len": 3, "key_len": 7, "d_key": 3},
            ),
        ),
        Check(
            "a query with no key in its window, or with one exactly at the edge, gets zero weights;"
            " a lone key just inside the edge gets the weight 1",
            1,
            draw_edges,
            sizes=({"key_len": 5, "d_key": 1},),
            hidden_sizes=({"key_len": 7, "d_key": 2}, {"key_len": 3, "d_key": 5}),
        ),
        Check(
            "the right gradient reaches `query` and `key`; for a query with an empty window it is"
            " 0, not `nan`, even with a key exactly at its edge",
            1,
            draw_empty_windows,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 1},),
            hidden_sizes=({"query_len": 5, "key_len": 7, "d_key": 2},),
            gradient=("query", "key"),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "1.0 -> 2.0": "the row that is divided by it is all zeros, whatever the divisor",
    },
)
