"""Linear attention: by loops, by hand, by laws, and against the attention of chapter 07."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from attn_course.linear_attention import (
    add_pair,
    all_pairs,
    correct_pair,
    delta_rule,
    delta_values,
    elu_features,
    in_chunks,
    linear_attention,
    one_by_one,
    random_features,
    read,
    retained,
    taylor_features,
)
from attn_course.recurrence import longest_chain
from attn_course.scaled_dot_product import attention, causal_mask
from tests.tensors import CLOSELY, TIGHTLY, draw

BATCH, HEADS, LENGTH, D_KEY, D_VALUE = 2, 3, 11, 5, 7
FORMS = [one_by_one, in_chunks, *(partial(in_chunks, chunk_len=n) for n in (1, 4, LENGTH, 99))]


def inputs(length: int = LENGTH) -> tuple[Tensor, Tensor, Tensor]:
    """Return random queries, keys and values in float64."""
    query, key = draw(2, BATCH, HEADS, length, D_KEY)
    return query, key, draw(BATCH, HEADS, length, D_VALUE, seed=1)


def factors(*shape: int) -> Tensor:
    """Return numbers between 0 and 1."""
    return draw(*shape, seed=2).sigmoid()


def by_loops(query: Tensor, key: Tensor, value: Tensor, decay: Tensor) -> Tensor:
    """Sum over all earlier tokens, each weighted by its dot product and every decay since."""
    output = torch.zeros_like(value)
    for i in range(query.shape[-2]):
        for j in range(i + 1):
            weight = (query[..., i, :] * key[..., j, :]).sum(-1)
            for s in range(j + 1, i + 1):
                weight = weight * decay[..., s]
            output[..., i, :] += weight[..., None] * value[..., j, :]
    return output


def delta_by_loops(query: Tensor, key: Tensor, value: Tensor, rate: Tensor) -> Tensor:
    """Apply the delta rule as a product with `I - β k kᵀ`, in the order of the original paper."""
    eye, outputs = torch.eye(D_KEY).double(), []
    state = torch.zeros(BATCH, HEADS, D_KEY, D_VALUE).double()
    for t in range(query.shape[-2]):
        k, v, q, b = key[..., t, :], value[..., t, :], query[..., t, :], rate[..., t, None, None]
        erased = eye - b * torch.einsum("...i,...j->...ij", k, k)
        state = erased @ state + b * torch.einsum("...i,...j->...ij", k, v)
        outputs.append(torch.einsum("...i,...ij->...j", q, state))
    return torch.stack(outputs, -2)


# --- the three forms ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(LENGTH,), (HEADS, LENGTH), (BATCH, HEADS, LENGTH)])
def test_sum_over_all_pairs_is_that_of_loops_with_every_decay_since(shape: tuple[int, ...]) -> None:
    decay = factors(*shape)
    assert_close(all_pairs(*inputs(), decay), by_loops(*inputs(), decay), **CLOSELY)
    without = by_loops(*inputs(), torch.ones(LENGTH).double())
    assert_close(all_pairs(*inputs()), without, **CLOSELY)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [None, (LENGTH,), (BATCH, 1, LENGTH)])
def test_forms_return_the_same_and_so_do_their_gradients(
    form: object, shape: tuple[int, ...] | None
) -> None:
    decay = None if shape is None else factors(*shape)
    results = []
    for compute in (all_pairs, form):
        leaves = [part.requires_grad_() for part in inputs()]
        output = compute(*leaves, decay)
        (output * draw(*output.shape, seed=3)).sum().backward()
        results.append((output, *(leaf.grad for leaf in leaves)))
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs, **CLOSELY)


@pytest.mark.parametrize("form", [all_pairs, *FORMS])
def test_no_token_reads_a_later_one(form: object) -> None:
    query, key, value = inputs()
    for place in range(LENGTH):
        other, another = key.clone(), value.clone()
        other[..., place, :] += 1
        another[..., place, :] += 1
        changed = (form(query, other, another) - form(query, key, value)).abs().amax((0, 1, 3)) > 0
        assert torch.equal(changed, torch.arange(LENGTH) >= place)


def test_turns_are_one_for_each_token_or_chunk_or_do_not_grow() -> None:
    def turns(form: object, length: int) -> int:
        return longest_chain(form(*(part.requires_grad_() for part in inputs(length))))

    assert turns(all_pairs, 64) == turns(all_pairs, 16)
    by_token = turns(one_by_one, 64) - turns(one_by_one, 16)
    by_chunk = turns(partial(in_chunks, chunk_len=8), 64) - turns(
        partial(in_chunks, chunk_len=8), 16
    )
    assert by_token == 48  # one sum each, since no decay is multiplied
    assert by_chunk == 6


def test_what_is_retained_is_the_product_of_the_factors_since() -> None:
    found = retained(torch.tensor([0.9, 0.5, 0.2]))
    assert_close(found, torch.tensor([[1, 0, 0], [0.5, 1, 0], [0.1, 0.2, 1]]))
    for wrong in (0.0, -0.1, 1.1):
        with pytest.raises(ValueError, match="a decay must be above 0 and at most 1"):
            retained(torch.tensor([0.5, wrong]))


def test_chunks_have_a_length() -> None:
    for compute in (in_chunks, partial(delta_rule, rate=factors(LENGTH))):
        with pytest.raises(ValueError, match="chunk_len=0 must be positive"):
            compute(*inputs(), chunk_len=0)


# --- the state ----------------------------------------------------------------------------------


def test_pairs_are_written_and_read_by_hand() -> None:
    state = torch.zeros(2, 2)
    state = add_pair(state, torch.tensor([1.0, 0.0]), torch.tensor([4.0, 5.0]))
    state = add_pair(state, torch.tensor([0.6, 0.8]), torch.tensor([10.0, 0.0]))
    assert_close(state, torch.tensor([[10.0, 5.0], [8.0, 0.0]]))
    assert_close(read(state, torch.tensor([1.0, 0.0])), torch.tensor([10.0, 5.0]))
    state = add_pair(state, torch.tensor([0.0, 1.0]), torch.tensor([0.0, 3.0]), 0.5)
    assert_close(state, torch.tensor([[5.0, 2.5], [4.0, 3.0]]))


def test_key_reads_its_value_after_it_has_been_corrected_and_only_a_share_at_a_smaller_rate() -> (
    None
):
    state, key, value = draw(D_KEY, D_VALUE), draw(D_KEY, seed=1), draw(D_VALUE, seed=2)
    key = key / key.norm()
    assert_close(read(correct_pair(state, key, value), key), value, **TIGHTLY)
    at_half = read(correct_pair(state, key, value, 0.5), key)
    assert_close(at_half, (value + read(state, key)) / 2, **TIGHTLY)
    across = draw(D_KEY, seed=3)
    across = across - (across @ key) * key  # what a query at right angles reads is not touched
    assert_close(read(correct_pair(state, key, value), across), read(state, across), **CLOSELY)


@pytest.mark.parametrize("chunk_len", [1, 4, LENGTH, 99])
@pytest.mark.parametrize("shape", [(LENGTH,), (BATCH, HEADS, LENGTH)])
def test_delta_rule_is_that_of_loops(chunk_len: int, shape: tuple[int, ...]) -> None:
    query, key, value = inputs()
    key, rate = functional.normalize(key, dim=-1), factors(*shape)
    expected = delta_by_loops(query, key, value, rate.expand(BATCH, HEADS, LENGTH))
    assert_close(delta_rule(query, key, value, rate, chunk_len), expected, **CLOSELY)
    written = delta_values(key, value, rate)
    for form in (all_pairs, one_by_one, in_chunks):
        assert_close(form(query, key, written), expected, **CLOSELY)


def test_delta_rule_with_keys_at_right_angles_adds_and_with_the_same_key_overwrites() -> None:
    key, value = torch.eye(D_KEY).double(), draw(D_KEY, D_VALUE)
    ones = torch.ones(D_KEY).double()
    assert_close(delta_rule(key, key, value, ones), all_pairs(key, key, value), **TIGHTLY)
    same = key[:1].expand(D_KEY, -1)
    assert_close(delta_rule(same, same, value, ones), value, **TIGHTLY)
    assert_close(all_pairs(same, same, value), value.cumsum(0), **TIGHTLY)


# --- with features ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [all_pairs, *FORMS])
@pytest.mark.parametrize("features", [elu_features, taylor_features])
def test_linear_attention_is_attention_whose_score_is_the_logarithm_of_a_product(
    form: object, features: object
) -> None:
    query, key, value = inputs()

    def score(query: Tensor, key: Tensor) -> Tensor:
        return (features(query) @ features(key).mT).log()

    expected = attention(query, key, value, causal_mask(LENGTH), score=score)
    assert_close(linear_attention(query, key, value, features, form), expected, **CLOSELY)


def test_features_are_those_of_their_formulas() -> None:
    vectors = torch.tensor([[1.5, 0.0, -2.0]])
    assert_close(elu_features(vectors), torch.tensor([[2.5, 1.0, math.exp(-2)]]))
    query, key, _ = inputs()
    s = query @ key.mT / math.sqrt(D_KEY)
    found = taylor_features(query) @ taylor_features(key).mT
    assert_close(found, 1 + s + s**2 / 2, **CLOSELY)
    assert taylor_features(query).shape[-1] == 1 + D_KEY + D_KEY**2


def test_random_features_find_the_exponential_and_come_closer_with_more_of_them() -> None:
    query, key = draw(2, BATCH, HEADS, LENGTH, D_KEY) / 2  # of long vectors a few draws decide
    wanted, errors = (query @ key.mT / math.sqrt(D_KEY)).exp(), []
    for number in (100, 10_000):
        directions = draw(number, D_KEY, seed=5)
        found = random_features(query, directions) @ random_features(key, directions).mT
        errors.append(((found - wanted) / wanted).square().mean().sqrt().item())
    assert errors[1] < 0.02
    assert 4 < errors[0] / errors[1] < 25  # ten, were there no luck in the draw
