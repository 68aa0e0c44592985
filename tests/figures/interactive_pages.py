"""The page of the figures that a file of tests looks at, and the states that it sets there."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from attn_course.data.translation import SentencePair
from attn_course.interactive.figure import InteractiveFigure, stored_figures
from attn_course.trained.translators.measure import unseen_pairs
from tests.book.test_pages import DESKTOP, size
from tests.conftest import ROOT
from tests.figures.interactive_laws import watched, without_numbers, write_page
from tests.sampling import takes_all


def page_of(name: str, html: Callable[[], str], *weights: str) -> tuple[Any, ...]:
    """The fixtures of a file of tests: `address, window, page, figure` of a page of figures.

    The window is opened once; each test finds in it the page and its first figure in the first
    state, as a mouse or a finger would on a light desktop, with its folds open.
    """

    @pytest.fixture(scope="module")
    def address(tmp_path_factory: pytest.TempPathFactory) -> str:
        return write_page(tmp_path_factory.mktemp(name), html(), *weights)

    @pytest.fixture(scope="module")
    def window(browser: Browser, address: str) -> Iterator[Page]:
        with watched(browser, address) as page:
            yield page

    @pytest.fixture
    def page(window: Page, address: str) -> Page:
        return shown(window, address)

    @pytest.fixture
    def figure(page: Page) -> Locator:
        root = page.locator(f".attn-figure[data-figure='{name}']").first
        root.evaluate("root => root.querySelectorAll('.attn-more').forEach((f) => (f.open = true))")
        return root

    return address, window, page, figure


def shown(window: Page, address: str) -> Page:
    """Show a page in its first state, on a light desktop."""
    look(window, DESKTOP, "light")
    window.goto(address)
    return window


# In the first frame a figure sees its new width, in the second it is drawn.
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def look(page: Page, shape: tuple[int, int], colours: str, motion: str = "no-preference") -> None:
    """Look at a page on a screen of this size, in this colour, once its figures have followed."""
    page.set_viewport_size(size(shape))
    page.emulate_media(media="screen", color_scheme=colours, reduced_motion=motion)
    page.evaluate(TWO_FRAMES)


def live_figures() -> dict[str, InteractiveFigure]:
    """The figures of the chapters, each once."""
    notebooks = (json.loads(path.read_text()) for path in sorted(ROOT.glob("book/[0-9]*.ipynb")))
    return {one.name: one for notebook in notebooks for one, _ in stored_figures(notebook)}


# Sets the form as a link would, one state after another; one string, because a million numbers take
# a driver seconds.
READ_ALL = """async (root, states) => {
  const form = root.querySelector("form"), found = [];
  for (const state of states) {
    for (const name in state) {
      const control = form.elements[name];
      control[control.type === "checkbox" ? "checked" : "value"] = state[name];
    }
    root.reading = null;
    form.dispatchEvent(new Event("input", { bubbles: true }));
    const late = Date.now() + 30000;
    while (!root.reading) {
      if (Date.now() > late) throw new Error(`no reading of ${JSON.stringify(state)}`);
      await new Promise((resolve) => setTimeout(resolve));
    }
    found.push(root.reading);
  }
  return JSON.stringify(found);
}"""


def read_all(figure: Locator, states: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
    """Return the values that the figure computes in each state; a state is its form, by name."""
    return json.loads(figure.evaluate(READ_ALL, states))


def unseen(few: int, *lengths: tuple[int, int]) -> list[SentencePair]:
    """Sentences that no translator has learned from: a few, or a hundred in `make proofs`."""
    each = math.ceil((100 if takes_all() else few) / len(lengths))
    return [pair for length in lengths for pair in unseen_pairs(length, each)]


def assert_first_state_is_computed_alike(figure: Locator) -> None:
    """The page computes the words that Python gave for the first state; rounding may differ."""
    texts = figure.locator(".t")
    first = texts.all_text_contents()
    read_all(figure, [{}])
    now = texts.all_text_contents()
    assert list(map(without_numbers, now)) == list(map(without_numbers, first))


def assert_a_finger_hits(figure: Locator, taken: str = ":is(button, .grip[role])") -> None:
    """All that can be taken is large enough; of a point in the plane both sliders together are."""
    boxes = [one.bounding_box() for one in figure.locator(taken).all()]
    assert min(min(box["width"], box["height"]) for box in boxes if box) >= 24, "too small"
