"""Writes the results of a problem set beside the gradebook: a CSV of all, a log for people."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from hintgrader.autograde.summary import log_lines, write_csv
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.printable import plain
from hintgrader.pipeline.record import missing_parts
from hintgrader.pipeline.tasks import Failure
from hintgrader.records.records import (
    PartRecord,
    SubmissionRecord,
    read_records,
    record_path,
    replace_text,
)
from hintgrader.records.unfinished import reason_unfinished


def write_results(
    course: Course, assignment: str, csv: Path, failures: Sequence[Failure]
) -> tuple[list[SubmissionRecord], Path, int]:
    """Write the table of all students, and what a person should look at.

    Args:
        course: The course.
        assignment: Name of the problem set.
        csv: Where the table goes.
        failures: Of submissions that could not be graded now.

    Returns:
        The records of all that is graded or missing, the path of the log, and its number of lines.
    """
    # a broken one is repaired when its submission is graded
    found = read_records(course.results, assignment, skip_broken=True)
    reasons = {failure.student: failure.reason for failure in failures}
    found = [record for record in found if record.student not in reasons]
    records = with_missing_students(course, assignment, found)
    waiting = _waiting(course, assignment, records, reasons)
    write_csv(csv, sorted([*records, *waiting], key=lambda record: record.student))
    lines = log_lines(found) + _misplaced_lines(course, assignment, found)
    lines += [plain(f"{student} not graded: {reason}") for student, reason in reasons.items()]
    log = course.results / f"{assignment}.log"
    replace_text(log, "".join(f"{line}\n" for line in lines))
    return records, log, len(lines)


def with_missing_students(
    course: Course, assignment: str, records: Iterable[SubmissionRecord]
) -> list[SubmissionRecord]:
    """These records, and one for each student on the roster with no hand-in where it should be."""
    by_student = {record.student: record for record in records}
    parts = missing_parts(course.source(assignment))
    misplaced = course.misplaced_files(assignment)
    for student in set(course.roster()) - set(by_student):
        if not course.submitted(assignment, student).is_dir():
            note = _nothing_handed_in(assignment, student, misplaced.get(student, []))
            by_student[student] = _unmarked(assignment, student, "missing", parts, (note,))
    return [by_student[student] for student in sorted(by_student)]


def _misplaced_lines(
    course: Course, assignment: str, found: Iterable[SubmissionRecord]
) -> list[str]:
    """Log lines on files in the wrong place, including files of people not on the roster."""
    misplaced = course.misplaced_files(assignment)
    graded = {record.student for record in found}
    absent = [
        s for s in misplaced if s not in graded and not course.submitted(assignment, s).is_dir()
    ]
    return [
        plain(f"{s}: {_nothing_handed_in(assignment, s, misplaced[s])}") for s in sorted(absent)
    ]


def _nothing_handed_in(assignment: str, student: str, there: list[str]) -> str:
    if not there:
        return "nothing was handed in"
    names = ", ".join(map(repr, there[:5]))
    return f"nothing was handed in as {student}/{assignment}; there is: {names}"


def ungraded(course: Course, assignment: str, records: Iterable[SubmissionRecord]) -> list[str]:
    """Names of students whose submissions have not been graded."""
    return sorted(set(course.students(assignment)) - {record.student for record in records})


def _waiting(
    course: Course, assignment: str, records: Iterable[SubmissionRecord], reasons: dict[str, str]
) -> list[SubmissionRecord]:
    """Rows of those whose submissions are there and have not been graded."""

    def why(student: str) -> str:
        return reason_unfinished(record_path(course.results, assignment, student)) or "not yet"

    parts = missing_parts(course.source(assignment))
    return [
        _unmarked(assignment, student, "not graded", parts, (reasons.get(student) or why(student),))
        for student in ungraded(course, assignment, records)
    ]


def _unmarked(
    assignment: str,
    student: str,
    state: str,
    parts: Iterable[PartRecord],
    notes: tuple[str, ...],
) -> SubmissionRecord:
    parts = tuple(replace(part, state=state) for part in parts)
    return SubmissionRecord(assignment, student, state, parts=parts, notes=notes)
