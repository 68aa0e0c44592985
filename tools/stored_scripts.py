"""Compare the scripts and styles that stored figures hold with the files they were made from."""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent.parent / "attn_course" / "interactive"
# As attn_course/interactive/figure.py writes them; between the two are files, one after the other.
PARTS = {
    "css": re.compile(r"<style>\n(.*?)</style>", re.DOTALL),
    "js": re.compile(
        r'<script>\n\(\(\) => \{\n"use strict";\n(.*?)\}\)\(\);\n</script>', re.DOTALL
    ),
}


def older_figures(cell: NotebookNode, folder: Path = FOLDER) -> list[str]:
    """Return the names of the figures of a cell whose script or style is of other files."""
    pages = [output.data.get("text/html", "") for output in cell.outputs if "data" in output]
    return [
        name[1]
        for page in pages
        if (name := re.search(r'<figure class="attn-figure[^>]* data-figure="([^"]+)"', page))
        and not all(is_of_files(found[1], kind, folder) for kind, found in parts_of(page))
    ]


def parts_of(page: str) -> list[tuple[str, re.Match[str]]]:
    """Return the style and the script of a figure, each after its kind."""
    return [(kind, found) for kind, part in PARTS.items() for found in part.finditer(page)]


def is_of_files(text: str, kind: str, folder: Path) -> bool:
    """Return whether a text is whole files of the folder, one after the other."""
    files = [path.read_text(encoding="utf-8") for path in folder.glob(f"*.{kind}")]
    while text:
        file = next((file for file in files if file and text.startswith(file)), None)
        if file is None:
            return False
        text = text.removeprefix(file)
    return True
