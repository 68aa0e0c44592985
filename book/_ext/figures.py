"""The figures that the chapters store, shown in the book.

A static figure is stored as a PNG with an SVG in its metadata. The page gets the SVG, which takes
the colours and letters of the page; the metadata of its cell says in words what it shows.

Of an interactive figure a chapter stores the name, the numbers and the controls. Each page gets it
as HTML with its first picture, and links to its script and style, which the built book holds once.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any
from zlib import crc32

from sphinx.application import Sphinx

from attn_course.interactive import figure
from attn_course.interactive.figure import STORED, stored_figures
from attn_course.interactive.frames import WIDTHS, place_of
from attn_course.interactive.scripts import files_of, write_scripts

PNG = "image/png"
ROOT = "../"  # chapters and laboratories lie in folders of the book


def show_vectors(notebook: dict[str, Any]) -> None:
    """Let the pictures of a notebook be SVG, with the words that its cells have for them."""
    for cell in notebook["cells"]:
        alt = cell.get("metadata", {}).get("mystnb", {}).get("image", {}).get("alt", "")
        for output in cell.get("outputs", ()):
            about = output.get("metadata", {}).get(PNG, {})
            if steps := about.pop("steps", []):
                output["data"]["text/html"] = stepped(steps, alt)
            elif svg := about.pop("svg", ""):
                output["data"]["text/html"] = f'<div class="attn-drawn">{labelled(svg, alt)}</div>'


def labelled(svg: str, words: str) -> str:
    """A drawing with the words that a screen reader says."""
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)


def stepped(steps: list[tuple[str, str]], alt: str) -> str:
    """Some drawings, of which the style sheet shows the one whose button is chosen.

    Args:
        steps: What is written on each button, and its drawing.
        alt: What they show, in words.
    """
    name = f"steps-{crc32(''.join(svg for _, svg in steps).encode()):x}"
    buttons = "".join(
        f'<input type="radio" name="{name}" id="{name}-{i}"{" checked" * (not i)} />'
        f'<label for="{name}-{i}">{escape(step)}</label>'
        for i, (step, _) in enumerate(steps)
    )
    drawn = "".join(f"<div>{labelled(svg, f'Picture of step {step}')}</div>" for step, svg in steps)
    return (
        f'<div class="attn-drawn attn-steps" role="group" aria-label="{escape(alt)}">'
        f'{buttons}<div class="attn-stages">{drawn}</div></div>'
    )


def show_figures(app: Sphinx, _: str, source: list[str]) -> None:
    """Give the stored figures of a page their HTML; other scripts make another page."""
    if not source[0].startswith("{"):
        return
    notebook = json.loads(source[0])
    show_vectors(notebook)
    for shown, forms in stored_figures(notebook):
        forms["text/html"] = shown.linked(ROOT)
        del forms[STORED]
        pictures = (place_of(shown.name, width) for width in WIDTHS)
        for file in (figure.__file__, *files_of(shown.name), *filter(Path.is_file, pictures)):
            app.env.note_dependency(str(file))
    source[0] = json.dumps(notebook)


def put_scripts(app: Sphinx, error: Exception | None) -> None:
    """Write the scripts and styles into the built book."""
    if error is None and app.builder.format == "html":
        write_scripts(app.outdir)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join these steps to the build."""
    app.connect("source-read", show_figures)
    app.connect("build-finished", put_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
