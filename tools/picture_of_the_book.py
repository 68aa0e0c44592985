"""Take the picture of a page that the README shows, and that goes with links to the book.

    make book && python tools/picture_of_the_book.py

Take it anew when the look of the pages changes. It needs the browser of the tests.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from browser import launch
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent

PAGE = ROOT / "_build" / "html" / "book" / "11_transformer.html"
FIGURE = '[data-figure="writer"]'
SEEN = {"width": 1720, "height": 903}  # as wide to high as previews of links are, 1200 to 630
SCALE = 1200 / 1720


def main(target: Path) -> None:
    """Open the page from the disk, with its live figure in sight."""
    if not PAGE.is_file():
        sys.exit(f"{PAGE} is not there: run `make book`")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport=SEEN, device_scale_factor=SCALE)
        page.goto(PAGE.as_uri())
        page.locator(FIGURE).wait_for()
        page.evaluate("document.fonts.ready")
        cell = page.locator(".cell", has=page.locator(FIGURE))
        cell.evaluate("cell => scrollTo({top: cell.offsetTop - 64, behavior: 'instant'})")
        page.wait_for_timeout(500)  # the menu follows the section with some delay
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(128).save(target, optimize=True)


if __name__ == "__main__":
    main(ROOT / "docs" / "page.png")
