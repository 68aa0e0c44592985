"""The writer that is trained on at four times its length: the record is what a run gives today."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from attn_course.trained import farther, record
from tests.course.first_steps import first_steps

(RUN,) = record("farther")["runs"]


def test_record_has_each_stretch() -> None:
    assert RUN["base"] == farther.SLOWER
    assert len(RUN["by_stretch"]) == farther.LENGTH / farther.STRETCH


def test_record_begins_as_a_run_does_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farther, "train", partial(first_steps, farther.EVERY))
    monkeypatch.setattr(farther, "losses", lambda *_: torch.zeros(1, farther.LENGTH))
    assert farther.run()["first"] == pytest.approx(RUN["first"], abs=5e-3)
