"""Tasks of grading, and failures."""

from collections.abc import Callable
from dataclasses import dataclass

from hintgrader.records.records import SubmissionRecord
from hintgrader.worker.time_limits import CELL_SECONDS


@dataclass(frozen=True)
class Task:
    """A submission to grade; its fields cross to other machines as JSON, never as a pickle.

    Attributes:
        course: The folder of the course, which every machine sees under this path.
        assignment: Name of the problem set, as `01_retrieval`.
        student: Name of the student's folder in `grading/submitted`.
        force: Grade again what has a record already.
        level: How far the student's code is confined: `sandbox`, `limits` or `plain`; None means
            a sandbox.
        cell_seconds: How long a cell may take; calls of graded functions have limits of their own.
    """

    course: str
    assignment: str
    student: str
    force: bool = False
    level: str | None = None
    cell_seconds: float = CELL_SECONDS


@dataclass(frozen=True)
class Failure:
    """A submission that could not be graded, and the reason, for the instructor to read."""

    student: str
    reason: str


GradingResult = SubmissionRecord | Failure
Grade = Callable[[Task], SubmissionRecord]
