"""Laws for every interactive figure of the book, and the means by which tests look at them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page

from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import weights_script, write_weights
from tests.book.test_pages import AXE, DESKTOP, PHONE, RUN_AXE, size, watch
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
        page = window.new_page()
        page.route("**/mathjax/*", lambda route: route.abort())
        page.goto((book.html.resolve() / "book" / f"{name}.html").as_uri())
        yield page


def data_of(figure: Locator) -> dict[str, Any]:
    return json.loads(figure.locator("script[type='application/json']").inner_text())


def reading(figure: Locator) -> dict[str, Any]:
    return figure.evaluate("root => root.reading")


def without_numbers(text: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?", "#", text)


def numbers_in(text: str) -> torch.Tensor:
    return torch.tensor([float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)])


# Everything in the picture: its name, its attributes by name, and its own text.
DRAWN = """root => [...root.querySelectorAll('.attn-picture :is(svg, svg *)')].map(node => [
  node.nodeName,
  [...node.attributes].map(one => `${one.name}=${one.value}`).sort().join(' '),
  node.children.length ? '' : node.textContent,
].join('|'))"""
# The texts under a picture.
TEXTS = (
    "root => ['sentence', 'readings'].map(one => root.querySelector(`.attn-${one}`).textContent)"
)
# Every cell and text of a table: its words, its opacity, and its box in its picture.
BOXES = """root => [...root.querySelectorAll(":is([data-cell], svg text)")].map((one) => {
  const box = one.getBoundingClientRect(), picture = one.closest("svg").getBoundingClientRect();
  const numbers = [box.x - picture.x, box.y - picture.y, box.width, box.height];
  return [one.textContent, one.getAttribute("fill-opacity"), ...numbers.map(Math.round)];
})"""


def assert_stands_without_scripts(
    browser: Browser,
    address: str,
    figure: str,
    marks: str,
    number: int,
    alive: Page | None = None,
    alike: Callable[[Locator, Locator], None] | None = None,
) -> None:
    """The picture with so many marks, and its sentence, are there; the controls are not.

    If the same page is given alive, its scripts have drawn the same pictures, up to rounding, or
    as `alike` has it.
    """
    with _beside(browser) as page:
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setScriptExecutionDisabled", {"value": True})
        page.goto(address)
        first = page.locator(figure).first
        assert first.locator(marks).count() == number
        sentence = first.locator(".attn-sentence")
        assert sentence.is_visible()
        assert first.get_by_role("img", name=sentence.inner_text(), exact=True).count() == 1
        assert not first.locator("form").is_visible()
        if alive:
            for pair in zip(page.locator(figure).all(), alive.locator(figure).all(), strict=True):
                (alike or assert_same)(*pair)


@contextmanager
def _beside(browser: Browser) -> Iterator[Page]:
    """A page in a window that is open already, if one is: another takes as long as a test."""
    page = (browser.contexts or [browser])[0].new_page()
    page.set_viewport_size(size(DESKTOP))
    yield page
    page.close()


def exactly(script: str) -> Callable[[Locator, Locator], None]:
    """Hold two figures to be the very same, as far as a script reads them."""

    def assert_equal(still: Locator, alive: Locator) -> None:
        assert alive.evaluate(script) == still.evaluate(script)

    return assert_equal


def assert_same(still: Locator, alive: Locator, atol: float = 0.101) -> None:
    """Two figures say the same, and numbers differ by a digit at most."""
    drawn = [figure.evaluate(DRAWN) for figure in (still, alive)]
    for part in (".attn-readings", ".attn-sentence"):
        for texts, figure in zip(drawn, (still, alive), strict=True):
            texts.append(figure.locator(part).text_content())
    one, other = drawn
    assert [without_numbers(text) for text in other] == [without_numbers(text) for text in one]
    numbers = [numbers_in(" ".join(texts)) for texts in (other, one)]
    torch.testing.assert_close(*numbers, rtol=0, atol=atol)


def assert_prints_without_controls(page: Page, figure: str) -> None:
    """On paper the picture and its sentence are left."""
    page.emulate_media(media="print")
    first = page.locator(figure).first
    assert not first.locator("form").is_visible()
    assert first.locator(".attn-sentence").is_visible()
    assert first.locator("svg").first.is_visible()


# The texts beside sliders and readings that need more than their line or column.
CROWDED = """() => [...document.querySelectorAll(".attn-row output, .attn-readings dt")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 || (one.matches("output") &&
    one.clientHeight > 1.6 * parseFloat(getComputedStyle(one).lineHeight)))
  .map((one) => one.textContent)"""
# Words that stick out of a table of weights, which hides what does.
CUT = """() => [...document.querySelectorAll(".attn-table text")].filter((text) => {
  const word = text.getBoundingClientRect(), table = text.ownerSVGElement.getBoundingClientRect();
  return word.left < table.left - 1 || word.right > table.right + 1 || word.top < table.top - 1;
}).map((text) => text.textContent)"""


def assert_accessible_and_fits(page: Page, letters: str) -> None:
    """Nothing scrolls sideways, no word is cut or crowded, axe finds nothing, letters are large."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    assert page.evaluate(CUT) == []
    assert page.evaluate(CROWDED) == []
    page.evaluate(AXE)
    assert page.evaluate(RUN_AXE) == []
    height = "text => text.getBoundingClientRect().height"
    assert page.locator(letters).first.evaluate(height) > 11


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


def assert_page_is_light(book: Build, name: str) -> None:
    """A chapter with its figures, without what pages share, is below 150 kB on the wire."""
    page = (book.html / "book" / f"{name}.html").read_bytes()
    assert len(gzip.compress(page)) < 150_000


def assert_stays_without_its_weights(
    browser: Browser, folder: Path, figure: InteractiveFigure, change: Callable[[Locator], None]
) -> None:
    """Assert that a figure says if its weights cannot be fetched, and keeps its picture."""
    with _beside(browser) as page:
        page.goto(write_page(folder, figure.html))
        shown = page.locator(".attn-figure")
        before = shown.locator("svg").first.inner_html()
        change(shown)
        alert = shown.get_by_role("alert")
        alert.get_by_text("cannot be read").wait_for()
        assert "_static/weights/" in alert.inner_text()
        assert shown.locator("svg").first.inner_html() == before


def assert_small(html: str, *weights: str, most: float = 1.1e6, page: int = 22_000) -> None:
    """A figure and its weights are light; packed, their letters weigh what their bytes do."""
    assert len(gzip.compress(html.encode())) < page
    for name in weights:
        assert len(weights_script(name)) * 3 / 4 < most
