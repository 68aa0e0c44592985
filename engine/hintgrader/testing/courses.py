"""Courses to test with: notebooks handed in, and the seed of one kept from the next."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbformat import NotebookNode

SECRET = "of this class"
NotebookChange = Callable[[NotebookNode, str], None]


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """Return the cell that nbgrader knows by this name."""
    return next(
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def hand_in(
    course: Path, assignment: str, student: str, changes: Mapping[str, NotebookChange]
) -> None:
    """Lay down the released notebook with every solution filled in, and then changed."""
    name = f"{assignment}.ipynb"
    solved = nbformat.read(course / "solutions" / assignment / name, as_version=4)
    notebook = nbformat.read(course / "exercises" / assignment / name, as_version=4)
    for cell in solved.cells:
        grading = cell.metadata.get("nbgrader", {})
        if grading.get("solution"):
            cell_of(notebook, grading["grade_id"]).source = cell.source
    for part, change in changes.items():
        change(notebook, part)
    folder = course / "grading" / "submitted" / student / assignment
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / name)


@contextmanager
def seed_of_no_other_course() -> Iterator[None]:
    """Reading a course's settings puts its seed into the environment: not beyond this block."""
    with patch.dict(os.environ, HINTGRADER_SECRET=SECRET):
        yield
