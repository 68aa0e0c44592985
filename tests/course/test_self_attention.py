"""A sentence that looks at itself, and where its tokens stand: by hand, by law, and written out.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import copy
import io
import itertools
import math
import pickle
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.overrides import TorchFunctionMode
from torch.testing import assert_close

from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import attention, causal_mask, padding_mask
from attn_course.self_attention import (
    LearnedPositions,
    SelfAttention,
    basic_self_attention,
    sinusoidal_positions,
)
from tests.tensors import DEVICES, EXACTLY, TIGHTLY, draw, some_mask

BATCH, LENGTH, D_MODEL, D_KEY, D_VALUE = 2, 5, 7, 3, 11
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
some_law = settings(max_examples=40, deadline=None, derandomize=True)


def sentence(*batch: int) -> Tensor:
    """Draw tokens."""
    return draw(*(batch or (BATCH,)), LENGTH, D_MODEL)


def layer(**options: object) -> SelfAttention:
    """Make a layer in float64, the same each time."""
    torch.manual_seed(0)
    return SelfAttention(D_MODEL, D_KEY, D_VALUE, **options).double()


CALLS: dict[str, Callable[..., Tensor]] = {
    "basic": basic_self_attention,
    "projected": layer(),
    "projected, bias": layer(bias=True),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


# --- without parameters -------------------------------------------------------------------------


def test_basic_self_attention_by_hand() -> None:
    # scores of the first token: ln 3 with itself, 0 with the other
    length = math.log(3) ** 0.5
    tokens = torch.tensor([[length, 0.0], [0.0, length]], dtype=torch.float64)
    expected = torch.tensor([[3.0, 1.0], [1.0, 3.0]]).double() / 4 * length
    assert_close(basic_self_attention(tokens), expected, **TIGHTLY)


@pytest.mark.parametrize("masked", [False, True])
def test_basic_self_attention_agrees_with_loops(masked: bool) -> None:
    tokens = sentence()
    mask = some_mask(BATCH, LENGTH, LENGTH) if masked else None
    output = basic_self_attention(tokens, mask)
    for b, i in itertools.product(range(BATCH), range(LENGTH)):
        row = tokens[b].tolist()
        weights = [
            math.exp(math.fsum(x * y for x, y in zip(row[i], row[j], strict=True)))
            * (1.0 if mask is None else float(mask[b, i, j]))
            for j in range(LENGTH)
        ]
        mean = [
            math.fsum(w * v for w, v in zip(weights, c, strict=True)) / math.fsum(weights)
            for c in zip(*row, strict=True)
        ]
        assert output[b, i].tolist() == pytest.approx(mean, rel=1e-11, abs=1e-12)


def test_scores_are_symmetric_but_weights_are_not() -> None:
    tokens = sentence()
    scores = tokens @ tokens.mT
    assert_close(scores, scores.mT, **TIGHTLY)
    weights = masked_softmax(scores)
    assert_close(basic_self_attention(tokens), weights @ tokens, **TIGHTLY)
    assert (weights - weights.mT).abs().max() > 0.1


def test_own_length_dominates_and_projections_are_free_of_that() -> None:
    tokens = draw(31, 64)
    weights = masked_softmax(tokens @ tokens.mT)
    assert (weights.diagonal() > 0.99).all()
    assert_close(basic_self_attention(tokens), tokens, rtol=0, atol=0.05)
    torch.manual_seed(0)
    free = SelfAttention(64).double().weights(tokens)
    assert (free.diagonal() < 0.5).all()
    assert (free - free.mT).abs().max() > 0.01


def test_rotating_the_tokens_rotates_what_they_become() -> None:
    tokens, rotation = sentence(), torch.linalg.qr(draw(D_MODEL, D_MODEL, seed=1))[0]
    expected = basic_self_attention(tokens) @ rotation
    assert_close(basic_self_attention(tokens @ rotation), expected, **TIGHTLY)


# --- with projections ---------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [False, True])
def test_layer_is_attention_of_three_products(bias: bool) -> None:
    model, tokens = layer(bias=bias), sentence()
    mask = some_mask(BATCH, LENGTH, LENGTH)
    query, key, value = (
        tokens @ part.weight.mT + (part.bias if bias else 0)
        for part in (model.project_query, model.project_key, model.project_value)
    )
    assert query.shape[-1] == key.shape[-1] == D_KEY
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(model(tokens, mask), expected, **TIGHTLY)
    assert_close(model.weights(tokens, mask) @ value, expected, **TIGHTLY)
    assert torch.equal(model.weights(tokens, mask) > 0, mask)


def test_layer_agrees_with_pytorchs_of_one_head_before_its_output_projection() -> None:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, 1, batch_first=True).double()
    ours = SelfAttention(D_MODEL, bias=True).double()
    parts = ours.project_query, ours.project_key, ours.project_value
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        for part, weight, bias in zip(
            parts, theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
        ):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        theirs.out_proj.weight.copy_(torch.eye(D_MODEL))
    tokens = sentence()
    expected, weights = theirs(tokens, tokens, tokens)
    assert_close(ours(tokens), expected, **TIGHTLY)
    assert_close(ours.weights(tokens), weights, **TIGHTLY)


@pytest.mark.parametrize(
    ("widths", "shapes"),
    [
        ((), [(7, 7), (7, 7), (7, 7)]),
        ((3,), [(3, 7), (3, 7), (7, 7)]),
        ((3, 11), [(3, 7), (3, 7), (11, 7)]),
        ((None, 11), [(7, 7), (7, 7), (11, 7)]),
    ],
)
def test_widths_that_are_not_given_are_those_of_the_tokens(
    widths: tuple, shapes: list[tuple[int, int]]
) -> None:
    model = SelfAttention(D_MODEL, *widths)
    assert [tuple(weight.shape) for weight in model.parameters()] == shapes
    assert model(sentence().float()).shape == (BATCH, LENGTH, shapes[2][0])


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_width_of_zero_is_not_taken_for_no_width() -> None:
    model = SelfAttention(D_MODEL, 0, 0)
    assert model.project_key.out_features == model.project_value.out_features == 0


def test_bias_of_the_key_has_no_effect_and_that_of_the_query_has() -> None:
    model, tokens = layer(bias=True), sentence()
    before = model(tokens), model.weights(tokens)
    with torch.no_grad():
        model.project_key.bias.add_(draw(D_KEY, seed=4))
    assert_close((model(tokens), model.weights(tokens)), before, rtol=1e-11, atol=1e-12)
    model(tokens).square().sum().backward()
    assert model.project_key.bias.grad.abs().max() < 1e-13
    assert model.project_query.bias.grad.abs().max() > 1e-3
    with torch.no_grad():
        model.project_query.bias.add_(draw(D_KEY, seed=4))
    assert (model(tokens) - before[0]).abs().max() > 1e-2


def test_bias_of_the_value_is_added_to_the_output() -> None:
    model, tokens = layer(bias=True), sentence()
    before, more = model(tokens), draw(D_VALUE, seed=4)
    with torch.no_grad():
        model.project_value.bias.add_(more)
    assert_close(model(tokens), before + more, **TIGHTLY)


def test_only_the_product_of_the_two_projections_counts() -> None:
    model, tokens = layer(), sentence()
    before, change = model(tokens), draw(D_KEY, D_KEY, seed=4)
    with torch.no_grad():
        model.project_query.weight.copy_(change.mT @ model.project_query.weight)
        model.project_key.weight.copy_(torch.linalg.inv(change) @ model.project_key.weight)
    assert_close(model(tokens), before, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("bias", [False, True])
def test_gradient_reaches_every_weight_but_the_bias_of_the_key(bias: bool) -> None:
    model = layer(bias=bias)
    model(sentence()).square().sum().backward()
    still = [n for n, weight in model.named_parameters() if weight.grad.abs().max() < 1e-12]
    assert still == (["project_key.bias"] if bias else [])


# --- laws of both -------------------------------------------------------------------------------


@some_law
@given(st.permutations(range(LENGTH)))
def test_order_of_the_tokens_only_orders_the_outputs(order: list[int]) -> None:
    tokens = sentence()
    mask = some_mask(BATCH, LENGTH, LENGTH)
    for call in CALLS.values():
        assert_close(call(tokens[:, order]), call(tokens)[:, order], **TIGHTLY)
        moved = call(tokens[:, order], mask[:, order][..., order])
        assert_close(moved, call(tokens, mask)[:, order], **TIGHTLY)


@every_call
def test_positions_or_a_causal_mask_break_that_law(call: Callable) -> None:
    tokens, order = sentence(), [3, 0, 4, 1, 2]
    torch.manual_seed(0)
    learned = LearnedPositions(LENGTH, D_MODEL).double()(LENGTH).detach()
    for places in (sinusoidal_positions(LENGTH, D_MODEL + 1).double()[:, :-1], learned):
        moved = call(tokens[:, order] + places)
        assert (moved - call(tokens + places)[:, order]).abs().max() > 0.01
    moved = call(tokens[:, order], causal_mask(LENGTH))
    assert (moved - call(tokens, causal_mask(LENGTH))[:, order]).abs().max() > 0.01


@every_call
def test_causal_outputs_do_not_change_when_words_follow(call: Callable) -> None:
    tokens = sentence()
    whole = call(tokens, causal_mask(LENGTH))
    for length in range(1, LENGTH + 1):
        found = call(tokens[:, :length], causal_mask(length)[None])
        assert_close(found, whole[:, :length], **TIGHTLY)
    assert_close(whole[:, 0], call(tokens[:, :1])[:, 0], **TIGHTLY)


@every_call
def test_padding_changes_nothing(call: Callable) -> None:
    tokens = sentence()
    output = call(tokens, padding_mask(torch.tensor([3, 5]), LENGTH))
    assert_close(output[0, :3], call(tokens[0, :3]), **TIGHTLY)
    assert_close(output[1], call(tokens[1]), **TIGHTLY)


@every_call
def test_repeating_the_sentence_changes_nothing(call: Callable) -> None:
    # a mean does not depend on how long the sentence is
    tokens = sentence()
    twice = call(torch.cat([tokens, tokens], 1))
    assert_close(twice[:, :LENGTH], call(tokens), **TIGHTLY)
    assert_close(twice[:, LENGTH:], call(tokens), **TIGHTLY)


@every_call
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 3), (2, 1, 3, 2), (0,)])
def test_any_number_of_batch_axes(call: Callable, batch: tuple[int, ...]) -> None:
    tokens = draw(*batch, LENGTH, D_MODEL)
    output = call(tokens, causal_mask(LENGTH))
    assert output.shape[:-1] == (*batch, LENGTH)
    flat = tokens.reshape(-1, LENGTH, D_MODEL)
    for one, other in zip(flat, output.reshape(-1, *output.shape[-2:]), strict=True):
        assert_close(call(one, causal_mask(LENGTH)), other, **TIGHTLY)


@every_call
def test_one_token_has_only_itself(call: Callable) -> None:
    token = sentence()[:, :1]
    value = token if call is basic_self_attention else call.project_value(token)
    assert_close(call(token), value, **TIGHTLY)


@every_call
def test_token_without_a_key_becomes_zero_with_a_finite_gradient(call: Callable) -> None:
    tokens, mask = sentence().requires_grad_(), some_mask(LENGTH, LENGTH)
    mask[1] = False
    output = call(tokens, mask)
    assert output[:, 1].count_nonzero() == 0
    (gradient,) = torch.autograd.grad(output.square().sum(), tokens)
    assert gradient.isfinite().all()


@every_call
def test_gradients_agree_with_finite_differences(call: Callable) -> None:
    tokens, mask = sentence().requires_grad_(), some_mask(BATCH, LENGTH, LENGTH)
    mask[1, 1] = False
    assert torch.autograd.gradcheck(lambda given: call(given, mask), tokens)


def test_gradients_of_the_weights_agree_with_finite_differences() -> None:
    model, tokens = layer(), sentence(1)
    names, weights = zip(*model.named_parameters(), strict=True)

    def output(*values: Tensor) -> Tensor:
        return functional_call(model, dict(zip(names, values, strict=True)), tokens)

    assert torch.autograd.gradcheck(output, weights)


@every_call
def test_vmap_and_compilation_give_the_same(call: Callable) -> None:
    tokens, mask = sentence(), some_mask(BATCH, LENGTH, LENGTH)
    assert_close(vmap(call)(tokens, mask), call(tokens, mask), **TIGHTLY)
    torch.compiler.reset()
    compiled = torch.compile(call, backend="eager", fullgraph=True)
    assert_close(compiled(tokens, mask), call(tokens, mask), **TIGHTLY)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("projected", [False, True])
def test_dtype_and_device_are_kept_and_rounding_stays_small(
    projected: bool, dtype: torch.dtype, device: str
) -> None:
    model = layer(bias=True).to(device, dtype) if projected else basic_self_attention
    tokens = sentence().to(device, dtype)
    output = model(tokens)
    assert (output.dtype, output.device.type) == (dtype, device)
    exact = model.double().cpu() if projected else model
    expected = exact(tokens.cpu().double())
    assert_close(output.cpu().double(), expected, rtol=0, atol=60 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("device", DEVICES)
def test_autocast_stays_close_and_trains(device: str) -> None:
    model, tokens = layer(bias=True).float().to(device), sentence().float().to(device)
    expected = model(tokens), model.weights(tokens)
    with torch.autocast(device, torch.bfloat16):
        output, weights = model(tokens), model.weights(tokens)
    assert_close((output.float(), weights.float()), expected, rtol=0, atol=0.03)
    output.sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


def test_layer_comes_back_from_disk_and_copies_live_their_own_lives() -> None:
    model, tokens = layer(bias=True), sentence()
    expected = model(tokens).detach()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = SelfAttention(D_MODEL, D_KEY, D_VALUE, bias=True).double()
    other.load_state_dict(torch.load(file, weights_only=True))
    copies = [other, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    with torch.no_grad():
        model.project_query.weight.add_(1)
    assert all(torch.equal(twin(tokens), expected) for twin in copies)
    assert not torch.equal(model(tokens), expected)


@every_call
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((draw(LENGTH),), ValueError, r"tokens has shape \(5,\).*at least 2 axes, but it has 1"),
        ((draw(2, 5, 7).long(),), TypeError, r"tokens has dtype torch\.int64"),
        ((draw(2, 5, 7) * math.nan,), ValueError, "tokens holds 70 NaN among 70"),
        ((draw(2, 5, 7).tolist(),), TypeError, "tokens is .*list"),
        ((draw(2, 5, 7), torch.ones(3, 5).bool()), ValueError, r"length=5 in tokens but 3 here"),
        ((draw(2, 5, 7), torch.ones(3, 5, 5).bool()), ValueError, r"batch=\(2,\) .* \(3,\) here"),
        ((draw(2, 5, 7), torch.ones(5, 5)), TypeError, r"mask has dtype torch\.float32"),
        ((draw(2, 0, 7),), ValueError, "key_len=0: there is no key"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(
    call: Callable, arguments: tuple, error: type[Exception], message: str
) -> None:
    calls = [call] if call is basic_self_attention else [call, call.weights]
    for one in calls:
        with pytest.raises(error, match=message):
            one(*arguments)


def test_infinite_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN or plus infinity"):
        basic_self_attention(sentence() * 1e200)


# --- sinusoids ----------------------------------------------------------------------------------


def test_sinusoids_by_hand() -> None:
    vectors = sinusoidal_positions(3, 4)
    expected = [
        [math.sin(0), math.cos(0), math.sin(0), math.cos(0)],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    assert_close(vectors, torch.tensor(expected))


@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (13, 2), (101, 64), (100_001, 6)])
def test_sinusoids_agree_with_pythons_own_to_the_last_digit(length: int, d_model: int) -> None:
    vectors = sinusoidal_positions(length, d_model)
    assert vectors.shape == (length, d_model)
    for position in {0, length // 2, length - 1}:
        for i in range(d_model // 2):
            angle = position / math.pow(10_000, 2 * i / d_model)
            found = vectors[position, 2 * i : 2 * i + 2].tolist()
            assert found == pytest.approx([math.sin(angle), math.cos(angle)], rel=0, abs=6e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sinusoids_have_the_default_dtype_and_its_precision(dtype: torch.dtype) -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        vectors = sinusoidal_positions(1009, 8)
    finally:
        torch.set_default_dtype(before)
    assert vectors.dtype == dtype
    angle = 1008 / 10_000 ** (torch.arange(4).double() / 4)
    bound = max(torch.finfo(dtype).eps, 1e-13)  # an angle of 1008 has three digits before the point
    assert_close(vectors[-1, ::2].double(), angle.sin(), rtol=0, atol=bound)


@pytest.mark.parametrize("step", [1, 3, 50])
def test_walking_on_turns_every_pair_by_the_same_angle_wherever_one_starts(step: int) -> None:
    vectors = sinusoidal_positions(101, 8).double().unflatten(-1, (4, 2))
    angle = step / 10_000 ** (torch.arange(4).double() / 4)
    sine, cosine = vectors[:-step].unbind(-1)
    turned = torch.stack(
        [
            sine * angle.cos() + cosine * angle.sin(),
            cosine * angle.cos() - sine * angle.sin(),
        ],
        -1,
    )
    assert_close(vectors[step:], turned, rtol=0, atol=5e-7)


def test_products_of_sinusoids_depend_on_the_distance_alone_and_are_largest_at_none() -> None:
    vectors = sinusoidal_positions(64, 32).double()
    products = vectors @ vectors.mT
    for distance in range(64):
        along = products.diagonal(distance)
        assert_close(along, along[:1].expand_as(along), rtol=0, atol=2e-5)
    assert_close(products.diagonal(), torch.full((64,), 16.0).double(), rtol=0, atol=1e-5)
    assert (products.fill_diagonal_(0) < 16).all()


def test_no_two_of_many_positions_have_the_same_vector() -> None:
    vectors = sinusoidal_positions(2003, 16)
    assert len(vectors.unique(dim=0)) == 2003


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
def test_sinusoids_are_made_in_double_precision_where_every_machine_has_it(device: str) -> None:
    class Watch(TorchFunctionMode):
        """Notes double precision on a device that may not have it."""

        elsewhere = False

        def __torch_function__(
            self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
        ) -> object:
            result = function(*args, **(kwargs or {}))
            if isinstance(result, Tensor) and result.dtype == torch.float64:
                self.elsewhere |= result.device.type not in ("cpu", "cuda")
            return result

    with Watch() as watch:
        vectors = sinusoidal_positions(5, 4, device)
    assert vectors.device.type == device
    assert not watch.elsewhere


@pytest.mark.parametrize(
    ("length", "d_model"), [(0, 4), (-1, 4), (3, 0), (3, -2), (3, 1), (3, 7), (5, 101)]
)
def test_sinusoids_need_positions_and_an_even_width(length: int, d_model: int) -> None:
    with pytest.raises(ValueError, match=f"length={length} .* d_model={d_model} "):
        sinusoidal_positions(length, d_model)


# --- learned positions --------------------------------------------------------------------------


def test_learned_positions_are_the_first_rows_of_a_table() -> None:
    positions = LearnedPositions(13, D_MODEL)
    for length in (0, 1, 5, 13):
        assert_close(positions(length), positions.vectors[:length], **EXACTLY)


def test_learned_positions_start_as_long_as_one_whatever_the_width() -> None:
    torch.manual_seed(0)
    for d_model in (2, 64, 512):
        lengths = LearnedPositions(1009, d_model).vectors.square().sum(-1)
        assert lengths.mean().item() == pytest.approx(1, rel=0.1)


def test_only_positions_that_were_used_learn() -> None:
    positions = LearnedPositions(13, D_MODEL)
    positions(5).square().sum().backward()
    assert positions.vectors.grad[:5].count_nonzero() == 5 * D_MODEL
    assert positions.vectors.grad[5:].count_nonzero() == 0


def test_learned_positions_move_and_come_back_from_disk() -> None:
    positions = LearnedPositions(13, D_MODEL)
    other = LearnedPositions(13, D_MODEL)
    assert not torch.equal(other(5), positions(5))
    other.load_state_dict(positions.state_dict())
    assert_close(other(5), positions(5), **EXACTLY)
    assert positions.double()(5).dtype == torch.float64
    assert positions.to("meta")(5).is_meta


@pytest.mark.parametrize("length", [14, -1, 1000])
def test_learned_positions_refuse_a_length_they_have_no_vectors_for(length: int) -> None:
    with pytest.raises(ValueError, match=f"length={length}, but there are vectors for 13 pos"):
        LearnedPositions(13, D_MODEL)(length)


@pytest.mark.parametrize(("max_len", "d_model"), [(0, 7), (-2, 7), (13, 0), (13, -1)])
def test_learned_positions_need_positions_and_a_width(max_len: int, d_model: int) -> None:
    with pytest.raises(ValueError, match=f"max_len={max_len} and d_model={d_model} must be pos"):
        LearnedPositions(max_len, d_model)


@pytest.mark.cuda
def test_cuda_agrees_with_the_processor() -> None:
    model, tokens, mask = layer(bias=True), sentence(), causal_mask(LENGTH)
    expected, weights = model(tokens, mask), model.weights(tokens, mask)
    model.cuda()
    assert_close(model(tokens.cuda(), mask.cuda()).cpu(), expected, **TIGHTLY)
    assert_close(model.weights(tokens.cuda(), mask.cuda()).cpu(), weights, **TIGHTLY)
    assert_close(sinusoidal_positions(7, 6, "cuda").cpu(), sinusoidal_positions(7, 6), **EXACTLY)


def test_layer_is_attention_of_the_module_of_chapter_07() -> None:
    model, tokens = layer(), sentence()
    parts = model.project_query, model.project_key, model.project_value
    expected = attention(*(part(tokens) for part in parts))
    assert_close(model(tokens), expected, **EXACTLY)
