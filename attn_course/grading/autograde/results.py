"""What is kept of a graded problem set beside the gradebook: a CSV for all, a log for people."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from attn_course.grading.autograde.course import Course
from attn_course.grading.autograde.outside_cells import missing_parts
from attn_course.grading.autograde.records import (
    PartRecord,
    SubmissionRecord,
    read_records,
    replace_text,
)
from attn_course.grading.autograde.summary import log_lines, plain, write_csv
from attn_course.grading.autograde.tasks import Failure

NOTHING = ("nothing was handed in",)


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
    records = with_absent(course, assignment, found)
    reasons = {failure.student: failure.reason for failure in failures}
    waiting = _waiting(course, assignment, records, reasons)
    write_csv(csv, sorted([*records, *waiting], key=lambda record: record.student))
    lines = log_lines(record for record in records if record.notes != NOTHING)
    lines += [plain(f"{student} not graded: {reason}") for student, reason in reasons.items()]
    log = course.results / f"{assignment}.log"
    replace_text(log, "".join(f"{line}\n" for line in lines))
    return records, log, len(lines)


def with_absent(
    course: Course, assignment: str, records: Iterable[SubmissionRecord]
) -> list[SubmissionRecord]:
    """These records, and those of students who handed in nothing that lies where it should."""
    by_student = {record.student: record for record in records}
    parts = missing_parts(course.source(assignment))
    strays = course.strays(assignment)
    for student in sorted({*course.roster(), *strays} - set(by_student)):
        if not course.submitted(assignment, student).is_dir():
            notes = NOTHING
            if names := strays.get(student):
                there = ", ".join(map(repr, names[:5]))
                notes = (f"nothing was handed in as {student}/{assignment}; there is: {there}",)
            by_student[student] = _ungraded(assignment, student, "missing", parts, notes)
    return [by_student[student] for student in sorted(by_student)]


def _waiting(
    course: Course, assignment: str, records: Iterable[SubmissionRecord], reasons: dict[str, str]
) -> list[SubmissionRecord]:
    """Rows of those whose submissions are there and have not been graded."""
    parts = missing_parts(course.source(assignment))
    students = set(course.students(assignment)) - {record.student for record in records}
    return [
        _ungraded(assignment, student, "not graded", parts, (reasons.get(student, "not yet"),))
        for student in students
    ]


def _ungraded(
    assignment: str,
    student: str,
    state: str,
    parts: Iterable[PartRecord],
    notes: tuple[str, ...],
) -> SubmissionRecord:
    parts = tuple(replace(part, state=state) for part in parts)
    return SubmissionRecord(assignment, student, state, parts=parts, notes=notes)
