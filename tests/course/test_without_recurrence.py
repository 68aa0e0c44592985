"""Translators with recurrence and without: the record, and a few steps of its making."""

from __future__ import annotations

import pytest

from attn_course.recurrence import count_parameters
from attn_course.trained import load, record
from attn_course.trained.translators.measure import BUCKETS, name_of
from attn_course.trained.translators.without_recurrence import (
    EVERY,
    KINDS,
    RATES,
    SEEDS,
    STEPS,
    run,
)
from tests.sampling import left_to_proofs

RECORD = record("without_recurrence")
RUNS = RECORD["runs"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_recorded_from_all_seeds_at_the_best_rate(kind: str) -> None:
    runs = [made for made in RUNS if made["kind"] == kind]
    first = runs[: len(RATES)]
    assert [(made["seed"], made["rate"]) for made in first] == [(SEEDS[0], rate) for rate in RATES]
    best = max(first, key=lambda made: sum(made["bleu_on_the_way"]))["rate"]
    later = [(made["seed"], made["rate"]) for made in runs[len(RATES) :]]
    assert later == [(seed, best) for seed in SEEDS[1:]]


def test_all_have_nearly_as_many_parameters() -> None:
    known = load("bahdanau")  # test_trained.py holds its words against those that are drawn
    sizes = len(known.source_words), len(known.target_words)
    numbers = {kind: count_parameters(build(*sizes)) for kind, build in KINDS.items()}
    assert max(numbers.values()) < 1.06 * min(numbers.values())
    assert all(made["parameters"] == numbers[made["kind"]] for made in RUNS)


def test_equal_seeds_have_seen_equal_tokens() -> None:
    for seed in SEEDS:
        assert len({made["tokens"] for made in RUNS if made["seed"] == seed}) == 1


def test_bleu_is_recorded_on_the_way_and_at_every_length() -> None:
    assert RECORD["every"] == EVERY
    for made in RUNS:
        assert len(made["bleu_on_the_way"]) == STEPS // EVERY
        assert list(made["bleu"]) == [name_of(bucket) for bucket in BUCKETS]
        assert all(0 <= bleu <= 100 for bleu in made["bleu"].values())


@left_to_proofs
def test_a_few_steps_say_what_they_did() -> None:
    made = run("attention alone", RATES[0], SEEDS[0], 2, BUCKETS[:1])
    assert list(made["bleu"]) == ["5-10"]
    assert len(made["bleu_on_the_way"]) == 1
    assert 2 * 16 * 10 < made["tokens"] < 2 * 16 * 120
