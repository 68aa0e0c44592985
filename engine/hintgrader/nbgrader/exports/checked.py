"""Exporting what was graded, and nothing else; nbgrader's own table among it.

A mark that was not given is left out, and no other: the log names it, and the status is 1.
"""

import csv
from collections import defaultdict
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin, ExportPlugin

from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.exports.mark_checks import (
    changed_marks,
    marks_incomplete,
    marks_not_given,
    unreadable_work,
)
from hintgrader.nbgrader.printable import cell_of_csv, plain
from hintgrader.records.records import UNREADABLE

NOT_GRADED = "not graded"  # what tables say of work that has no marks so far
INCOMPLETE, REFUSED = 1, 2  # statuses of an export
# The columns of nbgrader's table that people fill in.
PERSON = ("student_id", "last_name", "first_name", "email")
Words = dict[tuple[str, str], str]


class CheckedExporter(CsvExportPlugin):
    """nbgrader's own table, of marks that are as they were graded; a score may be a word."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the table."""
        words = check_before_export(self, gradebook)
        super().export(gradebook)
        self._rewrite(words)
        end_export(self, words)

    def _rewrite(self, words: Words) -> None:
        """Put words in the place of scores, and what people typed as text."""
        path = Path(self.to or "grades.csv")
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            if word := words.get((row["student_id"], row["assignment"])):
                row |= {"raw_score": word, "score": word}
            row |= {name: cell_of_csv(row[name]) for name in PERSON}
        if not rows:
            return
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)


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
