"""Draw the first pictures of the interactive figures, which pages without scripts show.

    python tools/draw_frames.py                      all figures
    python tools/draw_frames.py machine-retrieval    one of them

These are the states of the attention machine and the figures that the notebooks store, as they are
on paper. Only their scripts can draw them. They compute places from numbers alone and measure no
font, so that every browser draws the same; a test draws them again. A notebook that shows one gets
it, too: nothing is executed for that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Browser, sync_playwright

from attn_course.interactive.associative_memory import associative_memory_explorer
from attn_course.interactive.figure import InteractiveFigure, stored_figures
from attn_course.interactive.frames import WIDTHS, place_of
from attn_course.interactive.machine import attention_machine, name_of
from attn_course.interactive.machine.states import STATES
from attn_course.interactive.rotary import rotary_explorer
from attn_course.interactive.tiles import tile_explorer
from attn_course.interactive.writer import writer_explorer
from tools.browser import launch
from tools.cells import as_text, put, read

ROOT = Path(__file__).resolve().parent.parent
PAGE = '<!doctype html><meta charset="utf-8"><body style="margin:0;width:{}px">{}'
# What can be taken, and what fonts decide, is no part of a picture; it says in words what it shows.
TAKE = """root => {
  const shown = [...root.querySelectorAll('.attn-picture > svg:not([hidden])')];
  return shown.map((svg, i) => {
    const frame = svg.cloneNode(true);
    for (const grip of frame.querySelectorAll('.grip')) grip.remove();
    for (const word of frame.matches('.attn-table') ? frame.querySelectorAll('text') : [])
      for (const name of ['textLength', 'lengthAdjust']) word.removeAttribute(name);
    for (const one of [frame, ...frame.querySelectorAll('*')])
      for (const name of one.getAttributeNames())
        if (/^(role|tabindex|aria-(?!label))/.test(name) ||
            (one !== frame && name === 'aria-label')) one.removeAttribute(name);
    frame.removeAttribute('style');
    frame.setAttribute('xmlns', svg.namespaceURI);
    if (i) frame.removeAttribute('aria-label');
    frame.setAttribute(...(i ? ['aria-hidden', 'true'] : ['role', 'img']));
    return frame.outerHTML + '\\n';
  }).join('');
}"""


def figures() -> dict[str, InteractiveFigure]:
    """The attention machine in each state, figures of their own, and those of the notebooks."""
    found = {name_of(state): attention_machine(state) for state in STATES}
    own = (
        writer_explorer(), rotary_explorer(), associative_memory_explorer(), tile_explorer()
    )  # fmt: skip
    found |= {figure.name: figure for figure in own}
    for path in notebooks():
        found |= {figure.name: figure for figure, _ in stored_figures(read(path))}
    return found


def notebooks() -> list[Path]:
    """The notebooks of the chapters."""
    return sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))


def frames(browser: Browser, figure: InteractiveFigure) -> Iterator[tuple[Path, str]]:
    """Yield the first pictures of a figure, with their files: the narrow one if it is another."""
    page, drawn = browser.new_page(), ""
    page.emulate_media(media="print")
    for width, pixels in WIDTHS.items():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_content(PAGE.format(pixels, figure.html))
        before, drawn = drawn, page.locator(".attn-figure").evaluate(TAKE)
        if drawn != before:
            yield place_of(figure.name, width), drawn.replace("<svg", f"<svg {figure.mark}")
    page.close()


def put_into_notebooks() -> None:
    """Give the notebooks the pictures that the package holds now."""
    for path in notebooks():
        notebook = read(path)
        before = as_text(notebook)
        for figure, forms in stored_figures(notebook):
            if figure.drawing:
                forms["image/svg+xml"] = figure.drawing
                forms["text/plain"] = figure.words
        if as_text(notebook) != before:
            put(as_text(notebook).encode(), path)


def main(names: list[str]) -> None:
    """Draw these figures, or all, and renew the notebooks."""
    found = figures()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name in names or found:
            for file, picture in frames(browser, found[name]):
                file.parent.mkdir(exist_ok=True)
                file.write_text(picture, encoding="utf-8")
        browser.close()
    put_into_notebooks()


if __name__ == "__main__":
    main(sys.argv[1:])
