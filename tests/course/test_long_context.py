"""Rotary positions at any place, bytes of a cache, and attention in tiles with its traffic."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from attn_course.context.tiles import (
    gradients_by_table,
    gradients_in_tiles,
    logarithm_of_sum,
)
from attn_course.long_context import (
    CacheSizes,
    SlowMemory,
    angles,
    attend_by_table,
    attend_in_tiles,
    rotate_halves,
    rotate_pairs,
)
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import attention, causal_mask, scaled_dot_scores
from attn_course.self_attention import rotate_by_position
from attn_course.transformer import look_back
from tests.tensors import CLOSELY, EXACTLY, TIGHTLY, draw, filled

BATCH, HEADS, LENGTH, D_KEY, D_VALUE = 2, 3, 13, 10, 7


def test_angles_by_hand() -> None:
    found = angles(torch.tensor([0, 3]), 4)
    assert_close(found, torch.tensor([[0, 0], [3, 0.03]], dtype=torch.float64), **TIGHTLY)
    found = angles(torch.tensor([8]), 4, base=16.0, stretch=4.0)
    assert_close(found, torch.tensor([[2, 0.5]]).double(), **TIGHTLY)


def test_positions_in_a_row_turn_as_in_chapter_08() -> None:
    vectors = draw(BATCH, HEADS, LENGTH, D_KEY)
    found = rotate_pairs(vectors, 17 + torch.arange(LENGTH))
    assert_close(found, rotate_by_position(vectors, 17), **TIGHTLY)


def test_each_row_of_a_batch_has_positions_of_its_own() -> None:
    vectors, position = draw(BATCH, LENGTH, D_KEY), torch.randint(1000, (BATCH, LENGTH))
    for rotate in (rotate_pairs, rotate_halves):
        found = rotate(vectors, position)
        for row in range(BATCH):
            for at in range(LENGTH):
                alone = rotate(vectors[row, at : at + 1], position[row, at : at + 1])
                assert_close(found[row, at : at + 1], alone, **TIGHTLY)


@pytest.mark.parametrize("rotate", [rotate_pairs, rotate_halves])
def test_a_layer_takes_either_and_a_cache_gives_what_the_whole_text_gives(rotate) -> None:
    layer = filled(MultiHeadAttention(12, 3, rotary=rotate)).requires_grad_(False)
    tokens, cache = draw(BATCH, LENGTH, 12), KeyValueCache()
    whole = layer(tokens, is_causal=True)
    steps = [layer.step(tokens[:, at : at + 1], cache) for at in range(LENGTH)]
    assert_close(torch.cat(steps, 1), whole, **CLOSELY)
    if rotate is rotate_pairs:
        assert_close(look_back(layer, tokens, LENGTH), whole, **CLOSELY)


def test_halves_are_pairs_in_another_order() -> None:
    vectors, position = draw(BATCH, LENGTH, D_KEY), torch.randint(1000, (LENGTH,))
    order = torch.cat([torch.arange(0, D_KEY, 2), torch.arange(1, D_KEY, 2)])
    found = rotate_halves(vectors[..., order], position)
    assert_close(found, rotate_pairs(vectors, position)[..., order], **TIGHTLY)
    # and not without it
    assert (rotate_halves(vectors, position) - rotate_pairs(vectors, position)).abs().max() > 0.1


@pytest.mark.parametrize("rotate", [rotate_pairs, rotate_halves])
def test_only_differences_of_positions_count(rotate) -> None:
    query, key = draw(LENGTH, D_KEY), draw(LENGTH, D_KEY, seed=1)
    here, there = torch.randint(1000, (2, LENGTH))
    scores = rotate(query, here) @ rotate(key, there).mT
    moved = rotate(query, here + 1001) @ rotate(key, there + 1001).mT
    assert_close(moved, scores, **CLOSELY)
    assert (rotate(query, here + 1) @ rotate(key, there).mT - scores).abs().max() > 0.1


def test_stretched_positions_are_fractions_and_a_base_leaves_the_fastest_pair_alone() -> None:
    vectors = draw(5, D_KEY)
    far, near = 4 * torch.arange(5), torch.arange(5)
    assert_close(rotate_pairs(vectors, far, stretch=4), rotate_pairs(vectors, near), **TIGHTLY)
    slow, fast = (angles(torch.arange(5), D_KEY, base=base) for base in (1e6, 1e4))
    assert_close(slow[:, 0], fast[:, 0], **EXACTLY)
    assert (slow[1:, 1:] < fast[1:, 1:]).all()


def test_what_cannot_be_turned_is_refused_with_its_numbers() -> None:
    with pytest.raises(ValueError, match="d_head=7 is odd"):
        rotate_pairs(draw(LENGTH, 7), torch.arange(LENGTH))
    with pytest.raises(ValueError, match="stretch"):
        angles(torch.arange(3), 4, stretch=0)
    with pytest.raises(TypeError):
        rotate_pairs(draw(LENGTH, 4), torch.arange(LENGTH) / 2)


def test_bytes_of_a_cache_are_those_that_a_layer_keeps() -> None:
    layer = MultiHeadAttention(24, 6, num_kv_heads=2).requires_grad_(False)
    key, value = layer.keys_and_values(torch.randn(1, 5, 24))
    kept = 3 * (key.numel() * key.element_size() + value.numel() * value.element_size())
    assert CacheSizes(num_layers=3, num_kv_heads=2, d_head=4).size(5, 4) == kept
    # a published model, by hand: 60 layers of 512 and 64 numbers
    assert CacheSizes(60, 0, 128, d_latent=576).size(1) == 60 * 576 * 2


def inputs(length: int = LENGTH) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values."""
    widths = (D_KEY, D_KEY, D_VALUE)
    return tuple(draw(BATCH, HEADS, length, d, seed=seed) for seed, d in enumerate(widths))


@pytest.mark.parametrize("tile_len", [1, 5, LENGTH, 64])
def test_tiles_give_what_the_equation_gives(tile_len: int) -> None:
    expected, memory = attention(*inputs()), SlowMemory()
    assert_close(attend_by_table(*inputs(), memory), expected, **TIGHTLY)
    assert_close(attend_in_tiles(*inputs(), memory, tile_len=tile_len), expected, **TIGHTLY)


def test_traffic_is_that_of_the_formulas() -> None:
    length, tile, width = 24, 4, D_KEY
    query, key, value = (draw(length, width, seed=seed) for seed in range(3))
    table, tiles = SlowMemory(), SlowMemory()
    attend_by_table(query, key, value, table)
    assert table.numbers == 4 * length * width + 4 * length**2
    attend_in_tiles(query, key, value, tiles, tile_len=tile)
    assert tiles.numbers == 2 * length * width * (1 + length // tile)


def test_tiles_of_no_length_are_refused() -> None:
    with pytest.raises(ValueError, match="tile_len"):
        attend_in_tiles(*inputs(), SlowMemory(), tile_len=0)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("tile_len", [1, 5, 64])
def test_gradients_in_tiles_are_those_of_the_equation(tile_len: int, is_causal: bool) -> None:
    given = [part.requires_grad_() for part in inputs()]
    output = attention(*given, mask=causal_mask(LENGTH) if is_causal else None)
    slope = draw(*output.shape, seed=9)
    expected = torch.autograd.grad(output, given, slope)
    query, key, value = (part.detach() for part in given)
    log_sum = logarithm_of_sum(query, key, is_causal)
    found = gradients_in_tiles(
        *(query, key, value, output.detach(), log_sum, slope),
        SlowMemory(),
        tile_len=tile_len,
        is_causal=is_causal,
    )
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other, **CLOSELY)


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_by_the_table_are_those_of_the_equation(is_causal: bool) -> None:
    given = [part.requires_grad_() for part in inputs()]
    mask = causal_mask(LENGTH) if is_causal else None
    slope = draw(BATCH, HEADS, LENGTH, D_VALUE, seed=9)
    expected = torch.autograd.grad(attention(*given, mask=mask), given, slope)
    roles = [part.detach() for part in given]
    weights = masked_softmax(scaled_dot_scores(*roles[:2]), mask)
    found = gradients_by_table(*roles, weights, slope, SlowMemory())
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other, **CLOSELY)


def test_traffic_of_the_gradients_is_that_of_the_formulas() -> None:
    length, tile, width = 24, 4, D_KEY
    query, key, value, slope = (draw(length, width, seed=seed) for seed in range(4))
    weights = masked_softmax(scaled_dot_scores(query, key))
    table, tiles = SlowMemory(), SlowMemory()
    gradients_by_table(query, key, value, weights, slope, table)
    assert table.numbers == 7 * length**2 + 8 * length * width
    log_sum = logarithm_of_sum(query, key)
    gradients_in_tiles(*(query, key, value, weights @ value, log_sum, slope), tiles, tile_len=tile)
    of_a_tile = 3 * tile * width + 2 * tile  # of queries; keys and values stay for a column
    assert tiles.numbers == (length // tile) ** 2 * of_a_tile + 6 * length * width
