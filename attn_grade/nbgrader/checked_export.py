"""Exporting what was graded, and nothing else; nbgrader's own table among it."""

import csv
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin, ExportPlugin

from attn_grade.nbgrader.course import Course
from attn_grade.nbgrader.marks import changed_marks, unreadable_work
from attn_grade.records import UNREADABLE


class CheckedExporter(CsvExportPlugin):
    """nbgrader's own table, of marks that are as they were graded; a score may be `unreadable`."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the table."""
        unreadable = check_before_export(self, gradebook)
        super().export(gradebook)
        if not unreadable:
            return
        path = Path(self.to or "grades.csv")
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            if (row["student_id"], row["assignment"]) in unreadable:
                row |= {"raw_score": UNREADABLE, "score": UNREADABLE}
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)


def check_before_export(exporter: ExportPlugin, gradebook: Gradebook) -> set[tuple[str, str]]:
    """Check that the marks to be exported are those that were graded, if a course is known.

    Returns:
        Students and problem sets whose work could not be read, which the log names.

    Raises:
        SystemExit: Some marks were not graded; the log says whose.
    """
    if exporter.parent is None:
        return set()
    course = Course(Path(exporter.parent.coursedir.root))
    submissions = [
        submission
        for assignment in gradebook.assignments
        if chosen(assignment.name, exporter.assignment)
        for submission in assignment.submissions
        if chosen(submission.student_id, exporter.student)
    ]
    problems = list(changed_marks(course, submissions)) if course.settings.check_marks else []
    for problem in problems:
        exporter.log.error(problem)
    if problems:
        raise SystemExit("Nothing was exported, for the reasons above.")
    unreadable = unreadable_work(course, submissions)
    for student, assignment in sorted(unreadable):
        exporter.log.warning("%s: the work of %s is %s", assignment, student, UNREADABLE)
    return unreadable


def chosen(name: str, wanted: list[str]) -> bool:
    """True if a name is among those wanted, or all are."""
    return not wanted or name in map(str, wanted)
