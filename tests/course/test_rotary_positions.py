"""Vectors turned by their positions: by hand, by law, and as products of complex numbers."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from attn_course.self_attention import rotate_by_position, sinusoidal_positions
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, by_complex_numbers, draw

BATCH, QUERY_LEN, KEY_LEN, D_KEY = 2, 5, 7, 6


def test_two_positions_by_hand() -> None:
    vectors = torch.tensor([[3.0, 4, 3, 4], [1, 0, 0, 1]]).double()
    expected = [3, 4, 3, 4, math.cos(1), math.sin(1), -math.sin(0.01), math.cos(0.01)]
    expected = torch.tensor(expected, dtype=torch.float64)
    assert_close(rotate_by_position(vectors).flatten(), expected, **TIGHTLY)


@pytest.mark.parametrize("start", [0, 1, 10_007])
def test_output_and_gradients_are_those_of_complex_numbers(start: int) -> None:
    vectors = draw(BATCH, 3, QUERY_LEN, D_KEY).requires_grad_()
    found, expected = (f(vectors, start) for f in (rotate_by_position, by_complex_numbers))
    assert_close(found, expected, **CLOSELY)
    slopes = [torch.autograd.grad(f.pow(3).sum(), vectors) for f in (found, expected)]
    assert_close(*slopes, **CLOSELY)


def test_only_differences_of_positions_count() -> None:
    query, key = draw(BATCH, QUERY_LEN, D_KEY), draw(BATCH, KEY_LEN, D_KEY, seed=1)
    scores = rotate_by_position(query) @ rotate_by_position(key).mT
    moved = rotate_by_position(query, 101) @ rotate_by_position(key, 101).mT
    assert_close(moved, scores, **TIGHTLY)
    apart = rotate_by_position(query, 101) @ rotate_by_position(key, 102).mT
    assert (apart - scores).abs().max() > 0.1
    # the control: the same words further on, where positions are added
    places = sinusoidal_positions(200, D_KEY).double()
    added, further = (
        (query + places[n : n + QUERY_LEN]) @ (key + places[n : n + KEY_LEN]).mT for n in (0, 101)
    )
    assert (added - further).abs().max() > 0.1


def test_lengths_of_vectors_are_kept_and_turns_add_up() -> None:
    vectors = draw(BATCH, QUERY_LEN, D_KEY)
    turned = rotate_by_position(vectors, 17)
    assert_close(turned.norm(dim=-1), vectors.norm(dim=-1), **TIGHTLY)
    parts = [
        rotate_by_position(part, n)
        for part, n in zip(vectors.split(2, 1), (17, 19, 21), strict=True)
    ]
    assert_close(torch.cat(parts, 1), turned, **EXACTLY)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_far_positions_are_as_exact_as_the_numbers(dtype: torch.dtype) -> None:
    vectors = draw(QUERY_LEN, D_KEY).to(dtype)
    found = rotate_by_position(vectors, 100_003)
    assert found.dtype == dtype
    error = (found.double() - rotate_by_position(vectors.double(), 100_003)).abs().max()
    assert error < 4 * torch.finfo(dtype).eps * vectors.abs().max()


def test_second_derivatives() -> None:
    assert torch.autograd.gradgradcheck(rotate_by_position, draw(3, 4).requires_grad_())


def test_what_cannot_be_turned_is_refused_with_its_numbers() -> None:
    with pytest.raises(ValueError, match="d_key=7 is odd"):
        rotate_by_position(draw(QUERY_LEN, 7))
    with pytest.raises(TypeError):
        rotate_by_position(torch.ones(3, 4, dtype=torch.long))


def test_more_than_one_start_is_refused_and_not_spread_over_the_pairs() -> None:
    with pytest.raises(ValueError, match=r"start must be one position, but has shape \(2,\)"):
        rotate_by_position(torch.randn(3, 2, 4), torch.tensor([0, 5]))
