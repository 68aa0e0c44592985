"""Keeping hidden tests out of the feedback."""

import re

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

BEGIN = "### BEGIN HIDDEN TESTS"


class HideTracebacksOfHiddenTests(Preprocessor):
    """Say only that a hidden test failed: its traceback quotes the test, and its neighbours."""

    enabled = True

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Replace the tracebacks of a cell that holds hidden tests by one sentence."""
        if cell.cell_type == "code" and BEGIN in cell.source:
            hidden = cell.source.partition(BEGIN)[0].count("\n") + 1
            for output in cell.outputs:
                if output.output_type == "error":
                    output.traceback = [_say(output, hidden)]
        return cell, resources


def _say(error: NotebookNode, hidden: int) -> str:
    """The error, if it was raised in a line before the hidden ones."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    failed = re.search(r"^-+> (\d+)", plain, re.MULTILINE)
    seen = failed and int(failed[1]) < hidden
    return f"{error.ename}: {error.evalue}" if seen else "A hidden test failed."
