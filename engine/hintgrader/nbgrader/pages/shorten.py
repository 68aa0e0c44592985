"""Leaving out of a page what nobody would read, so that it is made in seconds, and saying so.

A notebook may hold 20,000 cells, or Markdown that takes its reader the square of its length. The
graded cells and the answers come first: what stands around them cannot crowd them out.
"""

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

MAX_CELLS = 300  # shown beside those that nbgrader knows
MAX_TEXT = 20_000  # characters of a cell, or of an output
MAX_AROUND = 100_000  # characters of all cells that nbgrader does not know
MAX_OUTPUT = 300_000  # characters of all that the cells show, without the pictures
SHOWN_AS_TEXT = ("text/plain", "text/html", "text/markdown", "text/latex")
CELLS = "*Left out of this page: {} further cells. The notebook has them.*"


class Shorten(Preprocessor):
    """Cuts what is too long for a page, and says how much was left out."""

    enabled = True

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Shorten the cells in their order, then leave out those for which there is no room."""
        self._room, self._shown = MAX_AROUND, MAX_OUTPUT
        kept, left, around = [], 0, 0
        for cell in nb.cells:
            is_known = bool(cell.metadata.get("nbgrader"))
            around += not is_known
            if not is_known and (around > MAX_CELLS or self._room <= 0):
                left += 1
                continue
            self._shorten(cell, is_known)
            kept.append(cell)
        if left:
            kept.append(new_markdown_cell(CELLS.format(f"{left:,}")))
        nb.cells = kept
        return nb, resources

    def _shorten(self, cell: NotebookNode, is_known: bool) -> None:
        most = MAX_TEXT if is_known else min(MAX_TEXT, self._room)
        before = len(cell.source)
        cell.source = cut(cell.source, most)
        if not is_known:
            self._room -= before
        for output in cell.get("outputs", []):
            self._shorten_output(output)

    def _shorten_output(self, output: NotebookNode) -> None:
        """Cut the texts of an output, each to what there is still room for."""
        data = output.get("data", {})
        for holder, name in [(output, "text"), *((data, kind) for kind in SHOWN_AS_TEXT)]:
            if isinstance(text := holder.get(name), str):
                holder[name] = cut(text, max(0, min(MAX_TEXT, self._shown)))
                self._shown -= len(holder[name])


def cut(text: str, most: int) -> str:
    """The beginning of a text, and how much of it was left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n\n... left out of this page: {len(text) - most:,} characters"
