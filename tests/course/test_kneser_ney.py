"""Kneser-Ney: by its definition with dictionaries, as a probability, and as its record says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from attn_course.data.novels import novels
from attn_course.trained import record
from attn_course.trained.writers.kneser_ney import (
    BITS,
    ORDERS,
    bits,
    characters,
    count,
    probabilities,
    sequences,
)
from tests.sampling import parameters


def by_definition(text: str, order: int, context: str, character: str) -> float:
    """Compute one probability by recursion, from tables of strings."""
    p, context = 2.0**-BITS, context[len(context) - order + 1 :]
    for length in range(1, order + 1):
        grams = [text[at : at + length] for at in range(len(text) - length + 1)]
        if length < order:
            grams = [
                gram[1:]
                for gram in {text[at : at + length + 1] for at in range(len(text) - length)}
            ]
        table, before = Counter(grams), context[len(context) - length + 1 :]
        values = list(table.values())
        once, twice = values.count(1), values.count(2)
        discount = once / (once + 2 * twice) if once else 0.5
        total = sum(value for gram, value in table.items() if gram[:-1] == before)
        followers = sum(gram[:-1] == before for gram in table)
        if total:
            p = (max(table[before + character] - discount, 0) + discount * followers * p) / total
    return p


def numbers(text: str) -> np.ndarray:
    """Number the letters from a on."""
    return np.array([ord(character) - ord("a") for character in text])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_are_those_of_the_definition(order: int) -> None:
    text = "abracadabraabracababbaracadcabbacar" * 2 + "drab"
    asked = "acabbradzab"
    found = probabilities(count(numbers(text), order), numbers(asked))
    expected = [
        by_definition(text, order, asked[at - order + 1 : at], asked[at])
        for at in range(order - 1, len(asked))
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_characters_share_out_one() -> None:
    orders = count(characters("test")[:20_000], 4)
    for context in ([3, 40, 41], [60, 61, 62], [0, 0, 0]):
        total = sum(probabilities(orders, np.array([*context, last]))[0] for last in range(64))
        assert total == pytest.approx(1)


def test_sequences_are_numbers_of_six_bits_each() -> None:
    assert sequences(np.array([1, 2, 63, 5]), 3).tolist() == [
        (1 << 12) + (2 << 6) + 63,
        (2 << 12) + (63 << 6) + 5,
    ]


def test_alphabet_fits_the_bits() -> None:
    assert len(set(novels("training"))) == 2**BITS
    assert characters("test").max() < 2**BITS


@pytest.mark.parametrize("order", parameters(map(str, ORDERS), 0, always=["2"]))
def test_record_is_what_is_counted_today(order: str) -> None:
    (run,) = [run for run in record("kneser_ney")["runs"] if run["order"] == int(order)]
    orders = count(characters("training"), int(order))
    assert run["counts"] == sum(len(one.sequences) for one in orders)
    for part in ("validation", "test"):
        assert bits(orders, characters(part)) == pytest.approx(run[part], abs=1e-4)


def test_every_order_is_recorded() -> None:
    assert [run["order"] for run in record("kneser_ney")["runs"]] == list(ORDERS)
