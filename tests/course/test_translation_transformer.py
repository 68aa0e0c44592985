"""Blocks against PyTorch's layers, and the translator by the laws of all translators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.decoding import beam_search, greedy_decode
from attn_course.multi_head import MultiHeadAttention
from attn_course.recurrence import count_parameters
from attn_course.scaled_dot_product import causal_mask
from attn_course.self_attention import sinusoidal_positions
from attn_course.seq2seq import BOS, EOS, PAD, sequence_loss
from attn_course.translation.transformer import (
    AttentionEncoder,
    Block,
    Embedding,
    ModelSizes,
    TransformerTranslator,
)
from tests.tensors import CLOSELY, draw

BATCH, LENGTH, SOURCE_LEN, D_MODEL, HEADS, D_HIDDEN = 2, 5, 7, 6, 3, 11
SIZES, SOURCE_WORDS, TARGET_WORDS = ModelSizes(D_MODEL, HEADS, D_HIDDEN, 2), 17, 13
THEIRS = {"norm_first": True, "batch_first": True, "dtype": torch.float64}


def make(**settings: bool) -> Block:
    """Make a block in float64 whose weights are all random, even the weights of its norms."""
    torch.manual_seed(0)
    block = Block(D_MODEL, HEADS, D_HIDDEN, **settings).double()
    with torch.no_grad():
        for number, weight in enumerate(block.parameters()):
            weight.copy_(draw(*weight.shape, seed=number) / 2)
    return block


def copied(theirs: nn.Module, ours: Block) -> nn.Module:
    """Copy the weights of a block into PyTorch's layer."""
    pairs = {"linear1": "widen", "linear2": "narrow", "norm1": "norm_attention"}
    if hasattr(ours, "cross_attention"):
        theirs.multihead_attn = ours.cross_attention.to_torch()
        pairs |= {"norm2": "norm_source", "norm3": "norm_maps"}
    else:
        pairs |= {"norm2": "norm_maps"}
    theirs.self_attn = ours.attention.to_torch()
    for name, own in pairs.items():
        getattr(theirs, name).load_state_dict(getattr(ours, own).state_dict())
    return theirs.eval()


def some_mask(query_len: int, key_len: int) -> Tensor:
    """Return a mask that allows every query at least one key."""
    mask = draw(BATCH, query_len, key_len, seed=8) > 0
    mask[..., 1] = True
    return mask


def test_block_agrees_with_pytorchs_encoder_layer() -> None:
    block, tokens, mask = make(), draw(BATCH, LENGTH, D_MODEL), some_mask(LENGTH, LENGTH)
    theirs = copied(nn.TransformerEncoderLayer(D_MODEL, HEADS, D_HIDDEN, 0.0, **THEIRS), block)
    assert_close(block(tokens), theirs(tokens), **CLOSELY)
    not_allowed = ~mask.repeat_interleave(HEADS, 0)
    assert_close(block(tokens, mask), theirs(tokens, not_allowed), **CLOSELY)


def test_block_that_looks_at_a_source_agrees_with_pytorchs_decoder_layer() -> None:
    block = make(cross_attention=True)
    tokens, source = draw(BATCH, LENGTH, D_MODEL), draw(BATCH, SOURCE_LEN, D_MODEL, seed=1)
    mask = some_mask(LENGTH, SOURCE_LEN)
    theirs = copied(nn.TransformerDecoderLayer(D_MODEL, HEADS, D_HIDDEN, 0.0, **THEIRS), block)
    wanted = theirs(tokens, source, ~causal_mask(LENGTH), ~mask.repeat_interleave(HEADS, 0))
    assert_close(block(tokens, None, source, mask, is_causal=True), wanted, **CLOSELY)


def test_block_without_residual_connections_and_norms_is_its_parts_in_a_row() -> None:
    block, tokens = make(residual=False, norm=False), draw(BATCH, LENGTH, D_MODEL)
    wanted = block.narrow(block.widen(block.attention(tokens)).relu())
    assert_close(block(tokens), wanted, **CLOSELY)
    assert not any(isinstance(part, nn.LayerNorm) for part in block.modules())


def test_gradients_of_a_block_agree_with_differences() -> None:
    block = make(cross_attention=True)
    source = draw(1, 3, D_MODEL, seed=1).requires_grad_()
    tokens = draw(1, 2, D_MODEL).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda tokens, source: block(tokens, None, source), (tokens, source)
    )


def test_two_thirds_of_a_block_are_the_linear_maps_behind_the_attention() -> None:
    block = Block(64, 4, 4 * 64)
    matrices = {
        name: weight.numel() for name, weight in block.named_parameters() if weight.ndim > 1
    }
    maps = sum(number for name, number in matrices.items() if name.startswith(("widen", "narrow")))
    assert sum(matrices.values()) == 12 * 64**2
    assert maps == 8 * 64**2
    assert 0.65 < maps / count_parameters(block) < 2 / 3  # biases and norms besides


def translator() -> TransformerTranslator:
    """Make a translator in float64, the same each time."""
    torch.manual_seed(0)
    encoder = AttentionEncoder(SOURCE_WORDS, SIZES)
    return TransformerTranslator(encoder, TARGET_WORDS, SIZES).double().eval()


SOURCE = torch.tensor([[5, 9, 4, 3, EOS, PAD, PAD], [8, 3, 3, 7, 11, 6, EOS]])
TARGET = torch.tensor([[BOS, 4, 6, 3, 9], [BOS, 10, 3, 5, 5]])


def test_stepping_gives_what_teacher_forcing_gives() -> None:
    model = translator()
    all_at_once, state = model(SOURCE, TARGET), model.start(SOURCE)
    one_by_one = []
    for token in TARGET.unbind(1):
        logits, state = model.step(token, state)
        one_by_one.append(logits)
    assert_close(torch.stack(one_by_one, 1), all_at_once, **CLOSELY)
    two, state = model.decode(TARGET[:, :2], model.start(SOURCE))
    rest, _ = model.decode(TARGET[:, 2:], state)
    assert_close(torch.cat([two, rest], 1), all_at_once, **CLOSELY)


def test_no_word_sees_a_later_one() -> None:
    model, changed = translator(), TARGET.clone()
    changed[:, 3] = 12
    before, after = model(SOURCE, TARGET), model(SOURCE, changed)
    assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert (after[:, 3:] - before[:, 3:]).abs().amax(-1).min() > 1e-6


def test_padding_of_the_source_changes_nothing() -> None:
    model = translator()
    assert_close(model(SOURCE, TARGET)[:1], model(SOURCE[:1, :5], TARGET[:1]), **CLOSELY)
    annotations, final, mask = model.encoder(SOURCE)
    assert mask.tolist() == (SOURCE != PAD).tolist()
    assert annotations[~mask].count_nonzero() == 0
    assert_close(final[0], annotations[0, :5].mean(0), **CLOSELY)


def test_order_of_the_words_matters_by_their_positions() -> None:
    encoder, turned = translator().encoder, SOURCE[1:, [1, 0, 2, 3, 4, 5, 6]]
    annotations, moved = encoder(SOURCE[1:]).annotations, encoder(turned).annotations
    assert (annotations[0, 0] - moved[0, 1]).abs().max() > 1e-3


@pytest.mark.parametrize(("start", "length"), [(0, 5), (254, 2), (254, 5), (300, 1), (0, 300)])
def test_positions_that_are_kept_are_those_that_are_computed(start: int, length: int) -> None:
    table, tokens = Embedding(TARGET_WORDS, D_MODEL), torch.arange(2 * length).view(2, -1) % 13
    places = sinusoidal_positions(start + length, D_MODEL)[start:]
    assert_close(table.with_positions(tokens, start), table(tokens) + places, rtol=0, atol=0)
    assert set(table.state_dict()) == {"weight"}


def test_greedy_decoding_and_a_beam_of_one_say_the_same() -> None:
    model = translator()
    written = greedy_decode(model, SOURCE, 6)
    found = beam_search(model, SOURCE, 6, 1).tokens[:, 0]
    for row, other in zip(written.tolist(), found.tolist(), strict=True):
        ends = (EOS, PAD)
        assert [word for word in row if word not in ends] == [w for w in other if w not in ends]


def test_every_weight_learns_and_padding_does_not() -> None:
    model = translator().train()
    target_output = torch.cat([TARGET[:, 1:], torch.tensor([[EOS], [EOS]])], 1)
    sequence_loss(model(SOURCE, TARGET), target_output).backward()
    still = {name for name, weight in model.named_parameters() if not weight.grad.any()}
    # the bias of a key adds the same to all scores of a query
    assert {name for name in still if not name.endswith("project_key.bias")} == set()
    assert model.embedding.weight.grad[PAD].count_nonzero() == 0


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="d_model=6 is not divisible by num_heads=4"):
        Block(D_MODEL, 4, D_HIDDEN)
    with pytest.raises(ValueError, match="outside the vocabulary of 17 words"):
        translator().encoder(torch.tensor([[99, EOS]]))
    with pytest.raises(ValueError, match="length"):
        make()(draw(BATCH, LENGTH, D_MODEL), some_mask(LENGTH, LENGTH + 1))


def test_attention_of_a_block_is_that_of_chapter_nine() -> None:
    assert type(make().attention) is MultiHeadAttention
