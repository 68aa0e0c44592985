"""Exporting what was graded, and nothing else; nbgrader's own table among it.

A mark that was not given is left out, and no other: the log names it, and the status is 1.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from nbgrader.plugins import CsvExportPlugin, ExportPlugin

from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.exports.mark_checks import (
    changed_marks,
    marks_incomplete,
    marks_not_given,
    outdated_penalties,
    unreadable_work,
)
from hintgrader.nbgrader.printable import cell_of_csv, plain
from hintgrader.records.records import UNREADABLE

NOT_GRADED = "not graded"  # what tables say of work that has no marks so far
INCOMPLETE, REFUSED = 1, 2  # statuses of an export
# The columns of nbgrader's table that people fill in.
PERSON = ("student_id", "last_name", "first_name", "email")
COLUMNS: tuple[str, ...] = ("assignment", "duedate", "timestamp", *PERSON, "raw_score")
COLUMNS += ("late_submission_penalty", "score", "max_score")
Row = dict[str, object]
Words = dict[tuple[str, str], str]


class CheckedExporter(CsvExportPlugin):
    """nbgrader's own table, of marks that are as they were graded; a score may be a word."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the table; nbgrader's own way of writing it takes a comma in a name for a new
        column."""
        words = check_before_export(self, gradebook)
        path = Path(self.to or "grades.csv")
        self.log.info("Exporting grades to %s", path)
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            for assignment in gradebook.assignments:
                if chosen(assignment.name, self.assignment):
                    table.writerows(self._rows(gradebook, assignment, words))
        end_export(self, words)

    def _rows(self, gradebook: Gradebook, assignment: Assignment, words: Words) -> Iterator[Row]:
        """Yield rows: what people typed as text, and words in place of scores that are none."""
        handed_in = {one.student_id: one for one in assignment.submissions}
        about = {"assignment": assignment.name, "max_score": assignment.max_score}
        about |= {"duedate": assignment.duedate}
        for student in gradebook.students:
            if not chosen(student.id, self.student):
                continue
            person = student.id, student.last_name, student.first_name, student.email
            row = about | dict(zip(PERSON, [cell_of_csv(one or "") for one in person], strict=True))
            if submission := handed_in.get(student.id):
                row |= {"duedate": submission.duedate}  # with the student's extension
            row |= _scores(submission)
            if word := words.get((student.id, assignment.name)):
                row |= {"raw_score": word, "score": word}
            yield row


def _scores(submission: SubmittedAssignment | None) -> Row:
    if submission is None:
        return {"timestamp": "", "raw_score": 0.0, "late_submission_penalty": 0.0, "score": 0.0}
    score, penalty = submission.score, submission.late_submission_penalty or 0.0
    when, left = submission.timestamp, max(0.0, score - penalty)
    row = {"timestamp": when, "raw_score": score, "late_submission_penalty": penalty}
    return row | {"score": left}


def check_before_export(exporter: ExportPlugin, gradebook: Gradebook) -> Words:
    """Check that the marks to be exported are those that were graded, if a course is known.

    Returns:
        Words for students and problem sets without marks, which the log names.

    Raises:
        SystemExit: The gradebook holds marks that were not graded; the log says whose.
    """
    if exporter.parent is None:
        return {}
    course = Course(Path(exporter.parent.coursedir.root))
    assignments = [a for a in gradebook.assignments if chosen(a.name, exporter.assignment)]
    submissions = [s for a in assignments for s in a.submissions]
    submissions = [s for s in submissions if chosen(s.student_id, exporter.student)]
    absent: Words = {}
    if course.settings.check_marks:
        problems = list(changed_marks(course, submissions))
        for problem in problems:
            exporter.log.error(problem)
        if problems:
            exporter.log.error("Nothing was exported, for the reasons above.")
            raise SystemExit(REFUSED)
        absent |= marks_incomplete(course, submissions)
        for assignment in assignments:
            absent |= marks_not_given(course, gradebook, assignment.name)
    absent = {who: why for who, why in absent.items() if chosen(who[0], exporter.student)}
    unreadable = dict.fromkeys(unreadable_work(course, submissions), UNREADABLE)
    for student, assignment in sorted(unreadable):
        exporter.log.warning("%s: the work of %s is %s", assignment, student, UNREADABLE)
    for student, assignment in outdated_penalties(course, submissions):
        again = f"hintgrader autograde {assignment} --force --student {student}"
        exporter.log.warning("%s", plain(f"The late penalty of {student} is out of date: {again}"))
    _log_absent(exporter, absent)
    return unreadable | dict.fromkeys(absent, NOT_GRADED)


def _log_absent(exporter: ExportPlugin, absent: Words) -> None:
    """Log a line for each problem set and reason, with the students and the cure."""
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (student, assignment), why in sorted(absent.items()):
        alike[assignment, why].append(student)
    for (assignment, why), students in alike.items():
        line = f"{assignment}: no mark of {', '.join(students)}: {why}. Grade it:"
        exporter.log.error("%s hintgrader autograde %s", plain(line), assignment)


def end_export(exporter: ExportPlugin, words: Words) -> None:
    """End with a status that scripts notice, if marks are absent that may have been earned.

    Raises:
        SystemExit: Some are.
    """
    if absent := list(words.values()).count(NOT_GRADED):
        exporter.log.error("Exported without the marks above, which were not given: %d", absent)
        raise SystemExit(INCOMPLETE)


def chosen(name: str, wanted: list[str]) -> bool:
    """True if a name is among those wanted, or all are."""
    return not wanted or name in map(str, wanted)
