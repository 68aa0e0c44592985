"""A browser that crashes while it starts is started again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Error

from tools.browser import launch


def playwright_of(outcomes: list[Any]) -> Any:
    """Return what launches as `outcomes` say, one after the other."""

    def start(**_: object) -> object:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Error):
            raise outcome
        return outcome

    return SimpleNamespace(chromium=SimpleNamespace(launch=start))


def test_browser_that_crashes_at_its_start_is_started_again() -> None:
    outcomes: list[Any] = [Error("Segmentation fault"), "browser"]
    assert launch(playwright_of(outcomes)) == "browser"
    assert outcomes == []


def test_browser_that_never_starts_says_why() -> None:
    outcomes = [Error(f"fault {n}") for n in range(3)]
    with pytest.raises(Error, match="fault 2"):
        launch(playwright_of(outcomes))
