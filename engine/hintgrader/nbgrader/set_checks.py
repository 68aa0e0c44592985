"""Checks before grading: the problem set, its exercises and the gradebook must agree."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import is_grade, is_task

from hintgrader.bank.bank import Bank
from hintgrader.nbgrader.cells import graded_cells, is_dropped, to_run
from hintgrader.nbgrader.course import Course, CourseError

NO_EXERCISE = "it gives points and checks no exercise, which only `nbgrader autograde` can grade."

ALREADY_SUBMITTED = (
    "As it holds submissions, it takes no new cell. Take the cell out of the source, or begin anew"
    " and grade all again: nbgrader db assignment remove"
)
STILL_SUBMITTED = (
    "As it holds submissions, it loses no cell. Put the cell back; to let a part count nothing,"
    " drop it: hintgrader drop EXERCISE"
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
    """Check that each cell with points checks an exercise worth as many, and that all is known.

    Raises:
        CourseError: Something does not fit; the message says what to do.
    """
    problems = chain(problems_of_set(course, assignment), _unreleased(course, assignment))
    if problem := next(problems, None):
        raise CourseError(problem)


def problems_of_set(course: Course, assignment: str) -> Iterator[str]:
    """All in a problem set that cannot be graded, as its author has written it."""
    source = course.source(assignment)
    folder, place = source.parent, source.relative_to(course.root)
    for other in sorted({source, *folder.glob("*.ipynb")}):
        if other != source:
            said = "is a notebook beside the one that is graded"
            yield f"{other.relative_to(course.root)} {said}, {source.name}: move it elsewhere"
    if not source.is_file():
        yield f"{place} does not exist, and no other notebook is graded"
        return
    for cell in graded_cells(nbformat.read(source, as_version=4)):
        if problem := _problem(cell, course.bank):
            yield f"{place}: {cell.metadata.nbgrader.grade_id}: {problem}"


def unchangeable(course: Course, assignment: str) -> Iterator[str]:
    """The cells by which a source differs from its release, if that holds submissions."""
    with course.gradebook() as gradebook:
        try:
            has_submissions = bool(gradebook.find_assignment(assignment).submissions)
        except MissingEntry:
            return
        known = set(_known_points(gradebook, assignment))
    if not has_submissions:
        return
    here = {cell.metadata.nbgrader.grade_id for cell in _cells_with_points(course, assignment)}
    for name in sorted(here - known):
        yield f"{name} is new in {assignment}. {ALREADY_SUBMITTED} {assignment} --force"
    for name in sorted(known - here):
        yield f"{name} is gone from {assignment}. {STILL_SUBMITTED}"


def _unreleased(course: Course, assignment: str) -> Iterator[str]:
    """Sentences on all in a problem set that the gradebook lacks, or has otherwise."""
    yield from unchangeable(course, assignment)
    release = f"Release it: nbgrader generate_assignment {assignment} --force"
    with course.gradebook() as gradebook:
        known = _known_points(gradebook, assignment)
    place = course.source(assignment).relative_to(course.root)
    for cell in _cells_with_points(course, assignment):
        about = cell.metadata.nbgrader
        gives = known.pop(about.grade_id, None)
        if gives is None:
            yield f"{place}: {about.grade_id}: the gradebook does not know it. {release}"
        elif gives != about.points:
            has = f"{to_run(cell).exercise or 'the source'} has {about.points:g}"
            said = f"the gradebook gives it {gives:g} points, and {has}"
            yield f"{place}: {about.grade_id}: {said}. {release}"
    for name in known:
        yield f"{place}: {name} is gone, and the gradebook still gives it points. {release}"


def _known_points(gradebook: Gradebook, assignment: str) -> dict[str, float]:
    with suppress(MissingEntry):
        notebook = gradebook.find_notebook(assignment, assignment)
        return {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    return {}


def _cells_with_points(course: Course, assignment: str) -> list[NotebookNode]:
    """The cells that give points, by a check or by a person."""
    cells = nbformat.read(course.source(assignment), as_version=4).cells
    return [cell for cell in cells if is_grade(cell) or is_task(cell)]


def _problem(cell: NotebookNode, bank: Bank) -> str | None:
    """The reason why a graded cell cannot be graded, or None."""
    name = to_run(cell).exercise
    if name is None:
        return NO_EXERCISE
    if name in bank.retired:
        left = f"{name!r} has left the course: {bank.retired[name]}"
        return (
            f"{left}. Take its cells out, or grade this edition with the version that released it"
        )
    if name not in bank.names():
        return f"there is no exercise {name!r}; lay it out: hintgrader new {name}"
    try:
        has = bank.find(name).points
    except Exception as error:  # the module may do anything
        return f"{name} cannot be used: {type(error).__name__}: {error}"
    gives = cell.metadata.nbgrader.points
    if gives == has or is_dropped(cell):
        return None
    return f"it gives {gives:g} points, and {name} has {has:g}; run: hintgrader tables"
