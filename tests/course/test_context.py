"""The room beside the chapter on long texts: each function against a loop, or another form."""

from __future__ import annotations

import math

import pytest
import torch
from pybtex.database import parse_file
from torch import Tensor
from torch.testing import assert_close

from attn_course.context.chosen import chosen_blocks
from attn_course.context.emptied import hear_without
from attn_course.context.latent import Kept, LatentAttention
from attn_course.context.pages import PagedMemory, tokens_in_pages, tokens_reserved
from attn_course.context.published import PUBLISHED
from attn_course.context.reading import read_otherwise, write_otherwise
from attn_course.context.rules import (
    Documents,
    WindowAndSinks,
    document_of_each,
    position_within,
)
from attn_course.context.scores import (
    difference_of_weights,
    normalized_scores,
)
from attn_course.layer.fast_attention import fast_attention
from attn_course.long_context import rotate_pairs
from attn_course.minilm.encoder import Encoder
from attn_course.scaled_dot_product import attention, causal, mask_of
from attn_course.transformer import LanguageModel, write
from tests.conftest import ROOT
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, draw, filled

BATCH, LENGTH, D_MODEL = 2, 11, 15


def latent(**sizes: int) -> LatentAttention:
    """A layer of three heads."""
    given = {"d_head": 5, "d_latent": 7, "d_rotary": 4} | sizes
    return filled(LatentAttention(D_MODEL, 3, **given)).requires_grad_(False)


def test_absorbed_attention_is_the_plain_one_and_a_loop_over_heads() -> None:
    layer, tokens = latent(), draw(BATCH, LENGTH, D_MODEL)
    kept = layer.keep(tokens)
    plain, absorbed = layer.plain(tokens, kept), layer.absorbed(tokens, kept)
    assert_close(absorbed, plain, **CLOSELY)
    later = torch.full((LENGTH, LENGTH), -math.inf).triu(1).double()
    heads = []
    for head in range(3):
        weight = layer.project_query.weight[9 * head : 9 * head + 9]
        query = tokens @ weight.T
        query = torch.cat([query[..., :5], rotate_pairs(query[..., 5:], torch.arange(LENGTH))], -1)
        key = torch.cat([kept.latent @ layer.make_key[head], kept.turned], -1)
        weights = (query @ key.mT / 3 + later).softmax(-1)
        heads.append(weights @ kept.latent @ layer.make_value[head])
    assert_close(plain, layer.project_output(torch.cat(heads, -1)), **CLOSELY)


def test_one_token_at_a_time_from_what_is_kept_gives_the_same() -> None:
    layer, tokens = latent(), draw(BATCH, LENGTH, D_MODEL)
    whole = layer.plain(tokens, layer.keep(tokens))
    kept = layer.keep(tokens[:, :0])
    for at in range(LENGTH):
        new = tokens[:, at : at + 1]
        kept = Kept(*(torch.cat(both, 1) for both in zip(kept, layer.keep(new, at), strict=True)))
        for attend in (layer.plain, layer.absorbed):
            assert_close(attend(new, kept), whole[:, at : at + 1], **CLOSELY)


def test_a_latent_layer_refuses_sizes_that_are_not_positive() -> None:
    with pytest.raises(ValueError, match="d_latent"):
        LatentAttention(8, 2, 4, 0, 2)


def test_window_and_sinks_by_hand() -> None:
    found = mask_of(WindowAndSinks(last=2, first=1), 4, 4).int()
    assert found.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]
    for sizes in ((0, 1), (1, -1)):
        with pytest.raises(ValueError, match="must be positive"):
            WindowAndSinks(*sizes)


def test_packed_documents_give_what_they_give_alone() -> None:
    lengths, width = (2, 5, 1, 3), 6
    document = document_of_each(lengths)
    at = position_within(document)
    assert document.tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 3, 3, 3]
    assert at.tolist() == [0, 1, 0, 1, 2, 3, 4, 0, 0, 1, 2]
    query, key, value = (draw(LENGTH, width, seed=seed) for seed in range(3))
    turned = rotate_pairs(query, at), rotate_pairs(key, at)
    packed = fast_attention(*turned, value, rule=Documents(document))
    parts = (part.split(lengths) for part in (query, key, value))
    for found, *alone in zip(packed.split(lengths), *parts, strict=True):
        one, other = (rotate_pairs(part, torch.arange(len(part))) for part in alone[:2])
        assert_close(found, fast_attention(one, other, alone[2], rule=causal), **TIGHTLY)
    # the control: without the rule a document hears the one before
    assert (fast_attention(*turned, value, rule=causal) - packed)[2:].abs().max() > 0.1


def test_normalized_scores_are_cosines_and_know_no_length() -> None:
    query, key = draw(5, 7), draw(3, 7, seed=1)
    cosine = query @ key.T / query.norm(dim=-1)[:, None] / key.norm(dim=-1)
    assert_close(normalized_scores(query, key, 10.0), 10 * cosine, **TIGHTLY)
    assert_close(
        normalized_scores(9 * query, key / 9, 1.0), normalized_scores(query, key, 1.0), **TIGHTLY
    )


def test_a_difference_of_weights_sums_to_what_is_left() -> None:
    one, other = draw(BATCH, 5, 7), draw(BATCH, 5, 7, seed=1)
    found = difference_of_weights(one, other, 0.25)
    assert_close(found, one.softmax(-1) - other.softmax(-1) / 4, **TIGHTLY)
    assert (found < 0).any()


def test_pages_give_back_what_was_put_in_and_are_used_again() -> None:
    store, kept = PagedMemory(num_pages=6, page_len=3, width=2), {"a": [], "b": []}
    for number in range(7):
        for text in ("a", "b")[: 2 - number % 2]:
            vector = torch.full((2,), float(number))
            store.append(text, vector)
            kept[text].append(vector)
    for text, vectors in kept.items():
        assert_close(store.read(text), torch.stack(vectors), **EXACTLY)
    assert [len(store.pages["a"]), len(store.pages["b"]), len(store.free)] == [3, 2, 1]
    store.forget("a")
    assert len(store.free) == 4
    for _ in range(12):
        store.append("c", torch.zeros(2))
    with pytest.raises(MemoryError, match="no page is free for token 12 of 'c'"):
        store.append("c", torch.zeros(2))
    assert_close(store.read("b"), torch.stack(kept["b"]), **EXACTLY)


def test_room_for_tokens_by_hand() -> None:
    assert tokens_reserved([3, 8, 1], 10) == 30
    assert tokens_in_pages([3, 8, 1], 4) == 4 + 8 + 4
    with pytest.raises(ValueError, match="a text of 8 tokens does not fit longest=7"):
        tokens_reserved([3, 8], 7)


def test_chosen_blocks_are_the_best_by_a_loop() -> None:
    query, key = draw(BATCH, 12, 5), draw(BATCH, 12, 5, seed=1)
    found = chosen_blocks(query, key, 3, 2)
    means = key.unflatten(-2, (4, 3)).mean(-2)
    for row in range(BATCH):
        for at in range(12):
            own = at // 3
            scores = [float(query[row, at] @ means[row, block]) for block in range(own)]
            best = {own} | ({max(range(own), key=scores.__getitem__)} if own else set())
            wanted = [key_at // 3 in best and key_at <= at for key_at in range(12)]
            assert found[row, at].tolist() == wanted
    assert chosen_blocks(query, key, 3, 9).equal(torch.ones(12, 12).tril().bool().expand_as(found))
    with pytest.raises(ValueError, match="length=12 is no multiple of block_len=5"):
        chosen_blocks(query, key, 5, 2)


def small_writer(context: int = 64) -> LanguageModel:
    """A model with random weights."""
    return filled(LanguageModel(13, 12, 3, 17, 2, context)).eval()


def test_reading_by_the_usual_rules_is_what_the_model_does() -> None:
    tokens = torch.randint(13, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))
    found = read_otherwise(small_writer(), tokens)
    assert_close(found, small_writer()(tokens).detach(), **CLOSELY)
    windowed = read_otherwise(small_writer(), tokens, WindowAndSinks(4))
    assert_close(windowed, small_writer(4)(tokens).detach(), **CLOSELY)
    assert (windowed - found).abs().max() > 1e-3


def test_kept_first_tokens_stay_at_the_distance_that_they_have_in_the_cache() -> None:
    """One block: the last query reads the same from the cache as from a text without the rest."""
    writer = small_writer()
    writer.blocks = writer.blocks[:1]
    tokens = torch.randint(13, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    kept = torch.cat([tokens[:, :2], tokens[:, -4:]], 1)
    found = read_otherwise(writer, tokens, WindowAndSinks(last=4, first=2))[:, -1]
    assert_close(found, read_otherwise(writer, kept)[:, -1], **CLOSELY)


@pytest.mark.parametrize("ways", [{"base": 1e6}, {"stretch": 3.0}])
def test_slower_and_stretched_reading_is_that_of_a_model_that_turns_so(
    ways: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = torch.randint(13, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    plain = read_otherwise(small_writer(), tokens)
    found = read_otherwise(small_writer(), tokens, **ways)

    def turn(vectors: Tensor, start: int) -> Tensor:
        return rotate_pairs(vectors, start + torch.arange(vectors.shape[-2]), **ways)

    monkeypatch.setattr("attn_course.transformer.rotate_by_position", turn)
    assert_close(found, small_writer()(tokens).detach(), **CLOSELY)
    assert (found - plain).abs().max() > 1e-4


def test_no_key_is_farther_than_the_farthest() -> None:
    """One block: keys that are moved to one place may be exchanged, and others may not."""
    writer = small_writer()
    writer.blocks = writer.blocks[:1]
    tokens = torch.randint(13, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    for farthest in (LENGTH - 1, LENGTH):
        found = read_otherwise(writer, tokens, farthest=farthest)
        assert_close(found, read_otherwise(writer, tokens), **CLOSELY)
    exchanged = torch.cat([tokens[:, [1, 0]], tokens[:, 2:]], 1)
    for farthest, is_blind in ((3, True), (LENGTH - 2, True), (LENGTH - 1, False)):
        one, other = (
            read_otherwise(writer, of, farthest=farthest)[0, -1] for of in (tokens, exchanged)
        )
        assert ((one - other).abs().max() < 1e-5) == is_blind


def test_writing_by_the_usual_rules_is_what_the_model_writes() -> None:
    tokens = torch.randint(13, (LENGTH,), generator=torch.Generator().manual_seed(0))
    found = write_otherwise(small_writer(), tokens, 5, temperature=0.7, seed=3)
    dice = torch.Generator().manual_seed(3)
    assert found.equal(write(small_writer(), tokens[None], 5, temperature=0.7, generator=dice)[0])
    greedy = write_otherwise(small_writer(), tokens, 3, temperature=0, farthest=1)
    heard = read_otherwise(small_writer(), greedy[None, :-1], farthest=1)[0, LENGTH - 1 :]
    assert heard.argmax(-1).equal(greedy[LENGTH:])


def test_hearing_all_but_one_key() -> None:
    sizes = {"num_layers": 2, "num_heads": 3, "d_hidden": 17, "max_len": LENGTH}
    encoder = filled(Encoder(13, 12, **sizes)).requires_grad_(False)
    ids = torch.arange(LENGTH)
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    mask[:, 4] = False
    away = hear_without(encoder, ids, 4, keeps_weight=False)
    assert_close(away, encoder(ids, mask), **CLOSELY)
    emptied = hear_without(encoder, ids, 4, keeps_weight=True)
    assert (emptied - away).abs().max() > 1e-3
    assert (emptied - encoder(ids)).abs().max() > 1e-3
    # the same model, in which each layer projects that token to a value of 0
    for layer in encoder.layers:
        layer.attention.project_value.register_forward_hook(
            lambda _, __, value: value * (ids != 4)[:, None]
        )
    assert_close(emptied, encoder(ids), **CLOSELY)


def test_published_sizes_give_the_bytes_that_their_reports_imply() -> None:
    kilobytes = {name: model.kilobytes_a_token() for name, model in PUBLISHED.items()}
    assert kilobytes["GPT-3 175B"] == 2 * 2 * 96 * 12_288 / 1000
    assert kilobytes["LLaMA 65B"] == 2 * 2 * 80 * 8192 / 1000
    assert kilobytes["Llama 3 70B"] * 8 == kilobytes["LLaMA 65B"]
    assert kilobytes["DeepSeek-V3"] == 2 * 61 * 576 / 1000
    for model in PUBLISHED.values():
        assert model.num_heads % max(1, model.sizes.num_kv_heads) == 0


def test_published_sizes_have_a_source_in_the_bibliography_from_their_year() -> None:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    for name, model in PUBLISHED.items():
        preprint = entries[model.source].fields["eprint"]  # its number begins with the year
        assert 2000 + int(preprint[:2]) == model.year, name


@pytest.mark.parametrize("lengths", [[11], [3, 1, 5, 2], [1] * 11])
def test_documents_say_how_far_back_they_reach(lengths: list[int]) -> None:
    rule = Documents(document_of_each(lengths))
    allowed = mask_of(rule, 11, 11)
    for first in range(11):
        for last in range(first, 11):
            found = allowed[first : last + 1].any(0).nonzero().flatten().tolist()
            assert found == list(rule.reach(first, last, 11))
    roles = [draw(2, 11, 5, seed=seed) for seed in range(3)]
    for block_len in (None, 2, 4):
        found = fast_attention(*roles, rule=rule, block_len=block_len)
        assert_close(found, attention(*roles, allowed), **CLOSELY)


def test_documents_whose_number_comes_again_are_refused() -> None:
    with pytest.raises(ValueError, match="2 documents begin 3 times"):
        Documents(torch.tensor([0, 0, 1, 0]))
