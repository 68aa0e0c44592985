"""The core of each chapter, above *Going deeper*, can be read in one sitting."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT, chapters

MAX_WORDS, MAX_CELLS, MAX_FORMULAS = 3_500, 25, 12
DEEPER = "## Going deeper"
HIDDEN = {"remove-cell", "remove-input", "hide-input"}  # the last folds the code away
FORMULA = re.compile(r"\$\$.+?\$\$|^```\{math\}.*?^```|\\begin\{align", re.DOTALL | re.MULTILINE)
# Between these a reader meets no words: comments, targets, options of directives, addresses.
NO_WORDS = re.compile(
    r"<!--.*?-->|<svg.*?</svg>|<[^>]+>|^\([\w-]+\)=$|^:[\w-]+:[^\n]*$|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def core(name: str) -> list[NotebookNode]:
    """The cells above *Going deeper*; the heading itself ends them."""
    cells: list[NotebookNode] = []
    for cell in nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4).cells:
        before, heading, _ = cell.source.partition(DEEPER)
        if cell.cell_type == "markdown" and heading:
            return [*cells, nbformat.v4.new_markdown_cell(before)]
        cells.append(cell)
    raise AssertionError(f"{name} has no heading {DEEPER!r}")


def is_seen(cell: NotebookNode) -> bool:
    return not HIDDEN & set(cell.metadata.get("tags", []))


def words(cells: list[NotebookNode]) -> int:
    """The words that a reader reads: text, captions, folded answers, comments, what is printed."""
    text = []
    for cell in cells:
        if cell.cell_type == "markdown":
            text.append(NO_WORDS.sub(" ", re.sub(r"\$[^$]*\$", " ", FORMULA.sub(" ", cell.source))))
        elif "remove-cell" not in cell.metadata.get("tags", []):
            if is_seen(cell):
                text += re.findall(r"#(.*)$", cell.source, re.MULTILINE)
            text += [output.text for output in cell.outputs if output.get("name") == "stdout"]
            text.append(cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))
    return len(WORD.findall("\n".join(text)))


@pytest.mark.parametrize("name", chapters())
def test_core_is_short(name: str) -> None:
    cells = core(name)
    formulas = sum(len(FORMULA.findall(cell.source)) for cell in cells if cell.cell_type != "code")
    assert formulas <= MAX_FORMULAS
    assert sum(cell.cell_type == "code" and is_seen(cell) for cell in cells) <= MAX_CELLS
    assert words(cells) <= MAX_WORDS
