"""Arguments that published layers add to the heads of chapter 09, against a loop in float64.

Rotary positions, normalized queries and keys, capped scores, rules, sinks, values of another width.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.layer.combined_rules import AllOf, and_rules, reach_of
from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.position_bias import ALiBi
from attn_course.layer.scores import CappedScores
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import Band, attention, causal, mask_of, window
from tests.tensors import CLOSELY, TIGHTLY, draw, filled

BATCH, LENGTH, D_MODEL, HEADS, D_HEAD = 2, 11, 12, 4, 6
BASE, CAP = 50.0, 1.5


def turn(vectors: Tensor, position: Tensor, base: float = BASE) -> Tensor:
    """Turn pairs of features by their positions, as complex numbers."""
    pairs = torch.view_as_complex(vectors.unflatten(-1, (-1, 2)).contiguous())
    frequency = base ** -(torch.arange(pairs.shape[-1]).double() / pairs.shape[-1])
    angle = (position.double()[..., None] * frequency).to(vectors)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


@dataclass(frozen=True)
class Documents:
    """The rule that a token attends to those of its own document, of `size` tokens each."""

    size: int

    def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """True within a document."""
        return query_position // self.size == key_position // self.size

    def reach(self, first: int, last: int, key_len: int) -> range:
        """From the first document to the last."""
        start = first // self.size * self.size
        return range(start, min(key_len, (last // self.size + 1) * self.size))


# What a layer may be given, alone and together.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "window": {"rule": window(3)},
    "documents": {"rule": Documents(4)},
    "rotary": {"rotary": turn},
    "normalized": {"qk_norm": nn.RMSNorm},
    "normalized, own epsilon": {"qk_norm": partial(nn.RMSNorm, eps=0.1)},
    "capped": {"score": CappedScores(CAP)},
    "capped, scaled": {"score": CappedScores(CAP, 0.7)},
    "sinks": {"sinks": True},
    "wide values": {"d_head_value": 7},
    "Mistral": {"rule": window(3, after=0), "rotary": turn, "num_kv_heads": 2},
    "all": {
        "rule": and_rules(window(5), Documents(7)), "rotary": turn, "qk_norm": nn.RMSNorm,
        "score": CappedScores(CAP), "sinks": True, "d_head_value": 5, "num_kv_heads": 2,
        "position_bias": ALiBi(HEADS),
    },
}  # fmt: skip
every = pytest.mark.parametrize("options", ARGUMENTS.values(), ids=ARGUMENTS)


def layer(**options: Any) -> MultiHeadAttention:
    """Make a layer whose heads are wider than its tokens, all weights random."""
    return filled(MultiHeadAttention(D_MODEL, HEADS, d_head=D_HEAD, **options))


def turned(vector: Tensor, position: int) -> list[float]:
    """Turn a vector, pair after pair."""
    made = []
    for pair in range(0, D_HEAD, 2):
        angle = position / BASE ** (pair / D_HEAD)
        (x, y), (c, s) = vector[pair : pair + 2].tolist(), (math.cos(angle), math.sin(angle))
        made += [x * c - y * s, x * s + y * c]
    return made


def ready(vector: Tensor, norm: nn.Module, position: int, model: MultiHeadAttention) -> Tensor:
    """Normalize and turn a query or a key, as far as the layer does."""
    if isinstance(norm, nn.RMSNorm):
        epsilon = torch.finfo(torch.float64).eps if norm.eps is None else norm.eps
        vector = norm.weight * vector / (vector.square().mean() + epsilon).sqrt()
    return vector if model.rotary is None else vector.new_tensor(turned(vector, position))


def by_loop(
    model: MultiHeadAttention, tokens: Tensor, is_causal: bool, real: Tensor, position: Tensor
) -> Tensor:
    """Attend pair by pair: tokens of one sentence, which of them are real, and their positions."""
    shared, rows = model.num_heads // model.num_kv_heads, []
    rule = model.rule or (lambda i, j: torch.tensor(True))
    for i in range(len(tokens)):
        heads = []
        for head in range(model.num_heads):
            queries, keys, values = (
                project(tokens).unflatten(-1, (number, -1))[:, at]
                for project, number, at in (
                    (model.project_query, model.num_heads, head),
                    (model.project_key, model.num_kv_heads, head // shared),
                    (model.project_value, model.num_kv_heads, head // shared),
                )
            )
            query = ready(queries[i], model.norm_query, int(position[i]), model)
            powers = [math.exp(model.sinks[head]) if model.sinks is not None else 0.0]
            total = torch.zeros(values.shape[-1]).double()
            for j in range(len(tokens)):
                at = torch.tensor(i), torch.tensor(j)
                if not (real[j] and rule(*at)) or (is_causal and j > i):
                    continue
                key = ready(keys[j], model.norm_key, int(position[j]), model)
                score = model.score(query[None], key[None]).item()
                if isinstance(model.score, CappedScores):
                    scale = model.score.scale or D_HEAD**-0.5
                    score = CAP * math.tanh(float(query @ key) * scale / CAP)
                if model.position_bias is not None:
                    score -= abs(i - j) * float(model.position_bias.slopes[head])
                powers.append(math.exp(score))
                total += powers[-1] * values[j]
            heads.append(total / (sum(powers) or 1))
        rows.append(model.project_output(torch.cat(heads)))
    return torch.stack(rows)


@every
@pytest.mark.parametrize("is_causal", [False, True])
@torch.no_grad()
def test_argument_does_what_a_loop_over_pairs_does(options: dict, is_causal: bool) -> None:
    model, tokens = layer(**options), draw(BATCH, LENGTH, D_MODEL)
    real = torch.arange(LENGTH) >= torch.tensor([[0], [4]])  # the second has padding in front
    position = (real.cumsum(-1) - 1).clamp(min=0)
    given = {"position": position} if model.rotary else {}
    expected = torch.stack(
        [by_loop(model, *row) for row in zip(tokens, [is_causal] * 2, real, position, strict=True)]
    )
    call = {"key_mask": real, "is_causal": is_causal, **given}
    found, weights = model.with_weights(tokens, **call)
    for output in (model(tokens, **call), found):
        assert_close(output, expected, **CLOSELY)
    assert_close(model.weights(tokens, **call), weights, **TIGHTLY)
    if model.sinks is not None:
        assert (weights.sum(-1) < 1).all()


@every
def test_gradients_are_those_of_the_weights(options: dict) -> None:
    model, tokens = layer(**options), draw(BATCH, LENGTH, D_MODEL).requires_grad_()
    learned = [tokens, *model.parameters()]
    outputs = model(tokens, is_causal=True), model.with_weights(tokens, is_causal=True)[0]
    slopes = [torch.autograd.grad(output.square().sum(), learned) for output in outputs]
    # Slopes of hundreds cancel: those of a key's bias to 0, but for their rounding.
    assert_close(*slopes, rtol=1e-10, atol=1e-11)
    still = [
        name
        for (name, _), slope in zip(model.named_parameters(), slopes[0][1:], strict=True)
        if slope.abs().max() < 1e-10
    ]
    assert set(still) <= {"project_key.bias"}


@every
@torch.no_grad()
@pytest.mark.parametrize("sizes", [[1] * LENGTH, [4, 1, 3, 1, 2]], ids=["single", "several"])
def test_steps_agree_with_the_whole_even_behind_padding(options: dict, sizes: list[int]) -> None:
    model, tokens = layer(**options), draw(BATCH, LENGTH, D_MODEL)
    prompt = torch.tensor([[True] * 4, [False, False, True, True]])
    real = torch.cat([prompt, torch.ones(BATCH, LENGTH - 4).bool()], -1)
    cache = KeyValueCache(prompt)
    steps = [model.step(part, cache) for part in tokens.split(sizes, 1)]
    given = {"position": (real.cumsum(-1) - 1).clamp(min=0)} if model.rotary else {}
    whole = model(tokens, key_mask=real, is_causal=True, **given)
    assert_close(torch.cat(steps, 1), whole, **CLOSELY)
    # only differences of positions count, in the rotation and elsewhere
    assert_close(model(tokens, key_mask=real, is_causal=True), whole, **CLOSELY)


@every
@torch.no_grad()
def test_keys_that_are_kept_are_those_of_the_whole(options: dict) -> None:
    model, tokens = layer(**options), draw(BATCH, LENGTH, D_MODEL)
    given = {"position": torch.arange(LENGTH).expand(BATCH, -1)} if model.rotary else {}
    kept = model.keys_and_values(tokens, **given)
    found = model.attend(tokens[:, -3:], *kept, is_causal=True, **given)
    assert_close(found, model(tokens, is_causal=True)[:, -3:], **CLOSELY)


@torch.no_grad()
def test_vectors_are_turned_by_their_own_positions_and_not_only_by_differences() -> None:
    def grow(vectors: Tensor, position: Tensor) -> Tensor:
        return vectors * (1 + position[..., None] / 10)

    model, tokens = layer(rotary=grow), draw(BATCH, LENGTH, D_MODEL)
    plain = layer()
    real = torch.arange(LENGTH) >= torch.tensor([[0], [3]])
    position = (real.cumsum(-1) - 1).clamp(min=0)
    query, key, value = (
        project(tokens).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for project in (model.project_query, model.project_key, model.project_value)
    )
    allowed = real[:, None, None] & mask_of(causal, LENGTH, LENGTH)
    query, key = (grow(part, position[:, None]) for part in (query, key))
    heads = attention(query, key, value, allowed)
    expected = model.project_output(heads.transpose(1, 2).flatten(2))
    call = {"key_mask": real, "position": position}
    assert_close(model(tokens, is_causal=True, **call), expected, **CLOSELY)
    cache = KeyValueCache(real[:, :5])
    steps = [model.step(part, cache) for part in tokens.split([2, 3, 1, 4, 1], 1)]
    assert_close(torch.cat(steps, 1), expected, **CLOSELY)
    kept = model.keys_and_values(tokens, position)
    last = model.attend(tokens[:, -2:], *kept, allowed[:, 0, None, -2:], position=position)
    assert_close(last, expected[:, -2:], **CLOSELY)
    weights = model.weights(tokens, is_causal=True, **call)
    assert (weights - plain.weights(tokens, key_mask=real, is_causal=True)).abs().max() > 0.01
    assert_close(
        model(tokens, is_causal=True), model(tokens, position=torch.arange(LENGTH)[None],
                                             is_causal=True), **CLOSELY)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight:UserWarning")
@every
def test_layer_stays_close_in_half_precision_and_can_be_kept(options: dict) -> None:
    model, tokens = layer(**options), draw(BATCH, LENGTH, D_MODEL)
    expected = model(tokens, is_causal=True)
    with torch.autocast("cpu", torch.bfloat16):
        found = model.float()(tokens.float(), is_causal=True)
    scale = expected.abs().max().item()
    assert_close(found.double(), expected, rtol=0, atol=0.05 * scale)
    again = pickle.loads(pickle.dumps(model.double()))
    assert_close(again(tokens, is_causal=True), expected, rtol=1e-6, atol=1e-6 * scale)


ROLES = [draw(2, HEADS, LENGTH, 5, seed=seed) for seed in range(3)]
SINKS = draw(HEADS, seed=3)
SCORES: dict[str, dict[str, Any]] = {
    "plain": {},
    "capped": {"score": CappedScores(CAP)},
    "window": {"rule": window(3)},
    "some have no key": {"rule": Band(before=-2, after=None)},
}


@pytest.mark.parametrize("options", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("block_len", [None, 4, 64])
@pytest.mark.parametrize("sinks", [SINKS, SINKS.new_tensor([0, 80.0, -80, -math.inf])])
def test_sinks_take_their_share_in_blocks_as_in_one_softmax(
    options: dict, block_len: int | None, sinks: Tensor
) -> None:
    query, key, value = (part.clone().requires_grad_() for part in ROLES)
    learned = sinks.clone().requires_grad_()
    found = fast_attention(query, key, value, sinks=learned, block_len=block_len, **options)
    scores = options.get("score", CappedScores(1e9))(query, key)
    rule = options.get("rule")
    if rule is not None:
        scores = scores.masked_fill(~mask_of(rule, LENGTH, LENGTH), -math.inf)
    column = learned[:, None, None].expand(2, -1, LENGTH, 1)
    weights = torch.cat([scores, column], -1).softmax(-1).nan_to_num()[..., :-1]
    expected = weights @ value
    assert_close(found, expected, rtol=1e-9, atol=1e-9)
    if sinks.isfinite().all():
        inputs = query, key, value, learned
        slopes = [torch.autograd.grad(out.square().sum(), inputs) for out in (found, expected)]
        assert_close(*slopes, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("batch", [(), (0,), (2, 3)], ids=str)
def test_scale_beside_sinks_takes_any_number_of_batch_axes(batch: tuple[int, ...]) -> None:
    query, key = draw(*batch, 5, 7), draw(*batch, 11, 7, seed=1)
    found = fast_attention(query, key, key, scale=0.3, sinks=torch.tensor(0.0).double())
    scores = query @ key.mT * 0.3
    powers = scores.exp() / (1 + scores.exp().sum(-1, keepdim=True))
    assert_close(found, powers @ key, **CLOSELY)


def test_sink_of_minus_infinity_changes_nothing_and_keeps_gradients_finite() -> None:
    sinks = torch.full((HEADS,), -math.inf).double().requires_grad_()
    found = fast_attention(*ROLES, rule=causal, sinks=sinks)
    assert_close(found, fast_attention(*ROLES, rule=causal), **TIGHTLY)
    found.sum().backward()
    assert torch.equal(sinks.grad, torch.zeros(HEADS).double())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_scores_are_capped_even_where_a_dot_product_overflows(dtype: torch.dtype) -> None:
    query = torch.tensor([[300.0, 0], [-300, 0], [0.5, 0]]).to(dtype)
    found = CappedScores(30.0, 2.0)(query, query).double()
    expected = 30 * torch.tanh(2 * query.double() @ query.double().mT / 30)
    assert_close(found, expected, rtol=1e-2, atol=1e-3)


def test_rules_together_know_what_each_of_them_reaches() -> None:
    assert and_rules() is None
    assert and_rules(None, causal) is causal
    assert and_rules(causal, window(3)) == window(3, after=0)
    assert and_rules(causal, None, window(3), window(5, after=0)) == window(3, after=0)
    both = and_rules(causal, Documents(4), window(9))
    assert both == AllOf((window(9, after=0), Documents(4)))
    assert reach_of(both, 5, 6, 20) == range(4, 7)
    assert reach_of(lambda query, key: query == key, 5, 6, 20) == range(20)
    expected = mask_of(window(9, after=0), 11, 13) & mask_of(Documents(4), 11, 13)
    assert torch.equal(mask_of(both, 11, 13), expected)


@pytest.mark.parametrize("block_len", [None, 3, 8])
@pytest.mark.parametrize("rule", [Documents(4), and_rules(causal, Documents(4))])
def test_rule_that_knows_its_reach_is_asked_for_no_other_keys(
    rule: Callable, block_len: int | None
) -> None:
    asked = []

    @dataclass(frozen=True)
    class Counted:
        def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
            asked.append(query_position.shape[0] * key_position.shape[0])
            return rule(query_position, key_position)

        reach = staticmethod(rule.reach)

    roles = [draw(40, 5, seed=seed) for seed in range(3)]
    found = fast_attention(*roles, rule=Counted(), block_len=block_len or 8)
    assert_close(found, attention(*roles, mask_of(rule, 40, 40)), **CLOSELY)
    assert sum(asked) < 40 * 40 / 2


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: layer()(draw(2, 5, 12), position=torch.arange(5)[None]), r"shape \(1, 5\) turn"),
    (lambda: layer(rotary=turn)(draw(2, 5, 12), position=torch.arange(1)[None]), "1 positions .*5"),
    (lambda: layer(rotary=turn)(draw(2, 5, 12), draw(2, 3, 12), position=torch.arange(3)[None]),
     "3 positions do not fit 5 queries and 3 keys"),
    (lambda: layer(score=CappedScores(2.0), scale=0.5), "scale=0.5 is for scaled_dot_scores"),
    (lambda: CappedScores(0.0), "cap=0 must be positive"),
    (lambda: layer(d_head_value=0), "d_head_value=0"),
    (lambda: fast_attention(*ROLES, sinks=draw(3)), "sinks"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_does_not_fit_is_refused_with_its_numbers(call: Callable, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
