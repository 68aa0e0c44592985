"""Part D of problem set 02: a width for each query, the distance to its k-th nearest key."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, using
from torch import Tensor

from attn_bank.draws import draw_normal
from attn_bank.kernel_regression import draw_points, squared_distances
from attn_course.retrieval import attend, masked_softmax


def reference(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return attend(-squared / _harmless(2 * _squared_width(squared, k)), value)


def _squared_width(squared: Tensor, k: int) -> Tensor:
    return squared.sort(-1).values[..., k - 1 : k]


def _harmless(number: Tensor) -> Tensor:
    """0 becomes so small that what is divided by it stays 0 or leaves all others behind."""
    return number.clamp_min(torch.finfo(number.dtype).tiny)


def draw_with_k(generator: torch.Generator, k: int, **sizes: int) -> Inputs:
    inputs = draw_points(generator, **sizes)
    del inputs["width"]
    return inputs | {"k": k}


def draw_zero_width(
    generator: torch.Generator, key_len: int, d_key: int, d_value: int, k: int
) -> Inputs:
    """k of the keys lie on the first query, k + 1 on the second, and none on the third."""
    places = 4 * torch.arange(-1, 2).double().unsqueeze(-1).repeat(1, d_key)
    key = draw_normal(generator, key_len, d_key)
    key[:k] = places[0]
    key[k : 2 * k + 1] = places[1]
    key = key[torch.randperm(key_len, generator=generator)]
    return {"query": places, "key": key, "value": draw_normal(generator, key_len, d_value), "k": k}


def draw_in_other_units(generator: torch.Generator, exponent: int, **sizes: int) -> Inputs:
    inputs = draw_with_k(generator, **sizes)
    unit = 2.0**exponent
    return inputs | {"query": inputs["query"] * unit, "key": inputs["key"] * unit}


def _estimate(squared: Tensor, squared_width: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(-squared / _harmless(2 * squared_width), -1) @ value


def _with_one_width_each(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return _estimate(squared, _squared_width(squared, k), value)


mistake = Mistakes()


@mistake
def takes_one_width_for_all(query, key, value, k):
    """you average the widths and use one for all queries; each query keeps its own"""
    squared = squared_distances(query, key)
    width = _squared_width(squared, k).sqrt().mean((-2, -1), keepdim=True)
    return _estimate(squared, width**2, value)


@mistake
def takes_the_width_of_the_first_query(query, key, value, k):
    """you use the width of one query, such as the first, for all of them; each has its own"""
    squared = squared_distances(query, key)
    return _estimate(squared, _squared_width(squared, k)[..., :1, :], value)


def _take_the_next_key(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """If there is one."""
    place = min(k, key.shape[-2] - 1)
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1).values[..., place : place + 1], value)


@mistake(also=(_take_the_next_key,))
def counts_k_from_zero(query, key, value, k):
    """your width is the distance to nearest key number k + 1: after sorting, the k-th nearest is at
    index `k - 1`"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1).values[..., k : k + 1], value)


@mistake
def takes_the_k_th_farthest(query, key, value, k):
    """your width is the distance to the k-th farthest key: sort the distances in rising order"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1, descending=True).values[..., k - 1 : k], value)


@mistake
def sorts_over_the_queries(query, key, value, k):
    """you sort the distances over the queries, which gives a width for each key; sort over the
    keys, the last axis"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-2).values[..., k - 1 : k, :], value)


@mistake
def takes_the_width_at_the_keys(query, key, value, k):
    """your width belongs to the key, its distance to its own neighbours; it should belong to the
    query: the distance from the query to its k-th nearest key"""
    width = squared_distances(key, key).sort(-1).values[..., k : k + 1]
    return _estimate(squared_distances(query, key), width.mT, value)


@mistake
def takes_the_squared_distance_for_the_width(query, key, value, k):
    """you take the squared distance for the width, and square it once more; `σ²` is the squared
    distance to the k-th nearest key"""
    squared = squared_distances(query, key)
    return _estimate(squared, _squared_width(squared, k) ** 2, value)


@mistake
def takes_the_root_of_the_width(query, key, value, k):
    """you divide the squared distance by `2σ`; the Gaussian divides it by `2σ²`"""
    squared = squared_distances(query, key)
    return _estimate(squared, _squared_width(squared, k).sqrt(), value)


@mistake
def takes_the_mean_of_k_values(query, key, value, k):
    """you return the plain mean of the k nearest values; here all keys count, by the Gaussian
    kernel, and k only sets its width"""
    squared = squared_distances(query, key)
    near = squared <= _squared_width(squared, k)
    return near.to(value.dtype) / near.sum(-1, keepdim=True) @ value


def _with_k_keys(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    near, place = squared.topk(k, largest=False)
    weights = torch.softmax(-near / _harmless(2 * near[..., -1:]), -1)
    return torch.zeros_like(squared).scatter(-1, place, weights) @ value


@mistake(also=(_with_k_keys,))
def drops_the_other_keys(query, key, value, k):
    """you leave out all keys beyond the k-th; here they count too, by the Gaussian kernel, and k
    only sets its width"""
    squared = squared_distances(query, key)
    width = _squared_width(squared, k)
    return masked_softmax(-squared / _harmless(2 * width), squared <= width) @ value


@mistake
def takes_the_mean_distance_of_k(query, key, value, k):
    """your squared width is a mean over the k nearest keys; it is the squared distance to the k-th
    one alone"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1).values[..., :k].mean(-1, keepdim=True), value)


@mistake(
    computes=using(_with_one_width_each, "softmax", lambda scores, _: torch.softmax(2 * scores, -1))
)
def forgets_the_half():
    """your kernel is `exp(-u²)`; the Gaussian is `exp(-u²/2)`"""


def _count_places(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    places = [row.unique() for row in squared.flatten(0, -2)]
    width = torch.stack([row[min(k, len(row)) - 1] for row in places])
    return _estimate(squared, width.reshape(*squared.shape[:-1], 1), value)


@mistake(points=3, also=(_count_places,))
def counts_places_and_not_keys(query, key, value, k):
    """you count keys in one place once; each of them counts, so with k twins on the query its width
    is 0"""
    squared = squared_distances(query, key)
    width = torch.stack([_kth_different(row, k) for row in squared.flatten(0, -2)])
    return _estimate(squared, width.reshape(*squared.shape[:-1], 1), value)


def _kth_different(row: Tensor, k: int) -> Tensor:
    different = row.unique()
    return row.sort().values[k - 1] if len(different) == len(row) else different[k - 1]


@mistake(points=3)
def divides_by_a_width_of_zero(query, key, value, k):
    """where the width is 0 the key on the query gets the score 0/0, which is NaN; its score should
    be 0, and every other score minus infinity"""
    squared = squared_distances(query, key)
    return torch.softmax(-squared / (2 * _squared_width(squared, k)), -1) @ value


@mistake(points=3)
def spreads_a_width_of_zero_over_all_keys(query, key, value, k):
    """where the width is 0 you let all keys count alike; only those on the query should"""
    squared = squared_distances(query, key)
    width = _squared_width(squared, k)
    scores = torch.where(width > 0, -squared / width.where(width > 0, 1) / 2, 0)
    return torch.softmax(scores, -1) @ value


def _add_to_the_root(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return _estimate(squared, (_squared_width(squared, k).sqrt() + 1e-6) ** 2, value)


def _adding(number: float) -> Callable[..., Tensor]:
    def answer(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
        squared = squared_distances(query, key)
        return _estimate(squared, _squared_width(squared, k) + number, value)

    return answer


@mistake(points=3, also=(*map(_adding, (5e-9, 1e-6, 1e-9, 1e-10, 1e-12)), _add_to_the_root))
def adds_a_small_number_to_the_width(query, key, value, k):
    """you add a small number to the width, which is not small in a unit so large that all distances
    are below a millionth; change the width only where it is 0, or use `torch.finfo(dtype).tiny`"""
    return _adding(1e-8)(query, key, value, k)


@mistake(
    points=3.5,
    computes=using(_with_one_width_each, "sort", lambda squared, axis: squared.detach().sort(axis)),
)
def treats_the_width_as_a_constant():
    """you cut the width off from the graph, but it moves with the query and with the k-th key; drop
    `detach` and `item`"""


@mistake(slip=True, points=2)
def knows_no_batch(query, key, value, k):
    """your new axes are counted from the left, which fits two axes only; count from the right:
    `query.unsqueeze(-2) - key.unsqueeze(-3)`"""
    squared = (query[:, None] - key[None, :]).square().sum(-1)
    return _estimate(squared, _squared_width(squared, k), value)


@mistake(points=3.5)
def keeps_the_width_above_a_millionth(query, key, value, k):
    """you keep every width above a millionth, which is wide where all distances are below that;
    change the width only where it is 0"""
    squared = squared_distances(query, key)
    return _estimate(squared, _squared_width(squared, k).clamp(min=1e-12), value)


@mistake
def counts_k_one_too_few(query, key, value, k):
    """the width reaches the key before the k-th nearest; the indices of a sorted row start at 0, so
    the k-th is at `k - 1`"""
    squared, place = squared_distances(query, key), max(k - 2, 0)
    return _estimate(squared, squared.sort(-1).values[..., place : place + 1], value)


@mistake
def doubles_the_width(query, key, value, k):
    """your spread is too large by a factor of 2: the squared distance is divided by twice the
    squared width"""
    squared = squared_distances(query, key)
    return _estimate(squared, 2 * _squared_width(squared, k), value)


@mistake
def forgets_the_minus(query, key, value, k):
    """the minus is missing, so the farthest key counts most"""
    squared = squared_distances(query, key)
    return torch.softmax(squared / _harmless(2 * _squared_width(squared, k)), -1) @ value


def _add_distances(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1).values[..., :k].sum(-1, keepdim=True), value)


@mistake(also=(_add_distances,))
def blends_the_k_distances(query, key, value, k):
    """your width is made of all k nearest distances, as a mean or a sum; it is the k-th alone"""
    squared = squared_distances(query, key)
    width = squared.sort(-1).values[..., :k].sqrt().mean(-1, keepdim=True)
    return _estimate(squared, width**2, value)


def _take_a_fixed_rank(place: int) -> Callable[..., Tensor]:
    def answer(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
        squared = squared_distances(query, key)
        return _estimate(squared, squared.sort(-1).values[..., place].unsqueeze(-1), value)

    return answer


def _take_the_median(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return _estimate(squared, squared.median(-1, keepdim=True).values, value)


@mistake(computes=_take_a_fixed_rank(0), also=(_take_a_fixed_rank(-1), _take_the_median))
def does_not_use_k():
    """your width does not depend on `k`: it reaches the nearest key, the farthest or one between"""


def _take_one(which: Callable[..., Tensor], axes: int | tuple[int, ...]) -> Callable[..., Tensor]:
    def answer(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
        squared = squared_distances(query, key)
        return _estimate(squared, which(_squared_width(squared, k), axes, keepdim=True), value)

    return answer


@mistake(
    computes=_take_one(torch.mean, -2),
    also=tuple(
        _take_one(which, axes)
        for which in (torch.mean, torch.amin, torch.amax)
        for axes in (-2, ())
    ),
)
def shares_a_width_among_the_queries():
    """your queries have one width in common, a mean, the smallest or the largest of theirs; each
    has its own"""


@mistake
def takes_the_k_th_of_all_distances(query, key, value, k):
    """your width is the k-th smallest distance of the whole table; each query, a row of it, has its
    own"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.flatten().sort().values[k - 1], value)


def _divide_without_an_axis(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    return torch.softmax(-squared / (2 * squared.sort(-1).values[..., k - 1]), -1) @ value


@mistake(also=(_divide_without_an_axis,))
def drops_the_axis_of_the_width(query, key, value, k):
    """the widths have lost their axis of length 1, so that they divide the wrong numbers: keep it,
    by `keepdim=True` or the slice `[..., k - 1 : k]`"""
    squared = squared_distances(query, key)
    return _estimate(squared, squared.sort(-1).values[..., k - 1], value)


def _leave_out_zeros(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    width = _squared_width(squared, k)
    return torch.softmax(-squared / (2 * width.where(width > 0, 1)), -1).where(width > 0, 0) @ value


def _take_the_first(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    first = torch.nn.functional.one_hot(squared.argmin(-1), key.shape[-2]).to(value.dtype)
    return torch.where(
        _squared_width(squared, k) > 0, reference(query, key, value, k), first @ value
    )


def _spread_by_one(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    squared = squared_distances(query, key)
    spread = 2 * _squared_width(squared, k)
    return torch.softmax(-squared / spread.where(spread > 0, 1), -1) @ value


@mistake(points=3, also=(_leave_out_zeros, _take_the_first, _spread_by_one))
def puts_something_else_for_a_width_of_zero(query, key, value, k):
    """where the width is 0 you do not get the mean over all keys that lie on the query: another
    width in its place lets others in, and a single key or none leaves some out"""
    squared = squared_distances(query, key)
    width = _squared_width(squared, k)
    return torch.softmax(-squared / (2 * width.where(width > 0, 1)), -1) @ value


def _clamp(number: float) -> Callable[..., Tensor]:
    def answer(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
        squared = squared_distances(query, key)
        spread = (2 * _squared_width(squared, k)).clamp_min(number)
        return torch.softmax(-squared / spread, -1) @ value

    return answer


@mistake(points=3.5, computes=_clamp(1e-9), also=tuple(map(_clamp, (1e-6, 1e-8, 1e-10, 1e-12))))
def clamps_the_width_too_high():
    """the least width that you allow is larger than the distances may be, in a large unit; let it
    be the smallest number of the dtype, `finfo(...).tiny`"""


EXERCISE = Exercise(
    function="nearest_k_regression",
    reference=reference,
    title="a width for each query",
    minutes=20,
    axes={"query_len": 43, "d_value": 31},
    avoid=("attention", "estimators"),
    contract=Contract(batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "each query has its own width, the distance to its k-th nearest key, and all keys count"
            " by the Gaussian kernel; further axes may come before",
            1.5,
            draw_with_k,
            sizes=(
                {"query_len": 3, "key_len": 7, "d_key": 1, "d_value": 2, "k": 3},
                {"batch": 3, "query_len": 5, "key_len": 7, "d_key": 2, "d_value": 1, "k": 2},
                {
                    **{"groups": 3, "batch": 2, "query_len": 2, "key_len": 5, "d_key": 2},
                    **{"d_value": 3, "k": 2},
                },
            ),
            hidden_sizes=(
                {"query_len": 2, "key_len": 5, "d_key": 3, "d_value": 2, "k": 5},
                {"query_len": 7, "key_len": 3, "d_key": 2, "d_value": 5, "k": 1},
                {"batch": 2, "query_len": 1, "key_len": 11, "d_key": 1, "d_value": 3, "k": 7},
                {
                    **{"groups": 2, "batch": 3, "query_len": 3, "key_len": 7, "d_key": 2},
                    **{"d_value": 2, "k": 4},
                },
            ),
        ),
        Check(
            "where k keys or more lie on the query, and the width is 0, the estimate is the mean of"
            " the values there",
            1,
            draw_zero_width,
            sizes=({"key_len": 29, "d_key": 1, "d_value": 2, "k": 2},),
            hidden_sizes=(
                {"key_len": 5, "d_key": 2, "d_value": 1, "k": 1},
                {"key_len": 11, "d_key": 3, "d_value": 2, "k": 3},
            ),
        ),
        Check(
            "in other units, millimetres for kilometres, the estimates stay the same",
            0.5,
            draw_in_other_units,
            sizes=(
                {"exponent": -20, "query_len": 3, "key_len": 7, "d_key": 2, "d_value": 1, "k": 3},
            ),
            hidden_sizes=(
                {"exponent": 20, "query_len": 3, "key_len": 7, "d_key": 2, "d_value": 1, "k": 3},
                {"exponent": -18, "query_len": 5, "key_len": 11, "d_key": 1, "d_value": 2, "k": 2},
            ),
        ),
        Check(
            "the right gradient reaches `query`, `key` and `value`, through the widths too",
            0.5,
            draw_with_k,
            sizes=({"query_len": 3, "key_len": 7, "d_key": 2, "d_value": 2, "k": 3},),
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_key": 1, "d_value": 3, "k": 2},),
            gradient=("query", "key", "value"),
            sizes_matter=True,  # sums of more numbers have fewer digits
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "difference.square().sum -> difference.square().mean": (
            "d_key divides the squared distances and the squared width alike, and cancels"
        ),
        "squared.sort(-1) -> squared.sort()": "torch sorts the last axis unless told otherwise",
        "torch.finfo(spread.dtype) -> torch.finfo()": (
            "the tiny number of torch's default dtype is small enough for the dtype of the checks"
        ),
    },
)
