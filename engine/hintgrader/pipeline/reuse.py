"""The earlier grading of a submission, where that is up to date and need not be repeated."""

from pathlib import Path

from hintgrader.nbgrader.gradebook import find_grades
from hintgrader.pipeline.locate import HandIn
from hintgrader.records.records import SubmissionRecord, read_record
from hintgrader.worker.level import Level


def earlier_record(
    hand_in: HandIn, digest: str, least: Level, cell_seconds: float
) -> SubmissionRecord | None:
    """The record of an earlier grading, if that is up to date: all its results are there.

    A part that only waited has none.

    The gradebook may be another than last time, or hold what nbgrader's own command has found
    since; the isolation may be less than is asked for now, and the time for a cell more.

    Args:
        hand_in: The submission.
        digest: Of it, and of all that it is graded by.
        least: How far it must have been kept away.
        cell_seconds: How long a cell may take now.
    """
    try:
        record = read_record(hand_in.record_path)
    except (OSError, ValueError):
        return None
    is_up_to_date = (
        record.digest == digest
        and not record.waited
        and not _had_less_time(record, cell_seconds)
        and Level.__members__.get(record.level.upper(), Level.PLAIN) >= least
        and _is_older(hand_in.autograded, hand_in.record_path)
        and _is_in_the_gradebook(hand_in, record)
    )
    return record if is_up_to_date else None


def _had_less_time(record: SubmissionRecord, cell_seconds: float) -> bool:
    """True if a part timed out under a limit below the present one."""
    slow = any(part.state == "timed out" for part in record.parts)
    return slow and cell_seconds > record.cell_seconds


def _is_older(path: Path, other: Path) -> bool:
    """False if a file is not there, or if nbgrader's own command has written it since."""
    try:
        return path.stat().st_mtime_ns <= other.stat().st_mtime_ns
    except OSError:
        return False


def _is_in_the_gradebook(hand_in: HandIn, record: SubmissionRecord) -> bool:
    with hand_in.course.gradebook() as gradebook:
        grades = find_grades(gradebook, hand_in.assignment, hand_in.student)
        if grades is None:
            return False
        points = {grade.name: grade.auto_score for grade in grades}
    return all(points.get(part.part) == part.points for part in record.parts)
