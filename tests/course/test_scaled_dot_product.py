"""The attention layer as an equation: by hand, by its laws, by loops and by PyTorch's own.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import grad, jacrev, vmap
from torch.testing import assert_close

from attn_course.bahdanau import AdditiveScore, additive_scores
from attn_course.kernel_regression import (
    kernel_scores,
    log_boxcar,
    log_epanechnikov,
    nadaraya_watson,
)
from attn_course.layer.fast_attention import fast_attention
from attn_course.luong import concat_scores, general_scores, window_mask
from attn_course.retrieval import (
    attend,
    distance_scores,
    dot_scores,
    masked_softmax,
    soft_lookup,
)
from attn_course.scaled_dot_product import (
    Score,
    allowed_by,
    attention,
    attention_weights,
    causal,
    causal_mask,
    combine,
    mask_of,
    padding_mask,
    positions,
    scaled_dot_scores,
    window,
)
from tests.tensors import DEVICES, EXACTLY, TIGHTLY, draw

BATCH, QUERY_LEN, KEY_LEN, D_KEY, D_VALUE = 2, 3, 5, 7, 11
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
some_law = settings(max_examples=40, deadline=None, derandomize=True)
batches = pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 3), (2, 1, 3, 2), (0,)])


def roles(*batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values."""
    query, key = draw(*batch, QUERY_LEN, D_KEY), draw(*batch, KEY_LEN, D_KEY, seed=1)
    return query, key, draw(*batch, KEY_LEN, D_VALUE, seed=2)


def some_mask(*shape: int, seed: int = 3) -> Tensor:
    """Return a mask that allows about half of the keys, and key 2 in any case."""
    mask = draw(*shape, seed=seed) > 0
    if shape[-1] > 2:
        mask[..., 2] = True
    return mask


def rows(*numbers: list[float]) -> Tensor:
    """Return numbers as a matrix."""
    return torch.tensor(numbers, dtype=torch.float64)


def by_loops(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> list:
    """Attend with Python's own numbers, one query after the other; no batch axes."""
    output = []
    for i, q in enumerate(query.tolist()):
        weights = []
        for j, k in enumerate(key.tolist()):
            product = sum(a * b for a, b in zip(q, k, strict=True))
            allowed = mask is None or bool(mask[i, j])
            weights.append(math.exp(product / math.sqrt(len(q))) if allowed else 0.0)
        total = sum(weights) or 1.0
        columns = zip(*value.tolist(), strict=True)
        output.append(
            [sum(w * v for w, v in zip(weights, c, strict=True)) / total for c in columns]
        )
    return output


# --- scores -------------------------------------------------------------------------------------


def test_scores_by_hand() -> None:
    query, key = rows([2, 0, 0, 0], [1, 1, 1, 1]), rows([3, 9, 9, 9], [0, 5, 0, 0], [-1, 1, -1, 1])
    assert_close(scaled_dot_scores(query, key), rows([3, 0, -1], [15, 2.5, 0]), **EXACTLY)


@pytest.mark.parametrize("d_key", [1, 7, 64, 1031])
def test_scores_are_dot_products_over_the_root_of_the_width(d_key: int) -> None:
    query, key = draw(QUERY_LEN, d_key), draw(KEY_LEN, d_key, seed=1)
    scores = scaled_dot_scores(query, key)
    for i, j in itertools.product(range(QUERY_LEN), range(KEY_LEN)):
        product = math.fsum(a * b for a, b in zip(query[i].tolist(), key[j].tolist(), strict=True))
        assert scores[i, j].item() == pytest.approx(product / d_key**0.5, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("d_key", [2, 64, 1031])
def test_scores_of_independent_features_have_variance_one_whatever_the_width(d_key: int) -> None:
    scores = scaled_dot_scores(draw(211, d_key), draw(223, d_key, seed=1))
    assert scores.var().item() == pytest.approx(1, abs=0.15)
    assert dot_scores(draw(211, d_key), draw(223, d_key, seed=1)).var() > 0.85 * d_key


def test_half_precision_holds_the_score_where_it_cannot_hold_the_product() -> None:
    query, key = torch.full((1, 256), 20.0).half(), torch.full((1, 256), 20.0).half()
    assert dot_scores(query, key).isinf().all()  # 102,400 is too much for 16 bits
    assert_close(scaled_dot_scores(query, key), torch.tensor([[6400.0]]).half(), **EXACTLY)


# --- weights and output, by hand and by others --------------------------------------------------


def test_weights_and_output_by_hand() -> None:
    # scores 0 and ln 3, so that the weights are 1/4 and 3/4
    query, key = rows([2.0, 0, 0, 0]), rows([0.0, 1, 1, 1], [math.log(3), 0, 0, 0])
    assert_close(attention_weights(query, key), rows([0.25, 0.75]), **TIGHTLY)
    assert_close(attention(query, key, rows([8.0, 4], [0, -4])), rows([2.0, -2]), **TIGHTLY)


@pytest.mark.parametrize("masked", [False, True])
def test_output_agrees_with_loops_over_pythons_numbers(masked: bool) -> None:
    query, key, value = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN) if masked else None
    output = attention(query, key, value, mask)
    for b in range(BATCH):
        expected = by_loops(query[b], key[b], value[b], None if mask is None else mask[b])
        assert_close(output[b], rows(*expected), **TIGHTLY)


@pytest.mark.parametrize("masked", [False, True])
@batches
def test_output_agrees_with_pytorchs_for_any_number_of_batch_axes(
    batch: tuple[int, ...], masked: bool
) -> None:
    query, key, value = roles(*batch)
    mask = some_mask(*batch, QUERY_LEN, KEY_LEN) if masked else None
    output = attention(query, key, value, mask)
    assert output.shape == (*batch, QUERY_LEN, D_VALUE)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(output, expected, **TIGHTLY)
    weights = attention_weights(query, key, mask)
    assert weights.shape == (*batch, QUERY_LEN, KEY_LEN)
    assert_close(weights @ value, expected, **TIGHTLY)


def test_weights_are_a_distribution_over_the_allowed_keys() -> None:
    query, key, _ = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    weights = attention_weights(query, key, mask)
    assert_close(weights.sum(-1), torch.ones(BATCH, QUERY_LEN).double(), **TIGHTLY)
    assert torch.equal(weights > 0, mask)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_one_key_is_returned_whatever_the_query(batch: tuple[int, ...]) -> None:
    query, key, value = roles(*batch)
    output = attention(query * 100, key[..., :1, :], value[..., :1, :])
    assert_close(output, value[..., :1, :].expand_as(output), **EXACTLY)


def test_no_query_gives_no_output() -> None:
    query, key, value = roles(BATCH)
    assert attention(query[:, :0], key, value).shape == (BATCH, 0, D_VALUE)
    assert attention_weights(query[:, :0], key).shape == (BATCH, 0, KEY_LEN)


# --- laws ---------------------------------------------------------------------------------------

small = st.floats(-30, 30)
tokens_of = partial(st.lists, st.tuples(small, small), max_size=6)


@some_law
@given(tokens_of(min_size=1), tokens_of(min_size=1), st.integers(0, 99))
def test_output_lies_in_the_convex_hull_of_the_values(queries: list, keys: list, seed: int) -> None:
    query, key, value = rows(*queries), rows(*keys), draw(len(keys), D_VALUE, seed=seed)
    output = attention(query, key, value)
    # along any direction no mean lies beyond the outermost value
    direction = draw(D_VALUE, 17, seed=seed + 1)
    seen, values = output @ direction, value @ direction
    assert (seen <= values.amax(0) + 1e-9).all()
    assert (seen >= values.amin(0) - 1e-9).all()


@some_law
@given(st.permutations(range(KEY_LEN)), st.permutations(range(QUERY_LEN)))
def test_order_of_the_keys_does_not_matter_and_that_of_the_queries_is_kept(
    keys: list[int], queries: list[int]
) -> None:
    query, key, value = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    output = attention(query, key, value, mask)
    moved = attention(query[:, queries], key[:, keys], value[:, keys], mask[:, queries][..., keys])
    assert_close(moved, output[:, queries], **TIGHTLY)


@some_law
@given(st.sets(st.integers(0, KEY_LEN - 1), min_size=1))
def test_masking_keys_is_deleting_them(kept: set[int]) -> None:
    query, key, value = roles(BATCH)
    index = sorted(kept)
    mask = torch.zeros(KEY_LEN, dtype=torch.bool)
    mask[index] = True
    expected = attention(query, key[:, index], value[:, index])
    assert_close(attention(query, key, value, mask[None, None]), expected, **TIGHTLY)
    wild = value.where(mask[:, None], 1e30)  # what is not allowed is not seen
    assert_close(attention(query, key, wild, mask[None, None]), expected, **TIGHTLY)


def test_what_is_added_to_all_keys_cancels_and_what_is_added_to_the_queries_does_not() -> None:
    query, key, value = roles(BATCH)
    bias = draw(D_KEY, seed=4)
    output = attention(query, key, value)
    assert_close(attention(query, key + bias, value), output, rtol=1e-11, atol=1e-12)
    assert (attention(query + bias, key, value) - output).abs().max() > 0.1


def test_what_is_added_to_all_values_is_added_to_the_output() -> None:
    query, key, value = roles(BATCH)
    expected = attention(query, key, value) + 100
    assert_close(attention(query, key, value + 100), expected, **TIGHTLY)


def test_output_is_linear_in_the_values() -> None:
    query, key, value = roles(BATCH)
    matrix = draw(D_VALUE, 13, seed=4)
    expected = attention(query, key, value) @ matrix
    assert_close(attention(query, key, value @ matrix), expected, **TIGHTLY)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_scale_of_the_query_is_an_inverse_temperature(temperature: float) -> None:
    query, key, _ = roles(BATCH)
    expected = torch.softmax(query @ key.mT / (D_KEY**0.5 * temperature), -1)
    assert_close(attention_weights(query / temperature, key), expected, **TIGHTLY)
    unscaled = attention_weights(query * D_KEY**0.5, key)
    assert_close(unscaled, attention_weights(query, key, score=dot_scores), **TIGHTLY)


def test_cold_attention_looks_up_and_hot_attention_averages() -> None:
    query, key, value = roles(BATCH)
    best = (query @ key.mT).argmax(-1, keepdim=True).expand(-1, -1, D_VALUE)
    assert_close(attention(query * 1e4, key, value), value.gather(1, best), **TIGHTLY)
    mean = value.mean(-2, keepdim=True).expand(-1, QUERY_LEN, -1)
    assert_close(attention(query * 1e-12, key, value), mean, rtol=1e-9, atol=1e-9)


def test_rotating_queries_and_keys_together_changes_nothing() -> None:
    query, key, value = roles(BATCH)
    rotation = torch.linalg.qr(draw(D_KEY, D_KEY, seed=4))[0]
    turned = attention(query @ rotation, key @ rotation, value)
    assert_close(turned, attention(query, key, value), **TIGHTLY)


# --- one call for the scores of all chapters ----------------------------------------------------


def test_retrieval_is_attention_with_the_distance_score() -> None:
    query, key, value = roles(BATCH)
    found = attention(query, key, value, score=distance_scores)
    assert_close(found, soft_lookup(query, key, value, 1.0), **TIGHTLY)


@pytest.mark.parametrize("log_kernel", [None, log_boxcar, log_epanechnikov])
def test_kernel_regression_is_attention_with_the_kernel_score(log_kernel: Callable | None) -> None:
    query, key, value = roles(BATCH)
    options = {"width": 3.5} | ({} if log_kernel is None else {"log_kernel": log_kernel})
    found = attention(query, key, value, score=partial(kernel_scores, **options))
    assert_close(found, nadaraya_watson(query, key, value, **options), **TIGHTLY)


def test_bahdanaus_context_is_attention_with_the_additive_score() -> None:
    torch.manual_seed(0)
    score = AdditiveScore(D_KEY, D_VALUE, 13).double()
    state, annotations = draw(BATCH, QUERY_LEN, D_KEY), draw(BATCH, KEY_LEN, D_VALUE, seed=1)
    key = score.project_key(annotations)
    mask = some_mask(BATCH, 1, KEY_LEN)
    expected = attend(score(state, key), annotations, mask)
    assert_close(attention(state, key, annotations, mask, score=score), expected, **TIGHTLY)
    apart = partial(additive_scores, score_weight=score.score_weight)
    query = score.project_query(state)
    assert_close(attention(query, key, annotations, mask, score=apart), expected, **TIGHTLY)


def test_luongs_scores_are_attention_between_unequal_widths() -> None:
    query, key, value = draw(2, 3, 13), draw(2, 5, 7, seed=1), draw(2, 5, 11, seed=2)
    weight = draw(13, 7, seed=4)
    found = attention(query, key, value, score=partial(general_scores, weight=weight))
    assert_close(found, torch.softmax(query @ weight @ key.mT, -1) @ value, **TIGHTLY)
    hidden, outer = draw(17, 20, seed=5), draw(17, seed=6)
    score = partial(concat_scores, weight=hidden, score_weight=outer)
    pairs = [
        torch.stack([torch.cat([q, k]) for k in keys])
        for queries, keys in zip(query, key, strict=True)
        for q in queries
    ]
    scores = (torch.stack(pairs) @ hidden.mT).tanh() @ outer
    expected = torch.softmax(scores.unflatten(0, (2, 3)), -1) @ value
    assert_close(attention(query, key, value, score=score), expected, **TIGHTLY)


def test_dot_and_distance_weigh_alike_where_the_keys_are_equally_long() -> None:
    query, key, _ = roles(BATCH)
    key = F.normalize(key, dim=-1)
    # -|q - k|² = 2 q·k - |q|² - |k|², of which only the first depends on the key
    distance = attention_weights(query, key, score=distance_scores)
    assert_close(distance, attention_weights(2 * query, key, score=dot_scores), **TIGHTLY)


SCORES: dict[str, Score] = {
    "scaled dot": scaled_dot_scores,
    "dot": dot_scores,
    "distance": distance_scores,
    "kernel": partial(kernel_scores, width=1.7),
    "additive": partial(additive_scores, score_weight=draw(D_KEY, seed=7)),
    "general": partial(general_scores, weight=draw(D_KEY, D_KEY, seed=8)),
}
every_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)


@every_score
def test_attention_is_the_softmax_of_any_score_times_the_values(score: Score) -> None:
    query, key, value = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    weights = masked_softmax(score(query, key), mask)
    assert_close(attention_weights(query, key, mask, score=score), weights, **EXACTLY)
    assert_close(attention(query, key, value, mask, score=score), weights @ value, **TIGHTLY)


# --- masks --------------------------------------------------------------------------------------


def test_causal_mask_by_hand() -> None:
    t, f = True, False
    assert causal_mask(3).tolist() == [[t, f, f], [t, t, f], [t, t, t]]
    assert causal_mask(2, 4).tolist() == [[t, t, t, f], [t, t, t, t]]  # the last two queries
    assert causal_mask(4, 2).tolist() == [[f, f], [f, f], [t, f], [t, t]]  # two before any key
    assert causal_mask(1, 3).tolist() == [[t, t, t]]
    assert causal_mask(3).dtype == torch.bool
    assert causal_mask(2, 0).shape == (2, 0)  # which is not 2 keys


def test_window_by_hand() -> None:
    t, f = True, False
    assert mask_of(window(1), 3, 3).tolist() == [[t, t, f], [t, t, t], [f, t, t]]
    assert mask_of(window(0), 3, 3).tolist() == torch.eye(3).bool().tolist()
    assert mask_of(window(1), 2, 4).tolist() == [[f, t, t, t], [f, f, t, t]]
    assert mask_of(window(9), 3, 5).all()


@pytest.mark.parametrize("rule", [causal, window(0), window(2)])
def test_mask_of_the_last_queries_is_the_end_of_the_mask_of_all(rule: Callable) -> None:
    whole = mask_of(rule, 7, 7)
    for query_len in range(8):
        assert torch.equal(mask_of(rule, query_len, 7), whole[7 - query_len :])


def test_positions_end_where_the_keys_end() -> None:
    query, key = positions(2, 5)
    assert query.tolist() == [[3], [4]]
    assert key.tolist() == [0, 1, 2, 3, 4]
    assert positions(5, 2)[0].flatten().tolist() == [-3, -2, -1, 0, 1]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (lambda query, key: key < 2, [[1, 1, 0], [1, 1, 0]]),
        (lambda query, key: query > 1, [[0, 0, 0], [1, 1, 1]]),
        (lambda query, key: (query + key) % 2 == 0, [[0, 1, 0], [1, 0, 1]]),
        (lambda query, key: torch.ones((), dtype=torch.bool), [[1, 1, 1], [1, 1, 1]]),
    ],
)
def test_rule_may_look_at_queries_or_keys_alone(rule: Callable, expected: list) -> None:
    assert mask_of(rule, 2, 3).int().tolist() == expected


def test_rule_that_gives_numbers_is_refused() -> None:
    message = r"a rule must return torch\.bool, but this one returns torch\.int64"
    with pytest.raises(TypeError, match=message):
        mask_of(lambda query, key: key - query, 2, 3)
    with pytest.raises(TypeError, match=message):
        allowed_by(lambda query, key: key - query, *positions(2, 3))


@pytest.mark.parametrize("half_width", [0, 1, 3])
def test_window_around_the_own_position_is_luongs_window(half_width: int) -> None:
    centre = torch.arange(7.0)
    if half_width:  # Luong's window is open to no position at 0
        expected = window_mask(centre, 7, half_width)
        assert torch.equal(mask_of(window(half_width), 7, 7), expected)
    assert mask_of(window(half_width), 7, 7).sum() == 7 + 2 * sum(
        7 - step for step in range(1, half_width + 1)
    )


def test_padding_mask_by_hand() -> None:
    mask = padding_mask(torch.tensor([2, 0, 3]), 3)
    assert mask.int().tolist() == [[[1, 1, 0]], [[0, 0, 0]], [[1, 1, 1]]]


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,)])
def test_padding_mask_counts_its_lengths(batch: tuple[int, ...]) -> None:
    length = torch.randint(0, KEY_LEN + 1, batch, generator=torch.Generator().manual_seed(0))
    mask = padding_mask(length, KEY_LEN)
    assert mask.shape == (*batch, 1, KEY_LEN)
    assert torch.equal(mask.sum(-1).squeeze(-1), length)
    assert torch.equal(mask, mask.sort(-1, descending=True).values)


def test_padding_mask_gives_each_sequence_what_it_gets_alone() -> None:
    query, key, value = roles(BATCH)
    output = attention(query, key, value, padding_mask(torch.tensor([3, 5]), KEY_LEN))
    assert_close(output[0], attention(query[0], key[0, :3], value[0, :3]), **TIGHTLY)
    assert_close(output[1], attention(query[1], key[1], value[1]), **TIGHTLY)


def test_combined_masks_allow_what_all_of_them_allow() -> None:
    one, two = some_mask(BATCH, 1, KEY_LEN), causal_mask(QUERY_LEN, KEY_LEN)
    both = combine(one, None, two)
    assert both.shape == (BATCH, QUERY_LEN, KEY_LEN)
    for b, i, j in itertools.product(range(BATCH), range(QUERY_LEN), range(KEY_LEN)):
        assert both[b, i, j] == (one[b, 0, j] and two[i, j])
    assert combine() is None
    assert combine(None, None) is None
    assert combine(None, two) is two


@pytest.mark.parametrize(
    "shape", [(3, 5), (1, 5), (3, 1), (1, 1), (1, 3, 5), (2, 1, 5), (2, 3, 1), (7, 1, 1, 5)]
)
def test_mask_is_broadcast_over_what_it_lacks(shape: tuple[int, ...]) -> None:
    query, key, value = roles(7, BATCH)
    mask = some_mask(*shape)
    whole = mask.expand(7, BATCH, QUERY_LEN, KEY_LEN)
    assert_close(attention(query, key, value, mask), attention(query, key, value, whole), **TIGHTLY)
    weights = attention_weights(query, key, mask)
    assert weights[~whole].count_nonzero() == 0


@pytest.mark.parametrize("device", DEVICES)
def test_masks_are_made_on_the_device_asked_for(device: str) -> None:
    made = mask_of(window(1), 2, 3, device), causal_mask(2, 3, device), causal_mask(2, None, device)
    assert all(mask.device.type == device for mask in made)
    assert all(mask.is_meta for mask in (mask_of(causal, 2, 3, "meta"), causal_mask(2, 3, "meta")))
    assert padding_mask(torch.tensor([1, 2], device=device), 3).device.type == device


# --- a query without a key ----------------------------------------------------------------------


@every_score
@pytest.mark.parametrize("dtype", DTYPES)
def test_query_without_a_key_gets_no_weight_no_output_and_a_finite_gradient(
    score: Score, dtype: torch.dtype
) -> None:
    parts = [role.to(dtype).requires_grad_() for role in roles(BATCH)]
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    mask[0, 1] = False
    options = getattr(score, "keywords", {})
    cast = {n: o.to(dtype) if isinstance(o, Tensor) else o for n, o in options.items()}
    score = partial(score.func, **cast) if cast else score
    weights = attention_weights(*parts[:2], mask, score=score)
    assert weights[0, 1].count_nonzero() == 0
    output = attention(*parts, mask, score=score)
    assert output[0, 1].count_nonzero() == 0
    assert output[0, 0].count_nonzero() == D_VALUE
    gradients = torch.autograd.grad(output.float().square().sum(), parts)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[0][0, 1].count_nonzero() == 0


def test_rows_without_a_key_do_not_touch_the_gradients_of_the_others() -> None:
    parts = [role.requires_grad_() for role in roles()]
    mask = some_mask(QUERY_LEN, KEY_LEN)
    mask[1] = False
    gradients = torch.autograd.grad(attention(*parts, mask).square().sum(), parts)
    query, key, value = parts
    without = attention(query[[0, 2]], key, value, mask[[0, 2]]).square().sum()
    for one, other in zip(gradients, torch.autograd.grad(without, parts), strict=True):
        assert_close(one, other, **TIGHTLY)


def test_scores_of_minus_infinity_forbid_as_a_mask_does() -> None:
    query, key, value = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    mask[1, 2] = False

    def hidden(q: Tensor, k: Tensor) -> Tensor:
        return scaled_dot_scores(q, k).masked_fill(~mask, -math.inf)

    expected = attention(query, key, value, mask)
    assert_close(attention(query, key, value, score=hidden), expected, **EXACTLY)


# --- dropout ------------------------------------------------------------------------------------


def test_dropout_sets_weights_to_zero_and_lets_the_others_grow() -> None:
    query, key, _ = roles(BATCH)
    torch.manual_seed(0)
    dropped = attention(query, key, torch.eye(KEY_LEN).double().expand(BATCH, -1, -1), dropout=0.4)
    weights = attention_weights(query, key)
    gone = dropped == 0
    assert 0 < gone.sum() < gone.numel()
    assert_close(dropped, (weights / 0.6).masked_fill(gone, 0), **TIGHTLY)
    assert (dropped.sum(-1) - 1).abs().min() > 1e-3  # no row sums to 1 any more


def test_dropout_is_right_on_average() -> None:
    query, key, value = roles()
    torch.manual_seed(0)
    many = 4001
    repeated = [part.expand(many, -1, -1) for part in (query, key, value)]
    outputs = attention(*repeated, dropout=0.3)
    error = (outputs.mean(0) - attention(query, key, value)).abs()
    assert (error < 5 * outputs.std(0) / many**0.5).all()
    assert (outputs.std(0) > 0.05).all()


def test_dropout_of_all_weights_leaves_nothing() -> None:
    assert attention(*roles(BATCH), dropout=1.0).count_nonzero() == 0


def test_dropout_respects_the_mask_and_the_empty_row() -> None:
    query, key, value = roles(BATCH)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN)
    mask[0, 1] = False
    wild = value.masked_fill(~mask[:, :1].mT.expand_as(value), 1e9)
    torch.manual_seed(0)
    output = attention(query, key, wild, mask, dropout=0.3)
    assert output[0, 1].count_nonzero() == 0
    assert output[:, 0].abs().max() < 1e3


# --- precision, gradients, transforms -----------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@every_score
def test_dtype_and_device_are_kept_and_rounding_stays_small(
    score: Score, dtype: torch.dtype, device: str
) -> None:
    options = getattr(score, "keywords", {})
    if options:
        cast = {n: o.to(device, dtype) if isinstance(o, Tensor) else o for n, o in options.items()}
        exact = {n: o.cpu().double() if isinstance(o, Tensor) else o for n, o in cast.items()}
        score, reference = partial(score.func, **cast), partial(score.func, **exact)
    else:
        reference = score
    parts = [role.to(device, dtype) for role in roles(BATCH)]
    output = attention(*parts, score=score)
    assert (output.dtype, output.device.type) == (dtype, device)
    expected = attention(*(part.cpu().double() for part in parts), score=reference)
    # rounding of a score of size s multiplies its weight by 1 ± eps s; scores here stay below 40
    assert_close(output.cpu().double(), expected, rtol=0, atol=80 * torch.finfo(dtype).eps)


@every_score
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_agree_with_finite_differences(score: Score, masked: bool) -> None:
    parts = [role.requires_grad_() for role in roles()]
    mask = some_mask(QUERY_LEN, KEY_LEN) if masked else None
    if masked:
        mask[1] = False
    assert torch.autograd.gradcheck(lambda *given: attention(*given, mask, score=score), parts)


def test_second_gradients_agree_with_finite_differences_also_without_keys() -> None:
    parts = [role.requires_grad_() for role in roles()]
    mask = some_mask(QUERY_LEN, KEY_LEN)
    mask[1] = False
    assert torch.autograd.gradgradcheck(lambda *given: attention(*given, mask), parts)


def test_gradient_reaches_the_weights_of_a_score() -> None:
    query, key, value = roles()
    weight = draw(D_KEY, seed=7).requires_grad_()

    def output(weight: Tensor) -> Tensor:
        return attention(query, key, value, score=partial(additive_scores, score_weight=weight))

    assert torch.autograd.gradcheck(output, weight)


def test_gradient_fades_where_the_scores_are_not_scaled() -> None:
    # the softmax of large scores is nearly one-hot, and its Jacobian nearly 0
    query, key = draw(31, 512), draw(37, 512, seed=1)
    value = draw(37, 1, seed=2)
    slopes = {
        score: grad(lambda q, s=score: attention(q, key, value, score=s).sum())(query)
        * (1 if score is dot_scores else 512**0.5)  # with respect to the score, not the query
        for score in (dot_scores, scaled_dot_scores)
    }
    typical = {score: slope.norm(dim=-1).median() for score, slope in slopes.items()}
    assert typical[dot_scores] < 0.1 * typical[scaled_dot_scores]


def test_vmap_over_the_batch_is_the_batch() -> None:
    parts, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    assert_close(vmap(attention)(*parts, mask), attention(*parts, mask), **TIGHTLY)
    assert_close(vmap(attention_weights)(*parts[:2]), attention_weights(*parts[:2]), **TIGHTLY)


def test_jacobian_of_the_values_is_the_weights() -> None:
    query, key, value = roles()
    jacobian = jacrev(lambda v: attention(query, key, v[:, None])[:, 0])(value[:, 0])
    assert_close(jacobian, attention_weights(query, key), **TIGHTLY)


@every_score
def test_compiled_in_one_graph_it_gives_the_same(score: Score) -> None:
    torch.compiler.reset()
    parts, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    compiled = torch.compile(attention, backend="eager", fullgraph=True)
    expected = attention(*parts, mask, score=score)
    assert_close(compiled(*parts, mask, score=score), expected, **TIGHTLY)


@pytest.mark.parametrize("device", DEVICES)
def test_autocast_casts_the_products_and_stays_close(device: str) -> None:
    parts = [role.float().to(device) for role in roles(BATCH)]
    expected = attention(*parts)
    with torch.autocast(device, torch.bfloat16):
        output = attention(*parts)
    assert output.dtype == torch.bfloat16
    assert_close(output.float(), expected, rtol=0, atol=0.05)


def test_on_the_meta_device_it_gives_a_shape() -> None:
    parts = [role.to("meta") for role in roles(BATCH)]
    mask = mask_of(causal, QUERY_LEN, KEY_LEN, "meta")
    output = attention(*parts, mask)
    assert output.is_meta
    assert output.shape == (BATCH, QUERY_LEN, D_VALUE)


def test_arguments_stay_as_they_were_and_memory_layout_does_not_matter() -> None:
    parts, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    before = [part.clone() for part in (*parts, mask)]
    output = attention(*parts, mask)
    for part, copy in zip((*parts, mask), before, strict=True):
        assert_close(part, copy, **EXACTLY)
    strided = [part.mT.contiguous().mT for part in (*parts, mask)]
    assert_close(attention(*strided), output, **TIGHTLY)


# --- bad input, for the equation and for the fast path alike ------------------------------------

IN_BLOCKS = partial(fast_attention, score=partial(scaled_dot_scores), block_len=2)
PATHS = {"equation": attention, "fused": fast_attention, "blocks": IN_BLOCKS}
every_path = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)


@every_path
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"key": draw(4, 5, 7)}, ValueError, r"batch=\(2,\) in query but \(4,\) here"),
        ({"key": draw(2, 6, 7)}, ValueError, r"value has shape .*key_len=6 in key but 5 here"),
        ({"value": draw(2, 4, 11)}, ValueError, "key_len=5 in key but 4 here"),
        ({"key": draw(2, 5, 6)}, ValueError, "d_(query|key)=7 .*6"),
        ({"query": draw(7)}, ValueError, r"query has shape \(7,\).*at least 2 axes, but it has 1"),
        ({"mask": torch.ones(5, 3).bool()}, ValueError, "query_len=3 .* 5 here; key_len=5 .* 3"),
        ({"mask": torch.ones(4, 3, 5).bool()}, ValueError, r"batch=\(2,\) in query but \(4,\) her"),
        ({"mask": torch.ones(7, 2, 3, 5).bool()}, ValueError, r"batch=\(2,\).*\(7, 2\) here"),
        (
            {"mask": torch.ones(3, 5)},
            TypeError,
            r"mask has dtype torch\.float32; expected torch\.b",
        ),
        ({"query": draw(2, 3, 7).float()}, TypeError, r"share one dtype.*query torch\.float32"),
        ({"key": torch.ones(2, 5, 7).int()}, TypeError, r"key has dtype torch\.int32"),
        ({"value": torch.empty(2, 5, 11, device="meta").double()}, ValueError, "value meta"),
        ({"mask": torch.ones(3, 5, device="meta").bool()}, ValueError, "mask meta"),
        ({"query": draw(2, 3, 7) * math.nan}, ValueError, "query holds 42 NaN among 42"),
        ({"value": draw(2, 5, 11) / 0 * 0}, ValueError, "value holds 110 NaN among 110"),
        ({"key": None}, TypeError, r"key is None; expected a torch\.Tensor"),
        ({"key": draw(2, 0, 7), "value": draw(2, 0, 11)}, ValueError, "key_len=0: there is no key"),
        ({"query": draw(2, 3, 7).abs() * math.inf}, ValueError, "NaN.* infini"),
        ({"key": draw(2, 5, 7) * 1e308}, ValueError, "NaN.* infini"),
        ({"dropout": -0.25}, ValueError, "between 0 and 1, but got -0.25"),
        ({"dropout": 1.5}, ValueError, "between 0 and 1, but got 1.5"),
    ],
)
def test_bad_input_is_refused_with_its_numbers_on_every_path(
    path: Callable, change: dict, error: type[Exception], message: str
) -> None:
    good = dict(zip(("query", "key", "value"), roles(BATCH), strict=True))
    with pytest.raises(error, match=message):
        path(**good | change)


@pytest.mark.parametrize("path", [attention, IN_BLOCKS], ids=["equation", "blocks"])
def test_score_of_the_wrong_shape_is_refused(path: Callable) -> None:
    for score in (
        lambda query, key: (query @ key.mT).mT,
        lambda query, key: key.sum(-1).unsqueeze(-2),
        lambda query, key: query.sum(-1).unsqueeze(-1),
    ):
        with pytest.raises(ValueError, match=r"shape|axis|key_len"):
            path(*roles(BATCH), score=score)


def test_weights_refuse_what_attention_refuses() -> None:
    query, key, _ = roles(BATCH)
    with pytest.raises(ValueError, match="key_len=0: there is no key"):
        attention_weights(query, key[:, :0])
    with pytest.raises(ValueError, match="30 of 30 scores are NaN or plus infinity"):
        attention_weights(query.abs() * 1e200, key.abs() * 1e200)
    with pytest.raises(ValueError, match="d_key=7 in query but 6 here"):
        attention_weights(query, key[..., :6])


@pytest.mark.parametrize("half_width", [-1, -0.5, math.nan])
def test_window_must_not_be_negative(half_width: float) -> None:
    with pytest.raises(ValueError, match=f"half_width={half_width} must not be negative"):
        window(half_width)


@pytest.mark.parametrize(
    ("length", "error", "message"),
    [
        (torch.tensor([2, -1]), ValueError, r"from 0 to key_len=3, but they are \[2, -1\]"),
        (torch.tensor([4, 2]), ValueError, r"from 0 to key_len=3, but they are \[4, 2\]"),
        (torch.tensor([1.0]), TypeError, "length has dtype torch.float32; expected an integer"),
        (torch.tensor([True]), TypeError, "length has dtype torch.bool"),
        ([1, 2], TypeError, "length is .*list"),
    ],
)
def test_length_that_makes_no_sense_is_refused(
    length: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        padding_mask(length, 3)


@pytest.mark.cuda
def test_cuda_agrees_with_the_processor() -> None:
    parts, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    mask[0, 1] = False
    found = attention(*(part.cuda() for part in (*parts, mask)))
    assert_close(found.cpu(), attention(*parts, mask), **TIGHTLY)
