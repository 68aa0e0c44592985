"""A control and what it changes are on one screen, in every live figure."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from attn_course.interactive.live import write_weights
from tests.book.test_pages import size
from tests.figures.interactive_laws import AT_WIDTHS, PAGE, write_page
from tests.figures.interactive_pages import live_figures, read_all

# Less of a picture than this, in pixels, shows no effect.
SEEN = 250
# The controls that are out of sight or covered when a reader goes to them, and those beside which
# too little of the picture is left.
APART = """async ([root, seen]) => {
  const parts = ["form", ".attn-picture"].map((one) => root.querySelector(one));
  const [form, picture] = parts, found = [];
  const shared = (a, b) => Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  for (const one of form.querySelectorAll("input, select, button")) {
    const control = one.closest("label") ?? one;
    if (!control.checkVisibility() || one.type === "hidden") continue;
    scrollTo(0, 0);
    control.scrollIntoView({ block: "nearest" });
    // then a reader may look for the effect: what is pinned stays
    if (root.dataset.pinned === "form") picture.scrollIntoView({ block: "center" });
    await new Promise(requestAnimationFrame);
    const [here, over, box] = [control, form, picture].map((part) => part.getBoundingClientRect());
    const covered = root.dataset.pinned === "form" ? shared(over, box) : 0;
    const left = shared(box, { top: 0, bottom: innerHeight }) - covered;
    const hit = document.elementFromPoint(here.left + here.width / 2, here.top + here.height / 2);
    if (!form.contains(hit) || left < Math.min(box.height - 1, seen))
      found.push([one.name || one.textContent, Math.round(left), hit?.nodeName]);
  }
  return found;
}"""

# Brings a cell near the top of the screen.
NEAR_THE_TOP = "cell => scrollBy(0, cell.getBoundingClientRect().top - 0.2 * innerHeight)"
# The middle of a cell on the screen, after a redraw.
MIDDLE = """async cell => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  const { x, y, width, height } = cell.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""


@pytest.mark.browser
@AT_WIDTHS
def test_control_and_effect_are_on_one_screen(browser: Browser, shape: tuple[int, int]) -> None:
    with browser.new_context(viewport=size(shape)) as window:
        for name, figure in live_figures().items():
            page = window.new_page()
            page.set_content(PAGE.format(figure.html + "<div style='height: 900px'></div>"))
            root = page.locator(".attn-figure").element_handle()
            assert page.evaluate(APART, [root, SEEN]) == [], name
            page.close()


@pytest.mark.browser
@AT_WIDTHS
def test_click_on_a_cell_leaves_it_under_the_pointer(
    browser: Browser, shape: tuple[int, int], tmp_path: Path
) -> None:
    write_weights(tmp_path)
    space = "<div style='height: 900px'></div>"
    with browser.new_context(viewport=size(shape)) as window:
        for name, figure in live_figures().items():
            page = window.new_page()
            page.goto(write_page(tmp_path, space + figure.html + space))
            root = page.locator(".attn-figure")
            cells = root.locator("[data-cell]:visible")
            if cells.count():
                read_all(root, [{}])  # what it fetches is there, so that it answers at once
                cell = cells.nth(cells.count() // 2)
                cell.evaluate(NEAR_THE_TOP)
                middle = cell.evaluate(MIDDLE)
                page.mouse.click(*middle)
                assert page.evaluate("document.activeElement.matches('[data-cell]')"), name
                assert cell.evaluate(MIDDLE) == pytest.approx(middle, abs=1), name
            page.close()
