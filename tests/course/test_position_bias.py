"""Scores that know positions: by hand, by the equation, in one block and in many, and T5's code."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.position_bias import ALiBi, T5Bias
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import (
    causal,
    causal_mask,
    combine,
    positions,
    scaled_dot_scores,
    window,
)
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, draw

BATCH, NUM_HEADS, QUERY_LEN, KEY_LEN, D_KEY, D_VALUE = 2, 3, 11, 13, 5, 7
plain_scores = partial(scaled_dot_scores)


def buckets(**options: object) -> T5Bias:
    """Make buckets with numbers that are not near 0, the same each time."""
    torch.manual_seed(0)
    return T5Bias(NUM_HEADS, 8, 6, **options).double()


KINDS: dict[str, Callable] = {
    "linear": ALiBi(NUM_HEADS).double(),
    "buckets": buckets(),
    "buckets behind": buckets(bidirectional=False),
    "for all heads": lambda query, key: -0.1 * (key - query).double().square(),
}
PATHS: dict[str, Callable[..., Tensor]] = {
    "fused": fast_attention,
    "fused rows": partial(fast_attention, block_len=4),
    "blocks": partial(fast_attention, score=plain_scores, block_len=4),
    "dropout path": partial(fast_attention, dropout=1e-9, block_len=4),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def by_equation(*roles: Tensor, kind: Callable, allowed: Tensor | None) -> Tensor:
    """Attend with the whole table of scores."""
    query, key, value = roles
    scores = query @ key.mT / math.sqrt(D_KEY) + kind(*positions(query.shape[-2], key.shape[-2]))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, -1).nan_to_num() @ value


@every_kind
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("rule", [None, causal, window(2, 4)], ids=["all", "causal", "window"])
@pytest.mark.parametrize("masked", [False, True])
def test_every_path_gives_output_and_gradients_of_the_equation(
    kind: Callable, path: Callable, rule: Callable | None, masked: bool
) -> None:
    roles = [
        draw(BATCH, NUM_HEADS, length, width, seed=seed).requires_grad_()
        for seed, (length, width) in enumerate(
            [(QUERY_LEN, D_KEY), (KEY_LEN, D_KEY), (KEY_LEN, D_VALUE)]
        )
    ]
    mask = draw(BATCH, 1, QUERY_LEN, KEY_LEN, seed=3) > -1 if masked else None
    ruled = None if rule is None else rule(*positions(QUERY_LEN, KEY_LEN))
    found = path(*roles, mask, rule=rule, position_bias=kind)
    expected = by_equation(*roles, kind=kind, allowed=combine(mask, ruled))
    assert_close(found, expected, **CLOSELY)
    learned = [*roles, *getattr(kind, "parameters", list)()]
    slopes = [torch.autograd.grad(out.square().sum(), learned) for out in (found, expected)]
    assert_close(*slopes, **CLOSELY)


def test_slopes_by_hand() -> None:
    assert ALiBi(4).slopes.tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256]
    # three heads: the slopes of two, and every second of the slopes of four
    assert ALiBi(3).slopes.tolist() == [1 / 16, 1 / 256, 1 / 4]
    scores = ALiBi(4)(*positions(2, 3))
    assert scores[0].tolist() == [[-0.25, 0, -0.25], [-0.5, -0.25, 0]]


def test_buckets_by_hand() -> None:
    behind = T5Bias(1, 8, 16, bidirectional=False)
    query, key = torch.tensor([[20]]), torch.tensor([25, 20, 19, 17, 16, 15, 14, 12, 8, 4, 0])
    # four of one distance, then distances from 4, 4 * 2**.5, 8, 8 * 2**.5
    assert behind.bucket(query, key).tolist() == [[0, 0, 1, 3, 4, 4, 5, 6, 7, 7, 7]]
    both = T5Bias(1, 8, 8)
    key = torch.tensor([20, 19, 18, 16, 21, 22, 24, 99])
    assert both.bucket(query, key).tolist() == [[0, 1, 2, 3, 5, 6, 7, 7]]


def t5_bucket(ahead: Tensor, bidirectional: bool, num_buckets: int, max_distance: int) -> Tensor:
    """Number the buckets as section 2.1 of Raffel et al. and its published code have it."""
    bucket = torch.zeros_like(ahead)
    if bidirectional:
        num_buckets //= 2
        bucket += (ahead > 0) * num_buckets
        distance = ahead.abs()
    else:
        distance = -ahead.clamp(max=0)
    exact = num_buckets // 2
    share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    far = (exact + (share * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return bucket + torch.where(distance < exact, distance, far)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (16, 20), (64, 500)])
def test_buckets_are_those_of_t5(bidirectional: bool, num_buckets: int, max_distance: int) -> None:
    kind = T5Bias(1, num_buckets, max_distance, bidirectional=bidirectional)
    query, key = positions(701, 701)
    expected = t5_bucket(key - query, bidirectional, num_buckets, max_distance)
    assert_close(kind.bucket(query, key), expected, **EXACTLY)
    # no key ahead is at distance 0
    used = set(range(num_buckets)) - ({num_buckets // 2} if bidirectional else set())
    assert set(kind.bucket(query, key).unique().tolist()) == used


@every_kind
def test_only_the_distance_counts(kind: Callable) -> None:
    query, key = positions(QUERY_LEN, KEY_LEN)
    assert_close(kind(query + 100, key + 100), kind(query, key), **EXACTLY)


@pytest.mark.parametrize("kind", [ALiBi(4), T5Bias(4)])
def test_layer_takes_them_in_every_method(kind: torch.nn.Module) -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 4, position_bias=kind, scale=0.3).double()
    tokens = draw(2, 7, 12)
    output, weights = layer.with_weights(tokens, is_causal=True)
    assert_close(layer(tokens, is_causal=True), output, **TIGHTLY)
    assert_close(layer.weights(tokens, is_causal=True), weights, **TIGHTLY)
    split = (2, 7, 4, 3)
    query, key = layer.project_query(tokens).view(split), layer.project_key(tokens).view(split)
    scores = torch.einsum("bqhd,bkhd->bhqk", query, key) * 0.3 + kind(*positions(7, 7))
    scores = scores.masked_fill(~causal_mask(7), -math.inf)
    assert_close(weights, scores.softmax(-1), **TIGHTLY)
    with torch.no_grad():
        cache = KeyValueCache()
        steps = [layer.step(part, cache) for part in tokens.split([3, 1, 2, 1], 1)]
    assert_close(torch.cat(steps, 1), output, **TIGHTLY)
    learned = sum(part.numel() for part in kind.parameters())
    assert sum(part.numel() for part in layer.parameters()) == 4 * 12 * 13 + learned


def test_what_makes_no_sense_is_refused_with_its_numbers() -> None:
    with pytest.raises(ValueError, match="num_heads=0 must be positive"):
        ALiBi(0)
    for options in ((0, 8, 8), (1, 3, 8), (1, 32, 8)):
        with pytest.raises(ValueError, match=f"num_heads={options[0]} must be .*{options[2]}"):
            T5Bias(*options)
    with pytest.raises(ValueError, match=r"bias of 3 queries and 5 keys has shape \(5, 3\)"):
        fast_attention(draw(3, 2), draw(5, 2), draw(5, 2),
                       position_bias=lambda query, key: draw(5, 3))  # fmt: skip
    with pytest.raises(ValueError, match=r"scale=2\.0 is for scaled_dot_scores"):
        fast_attention(draw(3, 2), draw(5, 2), draw(5, 2), score=plain_scores, scale=2.0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_default_dtype_changes_no_bucket_and_no_distance(dtype: torch.dtype) -> None:
    at = torch.arange(600).unsqueeze(-1), torch.arange(600)
    expected = T5Bias(3).bucket(*at), ALiBi(8)(*at)
    torch.set_default_dtype(dtype)
    try:
        found = T5Bias(3).bucket(*at), ALiBi(8)(*at)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found[0], expected[0])
    assert_close(found[1].double(), expected[1].double())  # slopes of 8 heads are powers of 2
