"""The command that lets everybody's points and comments follow the table of items."""

from collections.abc import Iterator

from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.rubric.items import Item, graded_by_hand, read_items, table_of
from hintgrader.nbgrader.rubric.marks import count_items, follow


def apply_rubric(course: Course, assignment: str) -> Iterator[str]:
    """Change what follows from the items; lines on each item, and on whose marks have changed.

    Raises:
        CourseError: There is no such table, nobody's work, or something is wrong with the table.
    """
    if not (table := table_of(course.directory, assignment)).is_file():
        raise CourseError(f"There are no items: {table} is missing. Make one in the formgrader.")
    with course.gradebook() as gradebook:
        items, notebooks = rubric_of(course, gradebook, assignment)
        if not notebooks:
            raise CourseError(f"Nobody's work on {assignment} is in the gradebook.")
        changed = follow(notebooks, items)
        gradebook.db.commit()
        counts = count_items(notebooks)
    for item in items:
        many = counts[item.cell, item.name]
        yield f"{item.cell}  {item.name}  {item.points:+g}: given {many} time{'s' * (many != 1)}"
    yield f"Comments or points changed: {', '.join(changed.students) or 'nobody'}."
    if changed.kept:
        yield f"Points that were typed stay: {', '.join(changed.kept)}."
    if changed.students:
        yield f"Make the pages anew: nbgrader generate_feedback {assignment} --force"


def rubric_of(
    course: Course, gradebook: Gradebook, assignment: str
) -> tuple[list[Item], list[SubmittedNotebook]]:
    """The items of a problem set, and the notebooks that can have them; none of what is unknown.

    Raises:
        CourseError: Something is wrong with the table.
    """
    try:
        notebook = gradebook.find_notebook(assignment, assignment)
    except MissingEntry:
        return [], []
    items = read_items(table_of(course.directory, assignment), graded_by_hand(notebook))
    return items, list(notebook.submissions)
