"""The model that writes: by PyTorch's own functions, by its laws, and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from attn_course.data.windows import WindowBatch
from attn_course.recurrence import count_parameters
from attn_course.training import train
from attn_course.transformer import (
    Block,
    LanguageModel,
    bits_per_character,
    keep_top_k,
    keep_top_p,
    next_token_law,
    next_token_loss,
    write,
)
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, by_complex_numbers, draw, filled

BATCH, LENGTH, VOCAB, D_MODEL, HEADS, D_HIDDEN, LAYERS, CONTEXT = 2, 11, 13, 12, 3, 17, 2, 5


def make(context: int = CONTEXT, scale: float = 1.0) -> LanguageModel:
    """Make a model in float64 whose weights are all random, even the weights of its norms."""
    return filled(LanguageModel(VOCAB, D_MODEL, HEADS, D_HIDDEN, LAYERS, context, scale))


def some_tokens(length: int = LENGTH, seed: int = 0) -> Tensor:
    """Return random tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (BATCH, length), generator=generator)


def by_torch(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Compute the logits by PyTorch's functions and the names of the weights alone."""
    weights = model.state_dict()

    def part(kind: str, name: str, x: Tensor) -> Tensor:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        if kind == "norm":
            return functional.layer_norm(x, (D_MODEL,), weight, bias)
        return functional.linear(x, weight, bias)

    distance = torch.arange(tokens.shape[1])[:, None] - torch.arange(tokens.shape[1])
    mask = (distance >= 0) & (distance < model.context)
    x = model.input_scale * weights["embedding.weight"][tokens]
    for block in (f"blocks.{i}" for i in range(LAYERS)):
        read = part("norm", f"{block}.norm_attention", x)
        query, key, value = (
            part("linear", f"{block}.attention.project_{role}", read)
            .reshape(BATCH, -1, HEADS, D_MODEL // HEADS)
            .permute(0, 2, 1, 3)
            for role in ("query", "key", "value")
        )
        looked = functional.scaled_dot_product_attention(
            by_complex_numbers(query), by_complex_numbers(key), value, mask
        )
        looked = looked.permute(0, 2, 1, 3).reshape(BATCH, -1, D_MODEL)
        x = x + part("linear", f"{block}.attention.project_output", looked)
        wide = part("linear", f"{block}.widen", part("norm", f"{block}.norm_maps", x))
        x = x + part("linear", f"{block}.narrow", functional.relu(wide))
    return part("norm", "norm", x) @ weights["embedding.weight"].T


# --- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("context", "scale"), [(CONTEXT, 1.0), (LENGTH, 3.0), (99, 1.0)])
def test_logits_and_gradients_are_those_of_pytorchs_functions(context: int, scale: float) -> None:
    model, tokens = make(context, scale), some_tokens()
    assert_close(model(tokens), by_torch(model, tokens), **CLOSELY)
    found = torch.autograd.grad(next_token_loss(model(tokens), tokens), model.embedding.weight)[0]
    step = 1e-6 * draw(VOCAB, D_MODEL, seed=5)
    slope = []
    for sign in (1, -1):
        with torch.no_grad():
            model.embedding.weight += sign * step
            slope.append(next_token_loss(by_torch(model, tokens), tokens))
            model.embedding.weight -= sign * step
    assert (found * step).sum() * 2 == pytest.approx((slope[0] - slope[1]).item(), rel=1e-6)


def test_no_token_sees_a_later_one_or_one_before_its_reach() -> None:
    model, tokens = make(), some_tokens(25)
    for place in range(25):
        other = tokens.clone()
        other[:, place] = (other[:, place] + 1) % VOCAB
        changed = (model(other) - model(tokens)).abs().amax((0, 2)) > 0
        seen_by = torch.arange(25) - place  # each block reaches CONTEXT - 1 tokens back
        within = (seen_by >= 0) & (seen_by <= LAYERS * (CONTEXT - 1))
        assert torch.equal(changed, within)


def test_logits_depend_on_order_and_not_on_where_the_text_stands() -> None:
    model, tokens = make(), some_tokens(25)
    begun_later = model(tokens[:, 7:])[:, LAYERS * (CONTEXT - 1) :]
    assert_close(begun_later, model(tokens)[:, 7 + LAYERS * (CONTEXT - 1) :], **CLOSELY)
    swapped = tokens[:, [1, 0, *range(2, 25)]]
    assert (model(swapped) - model(tokens))[:, 2].abs().max() > 0.01


@pytest.mark.parametrize("parts", [[1] * 23, [4, 1, 1, 9, 8], [23], [2, 21]])
@torch.no_grad()
def test_cache_gives_the_same_logits_in_any_steps_beyond_the_context_too(parts: list[int]) -> None:
    model, tokens = make(), some_tokens(23)
    cache = model.new_cache()
    found = [model(part, cache) for part in tokens.split(parts, 1)]
    assert_close(torch.cat(found, 1), model(tokens), **CLOSELY)
    assert [part.length for part in cache] == [23] * LAYERS


def test_block_adds_two_parts_to_the_stream_and_nothing_else() -> None:
    block, stream = Block(D_MODEL, HEADS, D_HIDDEN, CONTEXT), torch.randn(BATCH, LENGTH, D_MODEL)
    with torch.no_grad():
        for part in (block.attention.project_output, block.narrow):
            part.weight.zero_()
            part.bias.zero_()
    assert_close(block(stream), stream, **EXACTLY)


def test_parameters_are_counted_by_hand() -> None:
    maps = 2 * 128 * 512 + 512 + 128
    block = 4 * (128 * 128 + 128) + maps + 2 * 2 * 128
    assert count_parameters(LanguageModel(512)) == 512 * 128 + 2 * block + 2 * 128 == 462_336


def test_untrained_model_knows_nothing() -> None:
    torch.manual_seed(0)
    model, tokens = LanguageModel(512), torch.randint(512, (4, 64))
    assert next_token_loss(model(tokens), tokens).item() == pytest.approx(math.log(512), abs=0.1)


def test_model_learns_a_text_that_repeats_and_goes_on_with_it() -> None:
    torch.manual_seed(0)
    model = LanguageModel(VOCAB, D_MODEL, HEADS, D_HIDDEN, LAYERS, context=8)
    text = torch.arange(40) % 7
    batches = [WindowBatch(text[at : at + 17].expand(4, -1)) for at in range(7)] * 20

    def loss(model: LanguageModel, batch: WindowBatch) -> Tensor:
        return next_token_loss(model(batch.tokens), batch.tokens)

    history = train(model, batches, loss, 140, learning_rate=1e-2, progress=False)
    assert history.losses[-1] < 0.1 < math.log(7) < history.losses[0]
    assert write(model, text[None, :10], 30, temperature=0).tolist() == [text.tolist()]


def test_sizes_that_make_no_sense_are_refused() -> None:
    for name in ("vocab_size", "num_layers", "context"):
        with pytest.raises(ValueError, match=f"{name}=0 must be positive"):
            LanguageModel(**{"vocab_size": 5} | {name: 0})
    with pytest.raises(ValueError, match="d_model=9 is not divisible by num_heads=2"):
        LanguageModel(5, d_model=9, num_heads=2)
    with pytest.raises(ValueError, match="odd, but a position turns pairs of numbers"):
        LanguageModel(5, d_model=9, num_heads=3)(torch.tensor([[1]]))


# --- the loss -----------------------------------------------------------------------------------


def test_loss_is_that_of_the_next_token_by_hand() -> None:
    logits = torch.tensor([[[0.0, math.log(3)], [math.log(4), 0.0], [5.0, -5.0]]])
    # token 1 has probability 3/4 after the first, token 0 has 4/5 after the second
    expected = -(math.log(3 / 4) + math.log(4 / 5)) / 2
    assert next_token_loss(logits, torch.tensor([[0, 1, 0]])).item() == pytest.approx(expected)


def test_only_who_knows_the_next_token_loses_nothing() -> None:
    tokens = some_tokens()
    knows = functional.one_hot(tokens.roll(-1, 1), VOCAB) * 100.0
    copies = functional.one_hot(tokens, VOCAB) * 100.0
    assert next_token_loss(knows, tokens) < 1e-6
    assert next_token_loss(copies, tokens) > 50


def test_bits_a_character_by_hand() -> None:
    # 3 tokens of 2 bits each, which are 12 characters
    assert bits_per_character(2 * math.log(2), 3, 12) == pytest.approx(0.5)


# --- the next token -----------------------------------------------------------------------------

LAW = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)


def test_most_probable_tokens_are_kept_by_hand() -> None:
    assert_close(keep_top_k(LAW, 2), torch.tensor([0, 4, 3, 0]).double() / 7, **TIGHTLY)
    assert_close(keep_top_k(LAW, 9), LAW, **TIGHTLY)
    equal = torch.full((4,), 0.25)
    assert_close(keep_top_k(equal, 1), torch.tensor([1.0, 0, 0, 0]), **EXACTLY)


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.01, 1), (0.39, 1), (0.41, 2), (0.69, 2), (0.8, 3), (0.95, 4), (1, 4)]
)
def test_token_with_which_the_sum_is_reached_is_kept(top_p: float, kept: int) -> None:
    found = keep_top_p(LAW, top_p)
    assert_close(found, keep_top_k(LAW, kept), **TIGHTLY)


def test_laws_of_many_are_those_of_each() -> None:
    logits = draw(3, 2, 7)
    for settings in ({"top_k": 3}, {"top_p": 0.7}, {"temperature": 0.3, "top_k": 4, "top_p": 0.5}):
        found = next_token_law(logits, **settings)
        each = [next_token_law(row, **settings) for row in logits.flatten(0, 1)]
        assert_close(found.flatten(0, 1), torch.stack(each), **TIGHTLY)
        assert_close(found.sum(-1), torch.ones(3, 2).double(), **TIGHTLY)


def test_temperature_divides_logits_and_the_limit_is_the_greatest() -> None:
    logits = LAW.log() + 3
    assert_close(next_token_law(logits), LAW, **TIGHTLY)
    assert_close(next_token_law(logits, 0.5), LAW**2 / (LAW**2).sum(), **TIGHTLY)
    greedy = torch.tensor([0, 1, 0, 0]).double()
    assert_close(next_token_law(logits, 0), greedy, **EXACTLY)
    assert_close(next_token_law(logits, 1e-3), greedy, rtol=0, atol=1e-12)


def test_top_p_counts_after_top_k_and_both_after_the_temperature() -> None:
    # of the two that are kept the first has 4/7, and so more than half
    assert next_token_law(LAW.log(), top_k=2, top_p=0.5).count_nonzero() == 1
    assert next_token_law(LAW.log(), top_p=0.5).count_nonzero() == 2
    assert next_token_law(LAW.log(), 0.5, top_p=0.5).count_nonzero() == 1  # 16/30 of the squares


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, value in {"temperature": -1, "top_k": 0}.items():
        with pytest.raises(ValueError, match=f"{name}={value} must be positive"):
            next_token_law(LAW, **{name: value})
    for share in (0, 1.1):
        with pytest.raises(ValueError, match=f"top_p={share} must be above 0 and at most 1"):
            next_token_law(LAW, top_p=share)


# --- writing ------------------------------------------------------------------------------------


def test_greedy_text_is_that_of_reading_everything_again_each_time() -> None:
    model, expected = make(), some_tokens(3)
    for _ in range(17):
        expected = torch.cat([expected, model(expected)[:, -1:].argmax(-1)], 1)
    assert torch.equal(write(model, some_tokens(3), 17, temperature=0), expected)


def test_tokens_are_drawn_from_their_law() -> None:
    model, number = make(), 20_000
    beginning = some_tokens(4)[:1]
    settings = {"temperature": 2.0, "top_k": 5}
    law = next_token_law(model(beginning)[0, -1], **settings)
    generator = torch.Generator().manual_seed(0)
    drawn = write(model, beginning.expand(number, -1), 1, **settings, generator=generator)[:, -1]
    shares = drawn.bincount(minlength=VOCAB) / number
    assert_close(shares.double(), law.detach(), rtol=0, atol=4 * 0.5 / number**0.5)
    assert shares.count_nonzero() == 5


def test_writing_is_the_same_from_a_seed_and_leaves_the_callers_dice_alone() -> None:
    model, state = make(), torch.get_rng_state()
    texts = [
        write(model, some_tokens(), 20, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    ]
    assert torch.equal(texts[0], texts[1])
    assert not torch.equal(texts[0], texts[2])
    assert torch.equal(texts[0][:, :LENGTH], some_tokens())
    assert torch.equal(torch.get_rng_state(), state)
