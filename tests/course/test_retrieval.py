"""Lookup, hard and soft: each function by hand, by a law, and against another library.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import jacrev, vmap
from torch.testing import assert_close

from attn_course.retrieval import (
    attend,
    distance_scores,
    dot_scores,
    effective_number_of_keys,
    exact_lookup,
    masked_softmax,
    nearest_lookup,
    soft_lookup,
    softmax_jacobian,
)
from tests.tensors import DEVICES, EXACTLY, TIGHTLY, draw

# Busy machines are slow, and a run that fails must fail again.
settings.register_profile("course", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("course")

BATCH, QUERY_LEN, KEY_LEN, D_KEY, D_VALUE = 2, 3, 5, 7, 11
QUERY = (BATCH, QUERY_LEN, D_KEY)
KEY = (BATCH, KEY_LEN, D_KEY)
VALUE = (BATCH, KEY_LEN, D_VALUE)
SCORES = (BATCH, QUERY_LEN, KEY_LEN)
INFINITY = math.inf

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
WITH_MPS = [*DEVICES, *(["mps"] if torch.backends.mps.is_available() else [])]


def some_mask(*shape: int, seed: int = 1) -> Tensor:
    """Return a mask that allows each query about half of the keys, and key 2 in any case."""
    mask = draw(*shape, seed=seed) > 0
    mask[..., 2] = True
    return mask


def row(*numbers: float) -> Tensor:
    """Return numbers as a matrix of one row."""
    return torch.tensor([numbers], dtype=torch.float64)


def column(*numbers: float) -> Tensor:
    """Return numbers as a matrix of one column."""
    return row(*numbers).mT


def weighted(query: Tensor, key: Tensor, value: Tensor, temperature: float = 1.0) -> Tensor:
    """Compute the soft lookup with SciPy, one batch entry at a time."""
    import scipy.spatial.distance  # a machine that only lends its GPU need not have it
    import scipy.special

    outputs = []
    for q, k, v in zip(query.numpy(), key.numpy(), value.numpy(), strict=True):
        distances = scipy.spatial.distance.cdist(q, k, "sqeuclidean")
        outputs.append(scipy.special.softmax(-distances / temperature, axis=1) @ v)
    return torch.stack([torch.from_numpy(output) for output in outputs])


# Rows of scores from which only exp of a difference can make sense: large, small, equal.
rows_of_scores = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=7)


# --- exact lookup -------------------------------------------------------------------------------


def test_exact_lookup_returns_the_value_of_the_equal_key() -> None:
    query, key = torch.tensor([[6, 71, 12], [0, 0, 0]]), torch.tensor([[0, 0, 0], [6, 71, 12]])
    assert_close(exact_lookup(query, key, column(10, 20)), column(20, 10), **EXACTLY)


def test_exact_lookup_returns_the_mean_of_the_values_whose_keys_are_equal() -> None:
    key = torch.tensor([[1], [4], [1], [1]])
    output = exact_lookup(torch.tensor([[1]]), key, column(10, 70, 20, 60))
    assert_close(output, column(30))


def test_exact_lookup_raises_and_names_the_first_query_that_is_missing() -> None:
    query, key = torch.tensor([[1, 2], [6, 72], [3, 3]]), torch.tensor([[1, 2], [6, 71]])
    with pytest.raises(KeyError, match=r"2 of 3 queries equal no key, the first is \[6, 72\]"):
        exact_lookup(query, key, column(10, 20))


def test_exact_lookup_wants_every_number_of_a_key_to_be_equal() -> None:
    with pytest.raises(KeyError, match="1 of 1"):
        exact_lookup(torch.tensor([[6, 72]]), torch.tensor([[6, 71], [5, 72]]), column(10, 20))


def test_exact_lookup_asks_each_batch_entry_in_its_own_table() -> None:
    key = torch.tensor([[[1], [2]], [[2], [1]]])
    value = torch.stack([column(10, 20), column(30, 40)])
    output = exact_lookup(torch.tensor([[[1]], [[1]]]), key, value)
    assert_close(output, torch.tensor([[[10.0]], [[40.0]]]).double(), **EXACTLY)


def test_exact_lookup_agrees_with_a_dictionary() -> None:
    key, value = draw(*KEY[1:]), draw(*VALUE[1:], seed=1)
    table = {tuple(k.tolist()): v for k, v in zip(key, value, strict=True)}
    asked = key[[4, 0, 2]]
    expected = torch.stack([table[tuple(query.tolist())] for query in asked])
    assert_close(exact_lookup(asked, key, value), expected, **TIGHTLY)


# --- nearest lookup -----------------------------------------------------------------------------


def test_nearest_lookup_returns_the_value_of_the_best_key() -> None:
    scores = torch.tensor([[1.0, 3.0, 2.0], [-1.0, -5.0, -9.0]]).double()
    assert_close(nearest_lookup(scores, column(10, 20, 30)), column(20, 10), **EXACTLY)


def test_nearest_lookup_shares_a_tie_evenly() -> None:
    assert_close(nearest_lookup(row(3, 1, 3), column(10, 20, 40)), column(25), **EXACTLY)


def test_nearest_lookup_agrees_with_scikit_learn() -> None:
    from sklearn.neighbors import NearestNeighbors

    query, key, value = draw(*QUERY[1:]), draw(*KEY[1:], seed=1), draw(*VALUE[1:], seed=2)
    found = NearestNeighbors(n_neighbors=1).fit(key.numpy()).kneighbors(query.numpy())[1][:, 0]
    assert_close(nearest_lookup(distance_scores(query, key), value), value[found], **TIGHTLY)


def test_nearest_lookup_is_the_limit_of_attention_as_the_temperature_falls() -> None:
    scores, value = draw(*SCORES), draw(*VALUE, seed=1)
    scores[0, 0, 1] = scores[0, 0, 3] = 5.0  # a tie
    scores[1, 2] = -INFINITY  # and a query without keys
    assert_close(nearest_lookup(scores, value), attend(scores / 1e-5, value))


def test_nearest_lookup_gives_zero_where_no_key_may_answer() -> None:
    output = nearest_lookup(torch.full((1, 2), -INFINITY).double(), column(10, 20))
    assert_close(output, column(0), **EXACTLY)


def test_nearest_lookup_has_no_gradient_for_the_scores() -> None:
    scores, value = draw(*SCORES).requires_grad_(), draw(*VALUE, seed=1).requires_grad_()
    output = nearest_lookup(scores, value)
    by_scores, by_value = torch.autograd.grad(output.sum(), (scores, value), allow_unused=True)
    assert by_scores is None
    assert by_value.count_nonzero() > 0


# --- scores -------------------------------------------------------------------------------------


def test_dot_scores_by_hand() -> None:
    query, key = row(1, 2), torch.tensor([[3.0, 5.0], [-7.0, 0.0]]).double()
    assert_close(dot_scores(query, key), row(13, -7), **EXACTLY)


def test_dot_scores_agree_with_one_dot_product_at_a_time() -> None:
    query, key = draw(*QUERY), draw(*KEY, seed=1)
    scores = dot_scores(query, key)
    for batch, i, j in itertools.product(range(BATCH), range(QUERY_LEN), range(KEY_LEN)):
        assert_close(scores[batch, i, j], torch.dot(query[batch, i], key[batch, j]), **TIGHTLY)


def test_dot_scores_are_linear_in_the_query() -> None:
    first, second, key = draw(*QUERY), draw(*QUERY, seed=1), draw(*KEY, seed=2)
    expected = 3 * dot_scores(first, key) - dot_scores(second, key)
    assert_close(dot_scores(3 * first - second, key), expected)


def test_distance_scores_by_hand() -> None:
    query, key = row(2, 2), torch.tensor([[2.0, 1.0], [-1.0, 2.0], [5.0, 3.0]]).double()
    assert_close(distance_scores(query, key), row(-1, -9, -10), **EXACTLY)


def test_distance_scores_agree_with_scipy() -> None:
    import scipy.spatial.distance

    query, key = draw(*QUERY), draw(*KEY, seed=1)
    for scores, q, k in zip(distance_scores(query, key), query, key, strict=True):
        expected = -scipy.spatial.distance.cdist(q.numpy(), k.numpy(), "sqeuclidean")
        assert_close(scores, torch.from_numpy(expected), **TIGHTLY)


def test_distance_scores_do_not_change_when_everything_moves() -> None:
    query, key, way = draw(*QUERY), draw(*KEY, seed=1), draw(D_KEY, seed=2)
    assert_close(distance_scores(query + way, key + way), distance_scores(query, key))


def test_distance_scores_keep_their_digits_far_from_the_origin() -> None:
    query = torch.full((1, D_KEY), 1000.0)
    key = query + 2**-10  # exact in float32; |q|² - 2q·k + |k|² is not
    assert_close(distance_scores(query, key), torch.tensor([[-D_KEY * 2.0**-20]]), **EXACTLY)


# --- softmax ------------------------------------------------------------------------------------


def test_masked_softmax_by_hand() -> None:
    weights = masked_softmax(row(0, 1))
    assert_close(weights, row(1, math.e) / (1 + math.e), **TIGHTLY)
    assert_close(masked_softmax(row(6, 3, 1).log()), row(0.6, 0.3, 0.1), **TIGHTLY)


def test_masked_softmax_agrees_with_scipy() -> None:
    import scipy.special

    scores = 10 * draw(*SCORES)
    expected = torch.from_numpy(scipy.special.softmax(scores.numpy(), axis=-1))
    assert_close(masked_softmax(scores), expected, **TIGHTLY)


def test_softmax_runs_over_the_last_axis_whatever_stands_in_front() -> None:
    scores = draw(13, *SCORES)
    assert_close(masked_softmax(scores).sum(-1), torch.ones(13, BATCH, QUERY_LEN).double())
    assert_close(masked_softmax(scores)[7, 1, 2:3], masked_softmax(scores[7, 1, 2:3]), **TIGHTLY)


@given(rows_of_scores)
def test_weights_are_not_negative_and_sum_to_one(scores: list[float]) -> None:
    weights = masked_softmax(row(*scores))
    assert (weights >= 0).all()
    assert_close(weights.sum(-1), torch.ones(1).double())


@given(rows_of_scores, st.floats(-1e4, 1e4))
def test_a_constant_added_to_all_scores_changes_no_weight(
    scores: list[float], constant: float
) -> None:
    moved = masked_softmax(row(*scores) + constant)
    assert_close(moved, masked_softmax(row(*scores)), rtol=1e-7, atol=1e-10)


@given(st.permutations(range(KEY_LEN)))
def test_reordered_scores_give_reordered_weights(order: list[int]) -> None:
    scores, mask = draw(*SCORES), some_mask(*SCORES)
    expected = masked_softmax(scores, mask)[..., order]
    assert_close(masked_softmax(scores[..., order], mask[..., order]), expected, **TIGHTLY)


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_scores_do_not_overflow(dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    scores = torch.tensor([[largest, 0, -largest], [-largest, -largest, -largest]], dtype=dtype)
    expected = torch.tensor([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], dtype=dtype)
    assert_close(masked_softmax(scores), expected)


# --- masks --------------------------------------------------------------------------------------


def test_mask_is_true_where_the_query_may_attend() -> None:
    mask = torch.tensor([[True, False, True]])
    assert_close(masked_softmax(row(0, 100, 0), mask), row(0.5, 0, 0.5), **EXACTLY)


def test_masked_keys_might_as_well_not_be_there() -> None:
    scores, value = draw(*SCORES), draw(*VALUE, seed=1)
    allowed = torch.tensor([True, False, True, True, False])
    output = attend(scores, value, allowed.expand(QUERY_LEN, -1))
    assert_close(output, attend(scores[..., allowed], value[:, allowed]), **TIGHTLY)


def test_score_of_minus_infinity_forbids_its_key_as_the_mask_does() -> None:
    scores, mask = draw(*SCORES), some_mask(*SCORES)
    mask[1, 2] = False
    forbidden = scores.masked_fill(~mask, -INFINITY)
    assert_close(masked_softmax(forbidden), masked_softmax(scores, mask), **EXACTLY)


@pytest.mark.parametrize(
    "shape",
    [SCORES, (1, QUERY_LEN, KEY_LEN), (BATCH, 1, KEY_LEN), (BATCH, QUERY_LEN, 1),
     (QUERY_LEN, KEY_LEN), (1, KEY_LEN), (1, 1)],
)  # fmt: skip
def test_mask_is_broadcast_to_the_scores(shape: tuple[int, ...]) -> None:
    scores = draw(*SCORES)
    mask = draw(*shape, seed=4) > 0
    expected = masked_softmax(scores, mask.expand(SCORES))
    assert_close(masked_softmax(scores, mask), expected, **EXACTLY)


@pytest.mark.parametrize("by", ["mask", "score"])
def test_query_without_keys_has_zero_weights_zero_output_and_finite_gradients(by: str) -> None:
    scores, value = draw(*SCORES), draw(*VALUE, seed=1).requires_grad_()
    mask = torch.ones(SCORES, dtype=torch.bool)
    if by == "mask":
        mask[1, 2] = False
    else:
        scores[1, 2] = -INFINITY
    scores.requires_grad_()
    weights, output = masked_softmax(scores, mask), attend(scores, value, mask)
    assert_close(weights[1, 2], torch.zeros(KEY_LEN).double(), **EXACTLY)
    assert_close(output[1, 2], torch.zeros(D_VALUE).double(), **EXACTLY)
    assert weights[0].sum() > 0
    by_scores, by_value = torch.autograd.grad(output.square().sum(), (scores, value))
    assert by_scores.isfinite().all()
    assert by_value.isfinite().all()
    assert_close(by_scores[1, 2], torch.zeros(KEY_LEN).double(), **EXACTLY)
    assert by_scores[0].count_nonzero() == by_scores[0].numel()


def test_mask_that_forbids_everything_gives_zero_everywhere() -> None:
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    output = attend(draw(*SCORES), draw(*VALUE), nothing)
    assert_close(output, torch.zeros(BATCH, QUERY_LEN, D_VALUE).double(), **EXACTLY)


# --- attend -------------------------------------------------------------------------------------


def test_attend_by_hand() -> None:
    assert_close(attend(row(6, 3, 1).log(), column(10, 20, 90)), column(21))


@pytest.mark.parametrize("masked", [False, True])
def test_attend_agrees_with_scaled_dot_product_attention(masked: bool) -> None:
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    mask = some_mask(*SCORES) if masked else None
    output = attend(0.3 * dot_scores(query, key), value, mask)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=0.3)
    assert_close(output, expected, **TIGHTLY)


@given(st.lists(rows_of_scores.filter(lambda r: len(r) > 4).map(lambda r: r[:5]), min_size=1))
def test_output_lies_in_the_convex_hull_of_the_values(scores: list[list[float]]) -> None:
    value = draw(KEY_LEN, 2)
    output = attend(torch.tensor(scores, dtype=torch.float64), value)
    angle = torch.linspace(0, math.pi, 50, dtype=torch.float64)
    direction = torch.stack([angle.cos(), angle.sin()])
    low, high = (value @ direction).aminmax(dim=0)
    along = output @ direction
    assert ((along >= low - 1e-12) & (along <= high + 1e-12)).all()


@given(st.permutations(range(KEY_LEN)), st.permutations(range(QUERY_LEN)))
def test_reordering_keys_changes_nothing_and_reordering_queries_reorders_the_output(
    keys: list[int], queries: list[int]
) -> None:
    scores, value, mask = draw(*SCORES), draw(*VALUE, seed=1), some_mask(*SCORES)
    output = attend(scores, value, mask)
    reordered = attend(scores[..., keys], value[:, keys], mask[..., keys])
    assert_close(reordered, output, **TIGHTLY)
    reordered = attend(scores[:, queries], value, mask[:, queries])
    assert_close(reordered, output[:, queries], **TIGHTLY)


def test_batch_entries_do_not_mix() -> None:
    scores, value, mask = draw(*SCORES), draw(*VALUE, seed=1), some_mask(*SCORES)
    for entry, output in enumerate(attend(scores, value, mask)):
        assert_close(output, attend(scores[entry], value[entry], mask[entry]), **TIGHTLY)


def test_any_number_of_batch_axes_may_stand_in_front_also_of_length_zero() -> None:
    query, key, value = draw(13, *QUERY), draw(13, *KEY, seed=1), draw(13, *VALUE, seed=2)
    expected = soft_lookup(query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1))
    assert_close(soft_lookup(query, key, value).flatten(0, 1), expected, **TIGHTLY)
    assert soft_lookup(query[:0], key[:0], value[:0]).shape == (0, BATCH, QUERY_LEN, D_VALUE)
    assert soft_lookup(query[..., :0, :], key, value).shape == (13, BATCH, 0, D_VALUE)


# --- soft lookup --------------------------------------------------------------------------------


def test_soft_lookup_mixes_the_values_of_the_two_keys_that_the_query_is_like() -> None:
    key = torch.tensor([[2.0, 1], [-1, 2], [5, 3], [1, 1], [4, -1]]).double()
    output = soft_lookup(row(2, 2), key, column(10, 20, 30, 40, 50))
    powers = [math.exp(-distance) for distance in (1, 9, 10, 2, 13)]
    blend = sum(p * v for p, v in zip(powers, (10, 20, 30, 40, 50), strict=True)) / sum(powers)
    assert_close(output, column(blend), **TIGHTLY)
    assert_close(output, column(10 * math.e + 40) / (1 + math.e), rtol=1e-3, atol=0)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 17.0])
def test_soft_lookup_agrees_with_scipy(temperature: float) -> None:
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    expected = weighted(query, key, value, temperature)
    assert_close(soft_lookup(query, key, value, temperature), expected, **TIGHTLY)


def test_soft_lookup_is_scaled_dot_product_attention_with_one_more_feature() -> None:
    # -|q - k|² = 2 q·k - |k|², and a constant for each query
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    longer_query = torch.cat([2 * query, torch.ones(BATCH, QUERY_LEN, 1)], -1)
    longer_key = torch.cat([key, -key.square().sum(-1, keepdim=True)], -1)
    expected = F.scaled_dot_product_attention(longer_query, longer_key, value, scale=1 / 0.7)
    assert_close(soft_lookup(query, key, value, 0.7), expected)


def test_temperature_has_the_unit_of_the_squared_distance() -> None:
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    in_other_units = soft_lookup(255 * query, 255 * key, value, 0.5 * 255**2)
    assert_close(in_other_units, soft_lookup(query, key, value, 0.5))


def test_hot_lookup_returns_the_mean_and_cold_lookup_the_nearest_value() -> None:
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    hot = soft_lookup(query, key, value, 1e12)
    assert_close(hot, value.mean(-2, keepdim=True).expand_as(hot))
    nearest = nearest_lookup(distance_scores(query, key), value)
    assert_close(soft_lookup(query, key, value, 1e-12), nearest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_low_temperature_never_comes_back_empty(dtype: torch.dtype) -> None:
    query, value = torch.zeros(1, 1, dtype=dtype), torch.tensor([[10.0], [20.0]], dtype=dtype)
    key = torch.tensor([[12.0], [13.0]], dtype=dtype)
    coldest = 10 * torch.finfo(dtype).smallest_normal  # distance over this overflows
    output = soft_lookup(query, key, value, coldest)
    assert_close(output, torch.tensor([[10.0]], dtype=dtype), **EXACTLY)


def test_temperature_may_be_a_tensor_that_learns() -> None:
    query, key, value = draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2)
    temperature = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    output = soft_lookup(query, key, value, temperature)
    assert_close(output, soft_lookup(query, key, value, 0.7), **TIGHTLY)
    (slope,) = torch.autograd.grad(output.sum(), temperature)
    ends = [soft_lookup(query, key, value, 0.7 + step).sum() for step in (1e-6, -1e-6)]
    assert_close(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-6)


def test_gradient_reaches_the_query_every_key_and_every_value() -> None:
    roles = [
        draw(*shape, seed=seed).requires_grad_() for seed, shape in enumerate((QUERY, KEY, VALUE))
    ]
    for gradient in torch.autograd.grad(soft_lookup(*roles, 9.0).square().sum(), roles):
        assert gradient.count_nonzero() == gradient.numel()


# --- Jacobian, effective number of keys ---------------------------------------------------------


def test_jacobian_by_hand() -> None:
    expected = [[0.24, -0.18, -0.06], [-0.18, 0.21, -0.03], [-0.06, -0.03, 0.09]]
    jacobian = softmax_jacobian(row(0.6, 0.3, 0.1)[0])
    assert_close(jacobian, torch.tensor(expected, dtype=torch.float64))


def test_jacobian_agrees_with_automatic_differentiation() -> None:
    scores = draw(BATCH, KEY_LEN)
    expected = vmap(jacrev(lambda s: torch.softmax(s, -1)))(scores)
    assert_close(softmax_jacobian(torch.softmax(scores, -1)), expected, **TIGHTLY)


@given(rows_of_scores)
def test_jacobian_is_symmetric_and_what_one_key_gains_the_others_lose(scores: list[float]) -> None:
    jacobian = softmax_jacobian(masked_softmax(row(*scores)))[0]
    assert_close(jacobian, jacobian.mT, **EXACTLY)
    assert_close(jacobian.sum(0), torch.zeros(len(scores)).double(), rtol=0, atol=1e-12)
    assert (jacobian.diagonal() >= 0).all()


def test_raising_a_score_pulls_the_output_towards_its_value_by_its_weight() -> None:
    scores, value = draw(1, KEY_LEN), draw(KEY_LEN, D_VALUE, seed=1)
    pulls = jacrev(lambda s: attend(s, value))(scores)[0, :, 0].mT
    expected = masked_softmax(scores).mT * (value - attend(scores, value))
    assert_close(pulls, expected, **TIGHTLY)


@pytest.mark.parametrize(
    ("weights", "number"),
    [((0, 1, 0), 1.0), ((0.25,) * 4, 4.0), ((0.5, 0.5, 0), 2.0), ((0.6, 0.3, 0.1), 1 / 0.46),
     ((0, 0, 0), 0.0)],
)  # fmt: skip
def test_effective_number_of_keys_by_hand(weights: tuple[float, ...], number: float) -> None:
    assert_close(effective_number_of_keys(row(*weights)), row(number)[0])


@given(rows_of_scores)
def test_effective_number_of_keys_lies_between_one_and_all(scores: list[float]) -> None:
    number = effective_number_of_keys(masked_softmax(row(*scores))).item()
    assert 1 - 1e-9 <= number <= len(scores) + 1e-9


def test_effective_number_of_keys_has_a_finite_gradient_also_without_keys() -> None:
    weights = torch.tensor([[0.6, 0.4], [0.0, 0.0]], requires_grad=True)
    effective_number_of_keys(weights).sum().backward()
    assert weights.grad.isfinite().all()
    assert_close(weights.grad[1], torch.zeros(2), **EXACTLY)


@pytest.mark.parametrize("dtype", DTYPES)
def test_effective_number_of_many_keys_survives_half_precision(dtype: torch.dtype) -> None:
    many = torch.full((8192,), 1 / 8192, dtype=dtype)  # the square is 1.5e-8, below half's numbers
    assert_close(effective_number_of_keys(many), torch.tensor(8192, dtype=dtype), **EXACTLY)


# --- every function: dtype, device, gradients, transforms ---------------------------------------

Call = tuple[Callable[..., Tensor], tuple[Tensor, ...]]
CALLS: dict[str, Call] = {
    "nearest_lookup": (nearest_lookup, (draw(*SCORES), draw(*VALUE, seed=1))),
    "dot_scores": (dot_scores, (draw(*QUERY), draw(*KEY, seed=1))),
    "distance_scores": (distance_scores, (draw(*QUERY), draw(*KEY, seed=1))),
    "masked_softmax": (masked_softmax, (draw(*SCORES),)),
    "masked_softmax, mask": (masked_softmax, (draw(*SCORES), some_mask(*SCORES))),
    "attend": (attend, (draw(*SCORES), draw(*VALUE, seed=1))),
    "attend, mask": (attend, (draw(*SCORES), draw(*VALUE, seed=1), some_mask(*SCORES))),
    "soft_lookup": (soft_lookup, (draw(*QUERY), draw(*KEY, seed=1), draw(*VALUE, seed=2))),
    "softmax_jacobian": (softmax_jacobian, (torch.softmax(draw(BATCH, KEY_LEN), -1),)),
    "effective_number": (effective_number_of_keys, (torch.softmax(draw(BATCH, KEY_LEN), -1),)),
}
EVERY_CALL = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def cast(arguments: tuple[Tensor, ...], dtype: torch.dtype, device: str) -> list[Tensor]:
    """Move arguments; masks stay boolean."""
    return [a.to(device, dtype if a.is_floating_point() else None) for a in arguments]


@EVERY_CALL
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("device", WITH_MPS)
def test_result_has_the_dtype_and_device_of_the_arguments_and_their_accuracy(
    call: Call, dtype: torch.dtype, device: str
) -> None:
    function, arguments = call
    if device == "mps" and dtype == torch.float64:
        pytest.skip("MPS has no float64")
    given = cast(arguments, dtype, device)
    result = function(*given)
    assert (result.dtype, result.device.type) == (dtype, device)
    reference = function(
        *(a.double() if a.is_floating_point() else a for a in cast(given, dtype, "cpu"))
    )
    # rounding of a score of size s multiplies its weight by 1 ± eps s; scores here stay below 40
    bound = 40 * torch.finfo(dtype).eps * max(1.0, float(reference.abs().max()))
    assert_close(result.cpu().double(), reference, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_lookup_keeps_the_dtype_of_the_values_whatever_the_keys_are(
    dtype: torch.dtype,
) -> None:
    for key in (torch.tensor([[1], [2]]), torch.tensor([[1.0], [2.0]], dtype=dtype)):
        output = exact_lookup(key[1:], key, torch.tensor([[3.0], [5.0]], dtype=dtype))
        assert_close(output, torch.tensor([[5.0]], dtype=dtype), **EXACTLY)


@EVERY_CALL
def test_gradients_agree_with_finite_differences(call: Call) -> None:
    function, arguments = call
    first = 1 if function is nearest_lookup else 0  # its scores have none
    learned = [
        a.clone().requires_grad_(place >= first and a.is_floating_point())
        for place, a in enumerate(arguments)
    ]
    assert torch.autograd.gradcheck(function, learned)


def test_second_gradients_agree_with_finite_differences_also_without_keys() -> None:
    mask = some_mask(*SCORES)
    mask[0, 1] = False
    scores, value = draw(*SCORES).requires_grad_(), draw(*VALUE, seed=1).requires_grad_()
    assert torch.autograd.gradgradcheck(attend, (scores, value, mask))


@EVERY_CALL
def test_arguments_stay_as_they_were_and_the_answer_is_the_same_twice(call: Call) -> None:
    function, arguments = call
    before = [argument.clone() for argument in arguments]
    first, second = function(*arguments), function(*arguments)
    assert_close(first, second, **EXACTLY)
    for argument, copy in zip(arguments, before, strict=True):
        assert_close(argument, copy, **EXACTLY)


@EVERY_CALL
def test_vmap_over_the_batch_is_the_batch(call: Call) -> None:
    function, arguments = call
    assert_close(vmap(function)(*arguments), function(*arguments), **TIGHTLY)


@EVERY_CALL
def test_compiled_in_one_graph_it_gives_the_same(call: Call) -> None:
    function, arguments = call
    torch.compiler.reset()
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert_close(compiled(*arguments), function(*arguments), **TIGHTLY)


@EVERY_CALL
def test_layout_in_memory_does_not_matter(call: Call) -> None:
    function, arguments = call
    strided = [a.mT.contiguous().mT if a.ndim > 2 else a for a in arguments]
    assert_close(function(*strided), function(*arguments), **TIGHTLY)


@EVERY_CALL
def test_on_the_meta_device_it_gives_a_shape(call: Call) -> None:
    function, arguments = call
    result = function(*(argument.to("meta") for argument in arguments))
    assert result.is_meta
    assert result.shape == function(*arguments).shape


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (exact_lookup, ((3, 7), (0, 7), (0, 11))),
        (nearest_lookup, ((3, 0), (0, 11))),
        (masked_softmax, ((3, 0),)),
        (attend, ((3, 0), (0, 11))),
        (soft_lookup, ((3, 7), (0, 7), (0, 11))),
    ],
)
def test_empty_table_is_refused(
    function: Callable[..., Tensor], shapes: tuple[tuple[int, int], ...]
) -> None:
    with pytest.raises(ValueError, match="key_len=0: there is no key to attend to"):
        function(*(torch.zeros(shape) for shape in shapes))


@pytest.mark.parametrize("function", [masked_softmax, attend, nearest_lookup])
def test_score_of_plus_infinity_is_refused(function: Callable[..., Tensor]) -> None:
    scores = torch.zeros(BATCH, QUERY_LEN, KEY_LEN)
    scores[0, 1, 3] = scores[1, 2, 4] = INFINITY
    value = [] if function is masked_softmax else [torch.zeros(VALUE)]
    with pytest.raises(ValueError, match="2 of 30 scores are NaN or plus infinity"):
        function(scores, *value)


def test_query_whose_distances_all_overflow_is_refused() -> None:
    query, key = torch.zeros(1, 1).half(), torch.tensor([[300.0], [400.0]]).half()
    with pytest.raises(ValueError, match="2 of 2 scores are NaN"):
        soft_lookup(query, key, torch.ones(2, 1).half())


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan, INFINITY, -INFINITY])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_temperature_that_is_not_positive_and_finite_is_refused(
    temperature: float, as_tensor: bool
) -> None:
    given = torch.tensor(float(temperature)) if as_tensor else temperature
    expected = r"temperature.*(must be positive and finite|holds 1 NaN among 1 numbers)"
    with pytest.raises(ValueError, match=expected):
        soft_lookup(torch.zeros(3, 7), torch.zeros(5, 7), torch.zeros(5, 11), given)


AXES = {
    "query": ("batch", "query_len", "d_key"),
    "key": ("batch", "key_len", "d_key"),
    "value": ("batch", "key_len", "d_value"),
    "scores": ("batch", "query_len", "key_len"),
    "mask": ("batch", "query_len", "key_len"),
}


@pytest.mark.parametrize(
    "name", [name for name, (_, arguments) in CALLS.items() if len(arguments) > 1]
)
def test_each_axis_that_two_arguments_share_must_agree_and_the_others_need_not(name: str) -> None:
    function, arguments = CALLS[name]
    roles = list(inspect.signature(function).parameters)[: len(arguments)]
    for place, axis in itertools.product(range(len(roles)), range(3)):
        shorter = list(arguments)
        shorter[place] = arguments[place].narrow(axis, 0, arguments[place].shape[axis] - 1)
        meant = AXES[roles[place]][axis]
        shared = any(meant in AXES[role] for role in roles if role != roles[place])
        if (roles[place], meant) == ("mask", "batch"):
            continue  # it has become 1, and is broadcast
        if not shared:
            function(*shorter)
            continue
        with pytest.raises(ValueError, match=rf"^{function.__name__}: .*{meant}="):
            function(*shorter)


MISTAKES: dict[str, tuple[Callable[..., Tensor], tuple[object, ...], type[Exception], str]] = {
    "features of query and key differ": (
        soft_lookup,
        (torch.zeros(3, 7), torch.zeros(5, 6), torch.zeros(5, 11)),
        ValueError,
        r"soft_lookup: key has shape \(5, 6\).* d_key=7 in query but 6 here",
    ),
    "keys and values differ in number": (
        exact_lookup,
        (torch.zeros(3, 7), torch.zeros(5, 7), torch.zeros(4, 11)),
        ValueError,
        r"exact_lookup: value has shape \(4, 11\).* key_len=5 in key but 4 here",
    ),
    "scores and values differ in the number of keys": (
        attend,
        (torch.zeros(3, 5), torch.zeros(4, 11)),
        ValueError,
        r"attend: value has shape \(4, 11\).* key_len=5 in scores but 4 here",
    ),
    "batches differ": (
        dot_scores,
        (torch.zeros(2, 3, 7), torch.zeros(4, 5, 7)),
        ValueError,
        r"dot_scores: key has shape \(4, 5, 7\).* batch=\(2,\) in query but \(4,\) here",
    ),
    "mask is transposed": (
        masked_softmax,
        (torch.zeros(3, 5), torch.ones(5, 3, dtype=torch.bool)),
        ValueError,
        r"masked_softmax: mask has shape \(5, 3\).* query_len=3 in scores but 5 here; key_len=5",
    ),
    "mask is of numbers": (
        attend,
        (torch.zeros(3, 5), torch.zeros(5, 11), torch.ones(3, 5)),
        TypeError,
        "attend: mask has dtype torch.float32; expected torch.bool",
    ),
    "query is of whole numbers": (
        distance_scores,
        (torch.zeros(3, 7, dtype=torch.int64), torch.zeros(5, 7)),
        TypeError,
        "distance_scores: query has dtype torch.int64; expected a floating-point dtype",
    ),
    "dtypes differ": (
        nearest_lookup,
        (torch.zeros(3, 5), torch.zeros(5, 11).double()),
        TypeError,
        "nearest_lookup: .* share one dtype.* scores torch.float32, value torch.float64",
    ),
    "devices differ": (
        soft_lookup,
        (torch.zeros(3, 7), torch.zeros(5, 7, device="meta"), torch.zeros(5, 11)),
        ValueError,
        "soft_lookup: .* share one device.* query cpu, key meta, value cpu",
    ),
    "a weight is NaN": (
        softmax_jacobian,
        (torch.tensor([[0.5, 0.5], [math.nan, 1]]),),
        ValueError,
        r"softmax_jacobian: weights holds 1 NaN among 4 numbers, the first at index \(1, 0\)",
    ),
    "weights are one number": (
        effective_number_of_keys,
        (torch.tensor(1.0),),
        ValueError,
        r"weights has shape \(\).* at least 1 axes, but it has 0",
    ),
    "value is a list": (
        attend,
        (torch.zeros(3, 2), [[1.0], [2.0]]),
        TypeError,
        r"attend: value is \[\[1.0\], \[2.0\]\] \(list\); expected a torch.Tensor",
    ),
}


@pytest.mark.parametrize(
    ("function", "arguments", "error", "text"), MISTAKES.values(), ids=MISTAKES
)
def test_mistake_is_named(
    function: Callable[..., Tensor],
    arguments: tuple[object, ...],
    error: type[Exception],
    text: str,
) -> None:
    with pytest.raises(error, match=text):
        function(*arguments)
