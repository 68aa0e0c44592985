"""Later due dates of single students, in `grading/extensions.csv`; late penalties follow them.

nbgrader keeps an extension with a submission, so there is none before anything is handed in, and
no list of them. Here a table that an instructor writes is the one place.
"""

from collections.abc import Iterable
from datetime import datetime

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from hintgrader.nbgrader.course import GRADING, Course, CourseError, did_you_mean
from hintgrader.nbgrader.roster.spreadsheet import column_name, read_rows
from hintgrader.nbgrader.times import UnknownZoneError, read_time

EXTENSIONS = "extensions.csv"
COLUMNS = ("id", "assignment", "until")
HOW = "a date and a time, and a zone if it is not UTC, such as 2027-03-08 18:00 Europe/Berlin"
Extensions = dict[tuple[str, str], datetime]  # by problem set and student; in UTC without a zone


def read_extensions(course: Course) -> Extensions:
    """Until when single students may hand in; nothing if there is no table.

    Raises:
        CourseError: Something is wrong with it; the message names the row, and what mends it.
    """
    path = course.root / GRADING / EXTENSIONS
    if not path.is_file():
        return {}
    lines = read_rows(path, COLUMNS[0])
    head = [column_name(name) for name in next(lines, (0, []))[1]]
    if missing := [name for name in COLUMNS if head.count(name) != 1]:
        raise CourseError(f"{path}: the first row must have one column {missing[0]!r}.")
    found: Extensions = {}
    for number, cells in lines:
        row = dict(zip(head, cells, strict=False))
        student, assignment, until = (row.get(name, "") for name in COLUMNS)
        where = f"{path}, row {number}"
        if (assignment, student) in found:
            raise CourseError(f"{where}: {student!r} has an extension of {assignment} already.")
        found[assignment, student] = _time(where, until)
    return found


def check_extensions(course: Course, assignment: str, handed_in: Iterable[str]) -> None:
    """Check that the table names nobody and nothing by a slip.

    Raises:
        CourseError: It does, or cannot be read.
    """
    if not (found := read_extensions(course)):
        return
    with course.gradebook() as gradebook:
        sets = {each.name for each in gradebook.assignments}
        students = {each.id for each in gradebook.students} | set(handed_in)
    for name, student in found:
        if name not in sets:
            raise CourseError(f"{EXTENSIONS}: {_unknown('a problem set', name, sets)}")
        if name == assignment and student not in students:
            raise CourseError(f"{EXTENSIONS}: {_unknown('a student', student, students)}")


class ApplyExtension(NbGraderPreprocessor):
    """Tells the gradebook how much later than the others a submission is due."""

    def __init__(self, until: datetime | None) -> None:
        super().__init__()
        self._until = until

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            submission = gradebook.find_submission(where["assignment"], where["student"])
            due = submission.assignment.duedate
            later = self._until is not None and due is not None and self._until > due
            submission.extension = self._until - due if later else None
            gradebook.db.commit()
        return nb, resources


def _time(where: str, text: str) -> datetime:
    try:
        return read_time(text)
    except UnknownZoneError as error:
        raise CourseError(f"{where}: the zone {str(error)!r} is not known: write {HOW}.") from None
    except (ValueError, OverflowError):
        raise CourseError(f"{where}: until {text!r} is no time: write {HOW}.") from None


def _unknown(kind: str, name: str, known: set[str]) -> str:
    return f"{name!r} is not {kind} that the gradebook knows.{did_you_mean(name, known)}"
