"""The sample that `make test` takes: the same each time, and the whole in `make proofs`."""

from __future__ import annotations

import pytest

from tests.sampling import PROOFS, left_to_proofs, parameters, sample

NAMES = [f"mutant {number}" for number in range(40)]


@pytest.fixture(autouse=True)
def in_make_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROOFS, raising=False)


def test_sample_follows_the_names_and_keeps_their_order() -> None:
    drawn = sample(NAMES, 5)
    assert len(drawn) == 5
    assert sample(reversed(NAMES), 5) == drawn[::-1]
    assert drawn == sorted(drawn, key=NAMES.index)
    assert sample(NAMES, 50) == NAMES


def test_one_thing_more_drives_at_most_one_out() -> None:
    before = {*sample(NAMES, 5)}
    for number in range(40, 60):
        assert len(before - {*sample([*NAMES, f"mutant {number}"], 5)}) <= 1


def test_proofs_take_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROOFS, "1")
    assert sample(NAMES, 5) == NAMES


def test_what_is_not_drawn_is_left_to_the_proofs() -> None:
    taken = [one.values[0] for one in parameters(NAMES, 5, always=["mutant 7"]) if not one.marks]
    assert len(taken) == 6
    assert "mutant 7" in taken
    left = [one for one in parameters(NAMES, 5) if one.marks]
    assert len(left) == 35
    assert {mark.name for one in left for mark in one.marks} == {left_to_proofs.name}
