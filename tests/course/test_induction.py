"""Two layers of heads: by PyTorch's own functions, by laws, and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from attn_course.data.repeats import RepeatBatch, repeat_batches
from attn_course.induction import (
    ROLES,
    AttentionOnly,
    Edit,
    after_same_token,
    by_hand,
    exchange_keys,
    freeze,
    head_outputs,
    induction_score,
    leave,
    loss_where,
    pattern,
    previous_token_score,
    read_without,
    silence,
    weights_of_heads,
)
from attn_course.multi_head import MultiHeadAttention
from attn_course.transformer import LanguageModel, look_back
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, by_complex_numbers, draw, filled

BATCH, LENGTH, VOCAB, D_MODEL, HEADS, LAYERS = 2, 11, 13, 12, 3, 2


def make(num_layers: int = LAYERS, norm: bool = True, d_head: int | None = None) -> AttentionOnly:
    """Make a model in float64 whose weights are all random, even the weights of its norms."""
    return filled(AttentionOnly(VOCAB, D_MODEL, HEADS, num_layers, d_head=d_head, norm=norm))


def some_tokens(length: int = LENGTH, seed: int = 0) -> Tensor:
    """Return random tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (BATCH, length), generator=generator)


def by_torch(model: AttentionOnly, tokens: Tensor, silent: tuple[int, int] | None = None) -> Tensor:
    """Compute the logits by PyTorch's functions and the names of the weights alone."""
    weights = model.state_dict()
    width = weights["blocks.0.attention.project_value.weight"].shape[0]

    def norm(name: str, x: Tensor) -> Tensor:
        if f"{name}.weight" not in weights:
            return x
        return functional.layer_norm(
            x, (D_MODEL,), weights[f"{name}.weight"], weights[f"{name}.bias"]
        )

    x = weights["embedding.weight"][tokens]
    for number in range(len(model.blocks)):
        read = norm(f"blocks.{number}.norm_attention", x)
        query, key, value = (
            (read @ weights[f"blocks.{number}.attention.project_{role}.weight"].T)
            .reshape(BATCH, -1, HEADS, width // HEADS)
            .permute(0, 2, 1, 3)
            for role in ROLES
        )
        looked = functional.scaled_dot_product_attention(
            by_complex_numbers(query), by_complex_numbers(key), value, is_causal=True
        )
        if silent and silent[0] == number:
            looked[:, silent[1]] = 0
        looked = looked.permute(0, 2, 1, 3).reshape(BATCH, -1, width)
        x = x + looked @ weights[f"blocks.{number}.attention.project_output.weight"].T
    return norm("norm", x) @ weights["readout.weight"].T + weights["readout.bias"]


# --- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_layers", "norm", "d_head"), [(1, True, None), (2, True, 6), (3, False, None)]
)
def test_logits_are_those_of_pytorchs_functions(
    num_layers: int, norm: bool, d_head: int | None
) -> None:
    model, tokens = make(num_layers, norm, d_head), some_tokens()
    assert_close(model(tokens), by_torch(model, tokens), **CLOSELY)


def test_additions_of_the_heads_sum_to_the_layer_of_chapter_11() -> None:
    layer, tokens = MultiHeadAttention(D_MODEL, HEADS).double(), draw(BATCH, LENGTH, D_MODEL)
    with torch.no_grad():
        layer.project_output.bias.normal_()
    outputs = head_outputs(layer, pattern(layer, tokens, tokens), tokens)
    assert_close(
        outputs.sum(1) + layer.project_output.bias, look_back(layer, tokens, LENGTH), **CLOSELY
    )


def test_pattern_looks_from_what_queries_read_to_what_keys_read() -> None:
    layer = MultiHeadAttention(2, 1, bias=False)
    with torch.no_grad():
        layer.project_query.weight.copy_(torch.eye(2))
        layer.project_key.weight.copy_(torch.eye(2))
    query, key = torch.zeros(1, 2, 2), torch.zeros(1, 2, 2)
    query[0, 1] = torch.tensor([math.cos(1), -math.sin(1)])  # the second turns by 1 radian
    key[0, 0] = torch.tensor([math.sqrt(2) * math.log(3), 0.0])
    assert_close(pattern(layer, query, key)[0, 0], torch.tensor([[1.0, 0.0], [0.75, 0.25]]))
    assert_close(pattern(layer, key, key)[0, 0, 1], torch.tensor([0.5, 0.5]))


def test_no_token_sees_a_later_one() -> None:
    model, tokens = make(), some_tokens()
    for place in range(LENGTH):
        other = tokens.clone()
        other[:, place] = (other[:, place] + 1) % VOCAB
        changed = (model(other) - model(tokens)).abs().amax((0, 2)) > 0
        assert torch.equal(changed, torch.arange(LENGTH) >= place)


def test_sizes_that_make_no_sense_are_refused() -> None:
    for name in ("vocab_size", "num_layers"):
        with pytest.raises(ValueError, match=f"{name}=0 must be positive"):
            AttentionOnly(**{"vocab_size": 5} | {name: 0})
    with pytest.raises(ValueError, match="d_model=9 is not divisible by num_heads=2"):
        AttentionOnly(5, d_model=9, num_heads=2)


# --- the scores ---------------------------------------------------------------------------------


def test_weights_are_those_with_which_the_model_runs() -> None:
    model, tokens, seen = make(), some_tokens(), []

    def note(number: int, part: str, given: Tensor) -> Tensor:
        if part == "weights":
            seen.append((number, given))
        return given

    model(tokens, note)
    found = weights_of_heads(model, tokens)
    assert [number for number, _ in seen] == [0, 1]
    assert_close(found, torch.stack([given for _, given in seen]), **EXACTLY)


def test_weights_of_a_model_that_writes_are_those_of_its_layers() -> None:
    model = LanguageModel(VOCAB, D_MODEL, HEADS, 17, LAYERS, context=LENGTH, input_scale=3.0)
    tokens, reads = some_tokens(), []
    for block in model.blocks:
        block.norm_attention.register_forward_hook(lambda *given: reads.append(given[-1]))
    model(tokens)
    expected = [pattern(block.attention, read, read)
                for block, read in zip(model.blocks, reads, strict=True)]  # fmt: skip
    assert_close(weights_of_heads(model, tokens), torch.stack(expected), **EXACTLY)
    with pytest.raises(ValueError, match="12 tokens, but a token attends to 11"):
        weights_of_heads(model, some_tokens(12))


def test_head_that_looks_one_back_has_the_score_1_and_others_what_they_give_it() -> None:
    one_back = torch.eye(LENGTH).roll(-1, 1).tril()
    one_back[0, 0] = 1
    even = torch.ones(LENGTH, LENGTH).tril()
    weights = torch.stack([one_back, torch.eye(LENGTH), even / even.sum(-1, keepdim=True)])
    expected = sum(1 / t for t in range(2, LENGTH + 1)) / (LENGTH - 1)
    found = previous_token_score(weights.expand(LAYERS, BATCH, -1, -1, -1))
    assert_close(found, torch.tensor([1.0, 0.0, expected]).expand(LAYERS, -1))
    with pytest.raises(ValueError, match="one token has no token before"):
        previous_token_score(torch.ones(1, 1, 1, 1))


def test_what_followed_the_same_token_is_found_by_loops() -> None:
    tokens = torch.randint(3, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))
    found = after_same_token(tokens)
    for row in range(BATCH):
        for query in range(LENGTH):
            for key in range(LENGTH):
                wanted = 0 < key <= query and tokens[row, key - 1] == tokens[row, query]
                assert found[row, query, key] == wanted


def test_induction_score_by_hand() -> None:
    tokens = torch.tensor([[4, 7, 2, 4, 7]])  # the second 4 wants the first 7, that one the 2
    weights = torch.zeros(1, 2, 5, 5)
    weights[0, 0, 3, 1], weights[0, 0, 4, 2] = 0.9, 0.5
    weights[0, 1, 3, 0], weights[0, 1, 4, 1] = 1.0, 1.0  # looks at the same token, not after it
    assert_close(induction_score(weights, tokens), torch.tensor([0.7, 0.0]))
    with pytest.raises(ValueError, match="no token occurs twice"):
        induction_score(weights, torch.arange(5)[None])


def test_score_of_each_layer_is_that_of_the_layer_alone() -> None:
    weights, tokens = draw(LAYERS, BATCH, HEADS, LENGTH, LENGTH).softmax(-1), some_tokens()
    for score in (previous_token_score, lambda given: induction_score(given, tokens)):
        assert_close(score(weights), torch.stack([score(layer) for layer in weights]), **TIGHTLY)


def test_loss_counts_the_places_that_are_asked_for() -> None:
    logits, tokens = draw(BATCH, LENGTH, VOCAB), some_tokens()
    where = torch.zeros(BATCH, LENGTH, dtype=torch.bool)
    where[1, 5] = where[1, 0] = True  # nothing predicts the first token
    expected = functional.cross_entropy(logits[1, 4], tokens[1, 5])
    assert_close(loss_where(logits, tokens, where), expected, **TIGHTLY)
    with pytest.raises(ValueError, match="no token whose loss counts"):
        loss_where(logits, tokens, torch.zeros_like(where))


# --- the edits ----------------------------------------------------------------------------------


def test_head_that_is_silenced_adds_nothing_and_the_others_what_they_added() -> None:
    model, tokens = make(), some_tokens()
    for head in ((0, 2), (1, 0)):
        assert_close(model(tokens, silence(*head)), by_torch(model, tokens, head), **CLOSELY)


def test_frozen_pattern_is_used_whatever_is_read() -> None:
    model, tokens, other = make(), some_tokens(), some_tokens(seed=1)
    weights = weights_of_heads(model, tokens)
    assert_close(model(tokens, freeze(1, weights[1])), model(tokens), **CLOSELY)
    assert (model(other, freeze(1, weights[1])) - model(other)).abs().max() > 0.01
    to_itself = torch.eye(LENGTH).double()
    for layer in range(LAYERS):
        edits = freeze(layer, to_itself)
        first = model(tokens, edits)[:, 0]  # the first token looks at itself anyway
        assert_close(first, model(tokens)[:, 0], **CLOSELY)


def test_exchanged_keys_are_made_from_what_the_other_position_reads() -> None:
    model, tokens = make(1), some_tokens()
    seen: list[Tensor] = []

    def run(edit: Edit) -> Tensor:
        model(tokens, lambda *given: seen.append(edit(*given)) or seen[-1])
        return seen[1]  # what the keys are made from, after what the queries are made from

    plain, exchanged = run(leave).clone(), (seen.clear(), run(exchange_keys(0, 2, 5)))[1]
    order = [0, 1, 5, 3, 4, 2, *range(6, LENGTH)]
    assert_close(exchanged, plain[:, order], **EXACTLY)
    assert (model(tokens, exchange_keys(0, 2, 5)) - model(tokens))[:, :2].abs().max() == 0
    assert (model(tokens, exchange_keys(0, 2, 5)) - model(tokens))[:, 5:].abs().min() > 0


def test_what_a_layer_reads_without_a_head_is_the_stream_without_it() -> None:
    model, tokens = make(3), some_tokens()
    together = [read_without(model, tokens, role, 1, (0, 2)) for role in ROLES]

    def all_roles(number: int, part: str, given: Tensor) -> Tensor:
        for edit in together:
            given = edit(number, part, given)
        return given

    def only_for_layer_1(number: int, part: str, given: Tensor) -> Tensor:
        return read if number == 1 and part in ROLES else given

    stream = model.blocks[0](model.embedding(tokens), silence(0, 2), 0)
    read = model.blocks[1].norm_attention(stream)
    assert_close(model(tokens, all_roles), model(tokens, only_for_layer_1), **EXACTLY)
    each = [(model(tokens, edit) - model(tokens)).abs().max() for edit in together]
    assert min(each) > 0.01
    for role, reader, writer in (("keys", 1, (0, 0)), ("key", 1, (1, 0)), ("key", 3, (0, 0))):
        with pytest.raises(ValueError, match=f"layer {reader} reads no role='{role}' from writer="):
            read_without(model, tokens, role, reader, writer)


# --- by hand, and the data ----------------------------------------------------------------------


@torch.no_grad()
def test_model_by_hand_predicts_every_letter_that_comes_again() -> None:
    model = by_hand(VOCAB)
    orders = torch.stack([torch.randperm(VOCAB, generator=torch.Generator().manual_seed(seed))
                          for seed in range(20)])  # fmt: skip
    for gap in (0, 4, 40):
        between = orders[:, :1].expand(-1, gap)
        tokens = torch.cat([orders, between, orders], 1)
        again = torch.arange(tokens.shape[1]) > VOCAB + gap + 1  # the first stands for itself too
        assert loss_where(model(tokens), tokens, again.expand_as(tokens)) < 1e-4
        weights = weights_of_heads(model, tokens)
        assert_close(previous_token_score(weights)[0], torch.ones(1), rtol=0, atol=1e-6)
        for head in ((0, 0), (1, 0)):
            silent = model(tokens, silence(*head))
            assert loss_where(silent, tokens, again.expand_as(tokens)) > 0.9 * math.log(VOCAB)


def test_tokens_of_a_repeat_stood_at_its_distance_before() -> None:
    batch = next(repeat_batches(1, 200, 40, num_symbols=50, sizes=(3, 9)))
    row, at = batch.again.nonzero().T
    assert torch.equal(batch.tokens[row, at], batch.tokens[row, at - batch.distance[row]])
    sizes = batch.again.sum(1) + 1
    assert {*sizes.tolist()} == {*range(3, 10)}
    assert (batch.distance >= sizes).all()
    ends = 40 - batch.again.int().flip(1).argmax(1)
    assert ends.max() == 40
    assert (ends - sizes - batch.distance).min() == 0
    assert batch.tokens.unique().tolist() == [*range(50)]


def test_distances_are_as_far_as_asked_for() -> None:
    batch = next(repeat_batches(2, 200, 100, nearest=60))
    assert batch.distance.min() == 60
    assert batch.distance.max() > 80


def test_only_the_pairs_that_are_asked_for_are_neighbours() -> None:
    for differences in (range(18), range(18, 27)):
        batches = repeat_batches(3, 200, 64, differences=differences)
        for _ in range(2):
            tokens, again, distance = next(batches)
            assert tokens.shape == (200, 64)
            assert ((tokens[:, 1:] - tokens[:, :-1]) % 27).unique().tolist() == [*differences]
            row, at = again.nonzero().T
            assert torch.equal(tokens[row, at], tokens[row, at - distance[row]])
            assert tokens[:, 0].unique().tolist() == [*range(27)]


def test_shuffled_part_has_the_same_letters_in_another_order() -> None:
    plain, shuffled = (
        next(repeat_batches(4, 50, 40, num_symbols=999, sizes=(8, 8), shuffled=shuffled))
        for shuffled in (False, True)
    )
    assert torch.equal(plain.again, shuffled.again)
    for before, after, again, distance in zip(
        plain.tokens, shuffled.tokens, plain.again, plain.distance, strict=True
    ):
        first = int(again.nonzero()[0]) - 1 - int(distance)
        part = slice(first, first + 8)
        assert sorted(before[part].tolist()) == sorted(after[part].tolist())
        rest = torch.ones(40, dtype=torch.bool)
        rest[part] = False
        assert torch.equal(before[rest], after[rest])
    assert (plain.tokens != shuffled.tokens).sum(1).double().mean() > 5


def test_batches_are_the_same_from_a_seed() -> None:
    one, same, other = (next(repeat_batches(seed)) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.tokens, other.tokens)
    assert isinstance(one.to("cpu"), RepeatBatch)


def test_parts_that_do_not_fit_are_refused() -> None:
    for settings in ({"sizes": (0, 3)}, {"sizes": (9, 8)}, {"sizes": (8, 33)}, {"nearest": 41}):
        with pytest.raises(ValueError, match="fit length=64"):
            next(repeat_batches(0, **settings))
