"""Grading a notebook in which a student has copied a graded cell."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import DeduplicateIds


class ForgetDuplicates(DeduplicateIds):
    """Treats all but the last of several cells with one grade id as cells of no account.

    nbgrader's own step empties their metadata, and the steps after it stumble over the emptiness:
    the whole submission stays ungraded.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if cell.metadata.get("nbgrader") == {}:
            del cell.metadata["nbgrader"]
        return cell, resources
