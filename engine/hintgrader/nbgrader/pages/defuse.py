"""Taking out of a notebook, before it becomes a page, what a page has no use for."""

from html import escape
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

# What a page shows of an output. The filters clean HTML and Markdown; an SVG becomes a picture,
# in which a browser runs no script and fetches nothing.
SHOWN = {
    "text/html",
    "text/markdown",
    "text/latex",
    "text/plain",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
}
# What nbgrader's page says of the person: in a learning system people may write their own names.
NAMES = ("student", "first_name", "last_name", "notebook_path")


class Defuse(Preprocessor):
    """Drops what an HTML template would write into the page as it is.

    That is the metadata of the notebook with its widgets, the metadata of cells but for what
    nbgrader wrote, the metadata of outputs (nbconvert makes attributes of it), and data of any kind
    that can run.
    """

    enabled = True

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Defuse the cells, then the notebook, then the author's name."""
        nb, resources = super().preprocess(nb, resources)
        nb.metadata = NotebookNode()
        for name in NAMES:
            if resources.get(name):
                resources[name] = escape(resources[name])
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Keep of a cell its text, its part in the grading, its pictures and its plain outputs."""
        grading = cell.metadata.get("nbgrader")
        cell.metadata = NotebookNode(nbgrader=grading) if grading else NotebookNode()
        if "attachments" in cell:
            cell.attachments = {n: _shown(files) for n, files in cell.attachments.items()}
            cell.attachments = {n: files for n, files in cell.attachments.items() if files}
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data, output.metadata = _shown(output.data), NotebookNode()
        return cell, resources


def _shown(data: dict[str, Any]) -> NotebookNode:
    return NotebookNode(
        {kind: held for kind, held in data.items() if kind in SHOWN and isinstance(held, str)}
    )
