"""Rules and biases as FlexAttention takes them give what they give in our own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attn_course.layer.combined_rules import and_rules
from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.flex import flexible_attention, mask_mod, score_mod
from attn_course.layer.position_bias import ALiBi, T5Bias
from attn_course.scaled_dot_product import Band, causal, mask_of, positions, window
from tests.tensors import DEVICES, draw, filled

pytestmark = [pytest.mark.filterwarnings("ignore:flex_attention called without:UserWarning")]
HEADS, QUERY_LEN, KEY_LEN = 4, 5, 19


def even(query_position: torch.Tensor, key_position: torch.Tensor) -> torch.Tensor:
    """Allow keys at an even distance."""
    return (query_position - key_position) % 2 == 0


RULES = [causal, window(3), window(2, after=0), Band(None, None), Band(-30, None), even,
         and_rules(causal, even)]  # fmt: skip
BIASES: list[Callable[[], torch.nn.Module]] = [
    lambda: ALiBi(HEADS),
    lambda: filled(T5Bias(HEADS, 8, 6)).float(),
    lambda: filled(T5Bias(HEADS, 8, 6, bidirectional=False)).float(),
]


@pytest.mark.parametrize("rule", RULES)
def test_rule_by_indices_is_its_mask(rule: Any) -> None:
    rows, columns = torch.arange(QUERY_LEN)[:, None], torch.arange(KEY_LEN)
    nothing = torch.zeros(())
    found = mask_mod(rule, QUERY_LEN, KEY_LEN)(nothing, nothing, rows, columns)
    assert torch.equal(found, mask_of(rule, QUERY_LEN, KEY_LEN))


@pytest.mark.parametrize("bias", [*BIASES, lambda: lambda query, key: -(key - query).abs().float()])
def test_bias_by_indices_is_its_table(bias: Callable) -> None:
    bias = bias()
    rows, columns = torch.arange(QUERY_LEN)[:, None], torch.arange(KEY_LEN)
    heads = torch.arange(HEADS)[:, None, None]
    zeros, nothing = torch.zeros(HEADS, QUERY_LEN, KEY_LEN), torch.zeros(())
    found = score_mod(bias, QUERY_LEN, KEY_LEN)(zeros, nothing, heads, rows, columns)
    assert_close(found, bias(*positions(QUERY_LEN, KEY_LEN)).expand_as(found), rtol=0, atol=0)


def test_bias_of_more_than_the_distance_is_refused_with_its_number() -> None:
    with pytest.raises(ValueError, match=r"first of 5 queries .* differs by up to 4 from"):
        score_mod(lambda query, key: key + 0.0 * query, QUERY_LEN, KEY_LEN)


@pytest.mark.parametrize("device", DEVICES)
@torch.no_grad()
def test_flexible_attention_agrees_with_ours(device: str) -> None:
    query = draw(2, HEADS, QUERY_LEN, 16).float().to(device)
    key, value = (draw(2, 2, KEY_LEN, 16, seed=seed).float().to(device) for seed in (1, 2))
    all_heads = [part.repeat_interleave(2, 1) for part in (key, value)]
    for rule, bias, scale in [(None, None, 0.3), (Band(-17, 0), None, None)] + [
        (and_rules(causal, even), bias().to(device), None) for bias in BIASES[:2]
    ]:
        options = {"rule": rule, "position_bias": bias, "scale": scale}
        found = flexible_attention(query, key, value, **options)
        assert_close(found, fast_attention(query, *all_heads, **options), rtol=1e-5, atol=2e-6)
