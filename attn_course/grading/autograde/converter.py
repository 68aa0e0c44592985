"""Grading one submission: nbgrader's steps, with the running of cells replaced by grading outside.

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
from nbformat import NotebookNode

from attn_course.grading.autograde.claims import claims_of, part_record, read_notebook
from attn_course.grading.autograde.course import Course
from attn_course.grading.autograde.digest import digest_of
from attn_course.grading.autograde.gradebook import find_grades, patiently
from attn_course.grading.autograde.levels import choose_level
from attn_course.grading.autograde.nbgrader_steps import convert
from attn_course.grading.autograde.outside_cells import (
    GradeOutside,
    imported_modules,
    missing_parts,
)
from attn_course.grading.autograde.records import (
    SubmissionRecord,
    read_record,
    record_path,
    worst_state,
    write_record,
)
from attn_course.grading.autograde.tasks import Task
from attn_course.grading.autograde.unread import enter_nothing
from attn_course.grading.checking import hidden_secret
from attn_course.grading.outside.isolation import Level, copy_package
from attn_course.grading.outside.slot import Slot


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
        found = None if task.force else _found(path, digest)
        if found and not _was_hurried(found, task) and patiently(lambda: grader.stands(found)):
            return found
        path.unlink(missing_ok=True)  # or it would speak for a grading that is interrupted
        record = grader.grade(task, digest)
        write_record(path, record)
        return record


_latest: dict[tuple, "Grader"] = {}


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
    def slot(self) -> Slot:
        """The confined process, which the first submission that is graded starts."""
        folder = tempfile.TemporaryDirectory(prefix="attn-course-", ignore_cleanup_errors=True)
        path = Path(self._open.enter_context(folder))
        copy_package(path)
        preload = imported_modules(self.course.source(self._assignment))
        slot = Slot(self._level, path, preload, self.course.root.resolve())
        self._open.callback(slot.stop)
        slot.start()
        return slot

    def close(self) -> None:
        """End the confined process, if there is one, and remove its files."""
        self._open.close()

    def stands(self, record: SubmissionRecord) -> bool:
        """Whether a grading needs not be done again: all that it has left is there.

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
        _ = self.slot  # it imports torch while nbgrader does its part
        notebook = self.course.submitted(task.assignment, task.student) / f"{task.assignment}.ipynb"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nbgrader's and nbformat's own dealings
            try:
                handed_in, reason = read_notebook(notebook), None
            except ValueError as error:
                handed_in, reason = None, str(error)
            if handed_in is None:  # not within `except`: what stops the grading is another error
                record = self._grade_nothing(task, reason)
            else:
                record = self._grade_notebook(task, handed_in)
        seconds = round(time.monotonic() - begun, 2)
        found = {"digest": digest, "seconds": seconds, "cell_seconds": task.cell_seconds}
        return replace(record, level=str(self._level), **found)

    def _grade_notebook(self, task: Task, handed_in: NotebookNode) -> SubmissionRecord:
        outside = GradeOutside(self.slot, hidden_secret(), task.cell_seconds)
        fields = self.course, task.assignment, task.student
        notes = patiently(lambda: convert(*fields, outside))
        claims, graded = claims_of(handed_in), outside.graded
        parts = tuple(
            part_record(name, part, claims.get(name), graded.incomplete)
            for name, part in graded.parts.items()
        )
        state = worst_state([graded.state, *(part.state for part in parts)])
        names, notes = (task.assignment, task.student), (*graded.notes, *notes)
        return SubmissionRecord(*names, state, parts=parts, notes=notes)

    def _grade_nothing(self, task: Task, reason: str) -> SubmissionRecord:
        """Enter no points for a notebook that is not there, or cannot be read."""
        parts = missing_parts(self.course.source(task.assignment))
        fields = self.course, task.assignment, task.student
        notes = patiently(lambda: enter_nothing(*fields, reason))
        names, notes = (task.assignment, task.student), (reason, *notes)
        return SubmissionRecord(*names, "missing", parts=parts, notes=notes)


def _is_older(path: Path, other: Path) -> bool:
    try:
        return path.stat().st_mtime_ns <= other.stat().st_mtime_ns
    except OSError:
        return False


def _was_hurried(record: SubmissionRecord, task: Task) -> bool:
    """Whether time ran out that there is more of now."""
    slow = any(part.state == "timed out" for part in record.parts)
    return slow and task.cell_seconds > record.cell_seconds


def _found(path: Path, digest: str) -> SubmissionRecord | None:
    """The record, if it is of the same notebook and the same checks."""
    try:
        record = read_record(path)
    except (OSError, ValueError):
        return None
    return record if record.digest == digest else None
