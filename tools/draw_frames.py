"""Draw first states in a browser, as pages without scripts show them.

    python tools/draw_frames.py              those of the attention machine and of the writer
    python tools/draw_frames.py retrieval    one of them

Only the scripts can draw them. They compute places and letters from numbers alone and measure no
font, so that every browser draws the same; a test draws them again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Browser, sync_playwright

from attn_course.interactive import induction, machine, writer
from attn_course.interactive.frames import EMPTY, WIDTHS
from attn_course.interactive.machine.states import STATES
from tools.browser import FLAGS, chromium

# The folder of each picture, and the figure that a picture makes.
DRAWN = {
    **{state: (machine.FRAMES, partial(machine.machine_of, state)) for state in STATES},
    "induction": (induction.FRAMES, induction.induction_of),
    "writer": (writer.FRAMES, writer.writer_of),
}
PAGE = '<!doctype html><meta charset="utf-8"><body style="margin:0;width:{}px">{}'
# What can be taken is no part of a picture; what is left says in words what it shows.
TAKE = """() => {
  const frame = document.querySelector('.attn-picture > svg').cloneNode(true);
  for (const grip of frame.querySelectorAll('.grip')) grip.remove();
  frame.setAttribute('role', 'img');
  frame.removeAttribute('style');
  return frame.outerHTML;
}"""


def frames(browser: Browser, name: str) -> Iterator[tuple[str, str]]:
    """Yield the first picture of a figure at each width, under the name of its file."""
    page, html = browser.new_page(), DRAWN[name][1](EMPTY).html
    for width, pixels in WIDTHS.items():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_content(PAGE.format(pixels, html))
        yield f"{name}-{width}.svg", page.evaluate(TAKE) + "\n"
    page.close()


def main(names: list[str]) -> None:
    """Write the pictures of these states, or of all."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name in names or DRAWN:
            for file, picture in frames(browser, name):
                (DRAWN[name][0] / file).write_text(picture, encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
