"""Cells of a problem set: which of them run, which give points, and what they import."""

import ast
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_solution

from hintgrader.supervisor.grade_notebook import Cell

DROPPED = "dropped"  # the tag of a check that counts nothing any more


def to_run(cell: NotebookNode) -> Cell:
    """A cell as the confined process gets it: without hidden tests."""
    if not gives_points(cell):
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


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def graded_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that give points without a person."""
    return [cell for cell in code_cells(notebook) if gives_points(cell)]


def gives_points(cell: NotebookNode) -> bool:
    """True for a cell that gives points without a person."""
    # nbgrader takes the name from a cell that the gradebook does not know
    is_known = bool(cell.metadata.get("nbgrader", {}).get("grade_id"))
    return is_known and is_grade(cell) and not is_solution(cell)


def is_dropped(cell: NotebookNode) -> bool:
    """True for a cell that gives no points because its part was dropped."""
    about = cell.metadata
    return DROPPED in about.get("tags", []) and not about.nbgrader.points
