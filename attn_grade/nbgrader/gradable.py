"""Before a class is graded: the problem set, its exercises and the gradebook say the same."""

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from attn_grade.bank import Bank
from attn_grade.exercise import Exercise
from attn_grade.nbgrader.cells import graded_cells, to_run
from attn_grade.nbgrader.course import Course, CourseError

NO_CHECK = "it gives points and checks no exercise, which only `nbgrader autograde` can grade."

TOO_LATE = (
    "As it holds submissions, it takes no new cell. Take the cell out of the source, or begin anew"
    " and grade all again: nbgrader db assignment remove"
)


def see_that_gradable(course: Course, assignment: str) -> None:
    """See that each cell that gives points checks an exercise, for as many points.

    Raises:
        CourseError: One does not; the message says what to do.
    """
    source = course.source(assignment)
    with course.gradebook() as gradebook:
        for cell in graded_cells(nbformat.read(source, as_version=4)):
            if problem := _problem(cell, assignment, gradebook, course.bank):
                raise CourseError(f"{cell.metadata.nbgrader.grade_id} in {source}: {problem}")


def problem_of_points(cell: NotebookNode, exercise: Exercise) -> str | None:
    """What to say of a cell that gives other points than its exercise has."""
    gives, has = cell.metadata.nbgrader.points, exercise.points
    if gives == has:
        return None
    return f"it gives {gives:g} points, and {exercise.name} has {has:g}: give the cell as many."


def _problem(cell: NotebookNode, assignment: str, gradebook: Gradebook, bank: Bank) -> str | None:
    name = to_run(cell).exercise
    if name is None:
        return NO_CHECK
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
            return f"the gradebook does not know it. {TOO_LATE} {assignment} --force"
        return f"the gradebook does not know it. {release}"
    if known != of:
        return f"the gradebook gives it {known:g} points, and {name} has {of:g}. {release}"
    return None
