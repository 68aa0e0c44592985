"""Nothing in the core of a chapter is wider than its column, on a desktop or on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.book.test_pages import DESKTOP, PHONE, WAIT_FOR_MATH, size, without_formulas
from tests.conftest import chapters
from tests.sampling import parameters

pytestmark = pytest.mark.browser

# What a core holds beside text. A live figure has its own tests; a formula is measured in its box.
TOO_WIDE = """() => {
  const article = document.querySelector("article.bd-article");
  const column = article.querySelector("section").getBoundingClientRect();
  const end = document.getElementById("going-deeper");
  const tables = "table, .pst-scrollable-table-container";
  const parts = `pre, ${tables}, mjx-math, figure, img, .cell_output svg`;
  for (const fold of article.querySelectorAll("details")) fold.open = true;
  return [...article.querySelectorAll(parts)].filter((part) => {
    if (!(part.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
    if (!part.checkVisibility() || part.closest(".attn-figure")) return false;
    const box = part.getBoundingClientRect();
    const scrolls = part.matches("pre, table, div") && part.scrollWidth > part.clientWidth + 1;
    return scrolls || box.left < column.left - 1 || box.right > column.right + 1;
  }).map((part) => `${part.tagName}: ${part.textContent.trim().slice(0, 60)}`);
}"""


@pytest.mark.parametrize("name", parameters(chapters(), 3))
def test_core_is_no_wider_than_its_column(
    browser: Browser, bases: dict[str, str], name: str
) -> None:
    with browser.new_context() as window:
        page = window.new_page()
        page.goto(f"{bases['file']}/book/{name}.html")
        for shape in (DESKTOP, PHONE):
            page.set_viewport_size(size(shape))
            page.evaluate(WAIT_FOR_MATH)
            assert page.evaluate(TOO_WIDE) == [], shape


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
