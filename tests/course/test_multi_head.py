"""Several heads: by hand, by their laws, by a loop over the heads, and beside PyTorch's layer.

Sizes are distinct primes where they can be, so that no swapped axis passes; all in float64.
"""

from __future__ import annotations

import copy
import io
import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.testing import assert_close

from attn_course.multi_head import KeyValueCache, MultiHeadAttention, merge_heads, split_heads
from attn_course.scaled_dot_product import attention, causal_mask, combine, padding_mask
from attn_course.self_attention import SelfAttention
from tests.tensors import DEVICES, EXACTLY, TIGHTLY, draw, some_mask

BATCH, QUERY_LEN, KEY_LEN, NUM_HEADS, D_HEAD, D_KEY, D_VALUE = 2, 3, 5, 6, 7, 11, 13
D_MODEL = NUM_HEADS * D_HEAD
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
some_law = settings(max_examples=30, deadline=None, derandomize=True)
every_group = pytest.mark.parametrize("num_kv_heads", [None, 1, 2, 3, 6])


def tokens_of(length: int, width: int = D_MODEL, seed: int = 0) -> Tensor:
    """Draw a batch of sentences."""
    return draw(BATCH, length, width, seed=seed)


def layer(**options: Any) -> MultiHeadAttention:
    """Make a layer in float64, the same each time, with biases that are not 0."""
    torch.manual_seed(0)
    return MultiHeadAttention(D_MODEL, NUM_HEADS, **options).double()


def by_heads(
    model: MultiHeadAttention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with one head after the other, each with its own rows of the projections.

    Return the output and the weights.
    """
    group = model.num_heads // model.num_kv_heads
    outputs, weights = [], []
    for head in range(model.num_heads):
        roles = []
        for tokens, part, number in (
            (query, model.project_query, head),
            (key, model.project_key, head // group),
            (value, model.project_value, head // group),
        ):
            own = slice(number * D_HEAD, (number + 1) * D_HEAD)
            bias = 0 if part.bias is None else part.bias[own]
            roles.append(tokens @ part.weight[own].mT + bias)
        scores = roles[0] @ roles[1].mT / math.sqrt(D_HEAD)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights.append(torch.softmax(scores, -1))
        outputs.append(weights[-1] @ roles[2])
    joined = torch.cat(outputs, -1) @ model.project_output.weight.mT
    bias = model.project_output.bias
    return joined if bias is None else joined + bias, torch.stack(weights, -3)


# --- split and merge ----------------------------------------------------------------------------


def test_split_by_hand() -> None:
    tokens = torch.arange(12.0).view(2, 6)
    expected = [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    assert split_heads(tokens, 3).tolist() == expected
    assert merge_heads(torch.tensor(expected).float()).tolist() == tokens.tolist()


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,), (2, 1, 3, 2)])
@pytest.mark.parametrize("num_heads", [1, 2, 6, 42])
def test_merge_undoes_split_for_any_number_of_batch_axes(
    batch: tuple[int, ...], num_heads: int
) -> None:
    tokens = draw(*batch, KEY_LEN, D_MODEL)
    heads = split_heads(tokens, num_heads)
    assert heads.shape == (*batch, num_heads, KEY_LEN, D_MODEL // num_heads)
    assert_close(merge_heads(heads), tokens, **EXACTLY)
    for head, part in enumerate(tokens.chunk(num_heads, -1)):
        assert_close(heads[..., head, :, :], part, **EXACTLY)


def test_split_is_no_mere_reshape() -> None:
    tokens = tokens_of(KEY_LEN)
    wrong = tokens.reshape(BATCH, NUM_HEADS, KEY_LEN, D_HEAD)
    assert not torch.equal(split_heads(tokens, NUM_HEADS), wrong)


@pytest.mark.parametrize("num_heads", [0, -1, 4, 5, 84])
def test_split_refuses_heads_that_cannot_share(num_heads: int) -> None:
    with pytest.raises(ValueError, match=f"d_model=42 is not divisible by num_heads={num_heads}"):
        split_heads(tokens_of(KEY_LEN), num_heads)
    with pytest.raises(ValueError, match=f"d_model=42 is not divisible by num_heads={num_heads}"):
        MultiHeadAttention(D_MODEL, num_heads)


def test_merge_wants_an_axis_of_heads() -> None:
    with pytest.raises(ValueError, match=r"heads has shape \(5, 7\).*at least 3 axes.* has 2"):
        merge_heads(draw(KEY_LEN, D_HEAD))


# --- the layer beside loops and PyTorch ---------------------------------------------------------


@every_group
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_layer_is_a_loop_over_its_heads(
    num_kv_heads: int | None, bias: bool, masked: bool, is_causal: bool
) -> None:
    model = layer(num_kv_heads=num_kv_heads, d_key=D_KEY, d_value=D_VALUE, bias=bias)
    query, key = tokens_of(QUERY_LEN), tokens_of(KEY_LEN, D_KEY, seed=1)
    value = tokens_of(KEY_LEN, D_VALUE, seed=2)
    mask = some_mask(BATCH, QUERY_LEN, KEY_LEN) if masked else None
    whole = combine(mask, causal_mask(QUERY_LEN, KEY_LEN) if is_causal else None)
    expected, weights = by_heads(model, query, key, value, whole)
    assert_close(model(query, key, value, mask, is_causal=is_causal), expected, **TIGHTLY)
    assert_close(model.weights(query, key, mask, is_causal=is_causal), weights, **TIGHTLY)


def make_theirs(**options: Any) -> nn.MultiheadAttention:
    """Make PyTorch's layer in float64 with biases that are not 0."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(D_MODEL, NUM_HEADS, **options).double()
    for name, weight in theirs.named_parameters():
        if "bias" in name:
            nn.init.normal_(weight)
    return theirs.eval()


WIDTHS = [{}, {"kdim": D_KEY}, {"vdim": D_VALUE}, {"kdim": D_KEY, "vdim": D_VALUE}]


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("masks", ["none", "padding", "causal", "both"])
def test_pytorchs_layer_carried_over_gives_the_same_output_and_weights(
    widths: dict, bias: bool, batch_first: bool, masks: str
) -> None:
    theirs = make_theirs(**widths, bias=bias, batch_first=batch_first)
    ours = MultiHeadAttention.from_torch(theirs)
    query = tokens_of(KEY_LEN)
    key = tokens_of(KEY_LEN, widths.get("kdim", D_MODEL), seed=1)
    value = tokens_of(KEY_LEN, widths.get("vdim", D_MODEL), seed=2)
    padding = padding_mask(torch.tensor([3, 5]), KEY_LEN) if masks in ("padding", "both") else None
    is_causal = masks in ("causal", "both")
    turned = [part if batch_first else part.transpose(0, 1) for part in (query, key, value)]
    expected, weights = theirs(  # whose masks say what is forbidden
        *turned,
        key_padding_mask=None if padding is None else ~padding.squeeze(1),
        attn_mask=~causal_mask(KEY_LEN) if is_causal else None,
        average_attn_weights=False,
    )
    expected = expected if batch_first else expected.transpose(0, 1)
    assert_close(ours(query, key, value, padding, is_causal=is_causal), expected, **TIGHTLY)
    assert_close(ours.weights(query, key, padding, is_causal=is_causal), weights, **TIGHTLY)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_to_pytorch_and_back_is_the_same_layer(widths: dict, bias: bool) -> None:
    names = {"kdim": "d_key", "vdim": "d_value"}
    ours = layer(**{names[name]: width for name, width in widths.items()}, bias=bias)
    theirs = ours.to_torch()
    assert theirs.batch_first
    again = MultiHeadAttention.from_torch(theirs)
    for (name, one), (other_name, other) in zip(
        ours.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert name == other_name
        assert_close(one, other, **EXACTLY)
    d_key = widths.get("kdim", D_MODEL)
    # where only d_key is given, values are as wide as keys
    d_value = widths.get("vdim", d_key)
    roles = tokens_of(QUERY_LEN), tokens_of(KEY_LEN, d_key), tokens_of(KEY_LEN, d_value)
    assert_close(theirs(*roles)[0], ours(*roles), **TIGHTLY)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_dropout_and_mode_are_carried_over_and_weights_are_copies(
    training: bool, dtype: torch.dtype
) -> None:
    ours = layer(dropout=0.3).to(dtype).train(training)
    theirs = ours.to_torch()
    again = MultiHeadAttention.from_torch(theirs)
    for other in (theirs, again):
        assert (other.dropout, other.training) == (0.3, training)
        assert all(weight.dtype == dtype for weight in other.parameters())
    before = [weight.detach().clone() for weight in theirs.parameters()]
    with torch.no_grad():
        for weight in (*ours.parameters(), *again.parameters()):
            weight.zero_()
    assert_close([weight.detach() for weight in theirs.parameters()], before, **EXACTLY)
    assert all(weight.requires_grad for weight in (*theirs.parameters(), *again.parameters()))


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
def test_layer_that_appends_a_key_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="add_bias_kv and add_zero_attn append a key"):
        MultiHeadAttention.from_torch(make_theirs(**{option: True}))


def test_shared_heads_are_refused_by_pytorchs_layer() -> None:
    with pytest.raises(ValueError, match=r"num_kv_heads=2 and self\.num_heads=6"):
        layer(num_kv_heads=2).to_torch()


def test_grouped_heads_agree_with_pytorchs_grouped_attention() -> None:
    model, tokens = layer(num_kv_heads=2), tokens_of(KEY_LEN)
    query = split_heads(model.project_query(tokens), 6)
    key, value = (split_heads(p(tokens), 2) for p in (model.project_key, model.project_value))
    expected = F.scaled_dot_product_attention(query, key, value, enable_gqa=True)
    assert_close(model(tokens), model.project_output(merge_heads(expected)), **TIGHTLY)


# --- laws ---------------------------------------------------------------------------------------


def test_one_head_is_self_attention_and_an_output_projection() -> None:
    torch.manual_seed(0)
    model = MultiHeadAttention(D_HEAD, 1).double()
    single = SelfAttention(D_HEAD, bias=True).double()
    names = "project_query", "project_key", "project_value"
    for name in names:
        getattr(single, name).load_state_dict(getattr(model, name).state_dict())
    tokens, mask = tokens_of(KEY_LEN, D_HEAD), causal_mask(KEY_LEN)
    assert_close(model(tokens, mask=mask), model.project_output(single(tokens, mask)), **TIGHTLY)
    weights = model.weights(tokens, mask=mask)
    assert weights.shape == (BATCH, 1, KEY_LEN, KEY_LEN)
    assert_close(weights[:, 0], single.weights(tokens, mask), **TIGHTLY)


def test_heads_are_one_attention_with_block_diagonal_scores() -> None:
    # every head is attention of the whole width whose other features are struck out
    model, tokens = layer(), tokens_of(KEY_LEN)
    parts = [p(tokens) for p in (model.project_query, model.project_key, model.project_value)]
    total = torch.zeros(BATCH, KEY_LEN, D_MODEL).double()
    for head in range(NUM_HEADS):
        struck = torch.zeros(D_MODEL).double()
        struck[head * D_HEAD : (head + 1) * D_HEAD] = 1
        query, key, value = parts
        scale = (D_MODEL / D_HEAD) ** 0.5  # of the wider root
        total += attention(query * struck * scale, key, value * struck)
    assert_close(model(tokens), model.project_output(total), **TIGHTLY)


@some_law
@given(st.permutations(range(NUM_HEADS)))
def test_order_of_the_heads_does_not_matter_if_the_output_projection_follows(order: list) -> None:
    model, tokens = layer(), tokens_of(KEY_LEN)
    expected, weights = model(tokens), model.weights(tokens)
    rows = torch.arange(D_MODEL).view(NUM_HEADS, D_HEAD)[order].flatten()
    moved = copy.deepcopy(model)
    with torch.no_grad():
        for part in (moved.project_query, moved.project_key, moved.project_value):
            part.weight.copy_(part.weight[rows])
            part.bias.copy_(part.bias[rows])
        moved.project_output.weight.copy_(moved.project_output.weight[:, rows])
    assert_close(moved(tokens), expected, **TIGHTLY)
    assert_close(moved.weights(tokens), weights[:, order], **TIGHTLY)


@some_law
@given(st.permutations(range(KEY_LEN)))
def test_order_of_the_tokens_only_orders_the_outputs_unless_causal(order: list[int]) -> None:
    model, tokens = layer(num_kv_heads=2), tokens_of(KEY_LEN)
    assert_close(model(tokens[:, order]), model(tokens)[:, order], **TIGHTLY)
    if order != sorted(order):
        moved = model(tokens[:, order], is_causal=True)
        assert (moved - model(tokens, is_causal=True)[:, order]).abs().max() > 1e-4


def test_bias_of_the_key_cancels() -> None:
    model, tokens = layer(), tokens_of(KEY_LEN)
    expected = model(tokens)
    with torch.no_grad():
        model.project_key.bias.add_(draw(D_MODEL, seed=4))
    assert_close(model(tokens), expected, rtol=1e-10, atol=1e-11)


def test_fewer_key_heads_are_equal_heads_of_a_wide_layer() -> None:
    narrow, wide = layer(num_kv_heads=2), layer()
    with torch.no_grad():
        for name in ("project_query", "project_output"):
            getattr(wide, name).load_state_dict(getattr(narrow, name).state_dict())
        for name in ("project_key", "project_value"):
            for kind in ("weight", "bias"):
                few = getattr(getattr(narrow, name), kind)
                copied = few.unflatten(0, (2, D_HEAD)).repeat_interleave(3, 0).flatten(0, 1)
                getattr(getattr(wide, name), kind).copy_(copied)
    tokens = tokens_of(KEY_LEN)
    assert_close(narrow(tokens), wide(tokens), **TIGHTLY)
    assert_close(narrow.weights(tokens), wide.weights(tokens), **TIGHTLY)


def test_number_of_weights_does_not_depend_on_the_number_of_heads() -> None:
    sizes = {
        heads: sum(weight.numel() for weight in MultiHeadAttention(12, heads).parameters())
        for heads in (1, 2, 3, 4, 6, 12)
    }
    assert set(sizes.values()) == {4 * (12 * 12 + 12)}
    shared = MultiHeadAttention(12, 6, num_kv_heads=2, bias=False)
    assert sum(weight.numel() for weight in shared.parameters()) == 2 * 12 * 12 + 2 * 12 * 4


def test_masking_keys_is_deleting_them_and_padding_is_not_seen() -> None:
    model = layer(d_key=D_KEY)
    query, key = tokens_of(QUERY_LEN), tokens_of(KEY_LEN, D_KEY, seed=1)
    output = model(query, key, mask=padding_mask(torch.tensor([2, 5]), KEY_LEN))
    assert_close(output[0], model(query[0], key[0, :2]), **TIGHTLY)
    assert_close(output[1], model(query[1], key[1]), **TIGHTLY)


def test_defaults_are_self_attention_and_values_made_of_the_keys() -> None:
    model, tokens, memory = layer(), tokens_of(KEY_LEN), tokens_of(QUERY_LEN, seed=1)
    assert_close(model(tokens), model(tokens, tokens, tokens), **EXACTLY)
    assert_close(model(tokens, memory), model(tokens, memory, memory), **EXACTLY)
    assert_close(model.weights(tokens), model.weights(tokens, tokens), **EXACTLY)
    assert (model(tokens, memory) - model(tokens)).abs().max() > 0.01


@pytest.mark.parametrize("query_len", [1, 3, 5, 7])
def test_causal_queries_are_the_last_ones(query_len: int) -> None:
    model, key = layer(), tokens_of(KEY_LEN, seed=1)
    query = tokens_of(query_len)
    mask = causal_mask(query_len, KEY_LEN)
    weights = model.weights(query, key, is_causal=True)
    assert torch.equal(weights > 0, mask.expand_as(weights))
    assert_close(model(query, key, is_causal=True), model(query, key, mask=mask), **TIGHTLY)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 3), (0,)])
def test_any_number_of_batch_axes_with_a_mask_of_their_own(batch: tuple[int, ...]) -> None:
    model = layer(num_kv_heads=2)
    tokens = draw(*batch, KEY_LEN, D_MODEL)
    for mask in (some_mask(*batch, KEY_LEN, KEY_LEN), some_mask(*batch, 1, KEY_LEN)):
        output, weights = model(tokens, mask=mask), model.weights(tokens, mask=mask)
        assert output.shape == tokens.shape
        assert weights.shape == (*batch, NUM_HEADS, KEY_LEN, KEY_LEN)
        for place in itertools.product(*map(range, batch)):
            assert_close(output[place], model(tokens[place], mask=mask[place]), **TIGHTLY)
            alone = model.weights(tokens[place], mask=mask[place])
            assert_close(weights[place], alone, **TIGHTLY)


def test_mask_of_fewer_axes_is_for_the_whole_batch() -> None:
    model, tokens = layer(), draw(2, 3, KEY_LEN, D_MODEL)
    for shape in [(KEY_LEN, KEY_LEN), (1, KEY_LEN), (3, KEY_LEN, KEY_LEN), (2, 1, 1, KEY_LEN)]:
        mask = some_mask(*shape)
        whole = mask.expand(2, 3, KEY_LEN, KEY_LEN)
        assert_close(model(tokens, mask=mask), model(tokens, mask=whole), **TIGHTLY)
        one, other = model.weights(tokens, mask=mask), model.weights(tokens, mask=whole)
        assert_close(one, other, **TIGHTLY)


@pytest.mark.parametrize("dtype", DTYPES)
def test_token_without_a_key_becomes_the_bias_with_finite_gradients(dtype: torch.dtype) -> None:
    model, tokens = layer().to(dtype), tokens_of(KEY_LEN).to(dtype).requires_grad_()
    mask = some_mask(KEY_LEN, KEY_LEN)
    mask[1] = False
    output, weights = model(tokens, mask=mask), model.weights(tokens, mask=mask)
    assert weights[:, :, 1].count_nonzero() == 0
    assert_close(output[:, 1], model.project_output.bias.expand(BATCH, -1), **EXACTLY)
    output.float().square().sum().backward()
    assert all(part.grad.isfinite().all() for part in (tokens, *model.parameters()))


# --- dropout ------------------------------------------------------------------------------------


def test_dropout_is_for_training_alone_and_on_the_weights() -> None:
    model, plain, tokens = layer(dropout=0.4), layer(), tokens_of(KEY_LEN)
    model.eval()
    assert_close(model(tokens), plain(tokens), **EXACTLY)
    model.train()
    torch.manual_seed(0)
    one, two = model(tokens), model(tokens)
    assert (one - two).abs().max() > 0.01
    torch.manual_seed(0)
    assert_close(model(tokens), one, **EXACTLY)
    assert_close(model.weights(tokens), plain.weights(tokens), **EXACTLY)
    with torch.no_grad():
        for part in (model.project_value, model.project_output):
            part.weight.zero_()
            part.bias.fill_(1)
    assert_close(model(tokens), torch.ones_like(tokens), **EXACTLY)  # after which none drops


def test_dropout_is_right_on_average() -> None:
    model, tokens = layer(dropout=0.3), tokens_of(KEY_LEN)[:1]
    torch.manual_seed(0)
    many = model(tokens.expand(2003, -1, -1))
    expected = model.eval()(tokens)
    wrong = (many.mean(0, keepdim=True) - expected).abs()
    assert (wrong < 5 * many.std(0) / 2003**0.5).all()


# --- cache --------------------------------------------------------------------------------------


@torch.no_grad()
@every_group
@pytest.mark.parametrize("cuts", [[1] * 7, [7], [3, 4], [5, 1, 1], [1, 6], [2, 1, 3, 1]], ids=str)
def test_steps_of_any_cut_equal_the_whole(num_kv_heads: int | None, cuts: list[int]) -> None:
    model, tokens, cache = layer(num_kv_heads=num_kv_heads), tokens_of(7), KeyValueCache()
    expected = model(tokens, is_causal=True)
    steps = [model.step(part, cache) for part in tokens.split(cuts, 1)]
    assert_close(torch.cat(steps, 1), expected, **TIGHTLY)
    assert cache.length == 7


@torch.no_grad()
def test_steps_need_no_batch_axis_and_take_several() -> None:
    model = layer(num_kv_heads=2)
    for batch in ((), (2, 3)):
        tokens, cache = draw(*batch, 7, D_MODEL), KeyValueCache()
        steps = [model.step(part, cache) for part in tokens.split([2, 1, 4], -2)]
        assert_close(torch.cat(steps, -2), model(tokens, is_causal=True), **TIGHTLY)


@torch.no_grad()
def test_step_of_no_token_changes_nothing() -> None:
    model, tokens, cache = layer(), tokens_of(7), KeyValueCache()
    first = model.step(tokens[:, :3], cache)
    assert model.step(tokens[:, :0], cache).shape == (BATCH, 0, D_MODEL)
    assert cache.length == 3
    both = torch.cat([first, model.step(tokens[:, 3:], cache)], 1)
    assert_close(both, model(tokens, is_causal=True), **TIGHTLY)


def test_cache_returns_what_was_put_in_and_keeps_what_it_gave() -> None:
    cache, given_ = KeyValueCache(), []
    pieces = [(draw(2, 3, n, 7, seed=n), draw(2, 3, n, 5, seed=-n)) for n in (2, 1, 4, 1, 3)]
    for i, (key, value) in enumerate(pieces):
        given_.append(cache.append(key, value))
        for place, kept in enumerate(given_[-1]):
            whole = torch.cat([piece[place] for piece in pieces[: i + 1]], -2)
            assert_close(kept, whole, **EXACTLY)
    assert cache.length == 11
    assert_close(given_[1][0], torch.cat([pieces[0][0], pieces[1][0]], -2), **EXACTLY)


def test_cache_moves_its_memory_seldom() -> None:
    cache, places = KeyValueCache(), []
    for _ in range(1000):
        places.append(cache.append(torch.zeros(1, 1, 2), torch.zeros(1, 1, 2))[0].data_ptr())
    moves = sum(one != other for one, other in itertools.pairwise(places))
    assert 1 <= moves <= 10
    assert cache._key.shape[-2] <= 2048


def test_cache_fills_its_memory_before_it_moves() -> None:
    cache, places = KeyValueCache(), []
    for length in [200, *[1] * 101, 50, 50]:  # room for 300, then for 452
        new = torch.zeros(1, length, 2)
        places.append(cache.append(new, new)[0].data_ptr())
    moves = [one != other for one, other in itertools.pairwise(places)]
    assert moves == [*[False] * 100, True, False, False]


def test_cache_keeps_its_own_copy() -> None:
    cache, key = KeyValueCache(), torch.ones(1, 2, 3)
    cache.append(key, key)
    key.zero_()
    kept, _ = cache.append(torch.ones(1, 1, 3), torch.ones(1, 1, 3))
    assert kept.count_nonzero() == 9


@torch.no_grad()
def test_copied_cache_goes_its_own_way() -> None:
    model, tokens, cache = layer(), tokens_of(7), KeyValueCache()
    model.step(tokens[:, :4], cache)
    other, tail = copy.deepcopy(cache), tokens_of(3, seed=5)
    assert_close(model.step(tokens[:, 4:], cache), model(tokens, is_causal=True)[:, 4:], **TIGHTLY)
    whole = torch.cat([tokens[:, :4], tail], 1)
    assert_close(model.step(tail, other), model(whole, is_causal=True)[:, 4:], **TIGHTLY)


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        (draw(4, 3, 1, 7), draw(4, 3, 1, 5), ValueError, r"holds \(2, 3\) sequences .* \(4, 3\)"),
        (draw(2, 2, 1, 7), draw(2, 2, 1, 5), ValueError, r"holds \(2, 3\) sequences .* \(2, 2\)"),
        (draw(3, 1, 7), draw(3, 1, 5), ValueError, r"holds \(2, 3\) sequences .* have \(3,\)"),
        (draw(2, 3, 1, 6), draw(2, 3, 1, 5), ValueError, "7 wide, but the new .* 6 wide"),
        (draw(2, 3, 1, 7), draw(2, 3, 1, 4), ValueError, "5 wide, but the new .* 4 wide"),
        (draw(2, 3, 2, 7), draw(2, 3, 1, 5), ValueError, r"\(2, 3, 2, 7\) and values of .*1, 5\)"),
        (draw(2, 3, 1, 7).float(), draw(2, 3, 1, 5), ValueError, "float64 on cpu, but .*float32"),
        (draw(2, 3, 1, 7).to("meta"), draw(2, 3, 1, 5), ValueError, "on cpu, but .* on meta"),
        (draw(2, 3, 1, 7).requires_grad_(), draw(2, 3, 1, 5), RuntimeError, "keeps no gradients"),
        (draw(2, 3, 1, 7), draw(2, 3, 1, 5).requires_grad_(), RuntimeError, "keeps no gradients"),
    ],
)
def test_tokens_that_do_not_fit_the_cache_are_refused_and_leave_it_as_it_was(
    key: Tensor, value: Tensor, error: type[Exception], message: str
) -> None:
    cache = KeyValueCache()
    first = cache.append(draw(2, 3, 3, 7), draw(2, 3, 3, 5, seed=1))
    with pytest.raises(error, match=message):
        cache.append(key, value)
    assert cache.length == 3
    one, two = draw(2, 3, 1, 7, seed=2), draw(2, 3, 1, 5, seed=3)
    after = cache.append(one, two)
    assert_close(after[0], torch.cat([first[0], one], -2), **EXACTLY)
    assert_close(after[1], torch.cat([first[1], two], -2), **EXACTLY)


def test_step_wants_no_gradient() -> None:
    with pytest.raises(RuntimeError, match=r"decode under torch\.no_grad\(\)"):
        layer().step(tokens_of(1), KeyValueCache())


# --- gradients, dtypes, transforms, copies ------------------------------------------------------


@pytest.mark.parametrize("num_kv_heads", [None, 1])
def test_gradients_agree_with_finite_differences_to_every_weight(num_kv_heads: int | None) -> None:
    torch.manual_seed(0)
    model = MultiHeadAttention(4, 2, num_kv_heads=num_kv_heads, d_key=3).double()
    names, weights = zip(*model.named_parameters(), strict=True)
    query, key = draw(2, 3, 4).requires_grad_(), draw(2, 5, 3, seed=1).requires_grad_()
    mask = some_mask(3, 5)
    mask[1] = False

    def output(query: Tensor, key: Tensor, *values: Tensor) -> Tensor:
        changed = dict(zip(names, values, strict=True))
        return functional_call(model, changed, (query, key, None, mask), {"is_causal": True})

    assert torch.autograd.gradcheck(output, (query, key, *weights))


def test_gradient_reaches_every_weight_but_the_bias_of_the_key() -> None:
    model = layer(num_kv_heads=2, d_key=D_KEY, d_value=D_VALUE)
    roles = tokens_of(QUERY_LEN), tokens_of(KEY_LEN, D_KEY), tokens_of(KEY_LEN, D_VALUE)
    model(*roles).square().sum().backward()
    still = [n for n, weight in model.named_parameters() if weight.grad.abs().max() < 1e-12]
    assert still == ["project_key.bias"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_is_at_most_twice_that_of_pytorchs_layer(device: str, dtype: torch.dtype) -> None:
    ours = layer().to(device, dtype).eval()
    theirs, tokens = ours.to_torch(), draw(7, 31, D_MODEL).to(device, dtype)
    output, other = ours(tokens), theirs(tokens, tokens, tokens)[0]
    assert (output.dtype, output.device.type) == (dtype, device)
    exact = copy.deepcopy(ours).double()(tokens.double())
    errors = [(found.double() - exact).square().mean().sqrt() for found in (output, other)]
    assert errors[0] <= 2 * errors[1] + 1e-16


@pytest.mark.parametrize("device", DEVICES)
def test_autocast_stays_close_and_trains(device: str) -> None:
    model, tokens = layer().float().to(device), tokens_of(KEY_LEN).float().to(device)
    expected = model(tokens, is_causal=True), model.weights(tokens)
    with torch.autocast(device, torch.bfloat16):
        output, weights = model(tokens, is_causal=True), model.weights(tokens)
        with torch.no_grad():
            cache = KeyValueCache()
            steps = [model.step(part, cache) for part in tokens.split(2, 1)]
    assert_close((output.float(), weights.float()), expected, rtol=0, atol=0.03)
    assert_close(torch.cat(steps, 1).float(), expected[0], rtol=0, atol=0.03)
    output.sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_over_the_batch_is_the_batch() -> None:
    model, tokens = layer(), tokens_of(KEY_LEN)
    mask = some_mask(BATCH, KEY_LEN, KEY_LEN)
    found = vmap(lambda t, m: model(t, mask=m))(tokens, mask)
    assert_close(found, model(tokens, mask=mask), **TIGHTLY)
    with torch.no_grad():  # where the softmax is taken in place
        weights = vmap(lambda t, m: model.weights(t, mask=m))(tokens, mask)
        assert_close(weights, model.weights(tokens, mask=mask), **TIGHTLY)


@pytest.mark.parametrize("is_causal", [False, True])
def test_compiled_in_one_graph_it_gives_the_same(is_causal: bool) -> None:
    torch.compiler.reset()
    model, tokens = layer(num_kv_heads=3), tokens_of(KEY_LEN)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    found, expected = (call(tokens, is_causal=is_causal) for call in (compiled, model))
    assert_close(found, expected, **TIGHTLY)


def test_on_the_meta_device_it_gives_a_shape() -> None:
    model, tokens = layer().to("meta"), tokens_of(KEY_LEN).to("meta")
    assert model(tokens, is_causal=True).shape == tokens.shape
    assert model.weights(tokens, is_causal=True).is_meta


def test_layer_comes_back_from_disk_and_copies_live_their_own_lives() -> None:
    model, tokens = layer(num_kv_heads=2, dropout=0.1).eval(), tokens_of(KEY_LEN)
    expected = model(tokens).detach()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = MultiHeadAttention(D_MODEL, NUM_HEADS, num_kv_heads=2).double()
    other.load_state_dict(torch.load(file, weights_only=True))
    copies = [other, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    with torch.no_grad():
        model.project_query.weight.add_(1)
    assert all(torch.equal(twin(tokens), expected) for twin in copies)
    assert not torch.equal(model(tokens), expected)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_kv_heads": 4}, "num_heads=6 is not divisible by num_kv_heads=4"),
        ({"num_kv_heads": 0}, "num_heads=6 is not divisible by num_kv_heads=0"),
        ({"num_kv_heads": 12}, "num_heads=6 is not divisible by num_kv_heads=12"),
        ({"num_kv_heads": -2}, "num_heads=6 is not divisible by num_kv_heads=-2"),
        ({"dropout": -0.1}, "dropout=-0.1 must be a share"),
        ({"dropout": 1.1}, "dropout=1.1 must be a share"),
        ({"dropout": math.nan}, "dropout=nan must be a share"),
    ],
)
def test_options_that_make_no_sense_are_refused_with_their_numbers(
    options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(D_MODEL, NUM_HEADS, **options)


CALLS: dict[str, Callable[..., Tensor]] = {
    "forward": layer(),
    "weights": layer().weights,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"key": draw(3, 5, 42)}, ValueError, r"batch=\(2,\) in query but \(3,\) here"),
        ({"mask": torch.ones(5, 3).bool()}, ValueError, "query_len=3 .*5 here; key_len=5 .*3"),
        ({"mask": torch.ones(3, 5)}, TypeError, r"mask has dtype torch\.float32"),
        ({"mask": torch.ones(2, 4, 3, 5).bool()}, ValueError, r"mask has shape \(2, 4, 3, 5\)"),
        ({"mask": torch.ones(3, 3, 5).bool()}, ValueError, r"mask has shape \(3, 1, 3, 5\)"),
        ({"key_mask": torch.ones(2, 4).bool()}, ValueError, "key_len=5 in key but 4 here"),
        (
            {"key_mask": torch.ones(3, 5).bool()},
            ValueError,
            r"batch=\(2,\) in query but \(3,\) here",
        ),
        ({"query": draw(42)}, ValueError, "at least 2 axes, but it has 1"),
        ({"query": draw(2, 3, 42).float()}, TypeError, "share one dtype"),
        ({"key": draw(2, 0, 42)}, ValueError, "key_len=0: there is no key"),
        ({"query": draw(2, 3, 42) * math.nan}, ValueError, "NaN"),
        ({"key": draw(2, 5, 42).to("meta")}, ValueError, "query cpu, key meta"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(
    call: Callable, change: dict, error: type[Exception], message: str
) -> None:
    good = {"query": tokens_of(QUERY_LEN), "key": tokens_of(KEY_LEN, seed=1)}
    with pytest.raises(error, match=message):
        call(**good | change)


def test_values_must_belong_to_the_keys() -> None:
    model, key = layer(), tokens_of(KEY_LEN)
    with pytest.raises(ValueError, match="key_len=5 in key but 4 here"):
        model(key, key, key[:, :4])


def test_layer_full_of_nan_is_refused_instead_of_giving_nan_or_zero() -> None:
    for name in ("project_query", "project_key", "project_value", "project_output"):
        model = layer()
        nn.init.constant_(getattr(model, name).weight, math.nan)
        with pytest.raises(ValueError, match="NaN"):
            model(tokens_of(KEY_LEN))


@pytest.mark.cuda
@every_group
def test_cuda_agrees_with_the_processor(num_kv_heads: int | None) -> None:
    model, tokens = layer(num_kv_heads=num_kv_heads), tokens_of(KEY_LEN)
    mask = some_mask(BATCH, KEY_LEN, KEY_LEN)
    expected, weights = model(tokens, mask=mask), model.weights(tokens, is_causal=True)
    model.cuda()
    assert_close(model(tokens.cuda(), mask=mask.cuda()).cpu(), expected, **TIGHTLY)
    assert_close(model.weights(tokens.cuda(), is_causal=True).cpu(), weights, **TIGHTLY)
    with torch.no_grad():
        cache = KeyValueCache()
        steps = [model.step(part, cache) for part in tokens.cuda().split(2, 1)]
        whole = model(tokens.cuda(), is_causal=True)
    assert_close(torch.cat(steps, 1), whole, **TIGHTLY)
