"""Naming the tests that `make quick` had no time for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import quick


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "the time is over; tests left to make test: 1 of test_a.py, 2 of test_b.py"),
        (60, None),
    ],
)
def test_tests_that_are_not_reached_are_named(
    monkeypatch: pytest.MonkeyPatch, seconds: int, said: str | None
) -> None:
    monkeypatch.setattr(quick, "SECONDS", seconds)
    minute = quick.Minute([], set())
    files = ("test_a.py", "test_a.py", "test_b.py", "test_b.py")
    items = [SimpleNamespace(path=Path("tests", name)) for name in files]
    minute.session = SimpleNamespace(items=items, shouldstop=None)
    minute.pytest_runtest_logfinish()
    assert minute.session.shouldstop == said
