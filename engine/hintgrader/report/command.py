"""The command that writes the report on a class."""

import sys
from pathlib import Path

from hintgrader.autograde.results import ungraded, with_missing_students
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.exports.mark_checks import changed_marks, marks_not_given
from hintgrader.nbgrader.one_source import check_one_source
from hintgrader.nbgrader.printable import plain
from hintgrader.nbgrader.private import check_private
from hintgrader.nbgrader.rubric.command import rubric_of
from hintgrader.nbgrader.rubric.marks import count_items
from hintgrader.nbgrader.set_checks import check_released
from hintgrader.pipeline.digest import digest_of
from hintgrader.records.records import read_records
from hintgrader.report.page import write_report


def report(folder: Path, assignment: str, path: Path | None) -> Path:
    """Write the page, from the records that grading has left; return where it is.

    Args:
        folder: Of the course.
        assignment: Name of the problem set.
        path: Where to; None for the usual place.

    Raises:
        CourseError: There is no such course or problem set, a file is no record, the gradebook
            holds other marks than were graded, or something is wrong with the table of items.
    """
    course = Course(folder.resolve())
    check_private(course)
    check_one_source(course)
    check_released(course, assignment)
    try:
        found = read_records(course.results, assignment)
    except ValueError as error:
        raise CourseError(f"{error}. Remove the file, and grade again.") from None
    with course.gradebook() as gradebook:
        changed = list(changed_marks(course, gradebook.find_assignment(assignment).submissions))
        absent = marks_not_given(course, gradebook, assignment)
        items, notebooks = rubric_of(course, gradebook, assignment)
        counts = count_items(notebooks)
    if changed and course.settings.check_marks:
        raise CourseError("\n".join(changed))
    for (student, _), why in absent.items():
        print(plain(f"{student} has no mark, and counts nowhere: {why}."), file=sys.stderr)
    records = with_missing_students(course, assignment, found)
    written = path or course.results / f"{assignment}.html"
    outdated = [
        record.student
        for record in found
        if record.digest != digest_of(course, assignment, record.student)
    ]
    waiting = ungraded(course, assignment, records)
    rubric = [(item, counts[item.cell, item.name]) for item in items]
    write_report(assignment, records, written, waiting, outdated, rubric)
    return written
