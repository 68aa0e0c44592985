"""The writer that is trained on at four times its length: the record is what a run gives today."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest
import torch

from attn_course.trained import record
from attn_course.trained.writers import context_extension as extension
from tests.course.first_steps import first_steps

RUNS = record("context_extension")["runs"]


def test_record_has_each_stretch() -> None:
    bases = (extension.SLOWER, extension.AS_LEARNED)
    assert [(run["base"], run["seed"]) for run in RUNS] == [*product(bases, extension.SEEDS)]
    assert all(len(run["by_stretch"]) == extension.LENGTH / extension.STRETCH for run in RUNS)


def test_record_begins_as_a_run_does_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "train", partial(first_steps, extension.EVERY))
    monkeypatch.setattr(extension, "losses", lambda *_: torch.zeros(1, extension.LENGTH))
    assert extension.run(extension.SLOWER, 0)["first"] == pytest.approx(RUNS[0]["first"], abs=5e-3)
