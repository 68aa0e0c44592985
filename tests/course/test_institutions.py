"""Rows of names in two languages: by hand, by the rule that turns names round, by agreement."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from attn_course.data.institutions import institution_pairs
from attn_course.data.tokens import Vocabulary
from attn_course.data.translation import SentencePair, is_held_out
from attn_course.data.translation.lexicon import lexicon

SMALL = lexicon(small=True)
NOUNS = {english: (french, gender) for english, french, gender in SMALL.bodies}
ADJECTIVES = {english: french for english, french in SMALL.nations + SMALL.fields}


FIRST = (
    "the French Financial Institute and the French Scientific Agency",
    "l' Institut financier français et l' Agence scientifique française",
)
SECOND = (
    "the French Industrial Union and the Turkish Cultural Community",
    "l' Union industrielle française et la Communauté culturelle turque",
)


def rows(count: int, seed: int = 0, names: tuple[int, int] = (1, 3)) -> list[SentencePair]:
    return list(islice(institution_pairs(seed, names), count))


def names_of(words: tuple[str, ...], conjunction: str) -> list[list[str]]:
    """Cut a row into its names."""
    names: list[list[str]] = [[]]
    for word in words:
        if word == conjunction:
            names.append([])
        else:
            names[-1].append(word)
    return names


def test_first_rows_of_a_seed() -> None:
    first, second = rows(2, seed=0, names=(1, 2))
    assert " ".join(first.source) == FIRST[0]
    assert " ".join(first.target) == FIRST[1]
    assert " ".join(second.source) == SECOND[0]
    assert " ".join(second.target) == SECOND[1]


def test_french_turns_the_adjectives_of_every_name_round_and_links_say_so() -> None:
    for pair in rows(300):
        english, french = names_of(pair.source, "and"), names_of(pair.target, "et")
        assert len(english) == len(french)
        i = j = 0
        for (the, *adjectives, noun), (article, *translated) in zip(english, french, strict=True):
            assert the == "the"
            assert translated[0] == NOUNS[noun][0]
            size = len(translated)
            turned = {(i + size - place, j + 1 + place) for place in range(size)}
            assert turned | {(i, j)} <= pair.sure <= pair.possible
            for adjective, other in zip(reversed(adjectives), translated[1:], strict=True):
                assert other[:3] == ADJECTIVES[adjective][:3]
            assert article in ("le", "la", "l'")
            i, j = i + size + 2, j + size + 2


def test_article_and_adjectives_agree_with_a_noun_that_english_says_last() -> None:
    for pair in rows(300, seed=1):
        for article, noun, *adjectives in names_of(pair.target, "et"):
            gender = next(gender for french, gender in NOUNS.values() if french == noun)
            vowel = noun[0] in "AEIU"
            assert article == ("l'" if vowel else {"m": "le", "f": "la"}[gender])
            if gender == "f":
                assert all(adjective.endswith("e") for adjective in adjectives)


def test_no_row_has_a_noun_twice_and_every_number_of_names_comes_up() -> None:
    counts: Counter[int] = Counter()
    for pair in rows(600, seed=2, names=(2, 5)):
        nouns = [name[-1] for name in names_of(pair.source, "and")]
        assert len(set(nouns)) == len(nouns)
        counts[len(nouns)] += 1
    assert set(counts) == {2, 3, 4, 5}
    assert min(counts.values()) > 100


def test_there_are_about_ninety_words_and_no_held_out_row() -> None:
    pairs = rows(1000, seed=3, names=(1, 8))
    vocabulary = Vocabulary.of(words for pair in pairs for words in (pair.source, pair.target))
    assert len(vocabulary) == 90
    assert not any(map(is_held_out, pairs))


def test_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    assert rows(50, seed=5) == rows(50, seed=5)
    assert rows(50, seed=5) != rows(50, seed=6)


@pytest.mark.parametrize("names", [(0, 1), (3, 2), (1, 9)])
def test_numbers_of_names_out_of_order_are_refused(names: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="must be two numbers in order, from 1 to 8"):
        institution_pairs(0, names)
