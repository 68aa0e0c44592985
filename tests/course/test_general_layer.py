"""Abilities of the layer of several heads beyond its chapter: widths, masks, one pass, beams.

The reference is written out in loops over heads, or is PyTorch's kernel; all in float64.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from attn_course.bahdanau import AdditiveScore
from attn_course.layer.position_bias import ALiBi
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import causal, causal_mask, mask_of, padding_mask, window
from attn_course.self_attention import SelfAttention
from tests.tensors import TIGHTLY, draw

BATCH, QUERY_LEN, KEY_LEN = 2, 3, 5


def layer(*sizes: int, **options: Any) -> MultiHeadAttention:
    """Make a layer in float64, the same each time."""
    torch.manual_seed(0)
    return MultiHeadAttention(*sizes, **options).double()


def by_kernel(
    model: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Project, attend with PyTorch's kernel, which can group heads, and project."""
    heads = [
        part(tokens).unflatten(-1, (number, -1)).transpose(1, 2)
        for part, tokens, number in (
            (model.project_query, query, model.num_heads),
            (model.project_key, key, model.num_kv_heads),
            (model.project_value, value, model.num_kv_heads),
        )
    ]
    output = F.scaled_dot_product_attention(*heads, mask, scale=model.scale, enable_gqa=True)
    return model.project_output(output.transpose(1, 2).flatten(2))


# Published layers: width of the model, heads, and what else their authors chose.
PUBLISHED: dict[str, tuple[tuple[int, int], dict[str, Any], tuple[int, ...]]] = {
    # shapes of the weights of query, key, output
    "LLMs from scratch, 3 to 2": (
        (2, 2), {"d_query": 3, "bias": False, "output_bias": True}, (2, 3, 2, 3, 2, 2)),
    "LLMs from scratch, 768 to 1536": (
        (1536, 12), {"d_query": 768, "bias": False, "output_bias": True},
        (1536, 768, 1536, 768, 1536, 1536)),
    "UMich, two heads of 8": ((4, 2), {"d_head": 8}, (16, 4, 16, 4, 4, 16)),
    "x-transformers, heads of 64": (
        (32, 4), {"d_head": 64, "bias": False}, (256, 32, 256, 32, 32, 256)),
    "Gemma": (
        (48, 4), {"d_head": 32, "num_kv_heads": 1, "bias": False}, (128, 48, 32, 48, 48, 128)),
    "Qwen": (
        (48, 6), {"num_kv_heads": 2, "output_bias": False}, (48, 48, 16, 48, 48, 48)),
    "D2L, queries of another width": (
        (20, 5), {"d_query": 4, "d_key": 3, "d_value": 7, "bias": False}, (20, 4, 20, 3, 20, 20)),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_shapes_of_published_layers_fit_and_attend(name: str) -> None:
    sizes, options, shapes = PUBLISHED[name]
    model = layer(*sizes, **options)
    parts = model.project_query, model.project_key, model.project_output
    assert sum((tuple(part.weight.shape) for part in parts), ()) == shapes
    assert (model.project_query.bias is None) == (not options.get("bias", True))
    has_bias = options.get("output_bias", options.get("bias", True))
    assert (model.project_output.bias is not None) == has_bias
    widths = [part.in_features for part in (*parts[:2], model.project_value)]
    given = [
        draw(BATCH, length, width, seed=seed).requires_grad_()
        for seed, (length, width) in enumerate(
            zip([QUERY_LEN, KEY_LEN, KEY_LEN], widths, strict=True)
        )
    ]
    found, expected = model(*given), by_kernel(model, *given)
    assert_close(found, expected, **TIGHTLY)
    learned = [*given, *model.parameters()]
    slopes = [torch.autograd.grad(out.square().sum(), learned) for out in (found, expected)]
    assert_close(*slopes, rtol=1e-10, atol=1e-12)


def test_output_may_have_a_width_of_its_own() -> None:
    model, tokens = layer(12, 3, d_output=7), draw(BATCH, KEY_LEN, 12)
    assert model(tokens).shape == (BATCH, KEY_LEN, 7)
    assert_close(model(tokens), by_kernel(model, tokens, tokens, tokens), **TIGHTLY)


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.0, -0.5])
def test_scale_is_that_of_pytorchs_kernel(scale: float) -> None:
    model, tokens = layer(12, 3, scale=scale), draw(BATCH, KEY_LEN, 12)
    expected = by_kernel(model, tokens, tokens, tokens)
    assert_close(model(tokens), expected, **TIGHTLY)
    assert_close(model.with_weights(tokens)[0], expected, **TIGHTLY)


def test_mask_for_each_head() -> None:
    model, tokens = layer(12, 3), draw(BATCH, KEY_LEN, 12)
    rules = [mask_of(window(n), KEY_LEN, KEY_LEN) for n in range(3)]
    masks = torch.stack(rules)[None]
    found = model(tokens, mask=masks)
    assert_close(found, by_kernel(model, tokens, tokens, tokens, masks), **TIGHTLY)
    weights = model.weights(tokens, mask=masks)
    assert torch.equal(weights > 0, masks.expand_as(weights))
    assert_close(model(tokens[0], mask=masks[0]), found[0], **TIGHTLY)


def test_padding_has_a_door_of_its_own() -> None:
    model, tokens = layer(12, 3), draw(4, 4, 12)
    length = torch.tensor([4, 1, 3, 2])
    padding = padding_mask(length, 4)
    expected = model(tokens, mask=padding)
    for method in (model, model.weights, lambda *a, **k: model.with_weights(*a, **k)[0]):
        found = method(tokens, key_mask=padding.squeeze(1))
        assert_close(found, method(tokens, mask=padding), **TIGHTLY)
    both = model(tokens, mask=causal_mask(4)[None], key_mask=padding.squeeze(1))
    assert_close(both, model(tokens, key_mask=padding.squeeze(1), is_causal=True), **TIGHTLY)
    assert_close(both, model(tokens, mask=padding & causal_mask(4)), **TIGHTLY)
    assert_close(expected[1], model(tokens[1, :1].expand(4, -1) * 0 + tokens[1],
                                    key_mask=torch.tensor([True, False, False, False])),
                 **TIGHTLY)  # fmt: skip


@pytest.mark.parametrize("call", ["forward", "weights", "with_weights", "SelfAttention", "its"])
def test_mask_that_could_be_for_padding_is_refused_with_both_readings(call: str) -> None:
    single = SelfAttention(12).double()
    others = {"SelfAttention": single, "its": single.weights}
    method = others.get(call) or getattr(layer(12, 3), call)
    tokens, mask = draw(4, 4, 12), causal_mask(4)
    with pytest.raises(
        ValueError, match=r"\(4, 4\).*4 sequences has 4 q.*mask\[None\].*mask\[:, N"
    ):
        method(tokens, mask=mask)
    ways = method(tokens, mask=mask[None]), method(tokens, mask=mask[:, None])
    pairs, padding = (way[0] if isinstance(way, tuple) else way for way in ways)
    assert (pairs - padding).abs().max() > 0.01
    method(tokens[:3], mask=mask)  # three sequences of four queries
    method(tokens[0], mask=mask)
    method(tokens[:1, :1], mask=mask[:1, :1])  # both readings are the same


@pytest.mark.parametrize("num_kv_heads", [None, 1])
@pytest.mark.parametrize("is_causal", [False, True])
def test_output_and_weights_in_one_pass_are_those_of_two(
    num_kv_heads: int | None, is_causal: bool
) -> None:
    model = layer(12, 3, num_kv_heads=num_kv_heads, d_key=7, d_value=11)
    given = draw(BATCH, QUERY_LEN, 12), draw(BATCH, KEY_LEN, 7), draw(BATCH, KEY_LEN, 11)
    mask = padding_mask(torch.tensor([2, 0]), KEY_LEN)
    output, weights = model.with_weights(*given, mask, is_causal=is_causal)
    assert_close(output, model(*given, mask, is_causal=is_causal), **TIGHTLY)
    assert_close(weights, model.weights(*given[:2], mask, is_causal=is_causal), **TIGHTLY)
    with pytest.raises(ValueError, match="query holds 72 NaN among 72"):
        model.with_weights(given[0] * math.nan, *given[1:])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("masked", [False, True])
def test_weights_that_need_no_gradient_are_the_same_in_less_memory(
    dtype: torch.dtype, masked: bool
) -> None:
    model, tokens = layer(12, 3).to(dtype), draw(BATCH, 37, 12).to(dtype)
    mask = padding_mask(torch.tensor([2, 30]), 37) if masked else None
    expected = model.with_weights(tokens, mask=mask)
    with torch.no_grad():
        found = model.with_weights(tokens, mask=mask)
        nobody = torch.zeros(1, 37, 37, dtype=torch.bool)
        assert model.weights(tokens, mask=nobody).count_nonzero() == 0
        with pytest.raises(ValueError, match=r"NaN or plus infinity|holds"):
            model.weights(tokens / 0)
    assert_close(found, tuple(part.detach() for part in expected))


@pytest.mark.parametrize("mask", [None, torch.ones(1, 5, 5, dtype=torch.bool)])
@pytest.mark.parametrize("bad", [torch.inf, torch.nan])
def test_score_that_cannot_be_ranked_is_counted_also_where_no_gradient_is_needed(
    bad: float, mask: torch.Tensor | None
) -> None:
    def spoilt(query_position: torch.Tensor, key_position: torch.Tensor) -> torch.Tensor:
        return torch.where((query_position == 3) & (key_position == 4), bad, 0.0).double()

    model, tokens = layer(12, 3, position_bias=spoilt), draw(BATCH, 5, 12)
    text = f"{BATCH * 3} of {BATCH * 75} scores are NaN or plus infinity"
    for mode in (torch.no_grad(), torch.enable_grad()):
        with mode, pytest.raises(ValueError, match=text):
            model.with_weights(tokens, mask=mask)


def test_beams_reorder_the_cache() -> None:
    model, tokens, rows = layer(12, 3), draw(4, 6, 12), torch.tensor([2, 0, 2])
    with torch.no_grad():
        cache = KeyValueCache()
        model.step(tokens[:, :4], cache)
        cache.reorder(rows)
        found = model.step(tokens[rows, 4:], cache)
    assert_close(found, model(tokens[rows], is_causal=True)[:, 4:], **TIGHTLY)
    for nobody in (3, -1):
        with pytest.raises(IndexError, match="out of range"):
            cache.reorder(torch.tensor([nobody]))
    KeyValueCache().reorder(rows)  # nothing to reorder yet


@pytest.mark.parametrize("cuts", [[4, 1, 1], [2, 2, 2], [1] * 6, [6]], ids=str)
def test_padding_of_a_prompt_is_not_seen_and_goes_with_its_row(cuts: list[int]) -> None:
    model, tokens = layer(12, 3), draw(BATCH, 6, 12)
    mask = torch.tensor([[False, False, True, True], [True] * 4])
    whole = torch.cat([mask, torch.ones(BATCH, 2, dtype=torch.bool)], 1)
    expected = model(tokens, key_mask=whole, is_causal=True)
    with torch.no_grad():
        cache = KeyValueCache(mask)
        steps = [model.step(part, cache) for part in tokens.split(cuts, 1)]
        assert_close(torch.cat(steps, 1), expected, **TIGHTLY)
        assert_close(steps[-1][0, -1], model(tokens[0, 2:], is_causal=True)[-1], **TIGHTLY)
        cache.reorder(torch.tensor([1, 0]))
        more = draw(BATCH, 1, 12, seed=9)
        turned = torch.cat([tokens[[1, 0]], more], 1)
        whole = torch.cat([whole[[1, 0]], torch.ones(BATCH, 1, dtype=torch.bool)], 1)
        expected = model(turned, key_mask=whole, is_causal=True)[:, -1:]
        assert_close(model.step(more, cache), expected, **TIGHTLY)


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((12, 5), {}, "d_model=12 is not divisible by num_heads=5"),
        ((12, 5), {"d_head": 0}, "d_head=0.*must be positive"),
        ((12, 3), {"d_query": 0}, "d_query=0.*must be positive"),
        ((12, 3), {"d_output": -1}, "d_output=-1 must be positive"),
    ],
)
def test_widths_that_make_no_sense_are_refused(sizes: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(*sizes, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d_query": 7}, "d_query=7, 3 heads of d_head=4 and d_output=12"),
        ({"d_head": 5}, "d_query=12, 3 heads of d_head=5"),
        ({"d_output": 7}, "d_output=7"),
        ({"output_bias": False}, "a bias in all four projections, or in none"),
        ({"scale": 1.0}, r"no scale=1\.0"),
        (
            {"position_bias": max, "qk_norm": torch.nn.RMSNorm},
            r"no norm_query=RMS.* and no position_bias=<",
        ),
        ({"rule": causal, "score": max}, r"no score=.* and no rule=Band\(before=None, after=0\)"),
    ],
)
def test_pytorchs_layer_refuses_what_it_cannot_say(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layer(12, 3, **options).to_torch()


def test_window_may_reach_farther_to_one_side() -> None:
    by_hand = [[True, True, False, False], [True, True, True, False]]
    by_hand += [[True, True, True, True], [False, True, True, True]]
    assert mask_of(window(2, 1), 4, 4).tolist() == by_hand
    assert torch.equal(mask_of(window(9, 0), 4, 4), causal_mask(4))
    with pytest.raises(ValueError, match="after=-1 must not be negative"):
        window(2, -1)


def test_additive_score_with_and_without_bias() -> None:
    with_bias, without = AdditiveScore(3, 5, 7), AdditiveScore(3, 5, 7, bias=False)
    assert without.project_key.bias is None
    assert with_bias.project_key.bias is not None
    without.load_state_dict(
        {name: part for name, part in with_bias.state_dict().items() if "bias" not in name}
    )
    torch.nn.init.zeros_(with_bias.project_key.bias)
    query, key = torch.randn(2, 3), torch.randn(4, 5)
    scores = [score(query, score.project_key(key)) for score in (with_bias, without)]
    assert_close(*scores)


def test_default_device_is_that_of_pytorch() -> None:
    with torch.device("meta"):
        assert causal_mask(3).is_meta
        assert mask_of(window(1), 3, 4).is_meta
    assert causal_mask(3).device.type == "cpu"


@pytest.mark.parametrize("call", ["forward", "weights", "with_weights"])
def test_tokens_of_another_width_or_dtype_are_refused_by_name(call: str) -> None:
    layer = MultiHeadAttention(8, 2, d_key=6)
    use, query, key = getattr(layer, call), torch.randn(2, 3, 8), torch.randn(2, 5, 6)
    with pytest.raises(ValueError, match=rf"{call}: project_query takes .* 8 .* shape \(2, 3, 7\)"):
        use(query[..., :7], key)
    with pytest.raises(ValueError, match=rf"{call}: project_key takes .* 6 .* shape \(2, 5, 4\)"):
        use(query, key[..., :4])
    with pytest.raises(
        TypeError, match=rf"{call}: project_query has weights of torch.float32, but"
    ):
        use(query.double(), key.double())


@pytest.mark.parametrize("call", ["forward", "weights", "with_weights"])
def test_position_bias_of_other_heads_is_refused_and_of_another_dtype_do_not_leak(
    call: str,
) -> None:
    tokens = torch.randn(2, 3, 8)
    with pytest.raises(ValueError, match=r"has shape \(4, 3, 3\), which does not fit"):
        getattr(MultiHeadAttention(8, 1, position_bias=ALiBi(4)), call)(tokens)
    layer = MultiHeadAttention(8, 2, position_bias=lambda query, key: (query - key).double())
    found = getattr(layer, call)(tokens)
    assert {part.dtype for part in (found if call == "with_weights" else [found])} == {
        torch.float32
    }


NO_FUNCTION = torch.ones(3, 3, dtype=torch.bool)
MISFITS: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"score": lambda query, key: (query @ key.mT).double()},
        TypeError,
        "a score: all .* these are: scores torch.float64, key torch.float32",
    ),
    (
        {"score": lambda query, key: query[0] @ key[0].mT},
        ValueError,
        r"have shape \(2, 3, 3\); expected \(2, 2, 3, 3\)",
    ),
    ({"score": NO_FUNCTION}, TypeError, r"a score is a function, not a tensor of shape \(3, 3\)"),
    ({"score": lambda query, key: None}, TypeError, "a score must return a tensor, not None"),
    ({"position_bias": NO_FUNCTION}, TypeError, r"a position bias is a function, not a tensor of"),
    ({"position_bias": lambda *at: 3.5}, TypeError, r"a position bias must .* not 3\.5 \(float\)"),
    ({"rotary": NO_FUNCTION}, TypeError, "a rotary is a function, not a tensor of"),
    ({"rotary": lambda heads, at: None}, TypeError, "a rotary must return a tensor, not None"),
    (
        {"rotary": lambda heads, at: heads.double()},
        TypeError,
        "a rotary: all .* turned heads torch.float64, heads torch.float32",
    ),
    (
        {"rotary": lambda heads, at: heads[..., :2]},
        ValueError,
        r"\(2, 2, 3, 4\), the rotary made a tensor of shape \(2, 2, 3, 2\)",
    ),
    ({"rule": NO_FUNCTION}, TypeError, r"a rule is a function .* shape \(3, 3\); is it a mask"),
    ({"rule": lambda *at: None}, TypeError, "a rule must return torch.bool, but .* NoneType"),
    (
        {"rule": lambda *at: NO_FUNCTION[:2]},
        ValueError,
        r"for 3 queries and 3 keys, the rule returned a tensor of shape \(2, 3\)",
    ),
]


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("call", ["forward", "weights", "with_weights"])
@pytest.mark.parametrize(("options", "error", "message"), MISFITS)
def test_function_that_is_none_or_does_not_fit_is_refused_in_words(
    options: dict[str, Any], error: type[Exception], message: str, call: str, is_causal: bool
) -> None:
    layer = MultiHeadAttention(8, 2, **options)
    with pytest.raises(error, match=message):
        getattr(layer, call)(torch.randn(2, 3, 8), is_causal=is_causal)


def test_frozen_weights_stay_frozen_on_the_way_to_pytorchs_layer_and_back() -> None:
    for learns in (True, False):
        theirs = torch.nn.MultiheadAttention(8, 2).requires_grad_(learns)
        ours = MultiHeadAttention(8, 2).requires_grad_(learns)
        for layer in (MultiHeadAttention.from_torch(theirs), ours.to_torch()):
            assert {each.requires_grad for each in layer.parameters()} == {learns}
    ours.project_value.requires_grad_(True)
    names = {name for name, each in ours.to_torch().named_parameters() if each.requires_grad}
    assert names == {"in_proj_weight", "in_proj_bias"}  # which hold the value's as well


def test_rules_can_be_pickled() -> None:
    for rule in (causal, window(3), window(1, 4)):
        again = pickle.loads(pickle.dumps(rule))
        assert torch.equal(mask_of(again, 7, 11), mask_of(rule, 7, 11))
