"""The novels and their pieces: nothing is lost, and nothing unseen is learned from."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_course.data.novels import NUM_PIECES, novels, packing, pieces
from attn_course.data.pieces import WORD, Pieces, join, learn_pieces
from attn_course.data.windows import all_windows, drawn_windows
from tests.sampling import left_to_proofs

PARTS = ("training", "validation", "test")
ALPHABET = "abc A,.\n'"


def test_parts_hold_six_novels_that_begin_and_end_as_written() -> None:
    training, validation, test = map(novels, PARTS)
    assert "\nIt is a truth universally acknowledged, that a single man" in training
    assert training.startswith("Emma Woodhouse, handsome, clever, and rich,")
    assert "were fully answered in the perfect happiness of the union.\n" in test
    assert len(training) > 3_800_000
    assert all(55_000 < len(part) < 70_000 for part in (validation, test))


def test_parts_share_no_long_paragraph() -> None:
    seen = [{line for line in novels(part).split("\n") if len(line) > 60} for part in PARTS]
    assert not seen[0] & (seen[1] | seen[2])
    assert not seen[1] & seen[2]


def test_sixty_four_characters_are_left_and_no_line_is_empty() -> None:
    text = "\n".join(map(novels, PARTS))
    assert len(set(text)) == 64
    assert not any(line.isupper() and len(line) > 9 for line in text.split("\n"))
    assert "" not in text.split("\n")


def test_unknown_part_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no part 'all'; choose from training, validation, test"):
        novels("all")


def test_file_of_r_is_read_line_by_line() -> None:
    text = "CHAPTER I,,She was _quite_ sure--very,sure.,,It cost £20.,,FINIS"
    lines = text.split(",")
    vector = bytes(packing.HEADER) + struct.pack(">ii", 16, len(lines))
    for line in lines:
        vector += struct.pack(">ii", 9, len(line.encode())) + line.encode()
    packed = b"".join(struct.pack(">i", 0) + zlib.compress(vector) for _ in range(2))
    found = [packing.prose(packing.lines(vector)) for vector in packing.objects(packed)]
    assert found == ["She was quite sure-very sure."] * 2


# --- pieces -------------------------------------------------------------------------------------


def test_first_pieces_of_the_published_example_are_found_by_hand() -> None:
    # Sennrich et al. 2016, section 3.2; the sign of the end of a word is here a ' in its place
    text = ",".join(["low'"] * 5 + ["lower'"] * 2 + ["newest'"] * 6 + ["widest'"] * 3)
    learned = learn_pieces(text, len(set(text)) + 3)
    # "es", "st" and "t'" stand there 9 times each; the last in the alphabet goes first
    assert learned[-3:] == ["t'", "st'", "est'"]
    assert Pieces(learned).encode("lowest'")[-1] == len(learned) - 1


def frequency_of_neighbours(text: str, learned: list[str]) -> Counter[str]:
    """Count in the slowest way: cut every word of the text again."""
    ranks = {piece: rank for rank, piece in enumerate(learned)}
    found: Counter[str] = Counter()
    for word in WORD.findall(text):
        parts = join(word, ranks)
        found.update(a + b for a, b in pairwise(parts))
    return found


def test_each_piece_is_the_most_frequent_of_its_time() -> None:
    text = novels("test")[:5000]
    learned = learn_pieces(text, 90)
    for number in range(len(set(text)), 90):
        found = frequency_of_neighbours(text, learned[:number])
        assert max(found, key=lambda piece: (found[piece], piece)) == learned[number]


@left_to_proofs
def test_stored_pieces_are_those_that_the_training_text_teaches() -> None:
    assert list(pieces().pieces) == learn_pieces(novels("training"), NUM_PIECES)


@pytest.mark.parametrize("part", PARTS)
def test_text_comes_back_from_its_numbers(part: str) -> None:
    ids = pieces().encode(novels(part))
    assert pieces().decode(ids) == novels(part)
    assert set(ids) <= set(range(len(pieces())))
    assert len(novels(part)) / len(ids) > 2.5


@settings(max_examples=50, deadline=None)
@given(st.text(ALPHABET), st.text(ALPHABET, min_size=2))
def test_any_text_comes_back_and_no_neighbours_could_be_joined(text: str, other: str) -> None:
    known = Pieces([*sorted(set(other + ALPHABET)), "ab", " ab", "aba", "'c"])
    ids = known.encode(text)
    assert known.decode(ids) == text
    for word in WORD.findall(text):
        parts = known.encode(word)
        joint = {known.decode(two) for two in pairwise(parts)}
        assert not joint & set(known.pieces)


def test_strange_characters_and_impossible_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="no piece has the characters 'é€'"):
        pieces().encode("café €")
    with pytest.raises(ValueError, match="number=2 pieces are too few for 3 different"):
        learn_pieces("abc", 2)
    with pytest.raises(ValueError, match="the text holds 5 pieces, fewer than number=9"):
        learn_pieces("abc", 9)


# --- windows ------------------------------------------------------------------------------------


def test_drawn_windows_are_parts_of_the_text_and_the_same_from_a_seed() -> None:
    text = torch.arange(11) * 3
    first, again, other = (next(drawn_windows(text, 5, 7, seed)).tokens for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(first.diff(), torch.full((7, 4), 3))
    many = next(drawn_windows(text, 5, 1000, 2)).tokens
    assert set(many[:, 0].tolist()) == set(range(0, 19, 3))  # the last window is drawn too
    with pytest.raises(ValueError, match="length=12 does not fit a text of 11 tokens"):
        next(drawn_windows(text, 12, 7, 0))


def test_all_windows_begin_every_so_many_tokens() -> None:
    assert all_windows(torch.arange(8), 3, 2).tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
