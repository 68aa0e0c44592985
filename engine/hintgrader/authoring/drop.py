"""Dropping a part of a problem set that was handed in: it stays, and counts nothing."""

from pathlib import Path

import nbformat

from hintgrader.authoring.parts import with_table, write_notebook
from hintgrader.nbgrader.cells import DROPPED, graded_cells, to_run
from hintgrader.nbgrader.course import Course, CourseError


def drop(course: Course, exercise: str) -> Path:
    """Let the cells that check an exercise give no points; return the source that is changed.

    Its checks, and what students have written, stay as they are: so nothing is lost, and the part
    counts again once the source is as it was.

    Args:
        course: The course.
        exercise: Its name, as `01_retrieval/softmax`.

    Raises:
        CourseError: No graded cell of its problem set checks it.
    """
    source = course.source(exercise.partition("/")[0])
    missing = f'No graded cell of {source.relative_to(course.root)} says check("{exercise}")'
    if not source.is_file():
        raise CourseError(missing)
    notebook = nbformat.read(source, as_version=4)
    found = [cell for cell in graded_cells(notebook) if to_run(cell).exercise == exercise]
    if not found:
        raise CourseError(missing)
    for cell in found:
        cell.metadata.nbgrader.points = 0
        cell.metadata.tags = sorted({*cell.metadata.get("tags", []), DROPPED})
    write_notebook(with_table(notebook, course.bank), source)
    return source
