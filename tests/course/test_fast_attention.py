"""Attention without its table of weights: equal to the equation on every path, and never larger.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hintgrader.worker.measurements import Largest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, vmap
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attn_course.bahdanau import AdditiveScore, additive_scores
from attn_course.kernel_regression import kernel_scores, log_epanechnikov
from attn_course.layer import dropout as attention_dropout
from attn_course.layer import fused_attention
from attn_course.layer.blocks import NUMBERS_IN_A_BLOCK, NUMBERS_IN_A_SMALL_BLOCK
from attn_course.layer.fast_attention import fast_attention
from attn_course.luong import general_scores
from attn_course.retrieval import distance_scores, dot_scores
from attn_course.scaled_dot_product import (
    Rule,
    Score,
    attention,
    attention_weights,
    causal,
    combine,
    mask_of,
    padding_mask,
    scaled_dot_scores,
    window,
)
from tests.sampling import left_to_proofs, sampled, takes_all
from tests.tensors import CLOSELY, DEVICES, EXACTLY, draw

BATCH, QUERY_LEN, KEY_LEN, D_KEY, D_VALUE = 2, 11, 13, 3, 5
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
HALVES = [torch.bfloat16, torch.float16]
some_law = settings(max_examples=40 if takes_all() else 20, deadline=None, derandomize=True)
slow_vmap = pytest.mark.filterwarnings("ignore:There is a performance drop")

# The same score, but not the one that the fused kernel is taken for.
plain_scores = partial(scaled_dot_scores)
PATHS: dict[str, Callable[..., Tensor]] = {
    "fused": fast_attention,
    "fused rows": partial(fast_attention, block_len=4),
    "blocks": partial(fast_attention, score=plain_scores, block_len=4),
    "one block": partial(fast_attention, score=plain_scores),
}
every_path = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)


def roles(*batch: int, query_len: int = QUERY_LEN, key_len: int = KEY_LEN) -> list[Tensor]:
    """Draw queries, keys and values."""
    query, key = draw(*batch, query_len, D_KEY), draw(*batch, key_len, D_KEY, seed=1)
    return [query, key, draw(*batch, key_len, D_VALUE, seed=2)]


def some_mask(*shape: int, seed: int = 3) -> Tensor:
    """Return a mask that allows about half of the keys."""
    return draw(*shape, seed=seed) > 0


def by_equation(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    rule: Rule | None = None,
    **options: Any,
) -> Tensor:
    """Attend with the whole table, and with the rule as a mask."""
    ruled = None if rule is None else mask_of(rule, query.shape[-2], key.shape[-2], query.device)
    return attention(query, key, value, combine(mask, ruled), **options)


def gradients(output: Tensor, given: list[Tensor]) -> list[Tensor]:
    """Differentiate a number that depends on every output in another way."""
    weights = torch.linspace(-1, 1, output.numel(), dtype=torch.float64).view(output.shape)
    loss = (output.double() * weights.to(output.device)).sum()
    return list(torch.autograd.grad(loss, given))


class Meter(TorchDispatchMode):
    """Notes every operation that is carried out, and the most numbers that one of them made."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: set[str] = set()
        self.largest = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Carry out an operation."""
        result = function(*args, **(kwargs or {}))
        self.operations.add(str(function))
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        sizes = [tensor.untyped_storage().nbytes() for tensor in made]
        self.largest = max([self.largest, *sizes])
        return result

    def fused(self) -> bool:
        """Return True if a kernel was called that holds no table."""
        return any("flash" in name or "efficient" in name for name in self.operations)


RULES: dict[str, Rule | None] = {
    "no rule": None,
    "causal": causal,
    "window": window(2),
    "every other": lambda query, key: (query - key) % 2 == 0,
    "keys": lambda query, key: key > 3,
    "queries": lambda query, key: query % 3 == 0,
    "nothing": lambda query, key: key < 0,
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
BATCHES = [(), (3,), (2, 3), (2, 1, 3), (2, 1, 3, 2), (0,), (2, 0, 3)]


# --- the same as the equation -------------------------------------------------------------------


@sampled
@some_law
@given(st.data())
def test_every_path_gives_the_output_and_the_gradients_of_the_equation(data: st.DataObject) -> None:
    pick = data.draw
    batch = pick(st.sampled_from(BATCHES), "batch")
    query_len, key_len = pick(st.integers(1, 9), "query_len"), pick(st.integers(1, 9), "key_len")
    given_ = roles(*batch, query_len=query_len, key_len=key_len)
    axes = (*batch, query_len, key_len)[pick(st.integers(0, len(batch)), "axes left out") :]
    shape = [pick(st.sampled_from([1, size]), "mask axis") for size in axes]
    mask = some_mask(*shape) if pick(st.booleans(), "masked") else None
    rule = pick(st.sampled_from(list(RULES.values())), "rule")
    score = pick(st.sampled_from([scaled_dot_scores, plain_scores]), "score")
    block_len = pick(st.integers(1, 10), "block_len")
    for part in given_:
        part.requires_grad_()
    found = fast_attention(*given_, mask, rule=rule, score=score, block_len=block_len)
    expected = by_equation(*given_, mask, rule)
    assert_close(found, expected, **CLOSELY)
    assert_close(gradients(found, given_), gradients(expected, given_), **CLOSELY)


@every_path
@every_rule
def test_with_pytorchs_own_it_agrees(path: Callable, rule: Rule | None) -> None:
    query, key, value = roles(BATCH, 3)
    mask = some_mask(3, 1, KEY_LEN)
    whole = combine(mask, None if rule is None else mask_of(rule, QUERY_LEN, KEY_LEN))
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=whole)
    assert_close(path(query, key, value, mask, rule=rule), expected, **CLOSELY)


SCORES: dict[str, tuple[Callable, dict[str, Any]]] = {
    "dot": (dot_scores, {}),
    "distance": (distance_scores, {}),
    "gaussian": (kernel_scores, {"width": 0.9}),
    "epanechnikov": (kernel_scores, {"width": 1.3, "log_kernel": log_epanechnikov}),
    "additive": (additive_scores, {"score_weight": draw(D_KEY, seed=4)}),
    "general": (general_scores, {"weight": draw(D_KEY, D_KEY, seed=5)}),
}
every_score = pytest.mark.parametrize("score", [partial(f, **o) for f, o in SCORES.values()],
                                      ids=SCORES)  # fmt: skip


@every_score
@pytest.mark.parametrize("block_len", [1, 3, 7, 512])
def test_any_score_gives_what_the_equation_gives(score: Score, block_len: int) -> None:
    given_ = [part.requires_grad_() for part in roles(BATCH, query_len=5, key_len=7)]
    options = {"rule": window(3), "score": score}
    found = fast_attention(*given_, some_mask(7)[None], **options, block_len=block_len)
    expected = by_equation(*given_, some_mask(7)[None], **options)
    assert_close(found, expected, **CLOSELY)
    assert_close(gradients(found, given_), gradients(expected, given_), **CLOSELY)


def test_queries_and_keys_of_unequal_widths_meet_in_a_score_of_their_own() -> None:
    query, key, value = draw(2, 11, 7), draw(2, 13, 3, seed=1), draw(2, 13, 5, seed=2)
    score = partial(general_scores, weight=draw(7, 3, seed=4))
    found = fast_attention(query, key, value, score=score, block_len=4)
    assert_close(found, attention(query, key, value, score=score), **CLOSELY)


@pytest.mark.parametrize("d_value", [1, 2, 3, 7, 0])
@pytest.mark.parametrize("d_key", [1, 3, 0])
@every_path
def test_widths_of_keys_and_values_may_differ(path: Callable, d_key: int, d_value: int) -> None:
    query, key = draw(2, 11, d_key), draw(2, 13, d_key, seed=1)
    value = draw(2, 13, d_value, seed=2)
    assert_close(path(query, key, value), attention(query, key, value), **CLOSELY)


@every_path
def test_scores_far_apart_and_in_any_order_neither_overflow_nor_vanish(path: Callable) -> None:
    query, value = draw(7, 1), draw(KEY_LEN, D_VALUE, seed=2)
    for key in (torch.arange(13.0), -torch.arange(13.0), draw(13, seed=1)):
        steep = 1000 * key.double().unsqueeze(-1)
        assert_close(path(query, steep, value), attention(query, steep, value), **CLOSELY)


@every_path
def test_what_is_added_to_every_score_cancels(path: Callable) -> None:
    query, key, value = roles(BATCH)
    bias = torch.tensor([1e3, -1e3, 1e3])
    assert_close(path(query, key + bias, value), path(query, key, value), rtol=1e-8, atol=1e-8)


@every_path
@pytest.mark.parametrize("rule", [causal, window(1)], ids=["causal", "window"])
def test_more_queries_than_keys_begin_before_the_first_key(path: Callable, rule: Rule) -> None:
    given_ = roles(BATCH, query_len=7, key_len=5)
    output = path(*given_, rule=rule)
    assert_close(output, by_equation(*given_, rule=rule), **CLOSELY)
    without = mask_of(rule, 7, 5).sum(-1) == 0
    assert without.any()
    assert output[:, without].count_nonzero() == 0


@every_path
def test_last_queries_of_a_causal_sequence_give_the_end_of_the_whole(path: Callable) -> None:
    query, key, value = roles(BATCH, query_len=KEY_LEN)
    whole = path(query, key, value, rule=causal)
    for query_len in (1, 2, 6):
        end = path(query[:, -query_len:], key, value, rule=causal)
        assert_close(end, whole[:, -query_len:], **CLOSELY)


@every_path
def test_no_query_gives_no_output_and_one_key_its_value(path: Callable) -> None:
    query, key, value = roles(BATCH)
    for rule in (None, window(1)):
        assert path(query[:, :0], key, value, rule=rule).shape == (BATCH, 0, D_VALUE)
    one = path(query, key[:, :1], value[:, :1])
    assert_close(one, value[:, :1].expand_as(one), **CLOSELY)


@every_path
def test_layout_in_memory_does_not_matter(path: Callable) -> None:
    given_, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    strided = [part.mT.contiguous().mT for part in (*given_, mask)]
    assert_close(path(*strided), path(*given_, mask), **CLOSELY)
    shared = [part[:1].expand(BATCH, -1, -1) for part in (*given_, mask)]
    assert_close(path(*shared), path(*(part.clone() for part in shared)), **CLOSELY)


# --- a query without a key ----------------------------------------------------------------------


@every_path
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("forbidden_by", ["mask", "rule", "both"])
def test_query_without_a_key_gets_zero_and_a_finite_gradient(
    path: Callable, dtype: torch.dtype, forbidden_by: str
) -> None:
    given_ = [part.to(dtype).requires_grad_() for part in roles(BATCH)]
    mask = torch.ones(QUERY_LEN, KEY_LEN, dtype=torch.bool)
    mask[5], rule = False, None
    if forbidden_by != "mask":
        own = 5 + KEY_LEN - QUERY_LEN
        rule = lambda query, key: (query != own) | (key < 3)  # noqa: E731
        mask = torch.arange(KEY_LEN) >= 3
        mask = mask.expand(1, KEY_LEN) if forbidden_by == "both" else None
        if mask is None:
            rule = lambda query, key: (query != own) & (key >= 3)  # noqa: E731
    output = path(*given_, mask, rule=rule)
    assert output[:, 5].count_nonzero() == 0
    assert output[:, 4].count_nonzero() == BATCH * D_VALUE
    slopes = gradients(output, given_)
    assert all(slope.isfinite().all() for slope in slopes)
    assert slopes[0][:, 5].count_nonzero() == 0
    assert slopes[0][:, 4].count_nonzero() == BATCH * D_KEY


@every_path
def test_no_query_with_any_key_gives_zeros_and_zero_gradients(path: Callable) -> None:
    given_ = [part.requires_grad_() for part in roles(BATCH)]
    for options in (
        {"mask": torch.zeros(1, 1, dtype=torch.bool)},
        {"rule": lambda query, key: key > 99},
    ):
        output = path(*given_, **options)
        assert_close(output, torch.zeros(BATCH, QUERY_LEN, D_VALUE).double(), **EXACTLY)
        assert all(slope.count_nonzero() == 0 for slope in gradients(output, given_))


def test_scores_of_minus_infinity_forbid_across_blocks() -> None:
    query, key, value = (part.requires_grad_() for part in roles())
    # of a compact kernel this narrow most queries see no key, and some only keys of later blocks
    score = partial(kernel_scores, width=0.7, log_kernel=log_epanechnikov)
    found = fast_attention(query, key, value, score=score, block_len=2)
    expected = attention(query, key, value, score=score)
    assert 0 < (expected == 0).all(-1).sum() < QUERY_LEN
    assert_close(found, expected, **CLOSELY)
    given_ = [query, key, value]
    assert_close(gradients(found, given_), gradients(expected, given_), **CLOSELY)


# --- which path is taken, and how large its tables are ------------------------------------------

LONG, D_HEAD, BLOCK = 256, 8, 32


def measured(call: Callable, *given: Tensor) -> tuple[Meter, Meter]:
    """Note what a call does, and what its gradient does."""
    parts = [part.detach().clone(memory_format=torch.preserve_format) for part in given]
    with Meter() as forward:
        output = call(*(part.requires_grad_() for part in parts))
    with Meter() as backward:
        output.sum().backward()
    assert all(part.grad is not None for part in parts)
    return forward, backward


def long_roles() -> list[Tensor]:
    """Draw roles of two heads, in single precision."""
    return [draw(1, 2, LONG, D_HEAD, seed=seed).float() for seed in range(3)]


def other_layout(tensor: Tensor) -> Tensor:
    """Return the same numbers, in columns."""
    return tensor.mT.contiguous().mT


FUSED: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "causal": {"rule": causal},
    "window": {"rule": window(7)},
    "keys alone": {"rule": lambda query, key: key > 7},
    "padding": {"mask": padding_mask(torch.tensor(150), LONG)},
    "padding and causal": {"mask": padding_mask(torch.tensor([150]), LONG), "rule": causal},
    "whole mask": {"mask": some_mask(LONG, LONG)},
    "mask in columns": {"mask": other_layout(some_mask(LONG, LONG))},
    "queries in columns": {"change": lambda q, k, v: (other_layout(q), k, v)},
    "keys in columns": {"change": lambda q, k, v: (q, other_layout(k), v)},
    "values in columns": {"change": lambda q, k, v: (q, k, other_layout(v))},
    "narrow values": {"change": lambda q, k, v: (q, k, v[..., :3])},
    "wide values": {"change": lambda q, k, v: (q, k, torch.cat([v, v], -1))},
    "one head": {"change": lambda q, k, v: (q[:, 0], k[:, 0], v[:, 0])},
    "no batch": {"change": lambda q, k, v: (q[0, 0], k[0, 0], v[0, 0])},
    "five axes": {"change": lambda q, k, v: (q[None], k[None], v[None])},
    "one feature": {"change": lambda q, k, v: tuple(other_layout(p[..., :1]) for p in (q, k, v))},
    "half precision": {"change": lambda q, k, v: (q.bfloat16(), k.bfloat16(), v.bfloat16())},
}


@pytest.mark.parametrize("case", FUSED.values(), ids=FUSED)
def test_fused_kernel_is_taken_and_no_table_is_held(case: dict) -> None:
    options = {"block_len": BLOCK} | case
    change = options.pop("change", lambda *given: given)
    call = partial(fast_attention, **options)
    forward, backward = measured(call, *change(*long_roles()))
    assert forward.fused()
    given_mask = options["mask"].numel() if "mask" in options else 0
    # a block of whole numbers, in which positions are subtracted
    allowed = max(8 * BLOCK * LONG, given_mask)
    assert forward.largest <= allowed
    assert backward.largest <= allowed
    assert 3 * allowed < 4 * LONG**2  # a table of scores


SMALL: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "causal": {"rule": causal},
    "window": {"rule": window(7)},
    "padding and causal": {"mask": padding_mask(torch.tensor([150]), LONG), "rule": causal},
    "dropout": {"dropout": 0.2},
}


@pytest.mark.parametrize("case", SMALL.values(), ids=SMALL)
def test_in_blocks_no_table_is_held_either(case: dict) -> None:
    side = 2 * BLOCK
    call = partial(fast_attention, score=plain_scores, block_len=side, **case)
    forward, backward = measured(call, *long_roles())
    assert not forward.fused()
    largest = 4 * 2 * LONG * D_HEAD  # the size of an argument
    assert max(forward.largest, backward.largest) <= max(largest, 8 * 2 * side**2)


@pytest.mark.parametrize(
    "options",
    [
        {"mask": padding_mask(torch.tensor(150), LONG), "rule": causal},
        {"rule": window(7)},
        {"mask": some_mask(LONG, LONG)},
    ],
    ids=["padding and causal", "window", "whole mask"],
)
def test_what_is_kept_for_the_gradient_does_not_grow_with_the_table(options: dict) -> None:
    given_ = [part.requires_grad_() for part in long_roles()]
    outside = {
        part.untyped_storage().data_ptr() for part in (*given_, options.get("mask", given_[0]))
    }
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        fast_attention(*given_, **options, block_len=BLOCK)
    new = [size for place, size in kept.items() if place not in outside]
    assert sum(new) <= 4 * 2 * LONG * (D_HEAD + 1)  # the output, and a number for each query


@pytest.mark.parametrize(("most", "times"), [(fused_attention.KEPT_NUMBERS, 1), (0, 2)])
def test_kernel_is_asked_again_for_the_gradient_only_if_the_mask_is_large(
    most: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, asked = F.scaled_dot_product_attention, []

    def spy(*roles_: Tensor, **options: object) -> Tensor:
        asked.append(roles_[0].shape[-2])
        return kernel(*roles_, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    monkeypatch.setattr(fused_attention, "KEPT_NUMBERS", most)
    given_ = [part.requires_grad_() for part in long_roles()]
    gradients(fast_attention(*given_, rule=window(7)), given_)
    assert sorted(asked) == sorted([192, LONG - 192] * times)


@pytest.mark.parametrize("query_len", [1, 7, 8, 9, 29])
@pytest.mark.parametrize("key_len", [1, 8, 31])
def test_score_is_asked_for_blocks_and_for_each_pair_once(query_len: int, key_len: int) -> None:
    sizes, pairs = [], torch.zeros(query_len, key_len)

    def score(query: Tensor, key: Tensor) -> Tensor:
        sizes.append((query.shape[-2], key.shape[-2]))
        first, last = query[:, 0].long(), key[:, 0].long()
        pairs[first.unsqueeze(-1), last] += 1
        return dot_scores(query, key)

    query, key = torch.arange(float(query_len))[:, None], torch.arange(float(key_len))[:, None]
    fast_attention(query, key, key, score=score, block_len=8)
    assert_close(pairs, torch.ones(query_len, key_len), **EXACTLY)
    assert len(sizes) == -(-query_len // 8) * -(-key_len // 8)
    assert max(itertools.chain.from_iterable(sizes)) <= 8


def test_blocks_that_a_rule_forbids_are_skipped_forwards_and_backwards() -> None:
    asked: list[tuple[int, int, int]] = []

    def score(query: Tensor, key: Tensor) -> Tensor:
        asked.append((int(query[0, 0]), int(key[0, 0]), len(key)))
        return dot_scores(query, key)

    def only_by_asking(query_position: Tensor, key_position: Tensor) -> Tensor:
        return window(3)(query_position, key_position)

    place, blocks = torch.arange(80.0)[:, None].requires_grad_(), range(0, 80, 8)
    near = {(i, max(0, i - 3)): min(80, i + 11) for i in blocks}
    known = {
        (i, j, min(8, end - j)) for (i, first), end in near.items() for j in range(first, end, 8)
    }
    for rule, expected in (
        (window(3), known),
        (only_by_asking, {(i, j, 8) for i in blocks for j in blocks if abs(i - j) <= 8}),
        (causal, {(i, j, 8) for i in blocks for j in blocks if j <= i}),
    ):
        asked.clear()
        output = fast_attention(place, place, place, rule=rule, score=score, block_len=8)
        assert sorted(asked) == sorted(expected)
        output.sum().backward()
        assert set(asked) == expected


def test_fused_kernel_sees_only_the_keys_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    kernel = F.scaled_dot_product_attention

    def spy(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
        seen.append((query.shape[-2], key.shape[-2]))
        return kernel(query, key, value, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    given_ = roles(query_len=32, key_len=32)
    fast_attention(*given_, rule=window(2), block_len=8)
    assert seen == [(8, 10), (8, 12), (8, 12), (8, 10)]
    seen.clear()
    fast_attention(*given_, rule=causal)
    assert seen == [(32, 32)]
    seen.clear()
    mask = torch.zeros(32, 32, dtype=torch.bool)
    mask[:8, 5], mask[8:16, 3:9] = True, True
    output = fast_attention(*given_, mask, block_len=8)
    assert seen == [(8, 1), (8, 6), (8, 1), (8, 1)]
    assert_close(output, attention(*given_, mask), **CLOSELY)


PEAKS = """
import pathlib, re
from functools import partial
import torch
from attn_course.bahdanau import additive_scores
from attn_course.layer.fast_attention import fast_attention
from attn_course.scaled_dot_product import causal, padding_mask, window

torch.set_num_threads(1)
additive = partial(additive_scores, score_weight=torch.ones(4))

def peak(length):
    query, key, value = (torch.randn(1, length, 4, requires_grad=True) for _ in range(3))
    padding = padding_mask(torch.tensor([length]), length)
    for mask, options in (
        (None, {}), (padding, {}), (padding, {"rule": causal}), (None, {"rule": window(64)}),
        (None, {"rule": window(64), "score": additive}),
        (None, {"rule": window(64), "dropout": 0.1}),
    ):
        fast_attention(query, key, value, mask, block_len=256, **options).sum().backward()
    if length < 2048:  # every pair takes longest
        fast_attention(query, key, value, score=additive, block_len=256).sum().backward()
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1024

print(peak(1536), peak(4608))
"""


@left_to_proofs
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    run = subprocess.run([sys.executable, "-c", PEAKS], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    short, long = map(int, run.stdout.split())
    # of a table there would be 4 * (4608² - 1536²) bytes more, which is 75 MB
    assert long - short < 25e6
    assert long < 1e9


# --- precision ----------------------------------------------------------------------------------


def error(output: Tensor, expected: Tensor) -> tuple[float, float]:
    """Return the largest and the root mean square difference."""
    difference = (output.double() - expected).abs()
    return difference.max().item(), difference.square().mean().sqrt().item()


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("spread", [pytest.param(0.3, marks=left_to_proofs), 1.0, 4.0])
@pytest.mark.parametrize(
    "options", [{}, {"rule": causal}, {"rule": window(40)}], ids=["all keys", "causal", "window"]
)
@pytest.mark.parametrize("score", [scaled_dot_scores, plain_scores], ids=["fused", "blocks"])
def test_half_precision_is_at_most_twice_as_wrong_as_the_equation(
    score: Score, options: dict, spread: float, dtype: torch.dtype
) -> None:
    shapes = [(2, 211, 64), (2, 211, 64), (2, 211, 32)]
    given_ = [draw(*shape, seed=seed).to(dtype) for seed, shape in enumerate(shapes)]
    given_ = [(given_[0] * spread).requires_grad_(), *(p.requires_grad_() for p in given_[1:])]
    exact = [part.detach().double().requires_grad_() for part in given_]
    expected = by_equation(*exact, **options)
    plain = by_equation(*given_, **options)
    found = fast_attention(*given_, score=score, block_len=64, **options)
    assert found.dtype == dtype
    for wrong, bound in zip(error(found, expected), error(plain, expected), strict=True):
        assert wrong <= 2 * bound
    slopes = gradients(found, given_), gradients(plain, given_), gradients(expected, exact)
    for ours, theirs, true in zip(*slopes, strict=True):
        assert error(ours, true)[1] <= 2 * error(theirs, true)[1]


@every_score
@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_of_other_scores_is_at_most_twice_as_wrong(
    score: partial, dtype: torch.dtype
) -> None:
    low = {n: o.to(dtype) if isinstance(o, Tensor) else o for n, o in score.keywords.items()}
    high = {n: o.double() if isinstance(o, Tensor) else o for n, o in low.items()}
    given_ = [part.to(dtype) for part in roles(5, query_len=97, key_len=101)]
    exact = [part.double() for part in given_]
    expected = attention(*exact, score=partial(score.func, **high))
    plain = attention(*given_, score=partial(score.func, **low))
    found = fast_attention(*given_, score=partial(score.func, **low), block_len=16)
    for wrong, bound in zip(error(found, expected), error(plain, expected), strict=True):
        assert wrong <= 2 * bound


@pytest.mark.parametrize("block_len", [pytest.param(16, marks=left_to_proofs), 128])
@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_in_half_precision_are_at_most_twice_as_wrong_however_small_the_blocks(
    dtype: torch.dtype, block_len: int | None
) -> None:
    given_ = [draw(2, 509, width, seed=seed).to(dtype) for seed, width in enumerate((64, 64, 32))]
    given_ = [part.requires_grad_() for part in given_]
    exact = [part.detach().double().requires_grad_() for part in given_]
    outputs = [
        fast_attention(*given_, score=plain_scores, block_len=block_len),
        attention(*given_),
        attention(*exact),
    ]
    found, plain, expected = (
        gradients(output, parts)
        for output, parts in zip(outputs, (given_, given_, exact), strict=True)
    )
    for ours, theirs, true in zip(found, plain, expected, strict=True):
        assert error(ours, true)[1] <= 2 * error(theirs, true)[1]


def test_half_precision_adds_many_small_weights_without_losing_them() -> None:
    # a running total stops growing at 256 in bfloat16, and at 2048 in float16
    for dtype, key_len in ((torch.bfloat16, 512), (torch.float16, 4096)):
        roles_ = torch.zeros(1, 1), torch.zeros(key_len, 1), torch.ones(key_len, 1)
        given_ = [part.to(dtype) for part in roles_]
        for path in PATHS.values():
            assert_close(path(*given_), torch.ones(1, 1, dtype=dtype), **EXACTLY)


@every_path
@pytest.mark.parametrize("device", DEVICES)
def test_autocast_is_as_close_as_that_of_the_equation(path: Callable, device: str) -> None:
    given_ = [part.float().to(device).requires_grad_() for part in roles(BATCH)]
    expected = attention(*(part.detach().cpu().double() for part in given_))
    with torch.autocast(device, torch.bfloat16):
        plain, found = attention(*given_), path(*given_)
    for wrong, bound in zip(
        error(found.cpu(), expected), error(plain.cpu(), expected), strict=True
    ):
        assert wrong <= 2 * bound
    assert all(slope.isfinite().all() for slope in gradients(found, given_))


# --- gradients ----------------------------------------------------------------------------------


@sampled
@every_path
@every_rule
def test_gradients_agree_with_finite_differences(path: Callable, rule: Rule | None) -> None:
    given_ = [part.requires_grad_() for part in roles(query_len=5, key_len=5)]
    mask = some_mask(5, 5)
    mask[1] = False
    call = partial(path, mask=mask, rule=rule)
    # fast: along one direction, drawn by chance, in place of along each axis
    assert torch.autograd.gradcheck(call, given_, fast_mode=not takes_all())


@sampled
@pytest.mark.parametrize("rule", [None, window(1)])
def test_second_gradients_agree_with_finite_differences_in_blocks(rule: Rule | None) -> None:
    given_ = [part.requires_grad_() for part in roles(query_len=2, key_len=3)]
    call = partial(fast_attention, rule=rule, score=plain_scores, block_len=2)
    assert torch.autograd.gradgradcheck(call, given_, fast_mode=not takes_all())


@pytest.mark.parametrize(
    "options", [{}, {"rule": window(1), "block_len": 2}], ids=["all keys", "window"]
)
def test_second_gradient_of_the_fused_kernel_is_refused_and_not_zero(options: dict) -> None:
    query, key, value = (part.requires_grad_() for part in roles())
    output = fast_attention(query, key, value, **options)
    with pytest.raises(RuntimeError, match="not implemented"):  # noqa: PT012
        (slope,) = torch.autograd.grad(output.square().sum(), query, create_graph=True)
        slope.square().sum().backward()


def test_gradient_reaches_the_weights_inside_a_score() -> None:
    query, key, value = roles(query_len=3, key_len=5)
    weight = draw(D_KEY, seed=4).requires_grad_()

    def output(weight: Tensor) -> Tensor:
        score = partial(additive_scores, score_weight=weight)
        return fast_attention(query, key, value, score=score, block_len=3)

    assert torch.autograd.gradcheck(output, weight)
    assert torch.autograd.gradgradcheck(output, weight)


class Layer(nn.Module):
    """Attention with a score that has weights of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.score = AdditiveScore(D_KEY, D_KEY, D_KEY)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, fast: bool) -> Tensor:
        """Attend in blocks or not."""
        if fast:
            return fast_attention(query, key, value, score=self.score, block_len=4)
        return attention(query, key, value, score=self.score)


def test_gradient_is_that_of_the_weights_a_module_was_called_with() -> None:
    torch.manual_seed(0)
    layer, given_ = Layer().double(), roles(BATCH)
    others = {name: (3 * w.detach()).requires_grad_() for name, w in layer.named_parameters()}
    used = [others["score.project_query.weight"], others["score.score_weight"]]
    found, expected = (functional_call(layer, others, (*given_, fast)) for fast in (True, False))
    assert_close(found, expected, **CLOSELY)
    assert_close(gradients(found, used), gradients(expected, used), **CLOSELY)


@pytest.mark.parametrize("what", ["query", "value", "weight"])
def test_gradient_after_a_change_in_place_is_refused_instead_of_wrong(what: str) -> None:
    given_ = dict(zip(("query", "key", "value"), roles(BATCH), strict=True))
    weight = draw(D_KEY, seed=4).requires_grad_()
    score = partial(additive_scores, score_weight=weight)
    output = fast_attention(**given_, score=score, block_len=4)
    with torch.no_grad():
        (given_ | {"weight": weight})[what].mul_(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        output.sum().backward()


class Holder:
    """A score that holds a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Compare weighted queries with keys."""
        return query * self.tensor @ key.mT

    def itself(self) -> Tensor:
        """Return the tensor."""
        return self.tensor

    def added(self, query: Tensor, key: Tensor) -> Tensor:
        """Look positions up."""
        return self.tensor.sum() + 0.1 * (query - key)


def closing_over(held: Tensor) -> dict[str, dict[str, Callable]]:
    """Return functions that refer to a tensor of as many numbers as a query has."""
    return {
        "closure": {"score": lambda query, key: query * held @ key.mT},
        "default": {"score": lambda query, key, held=held: query * held @ key.mT},
        "object": {"score": Holder(held)},
        "method": {"position_bias": Holder(held).added},
        "closure of a closure": {"position_bias": lambda *at: Holder(held).added(*at)},
        "rule": {"rule": lambda query, key: (query - key) * held.sum().sign() >= 0},
    }


@pytest.mark.parametrize("name", closing_over(torch.ones(1)))
def test_gradient_after_a_change_of_what_a_function_refers_to_is_refused(name: str) -> None:
    held = torch.ones(D_KEY, dtype=torch.float64)
    given_ = [part.requires_grad_() for part in roles(BATCH)]
    output = fast_attention(*given_, **closing_over(held)[name], block_len=4)
    held.mul_(-2)
    with pytest.raises(RuntimeError, match="changed in place"):
        output.sum().backward()


@dataclass(slots=True)
class Slotted:
    """An object without a `__dict__`."""

    tensor: Tensor


class Registered(nn.Module):
    """A module that has a tensor in its state."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__()
        self.register_buffer("tensor", tensor)


def python_module(tensor: Tensor) -> ModuleType:
    """Return a module of Python that has a global."""
    module = ModuleType("tables")
    module.tensor = tensor
    return module


# Makers of something that refers to a tensor, and how a function gets the tensor from it.
HOLDERS: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "itself": (lambda held: held, "it"),
    "list": (lambda held: [held], "it[0]"),
    "dict": (lambda held: {"a": (held,)}, "it['a'][0]"),
    "set": (lambda held: {held}, "[*it][0]"),
    "frozenset": (lambda held: frozenset([held]), "[*it][0]"),
    "deque": (lambda held: deque([held]), "it[0]"),
    "object": (Holder, "it.tensor"),
    "slots": (Slotted, "it.tensor"),
    "slots in a dict in a list": (lambda held: [{"a": Slotted(held)}], "it[0]['a'].tensor"),
    "nn.Module": (Registered, "it.tensor"),
    "nn.ModuleDict": (lambda held: nn.ModuleDict({"a": Registered(held)}), "it['a'].tensor"),
    "class": (lambda held: type("Class", (), {"tensor": held}), "it.tensor"),
    "class of an object": (lambda held: type("Class", (), {"tensor": held})(), "it.tensor"),
    "module": (python_module, "it.tensor"),
    "partial": (lambda held: partial(torch.mul, held), "it(1)"),
    "method": (lambda held: Holder(held).itself, "it()"),
    "method of a tensor": (lambda held: held.mul, "it(1)"),
    "function": (lambda held: lambda: held, "it()"),
    "attribute of a function": (lambda held: attribute_of_a_function(held), "it.tensor"),
}
# Ways in which a score may refer to it: an expression of the thing, `it`.
REFERENCES = {
    "global": "lambda query, key: query * ({}) @ key.mT",
    "closure": "(lambda it: lambda query, key: query * ({}) @ key.mT)(it)",
    "default": "lambda query, key, it=it: query * ({}) @ key.mT",
    "inner function": "lambda query, key: (lambda: query * ({}) @ key.mT)()",
    "global function": "(lambda function: eval('lambda *two: f(*two)', {{'f': function}}))("
    "lambda query, key: query * ({}) @ key.mT)",
    "object that is called": "type('Called', (), {{'__call__': "
    "lambda self, query, key: query * ({}) @ key.mT}})()",
}


def attribute_of_a_function(held: Tensor) -> Callable[[], None]:
    """Return a function that has a tensor as attribute."""

    def function() -> None: ...

    function.tensor = held
    return function


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_gradient_after_a_change_of_what_something_else_holds_is_refused(
    holder: str, reference: str
) -> None:
    make, expression = HOLDERS[holder]
    held, other = draw(D_KEY, seed=4), draw(D_KEY, seed=5)
    names = {"it": make(held), "another": make(other)}
    score = eval(REFERENCES[reference].format(expression), names)
    given_ = [part.requires_grad_() for part in roles(BATCH)]
    kept = gradients(attention(*given_, score=score), given_)
    unharmed, harmed = (fast_attention(*given_, score=score, block_len=4) for _ in range(2))
    other.mul_(-2)
    assert_close(gradients(unharmed, given_), kept, **CLOSELY)
    held.mul_(-2)
    with pytest.raises(RuntimeError, match="changed in place"):
        gradients(harmed, given_)


def test_mask_made_in_inference_mode_serves_training() -> None:
    with torch.inference_mode():
        mask = mask_of(causal, QUERY_LEN, KEY_LEN)
    given_ = [part.requires_grad_() for part in roles(BATCH)]
    for path in PATHS.values():
        found = gradients(path(*given_, mask[None]), given_)
        assert_close(found, gradients(by_equation(*given_, rule=causal), given_), **CLOSELY)


def test_gradient_may_be_taken_twice() -> None:
    given_ = [part.requires_grad_() for part in roles(BATCH)]
    for path in PATHS.values():
        output = path(*given_, rule=window(3))
        first = torch.autograd.grad(output.sum(), given_, retain_graph=True)
        assert_close(torch.autograd.grad(output.sum(), given_), first, **EXACTLY)


# --- dropout ------------------------------------------------------------------------------------


def test_dropout_on_a_processor_never_calls_the_fused_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*given: object, **options: object) -> Tensor:
        raise AssertionError("on a processor this holds the whole table")

    monkeypatch.setattr(F, "scaled_dot_product_attention", refuse)
    for rule in (None, causal, window(2)):
        fast_attention(*roles(BATCH), rule=rule, dropout=0.1)
    with pytest.raises(AssertionError, match="the whole table"):
        fast_attention(*roles(BATCH))


@pytest.mark.parametrize("block_len", [4, 512])
def test_dropout_sets_weights_to_zero_and_lets_the_others_grow(block_len: int) -> None:
    query, key, _ = roles(BATCH)
    eye = torch.eye(KEY_LEN).double().expand(BATCH, -1, -1)
    torch.manual_seed(0)
    dropped = fast_attention(query, key, eye, dropout=0.375, block_len=block_len)
    gone = dropped == 0
    assert 0.3 < gone.double().mean() < 0.5
    expected = (attention_weights(query, key) / 0.625).masked_fill(gone, 0)
    assert_close(dropped, expected, **CLOSELY)


@pytest.mark.parametrize("rule", [None, window(3)])
@pytest.mark.parametrize("way", ["kept", "recomputed", "blocks"])
def test_gradient_with_dropout_is_that_of_the_weights_that_were_drawn(
    rule: Rule | None, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    block_len = 4 if way == "blocks" else None
    if way == "recomputed":
        monkeypatch.setattr(sys.modules[fast_attention.__module__], "SMALL_NUMBERS", 0)
    query, key, value = (part.requires_grad_() for part in roles(BATCH))
    eye = torch.eye(KEY_LEN).double().expand(BATCH, -1, -1)
    both = torch.cat([value, eye], -1)  # shows which weights were kept
    torch.manual_seed(0)
    output = fast_attention(query, key, both, rule=rule, dropout=0.375, block_len=block_len)
    kept = output[..., D_VALUE:].detach() != 0
    mask = None if rule is None else mask_of(rule, QUERY_LEN, KEY_LEN)
    weights = attention_weights(query, key, mask) * kept / 0.625
    given_ = [query, key, value]
    torch.manual_seed(99)  # what is drawn meanwhile must not matter
    found = gradients(output[..., :D_VALUE], given_)
    assert_close(output[..., :D_VALUE], weights @ value, **CLOSELY)
    assert_close(found, gradients(weights @ value, given_), **CLOSELY)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.9, 1.0])
def test_share_that_is_dropped_is_right_and_what_is_left_makes_up_for_it(share: float) -> None:
    torch.manual_seed(0)
    kept = attention_dropout.drop(torch.ones(1001, 499), share)
    assert set(kept.unique().tolist()) <= {0.0, 1.0}
    spread = (share * (1 - share) / kept.numel()) ** 0.5
    assert abs((kept == 0).float().mean() - share) <= 4 * spread + 1 / 2**17
    whole = attention_dropout.growth(share) * (1 - share)
    assert whole == pytest.approx(float(share < 1), abs=1e-4)


def test_dropped_weights_are_independent_of_their_neighbours() -> None:
    torch.manual_seed(0)
    gone = 1 - attention_dropout.drop(torch.ones(2**20), 0.3)
    for distance in (1, 2, 3, 4, 5, 8, 16, 64):
        together = (gone[distance:] * gone[:-distance]).mean()
        assert abs(together - 0.09) < 5 * (0.09 * 0.91 / 2**20) ** 0.5


def test_dropout_is_right_on_average() -> None:
    query, key, value = roles()
    many = 2003
    torch.manual_seed(0)
    repeated = [part.expand(many, -1, -1) for part in (query, key, value)]
    outputs = fast_attention(*repeated, dropout=0.3, block_len=4)
    wrong = (outputs.mean(0) - attention(query, key, value)).abs()
    assert (wrong < 5 * outputs.std(0) / many**0.5).all()


def test_blocks_draw_anew_and_a_seed_repeats_them() -> None:
    given_ = [part[:, :1].expand(-1, 12, -1) for part in roles(BATCH)]
    given_[2] = torch.eye(12).double().expand(BATCH, -1, -1)

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return fast_attention(*given_, dropout=0.5, block_len=4) != 0

    one = drawn(0)
    assert torch.equal(one, drawn(0))
    assert not torch.equal(one, drawn(1))
    parts = [part for band in one.split(4, -2) for part in band.split(4, -1)]
    assert all(not torch.equal(a, b) for a, b in itertools.combinations(parts, 2))


# --- transforms and compilation -----------------------------------------------------------------


@slow_vmap
@every_path
@pytest.mark.parametrize("rule", [None, causal, window(2)], ids=["all", "causal", "window"])
def test_vmap_over_the_batch_is_the_batch(path: Callable, rule: Rule | None) -> None:
    given_, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)
    call = partial(path, rule=rule)
    assert_close(vmap(call)(*given_), call(*given_), **CLOSELY)
    assert_close(vmap(call)(*given_, mask), call(*given_, mask), **CLOSELY)


@slow_vmap
@every_path
def test_functional_gradients_are_those_of_the_equation(path: Callable) -> None:
    query, key, value = roles(BATCH)
    found = grad(lambda q: path(q, key, value, rule=window(3)).square().sum())(query)
    expected = grad(lambda q: by_equation(q, key, value, rule=window(3)).square().sum())(query)
    assert_close(found, expected, **CLOSELY)
    one = [part[0] for part in (query, key, value)]
    found = jacrev(path)(*one)
    assert_close(found, jacrev(attention)(*one), **CLOSELY)


@pytest.mark.parametrize("path", ["fused", "fused rows", "blocks"])
@pytest.mark.parametrize("rule", [None, window(2)], ids=["all", "window"])
def test_compiled_in_one_graph_it_gives_the_same(path: str, rule: Rule | None) -> None:
    torch.compiler.reset()
    path = PATHS[path]
    given_ = [part.requires_grad_() for part in roles(BATCH, query_len=5, key_len=7)]
    compiled = torch.compile(path, backend="eager", fullgraph=True)
    found, expected = compiled(*given_, rule=rule), path(*given_, rule=rule)
    assert_close(found, expected, **CLOSELY)
    assert_close(gradients(found, given_), gradients(expected, given_), **CLOSELY)


@every_path
@every_rule
def test_on_the_meta_device_it_gives_a_shape(path: Callable, rule: Rule | None) -> None:
    output = path(*(part.to("meta") for part in roles(BATCH)), rule=rule)
    assert output.is_meta
    assert output.shape == (BATCH, QUERY_LEN, D_VALUE)


@every_path
def test_without_gradients_it_gives_the_same(path: Callable) -> None:
    given_ = roles(BATCH)
    expected = path(*given_, rule=causal)
    for off in (torch.no_grad, torch.inference_mode):
        with off():
            assert_close(path(*given_, rule=causal), expected, **EXACTLY)


@every_path
def test_arguments_stay_as_they_were(path: Callable) -> None:
    given_ = [*roles(BATCH), some_mask(BATCH, QUERY_LEN, KEY_LEN)]
    before = [part.clone() for part in given_]
    path(*given_, rule=causal)
    for part, copy in zip(given_, before, strict=True):
        assert_close(part, copy, **EXACTLY)


@pytest.mark.parametrize("batch", [pytest.param(1, marks=left_to_proofs), 5])
def test_blocks_are_chosen_so_that_no_tensor_is_large(batch: int) -> None:
    shapes = (4200, 2), (4300, 2), (4300, 3)
    inputs = [draw(batch, *shape).float() for shape in shapes]
    with torch.no_grad(), Largest() as largest:
        fast_attention(*inputs, score=plain_scores)
    assert NUMBERS_IN_A_SMALL_BLOCK / 4 < largest.numbers <= NUMBERS_IN_A_BLOCK


@every_path
def test_mask_that_is_the_same_for_all_keys_reaches_all_of_them(path: Callable) -> None:
    inputs, mask = roles(BATCH), some_mask(BATCH, QUERY_LEN, 1)
    whole = mask.expand(BATCH, QUERY_LEN, KEY_LEN)
    assert_close(path(*inputs, mask), attention(*inputs, whole), **CLOSELY)


# --- bad input; what all paths refuse alike is in test_scaled_dot_product.py --------------------


@pytest.mark.parametrize("block_len", [0, -3])
@every_path
def test_block_must_hold_something(path: Callable, block_len: int) -> None:
    with pytest.raises(ValueError, match=f"block_len={block_len} must be positive"):
        path(*roles(BATCH), block_len=block_len)


@every_path
def test_no_key_at_all_is_refused(path: Callable) -> None:
    with pytest.raises(ValueError, match="key_len=0: there is no key to attend to"):
        path(*roles(BATCH, key_len=0))


def test_score_that_would_be_spread_over_the_keys_is_refused() -> None:
    def one_for_all_keys(query: Tensor, key: Tensor) -> Tensor:
        return query.sum(-1, keepdim=True)

    message = rf"scores of 4 queries and 4 keys have shape \({BATCH}, 4, 1\)"
    with pytest.raises(ValueError, match=message):
        fast_attention(*roles(BATCH), score=one_for_all_keys, block_len=4)


@every_path
def test_rule_that_gives_numbers_is_refused(path: Callable) -> None:
    with pytest.raises(TypeError, match=r"a rule must return torch\.bool, .* returns torch\.int64"):
        path(*roles(BATCH), rule=lambda query, key: key - query)


@every_path
def test_mask_in_the_place_of_a_rule_and_rules_of_another_shape_are_refused(path: Callable) -> None:
    with pytest.raises(TypeError, match=r"a rule is a function .* shape \(11, 13\); is it a mask"):
        path(*roles(BATCH), rule=some_mask(QUERY_LEN, KEY_LEN))
    with pytest.raises(TypeError, match="but this one returns NoneType"):
        path(*roles(BATCH), rule=lambda query, key: None)
    for shape in ((3,), (1, 1, 1), (2, 1)):
        with pytest.raises(
            ValueError, match=rf"keys, the rule returned .* shape {re.escape(str(shape))}"
        ):
            path(*roles(BATCH), rule=lambda *at, shape=shape: torch.ones(shape).bool())


def test_scores_without_the_batch_or_of_another_dtype_are_refused() -> None:
    query, key, value = roles(BATCH)
    with pytest.raises(ValueError, match=r"have shape \(11, 13\); expected \(2, 11, 13\)"):
        fast_attention(query, key, value, score=lambda q, k: dot_scores(q[0], k[0]))
    with pytest.raises(TypeError, match=r"scores torch.float32, key torch.float64"):
        fast_attention(query, key, value, score=lambda q, k: dot_scores(q, k).float())


def test_unequal_widths_are_refused_with_their_numbers() -> None:
    query, key, value = roles(BATCH)
    with pytest.raises(ValueError, match=r"of equal width, but d_query=2 and d_key=3"):
        fast_attention(query[..., :2], key, value)


@pytest.mark.parametrize("wrong", [math.inf, math.nan])
@pytest.mark.parametrize("place", [0, KEY_LEN - 1])
def test_score_that_is_infinite_or_not_a_number_is_refused_in_any_block(
    wrong: float, place: int
) -> None:
    query, keys, value = roles()

    def score(query: Tensor, key: Tensor) -> Tensor:
        return dot_scores(query, key).masked_fill(key[:, 0] == keys[place, 0], wrong)

    with pytest.raises(ValueError, match=r"NaN.* infini"):
        fast_attention(query, keys, value, score=score, block_len=4)


@every_path
@pytest.mark.parametrize("role", ["query", "key", "value"])
@pytest.mark.parametrize("key_len", [1, 2, 16, 17])
def test_nan_is_refused_and_never_taken_for_a_query_without_a_key(
    path: Callable, role: str, key_len: int
) -> None:
    for dtype, all_of_them in itertools.product(DTYPES, (False, True)):
        given_ = dict(zip(("query", "key", "value"), roles(key_len=key_len), strict=True))
        given_ = {name: part.to(dtype) for name, part in given_.items()}
        given_[role][... if all_of_them else (-1, 0)] = math.nan
        with pytest.raises(ValueError, match=r"NaN among|holds \d+ NaN"):
            path(**given_)


@every_path
def test_infinite_key_is_refused(path: Callable) -> None:
    query, key, value = roles(BATCH)
    key[1, 7] = math.inf
    with pytest.raises(ValueError, match=r"NaN.* infini"):
        path(query.abs(), key, value)


OVERFLOWS: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "all scores": lambda query, key: (1e20 * query, 1e20 * key),
    "scores of one query": lambda query, key: (query.index_fill(-2, torch.tensor(3), 1e38), key),
    "infinite queries": lambda query, key: (query * math.inf, key),
}


@every_path
@pytest.mark.parametrize("change", OVERFLOWS.values(), ids=OVERFLOWS)
@pytest.mark.parametrize("key_len", [1, 2, 16, 17, 64])
def test_scores_that_overflow_are_never_taken_for_a_query_without_a_key(
    path: Callable, change: Callable, key_len: int
) -> None:
    query, key, value = (part.float() for part in roles(BATCH, key_len=key_len))
    with pytest.raises(ValueError, match=r"NaN.* infini"):
        path(*change(query, 10 + key.abs()), value)


@pytest.mark.parametrize("wrong", [math.inf, math.nan])
def test_position_bias_that_cannot_be_ranked_are_refused(wrong: float) -> None:
    given_ = roles(BATCH)
    added = torch.zeros(QUERY_LEN, KEY_LEN).index_fill(0, torch.tensor(4), wrong)
    with pytest.raises(ValueError, match=r"NaN.* infini"):
        fast_attention(*given_, position_bias=lambda query, key: added)


@pytest.mark.parametrize("dtype", HALVES)
def test_scale_is_as_exact_as_that_of_pytorchs_kernel(dtype: torch.dtype) -> None:
    for scale, size in ((1.0, 1.0), (0.3, 1.0), (1.0, 9000.0)):
        query, key, value = (draw(2, 37, 64, seed=seed) for seed in range(3))
        query, key, value = size * query, key / size, value
        given_ = [part.to(dtype) for part in (query, key, value)]
        exact = F.scaled_dot_product_attention(*(part.double() for part in given_), scale=scale)
        errors = [
            (attend(*given_).double() - exact).abs().max()
            for attend in (
                partial(fast_attention, scale=scale),
                partial(F.scaled_dot_product_attention, scale=scale),
            )
        ]
        assert errors[0] <= 1.2 * errors[1] + 1e-12, (scale, size)
        # so small a dropout drops nothing, and takes a way of its own, by the equation
        assert_close(
            fast_attention(*given_, scale=scale, dropout=1e-9).double(), exact, atol=0.1, rtol=0
        )


@every_path
def test_infinite_score_that_is_forbidden_does_no_harm(path: Callable) -> None:
    query, key, value = roles(BATCH)
    mask = torch.arange(KEY_LEN) != 7
    expected = path(query, key, value, mask[None])
    key[:, 7] = -math.inf
    assert_close(
        path(query.abs(), key, value), path(query.abs(), key, value, mask[None]), **CLOSELY
    )
    assert expected.isfinite().all()


# --- CUDA ---------------------------------------------------------------------------------------


@pytest.mark.cuda
@every_path
@every_rule
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_cuda_agrees_with_the_processor(
    path: Callable, rule: Rule | None, dtype: torch.dtype
) -> None:
    given_, mask = roles(BATCH, 3), some_mask(3, QUERY_LEN, KEY_LEN)
    mask[1, 4] = False
    low = [part.to("cuda", dtype).requires_grad_() for part in given_]
    exact = [part.detach().cpu().double().requires_grad_() for part in low]
    found, expected = path(*low, mask.cuda(), rule=rule), by_equation(*exact, mask, rule)
    few = {"rtol": 0, "atol": 40 * torch.finfo(dtype).eps}
    assert_close(found.cpu().double(), expected, **few)
    for ours, true in zip(gradients(found, low), gradients(expected, exact), strict=True):
        assert_close(ours.cpu().double(), true, **few)


@pytest.mark.cuda
def test_dropout_on_cuda_is_right_on_average() -> None:
    given_ = [part.float().cuda() for part in roles()]
    torch.manual_seed(0)
    for rule in (None, window(3)):
        repeated = [part.expand(2003, -1, -1) for part in given_]
        outputs = fast_attention(*repeated, rule=rule, dropout=0.3)
        wrong = (outputs.mean(0) - by_equation(*given_, rule=rule)).abs()
        assert (wrong < 5 * outputs.std(0) / 2003**0.5 + 1e-6).all()
