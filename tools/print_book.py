"""Lays the built book out as one PDF for the printer, through the Chromium of the tests.

    python tools/print_book.py [_build/html] [dist/attention.pdf]

`print_pages.py` joins the pages of the book; `print.css` gives them their form. Only
Chromium knows on which pages things are, once it has laid them out, so it does that until the
numbers in the contents are the true ones.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import yaml
from bs4 import Tag
from playwright.sync_api import sync_playwright
from print_pages import ROOT, join
from pypdf import PdfReader

sys.path.insert(0, str(ROOT))
from tests.conftest import FLAGS, chromium

ROUNDS = 5
WHOLE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<title>{title}</title>
<script>window.MathJax = {{options: {{processHtmlClass: "math", enableMenu: false}}}};</script>
<script src="../html/_static/mathjax/tex-chtml.js"></script>
<link rel="stylesheet" href="../html/_static/pygments.css">
<style>{style}</style>
</head>
<body>
<div class="front"><p class="title">{title}</p><p>{author}</p><p>{year}</p></div>
<div class="blank"></div>
{body}
</body>
</html>
"""
FACE = "@font-face {{ font-family: Book; src: url({url}); {how} }}"
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
    """The fonts, which matplotlib brings, and the running heads of each part."""
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    bold, italic = "font-weight: 700;", "font-style: italic;"
    kinds = {"": "", "Bol": bold, "Italic": italic, "BolIta": bold + italic}
    rules = [Path(__file__).with_name("print.css").read_text(encoding="utf-8")]
    rules += [
        FACE.format(url=(fonts / f"STIXGeneral{kind}.ttf").as_uri(), how=how)
        for kind, how in kinds.items()
    ]
    for part in parts:
        head = part.h1.get_text().replace("\\", "").replace('"', '\\"')
        rules.append(HEADS.format(name=f"page-{part['id']}", left=title, right=head))
        part["style"] = f"page: page-{part['id']}"
    return "\n".join(rules)


def whole(parts: list[Tag], config: dict[str, Any]) -> str:
    """The edition as one page of HTML."""
    return WHOLE.format(
        title=config["title"],
        author=config["author"],
        year=config["copyright"],
        style=style_of(parts, config["title"]),
        body="\n".join(map(str, parts)),
    )


def lay_out(source: Path, target: Path) -> None:
    """Print the joined page until its numbers are true.

    Raises:
        RuntimeError: After five rounds they still change.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page()
        page.goto(source.resolve().as_uri())
        page.evaluate("MathJax.startup.promise")
        page.evaluate("document.fonts.ready")
        names = page.eval_on_selector_all("section.chapter", "all => all.map(one => one.id)")
        numbers: dict[str, int] = {}
        blanks: list[str] = []
        for _ in range(ROUNDS):
            page.evaluate(FILL, [numbers, blanks])
            page.pdf(
                path=target,
                prefer_css_page_size=True,
                print_background=True,
                outline=True,
                tagged=True,
            )
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


def main() -> None:
    """Join the built book, and print it."""
    html = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "_build" / "html").resolve()
    target = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "dist" / "attention.pdf")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    print(f"laying out {html} in rounds, for about a minute", flush=True)
    joined = html.parent / "print" / "book.html"
    for folder in (joined.parent, target.parent):
        folder.mkdir(parents=True, exist_ok=True)
    parts = join(html)
    joined.write_text(whole(parts, config), encoding="utf-8")
    lay_out(joined, target)
    print(f"{target}: {len(PdfReader(target).pages)} pages, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
