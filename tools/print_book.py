"""Lays the built book out as one PDF for the printer, through the Chromium of `browser.py`.

    python tools/print_book.py [_build/html] [dist/attention.pdf]

`print_pages.py` joins the pages of the book; `print.css` gives them their form. Chromium lets no
chapter begin on the right, and fills in no number of a page. So the book is laid out, the PDF is
asked what lies where, and it is laid out again until the numbers are the true ones.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml
from browser import chromium, launch
from bs4 import Tag
from playwright.sync_api import Browser, Error, Playwright, sync_playwright
from print_pages import ROOT, NotBuilt, address_of, join, pages
from pypdf import PdfReader

ROUNDS = 5
# Without tags it makes no bookmarks.
HOW = {"prefer_css_page_size": True, "print_background": True, "tagged": True, "outline": True}
WHOLE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
<script>window.MathJax = {{options: {{processHtmlClass: "math", enableMenu: false}}}};</script>
<script src="../html/_static/mathjax/tex-chtml.js"></script>
<link rel="stylesheet" href="../html/_static/pygments.css">
<link rel="stylesheet" href="../html/_static/fonts.css">
<style>{style}</style>
</head>
<body>
<div class="front"><p class="title">{title}</p><p>{author}</p><p>{year}</p></div>
<div class="imprint"><p>This edition holds the chapters, the guide to the problem sets and the
back matter. Interactive figures show their first state. The laboratory, the guide for instructors,
the kill matrix and the reference of the packages are {place}. A raised number leads to the
addresses at the end of its chapter; answers are at the end of the book.</p></div>
{body}
</body>
</html>
"""
# The book's name on the left-hand pages, the chapter's on the right-hand ones.
HEADS = """@page {name}:left {{
  @top-left {{ content: "{left}" }} @bottom-left {{ content: counter(page) }}
}}
@page {name}:right {{
  @top-right {{ content: "{right}" }} @bottom-right {{ content: counter(page) }}
}}"""
# Writes the numbers, and puts a blank page before each chapter that needs one.
FILL = """([numbers, blanks]) => {
  for (const link of document.querySelectorAll("a.page"))
    link.textContent = numbers[decodeURIComponent(link.hash.slice(1))] ?? "000";
  for (const page of document.querySelectorAll(":is(nav, .chapter) + .blank")) page.remove();
  for (const name of blanks) {
    const page = document.createElement("div");
    page.className = "blank";
    document.getElementById(name).before(page);
  }
}"""


def style_of(parts: list[Tag], title: str) -> str:
    """The form of all pages, and the head of each part."""
    rules = [(Path(__file__).with_name("print.css")).read_text(encoding="utf-8")]
    for part in parts:
        head = part.h1.get_text().replace("\\", "").replace('"', '\\"')
        rules.append(HEADS.format(name=f"page-{part['id']}", left=title, right=head))
        part["style"] = f"page: page-{part['id']}"
    return "\n".join(rules)


def whole(parts: list[Tag], config: dict[str, Any], base: str) -> str:
    """The edition as one page of HTML; `base` is the address of the book, if it has one."""
    return WHOLE.format(
        title=config["title"],
        author=config["author"],
        year=config["copyright"],
        style=style_of(parts, config["title"]),
        place=f"at {base}" if base else "in the built book, as make book makes it",
        body="\n".join(map(str, parts)),
    )


class NoBrowser(Exception):
    """There is no Chromium that starts."""


def start(playwright: Playwright) -> Browser:
    """The browser that the tests use: $CHROMIUM, or one on PATH, or Playwright's own."""
    path = chromium()
    try:
        return launch(playwright)
    except Error as error:
        what = path or "Playwright's own Chromium"
        raise NoBrowser(
            f"{what} does not start: 'make browser' gets one, or set CHROMIUM"
        ) from error


def lay_out(source: Path, target: Path) -> None:
    """Print a joined page until its numbers are true; raise NoBrowser if there is none to do it."""
    with sync_playwright() as playwright:
        browser = start(playwright)
        page = browser.new_page()
        page.goto(source.resolve().as_uri())
        page.evaluate("MathJax.startup.promise")
        page.evaluate("document.fonts.ready")
        names = page.eval_on_selector_all("section.chapter", "all => all.map(one => one.id)")
        numbers: dict[str, int] = {}
        blanks: list[str] = []
        for _ in range(ROUNDS):
            page.evaluate(FILL, [numbers, blanks])
            page.pdf(path=target, **HOW)
            found = numbers_of(target)
            if found == numbers:
                break
            numbers, blanks = with_blanks(found, names, blanks)
        else:
            raise RuntimeError(f"{target}: after {ROUNDS} rounds its page numbers still change")
        browser.close()


def numbers_of(pdf: Path) -> dict[str, int]:
    """The page, from 1, on which each place lies that the PDF links to."""
    reader = PdfReader(pdf)
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def with_blanks(
    found: dict[str, int], names: list[str], blanks: list[str]
) -> tuple[dict[str, int], list[str]]:
    """The numbers once each chapter begins on an odd page, and the chapters that need a blank one.

    found: the numbers while there is a blank page before each chapter of `blanks`.
    """
    starts, shift, needed = {}, 0, []
    moved: dict[str, int] = {}
    for name in names:
        shift -= name in blanks
        if (found[name] + shift) % 2 == 0:
            needed.append(name)
            shift += 1
        starts[found[name]], moved[name] = shift, found[name] + shift
    for place, number in found.items():
        before = [start for start in starts if start <= number]
        moved[place] = number + (starts[max(before)] if before else 0)
    return moved, needed


def print_pages(html: Path, chosen: list[str], target: Path) -> None:
    """Print the chosen pages of the book built in `html`; raise NotBuilt if one is missing."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    parts = join(html, chosen)
    joined = html.parent / "print" / "book.html"
    for folder in (joined.parent, target.parent):
        folder.mkdir(parents=True, exist_ok=True)
    joined.write_text(whole(parts, config, address_of(html, chosen[0])), encoding="utf-8")
    lay_out(joined, target)


def main() -> None:
    """Print the built book, and say how long it became."""
    html = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "_build" / "html").resolve()
    target = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "dist" / "attention.pdf")
    print(f"Laying out {html}: less than a minute.", flush=True)
    try:
        print_pages(html, pages(), target)
    except (NotBuilt, NoBrowser) as error:
        sys.exit(str(error))
    print(f"{target}: {len(PdfReader(target).pages)} pages, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
