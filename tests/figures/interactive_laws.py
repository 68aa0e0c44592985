"""The means by which tests look at the interactive figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from attn_course.interactive.live import write_weights
from tests.book.test_pages import DESKTOP, PHONE, size, watch, without_formulas
from tests.conftest import Build
from tests.sampling import left_to_proofs

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Figures</title>
<meta name="viewport" content="width=device-width"><style>html {{ color-scheme: light dark }}
</style></head><body><main><h1>Figures</h1>{}</main></body></html>"""

# The look in which least fits and least is seen; the proofs cross all widths and colours.
IN_LOOKS = pytest.mark.parametrize(
    ("shape", "colours"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light", marks=left_to_proofs),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=left_to_proofs),
        pytest.param(PHONE, "light", id="phone-light", marks=left_to_proofs),
    ],
)

AT_WIDTHS = pytest.mark.parametrize(
    "shape",
    [
        pytest.param(DESKTOP, id="desktop", marks=left_to_proofs),
        pytest.param(PHONE, id="phone"),
    ],
)


def write_page(folder: Path, figures: str, *weights: str) -> str:
    """Write a page of figures and the weights that they fetch, and return where it is."""
    write_weights(folder, weights)
    file = folder / "page.html"
    file.write_text(PAGE.format(figures), encoding="utf-8")
    return file.as_uri()


@contextmanager
def watched(browser: Browser, address: str) -> Iterator[Page]:
    """Give a page for this address, which must neither complain nor ask for anything."""
    with browser.new_context(viewport=size(DESKTOP), has_touch=True) as window:
        page = window.new_page()
        page.set_default_timeout(5000)
        seen = watch(page, address.rpartition("/")[0])
        yield page
        assert (seen.troubles, seen.requests) == ([], [])


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """Open a page that must neither complain nor ask for anything."""
    with watched(browser, address) as page:
        page.goto(address)
        yield page


@contextmanager
def opened_in_the_book(browser: Browser, book: Build, name: str) -> Iterator[Page]:
    """Open a chapter on a phone, from the disk, without its formulas: they take longest."""
    assert book.status == 0, "the book does not build: see test_book.py"
    with browser.new_context(viewport=size(PHONE)) as window:
        page = without_formulas(window)
        page.goto((book.html.resolve() / "book" / f"{name}.html").as_uri())
        yield page


def data_of(figure: Locator) -> dict[str, Any]:
    return json.loads(figure.locator("script[type='application/json']").inner_text())


def reading(figure: Locator) -> dict[str, Any]:
    return figure.evaluate("root => root.reading")


@contextmanager
def read_aloud_after_a_pause(page: Page, figure: Locator) -> Iterator[Locator]:
    """Yield the sentence of a figure, which says nothing aloud before the block, and all after."""
    status, sentence = figure.locator("[role=status]"), figure.locator(".attn-sentence")
    assert status.inner_text() == "", "it spoke before it was asked"
    yield sentence
    page.wait_for_function("one => one.textContent", arg=status.element_handle())
    assert status.inner_text() == sentence.inner_text()


# How strong the last picture stands while its answer is another input's.
PALE = "root => getComputedStyle(root.querySelector('.attn-picture')).opacity"


def assert_refused_beside(figure: Locator, box: str, said: str) -> None:
    """Assert that a refusal is said right below its box, and that the last answer stands pale."""
    alert, typed = figure.get_by_role("alert"), figure.get_by_label(box)
    alert.get_by_text(said).wait_for()
    (top, where) = typed.bounding_box(), alert.bounding_box()
    assert 0 <= where["y"] - top["y"] - top["height"] < 40, "it is said away from its box"
    assert figure.get_attribute("data-stale") is not None
    assert figure.evaluate(PALE) == "0.35"


def without_numbers(text: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?", "#", text)


def assert_focus_is_seen(page: Page, name: str) -> None:
    """Assert that the element with the focus, or the label around it, has an outline."""
    outline = page.evaluate(
        """() => { const here = document.activeElement, label = here.closest('.attn-option');
             return getComputedStyle(label ?? here).outlineStyle }"""
    )
    assert outline != "none", name


# Lets the figure answer up to ten times; a busy machine delays some of them, hardly all.
FASTEST = """async root => {
  const form = root.querySelector("form"), took = [];
  while (took.length < 10 && !(Math.min(...took) < 20)) {
    root.milliseconds = undefined;
    form.dispatchEvent(new Event("input", { bubbles: true }));
    while (root.milliseconds === undefined) await new Promise((resolve) => setTimeout(resolve));
    took.push(root.milliseconds);
  }
  return Math.min(...took);
}"""


def assert_quick(figure: Locator) -> None:
    """The model in the page needs less than 20 ms for a word."""
    assert figure.evaluate(FASTEST) < 20
