"""Finding what is too wide for the column, and giving code the rows that it needs.

That no core holds anything so wide, each visit to a chapter asks: see test_pages.py.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.book.test_pages import DESKTOP, PHONE, TOO_WIDE, size, without_formulas
from tests.conftest import chapters

pytestmark = pytest.mark.browser

WIDE = {
    "code": "<div class='highlight'><pre>" + "x" * 100 + "</pre></div>",
    "a table": "<div class='pst-scrollable-table-container'><table><tr>"
    + "<td>wwwwww</td>" * 20
    + "</tr></table></div>",
    "a picture": "<img src='../_static/favicon.svg' style='max-width:none; width:900px' alt=''>",
}


def test_what_is_too_wide_is_found(browser: Browser, bases: dict[str, str]) -> None:
    with browser.new_context(viewport=size(DESKTOP)) as window:
        page = without_formulas(window)
        page.goto(f"{bases['file']}/book/{chapters()[0]}.html")
        before = page.evaluate(TOO_WIDE)
        first = page.locator("article section > p").first
        for html in WIDE.values():
            first.evaluate("(p, html) => p.insertAdjacentHTML('afterend', html)", html)
            assert len(page.evaluate(TOO_WIDE)) > len(before), html
            first.evaluate("p => p.nextElementSibling.remove()")
        assert page.evaluate(TOO_WIDE) == before


# Chapters have code of up to this width, see tools/check_chapters.py.
CODE = "x " * 38
ROWS_OF = "line => Math.round(line.offsetHeight / parseFloat(getComputedStyle(line).lineHeight))"


def test_code_of_a_chapter_takes_one_row_on_a_desktop(
    browser: Browser, bases: dict[str, str]
) -> None:
    with browser.new_context(viewport=size(DESKTOP)) as window:
        page = without_formulas(window)
        page.goto(f"{bases['file']}/book/01_retrieval.html")
        line = page.locator(".cell_input .line").first
        for code, rows in ((CODE, 1), (2 * CODE, 2)):
            line.evaluate("(line, code) => line.textContent = code", code)
            page.evaluate("document.fonts.ready")
            assert line.evaluate(ROWS_OF) == rows


# Where the rows of a wrapped line begin, from the top.
ROWS = """line => {
  const range = document.createRange(), lefts = new Map();
  range.selectNodeContents(line);
  for (const {top, left} of range.getClientRects())
    lefts.set(Math.round(top), Math.min(left, lefts.get(Math.round(top)) ?? Infinity));
  return [...lefts].sort(([a], [b]) => a - b).map(([, left]) => left);
}"""


def test_code_wraps_on_a_phone_below_its_beginning_and_is_copied_as_written(
    browser: Browser, bases: dict[str, str]
) -> None:
    with browser.new_context(viewport=size(PHONE)) as window:
        page = without_formulas(window)
        page.goto(f"{bases['file']}/book/01_retrieval.html")
        fold = page.locator("details.whole-listing", has_text="best = scores.amax").first
        fold.evaluate("fold => fold.open = true")
        first, *below = fold.locator(".line", has_text="best = scores.amax").evaluate(ROWS)
        assert below
        assert all(left > first for left in below)
        copied = fold.locator("pre").evaluate("code => code.textContent")
        assert "\n    best = scores.amax(-1, keepdim=True).detach()\n" in copied
