"""The writer that is trained on at four times its length: the record is what a run gives today."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest
import torch

from attn_course.trained import farther, record
from tests.course.first_steps import first_steps

RUNS = record("farther")["runs"]


def test_record_has_each_stretch() -> None:
    bases = (farther.SLOWER, farther.AS_LEARNED)
    assert [(run["base"], run["seed"]) for run in RUNS] == [*product(bases, farther.SEEDS)]
    assert all(len(run["by_stretch"]) == farther.LENGTH / farther.STRETCH for run in RUNS)


def test_record_begins_as_a_run_does_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farther, "train", partial(first_steps, farther.EVERY))
    monkeypatch.setattr(farther, "losses", lambda *_: torch.zeros(1, farther.LENGTH))
    assert farther.run(farther.SLOWER, 0)["first"] == pytest.approx(RUNS[0]["first"], abs=5e-3)
