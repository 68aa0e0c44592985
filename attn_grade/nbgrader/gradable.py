"""Checks before grading: the problem set, its exercises and the gradebook must agree."""

import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from attn_grade.bank import Bank
from attn_grade.exercise import Exercise
from attn_grade.nbgrader.cells import graded_cells, to_run
from attn_grade.nbgrader.course import Course, CourseError

NO_EXERCISE = "it gives points and checks no exercise, which only `nbgrader autograde` can grade."

ALREADY_SUBMITTED = (
    "As it holds submissions, it takes no new cell. Take the cell out of the source, or begin anew"
    " and grade all again: nbgrader db assignment remove"
)


def check_writable(course: Course, csv: Path) -> None:
    """Check that the results and their table can be written.

    Raises:
        CourseError: They cannot.
    """
    if csv.is_dir():
        raise CourseError(f"The table cannot be written: {csv} is a folder.")
    for folder in (course.results, csv.parent):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            reason = error.strerror
            raise CourseError(f"Results cannot be written to {folder}: {reason}.") from None


def check_released(course: Course, assignment: str) -> None:
    """Check that the gradebook knows a problem set.

    Raises:
        CourseError: It does not; the message says how it gets there.
    """
    with course.gradebook() as gradebook:
        try:
            gradebook.find_assignment(assignment)
        except MissingEntry:
            known = ", ".join(sorted(a.name for a in gradebook.assignments)) or "none"
            raise CourseError(
                f"The gradebook does not know {assignment} (it knows: {known}). Release it"
                f" first: nbgrader generate_assignment {assignment}"
            ) from None


def check_gradable(course: Course, assignment: str) -> None:
    """Check that each cell with points checks an exercise worth as many.

    Raises:
        CourseError: One does not; the message says what to do.
    """
    source = course.source(assignment)
    with course.gradebook() as gradebook:
        for cell in graded_cells(nbformat.read(source, as_version=4)):
            if problem := _problem(cell, assignment, gradebook, course.bank):
                raise CourseError(f"{cell.metadata.nbgrader.grade_id} in {source}: {problem}")


def problem_of_points(cell: NotebookNode, exercise: Exercise) -> str | None:
    """The sentence about a cell whose points differ from the exercise's; none if they agree."""
    gives, has = cell.metadata.nbgrader.points, exercise.points
    if gives == has:
        return None
    return f"it gives {gives:g} points, and {exercise.name} has {has:g}: give the cell as many."


def _problem(cell: NotebookNode, assignment: str, gradebook: Gradebook, bank: Bank) -> str | None:
    name = to_run(cell).exercise
    if name is None:
        return NO_EXERCISE
    try:
        exercise = bank.find(name)
    except ValueError as error:
        return str(error)
    about, of = cell.metadata.nbgrader, exercise.points
    if problem := problem_of_points(cell, exercise):
        return problem
    release = f"Release it: nbgrader generate_assignment {assignment} --force"
    try:
        known = gradebook.find_grade_cell(about.grade_id, assignment, assignment).max_score
    except MissingEntry:
        if gradebook.find_assignment(assignment).submissions:
            return f"the gradebook does not know it. {ALREADY_SUBMITTED} {assignment} --force"
        return f"the gradebook does not know it. {release}"
    if known != of:
        return f"the gradebook gives it {known:g} points, and {name} has {of:g}. {release}"
    return None
