"""The step of nbgrader that runs a notebook, done in a confined process and graded from outside."""

import ast
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearHiddenTests, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from attn_course.grading.autograde.records import PartRecord
from attn_course.grading.outside.notebook import Cell, Graded, Part, grade_notebook
from attn_course.grading.outside.slot import Slot
from attn_course.grading.outside.wire import Message
from attn_course.grading.score import Score
from attn_course.grading.spec import find_exercise


class GradeOutside(NbGraderPreprocessor):
    """Takes the place of nbgrader's `Execute`.

    Args:
        slot: Where submissions run.
        secret: What hidden inputs are drawn from.
        cell_seconds: How long a cell may take.

    Attributes:
        graded: What came of the notebook.
    """

    def __init__(self, slot: Slot, secret: str, cell_seconds: float) -> None:
        super().__init__()
        self._slot, self._secret, self._cell_seconds = slot, secret, cell_seconds
        self.graded = Graded()

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Grade the notebook, and write into its cells what they showed and earned."""
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        cells = [to_run(cell) for cell in code]
        for cell in graded_cells(nb):  # or nbgrader would find no error, and give all points
            if not to_run(cell).exercise:
                raise ValueError(f"{cell.metadata.nbgrader.grade_id} checks no exercise")
        self.graded = grade_notebook(cells, self._slot, self._secret, self._cell_seconds)
        for count, (cell, shown) in enumerate(zip(code, self.graded.shown, strict=True), 1):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            part = self.graded.parts.get(name) if is_grade(cell) else None
            cell.execution_count = count
            cell.outputs = [_score_output(part, count)] if part else _outputs(shown)
        return nb, resources


def to_run(cell: NotebookNode) -> Cell:
    """A cell as the confined process gets it: without hidden tests."""
    if not _gives_points(cell):
        return Cell(cell.source)
    seen, _ = ClearHiddenTests().preprocess_cell(nbformat.from_dict(cell), {}, 0)
    return Cell(seen.source, cell.metadata.nbgrader.grade_id)


def imported_modules(source: Path) -> tuple[str, ...]:
    """The names of all modules that the cells of a problem set import, as its author wrote them."""
    names: dict[str, None] = {}
    for cell in nbformat.read(source, as_version=4).cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source))):
                if isinstance(node, ast.Import):
                    names |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names[node.module] = None
                    # what is imported from a package may be a module of it
                    names |= dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def graded_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that give points without a person."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and _gives_points(cell)]


def _gives_points(cell: NotebookNode) -> bool:
    # nbgrader takes the name from a cell that the gradebook does not know
    is_known = bool(cell.metadata.get("nbgrader", {}).get("grade_id"))
    return is_known and is_grade(cell) and not is_solution(cell)


def missing_parts(source: Path) -> tuple[PartRecord, ...]:
    """The parts of a problem set for somebody who handed in nothing that can be read."""
    parts = []
    for cell in graded_cells(nbformat.read(source, as_version=4)):
        if name := to_run(cell).exercise:
            points = find_exercise(name).points
            parts.append(PartRecord(cell.metadata.nbgrader.grade_id, name, 0.0, points, "missing"))
    return tuple(parts)


def _score_output(part: Part, count: int) -> NotebookNode:
    """What nbgrader reads the points from, and people the rest."""
    score: Score = part.score
    shown = {"text/plain": repr(float(score)), "text/html": score._repr_html_()}
    return new_output("execute_result", data=shown, execution_count=count)


def _outputs(shown: Message) -> list[NotebookNode]:
    """What a cell of the student's showed, which `read_shown` has left only words and pictures."""
    outputs = []
    if shown["printed"]:
        outputs.append(new_output("stream", name="stdout", text=shown["printed"]))
    outputs += [new_output("display_data", data=data) for data in shown["shown"]]
    if shown["error"]:
        name, said = shown["error"]
        outputs.append(new_output("error", ename=name, evalue=said, traceback=[f"{name}: {said}"]))
    return outputs
