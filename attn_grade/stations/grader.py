"""Walking a submission from station to station.

Here is what makes it safe to be interrupted, repeated and done by several at once: a lock for each
submission, and a record that is written last.
"""

import tempfile
import time
import warnings
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import torch
from filelock import FileLock

from attn_grade.check import hidden_secret
from attn_grade.host.isolation import lay_out
from attn_grade.host.process import SandboxProcess
from attn_grade.inside.level import Level
from attn_grade.nbgrader.cells import imported_modules
from attn_grade.nbgrader.course import Course
from attn_grade.nbgrader.gradebook import find_grades, with_retries
from attn_grade.records import SubmissionRecord, read_record, record_path, write_record
from attn_grade.stations.digest import digest_of
from attn_grade.stations.entered import enter, enter_nothing
from attn_grade.stations.found import HandIn, find
from attn_grade.stations.judged import judge
from attn_grade.stations.levels import choose_level
from attn_grade.stations.read import Unreadable, read
from attn_grade.stations.recorded import record_of, record_without
from attn_grade.stations.tasks import Task


def grade_submission(task: Task) -> SubmissionRecord:
    """Grade a submission into the gradebook, unless that has been done already.

    Args:
        task: Which one.

    Returns:
        Its record, which lies beside the others then.

    Raises:
        GradingError: nbgrader cannot grade it, or the isolation asked for cannot be had.
    """
    grader = grader_of(task)
    path = record_path(grader.course.results, task.assignment, task.student)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        digest = digest_of(grader.course, task.assignment, task.student)
        found = None if task.force else _matching_record(path, digest)
        if (
            found
            and not _had_less_time(found, task)
            and with_retries(lambda: grader.is_up_to_date(found))
        ):
            return found
        path.unlink(missing_ok=True)  # or it would speak for a grading that is interrupted
        record = grader.grade(task, digest)
        write_record(path, record)
        return record


_latest: dict[tuple[str, str, str, str | None, bool], "Grader"] = {}


def grader_of(task: Task) -> "Grader":
    """The grader of this process for a problem set; it keeps its confined process warm.

    Raises:
        GradingError: The isolation asked for cannot be had.
    """
    course = Course(Path(task.course))
    settings = course.settings_digest()
    key = (task.course, settings, task.assignment, task.level, task.require_sandbox)
    if key not in _latest:
        level = choose_level(task.level, task.require_sandbox)
        close_graders()
        least = level if task.level or task.require_sandbox else Level.PLAIN
        _latest[key] = Grader(course, task.assignment, level, least)
    return _latest[key]


def close_graders() -> None:
    """End the confined process that `grader_of` keeps warm, and remove its files."""
    for key in list(_latest):
        _latest.pop(key).close()


class Grader:
    """Grades submissions of one problem set, one after the other.

    Args:
        course: The course.
        assignment: Name of the problem set.
        level: How far submissions are kept away.
        least: How far they must have been kept away, if they have been graded before.
    """

    def __init__(self, course: Course, assignment: str, level: Level, least: Level) -> None:
        torch.set_num_threads(1)  # there is a process for each processor already
        self.course, self._assignment = course, assignment
        self._level, self._least = level, least
        self._open = ExitStack()

    @cached_property
    def process(self) -> SandboxProcess:
        """The confined process, which the first submission that is graded starts."""
        folder = tempfile.TemporaryDirectory(prefix="attn-grade-", ignore_cleanup_errors=True)
        path = Path(self._open.enter_context(folder))
        wall = self.course.wall
        lay_out(path, wall)
        preload = imported_modules(self.course.source(self._assignment))
        where = wall, preload, self.course.root.resolve()
        process = SandboxProcess(self._level, path, *where)
        self._open.callback(process.stop)
        process.start()
        return process

    def close(self) -> None:
        """End the confined process, if there is one, and remove its files."""
        self._open.close()

    def is_up_to_date(self, record: SubmissionRecord) -> bool:
        """True if a submission need not be graded again: all its results are there.

        The gradebook may be another than last time, or hold what nbgrader's own command has found
        since, and the isolation may be less than is asked for now.
        """
        where = record.assignment, record.student
        if Level.__members__.get(record.level.upper(), Level.PLAIN) < self._least:
            return False
        if not _is_older(self.course.autograded(*where), record_path(self.course.results, *where)):
            return False  # it is not there, or nbgrader's own command has written it since
        with self.course.gradebook() as gradebook:
            grades = find_grades(gradebook, *where)
            if grades is None:
                return False
            points = {grade.name: grade.auto_score for grade in grades}
        return all(points.get(part.part) == part.points for part in record.parts)

    def grade(self, task: Task, digest: str) -> SubmissionRecord:
        """Grade a submission, whatever has been done before."""
        begun = time.monotonic()
        _ = self.process  # it imports torch while nbgrader does its part
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nbgrader's and nbformat's own dealings
            record = self._grade_hand_in(find(self.course, task.assignment, task.student), task)
        seconds = round(time.monotonic() - begun, 2)
        return replace(
            record,
            level=str(self._level),
            digest=digest,
            seconds=seconds,
            cell_seconds=task.cell_seconds,
        )

    def _grade_hand_in(self, hand_in: HandIn, task: Task) -> SubmissionRecord:
        """Take a submission from station to station."""
        notebook = with_retries(lambda: read(hand_in))
        if isinstance(notebook, Unreadable):
            record = record_without(hand_in, notebook)
            with_retries(lambda: enter_nothing(hand_in, notebook))
            return record
        where = self.course.bank, self.process
        graded = judge(notebook, *where, hidden_secret(), task.cell_seconds)
        record = record_of(hand_in, notebook, graded)
        with_retries(lambda: enter(hand_in, notebook, graded))
        return record


def _is_older(path: Path, other: Path) -> bool:
    try:
        return path.stat().st_mtime_ns <= other.stat().st_mtime_ns
    except OSError:
        return False


def _had_less_time(record: SubmissionRecord, task: Task) -> bool:
    """True if a part timed out under a limit below the present one."""
    slow = any(part.state == "timed out" for part in record.parts)
    return slow and task.cell_seconds > record.cell_seconds


def _matching_record(path: Path, digest: str) -> SubmissionRecord | None:
    """The record, if it is of the same notebook and the same checks."""
    try:
        record = read_record(path)
    except (OSError, ValueError):
        return None
    return record if record.digest == digest else None
