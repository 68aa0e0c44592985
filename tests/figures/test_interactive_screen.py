"""A control and what it changes are on one screen, in every live figure."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.book.test_pages import size
from tests.figures.interactive_laws import AT_WIDTHS, PAGE
from tests.figures.interactive_pages import live_figures

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
