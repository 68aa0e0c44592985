"""The teaching plan: its numbers come from chapters and problem sets, and its slides lead on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser

from attn_course.interactive.machine.states import STATES
from tests.book.test_pages import AXE, DESKTOP, PHONE, RUN_AXE, SIDEWAYS, size, watch
from tests.conftest import ROOT, Build, chapters
from tests.sampling import parameters

sys.path.append(str(ROOT / "book" / "_ext"))
from laboratories import laboratories
from teaching import Part, minutes_of, parts_of, plan, row_of

BOOK = ROOT / "book"
PLAN = plan(BOOK)
HOLDS = """([form, wanted]) => {
  const held = new FormData(form);
  return wanted.every(([name, value]) => held.get(name) === value);
}"""


# That the plan tells of every chapter, and of no other, is for `tools/check_chapters.py`.
def test_figures_of_a_chapter_are_its_own() -> None:
    there = laboratories(BOOK)
    for name, about in PLAN["chapters"].items():
        for figure in about["figures"]:
            (state,) = figure
            assert there[state.partition("&")[0]].chapter == name, state


def test_every_row_can_be_written() -> None:
    for weeks in PLAN["paths"].values():
        for number, week in enumerate(weeks, start=1):
            assert row_of(BOOK, number, week).count(" | ") == 5


def lay_out_set(root: Path) -> None:
    """Put a problem set with two parts where the book looks for it."""
    table = "| Part | What you do | Points | Minutes |\n|---|---|---|---|\n"
    rows = "| A | one | 4 | 15 |\n| B | two | 2.5 | 10 |\n"
    path = root / "exercises" / "01_a" / "01_a.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": [{"source": [table, rows]}]}))


def test_points_and_minutes_are_those_of_the_parts(tmp_path: Path) -> None:
    lay_out_set(tmp_path)
    book = tmp_path / "book"
    assert parts_of(book, "01_a", "B") == [Part("B", 2.5, 10)]
    assert [part.minutes for part in parts_of(book, "01_a", "all")] == [15, 10]
    assert parts_of(book, "02_b", "all") == []
    with pytest.raises(ValueError, match="problem set 01_a has no part X"):
        parts_of(book, "01_a", "AX")
    (book / "text").mkdir(parents=True)
    (book / "text" / "01_a.md").write_text("---\ncourse:\n  minutes: 41\n---\n")
    assert minutes_of(book, "01_a") == 41


@pytest.mark.browser
@pytest.mark.parametrize("name", parameters(chapters(), 2))
def test_slides_show_one_figure_each_in_its_state_with_its_question(
    browser: Browser, book: Build, name: str
) -> None:
    wanted = [item for figure in PLAN["chapters"][name]["figures"] for item in figure.items()]
    base = book.html.resolve().as_uri()
    with browser.new_context(viewport=size(DESKTOP)) as window:
        page = window.new_page()
        seen = watch(page, base)
        page.goto(f"{base}/slides/{name}.html")
        shown = page.locator("figure.attn-figure:visible")
        for number, (state, question) in enumerate(wanted, start=1):
            lab, _, rest = state.partition("&")
            assert page.locator("h1").text_content() == question
            assert page.get_by_role("status").first.text_content() == f"{number} of {len(wanted)}"
            assert shown.get_attribute("data-figure") == lab
            given = [shown.locator("form").element_handle(), parse_qsl(rest, True)]
            page.wait_for_function(HOLDS, arg=given)
            assert page.evaluate("scrollY") == 0
            page.keyboard.press("PageDown")
        page.keyboard.press("PageUp")
        assert page.locator("h1").text_content() == wanted[-2][1]
        for shape in (DESKTOP, PHONE):
            page.set_viewport_size(size(shape))
            assert page.evaluate(SIDEWAYS) == 0
        page.evaluate(AXE)
        assert page.evaluate(RUN_AXE) == []
        assert (seen.troubles, seen.requests) == ([], [])


@pytest.mark.browser
def test_what_a_slide_has_changed_is_undone_on_another(browser: Browser, book: Build) -> None:
    first, second = (next(iter(one)) for one in PLAN["chapters"]["09_multi_head"]["figures"][:2])
    assert second.startswith(f"{first}&stretch=")  # the same figure, as it stands and in a state
    slider = STATES["multi_head"].controls["stretch"]
    with browser.new_context() as window:
        page = window.new_page()
        page.goto(f"{book.html.resolve().as_uri()}/slides/09_multi_head.html")
        page.get_by_role("button", name="Next").click()
        form = page.locator("figure.attn-figure:visible form").element_handle()
        page.wait_for_function(HOLDS, arg=[form, parse_qsl(second.partition("&")[2])])
        page.get_by_role("button", name="Previous").click()
        start = str(slider.stops.index(slider.start))
        page.wait_for_function(HOLDS, arg=[form, [("stretch", start)]])
