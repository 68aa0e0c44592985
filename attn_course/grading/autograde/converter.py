"""Grading one submission: nbgrader's steps, with the running of cells replaced by grading outside.

Here is what makes it safe to be interrupted, repeated and done by several at once: a lock for each
submission, and a record that is written last.
"""

import glob
import hashlib
import logging
import os
import tempfile
import time
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import torch
from filelock import FileLock
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    LimitOutput,
    SaveAutoGrades,
)
from sqlalchemy.exc import SAWarning

from attn_course.grading.autograde.claims import claims_of, part_record, read_notebook
from attn_course.grading.autograde.course import Course
from attn_course.grading.autograde.gradebook import patiently
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
from attn_course.grading.checking import hidden_secret
from attn_course.grading.outside.isolation import PACKAGE, Level, copy_package, strongest
from attn_course.grading.outside.slot import Slot


class GradingError(Exception):
    """A submission cannot be graded, for a reason that is not the student's."""


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
        digest = grader.digest(task)
        if not task.force and (found := _found(path, digest)) and grader.has_marks(task):
            return found
        record = grader.grade(task, digest)
        write_record(path, record)
        return record


_latest: dict[tuple, "Grader"] = {}


def grader_of(task: Task) -> "Grader":
    """The grader of this process for a problem set; it keeps a confined process warm.

    Raises:
        GradingError: The isolation asked for cannot be had.
    """
    key = (task.course, task.assignment, task.level, task.require_sandbox)
    if key not in _latest:
        level = choose_level(task.level, task.require_sandbox)
        for other in list(_latest):
            _latest.pop(other).close()
        _latest[key] = Grader(Course(Path(task.course)), task.assignment, level)
    return _latest[key]


def choose_level(level: str | None, require_sandbox: bool) -> Level:
    """The level of isolation to grade at.

    Args:
        level: Its name; None for the strongest that there is.
        require_sandbox: Whether to refuse anything but the strongest of all.

    Raises:
        GradingError: This machine does not offer it, or it is below what is required.
    """
    chosen = strongest() if level is None else Level[level.upper()]
    if chosen > strongest():
        raise GradingError(f"This machine has no {chosen}, only {strongest()}: {HOW_TO_SANDBOX}")
    if require_sandbox and chosen < Level.SANDBOX:
        raise GradingError(f"A sandbox is required, and there is only {chosen}: {HOW_TO_SANDBOX}")
    return chosen


HOW_TO_SANDBOX = "bubblewrap has to be installed, and allowed to make namespaces."


class Grader:
    """Grades submissions of one problem set, one after the other.

    Args:
        course: The course.
        assignment: Name of the problem set.
        level: How far submissions are kept away.
    """

    def __init__(self, course: Course, assignment: str, level: Level) -> None:
        torch.set_num_threads(1)  # there is a process for each processor already
        self.course = course
        self._folder = tempfile.TemporaryDirectory(prefix="attn-course-")
        copy_package(Path(self._folder.name))
        preload = imported_modules(course.source(assignment))
        self.slot = Slot(level, Path(self._folder.name), preload)
        self.slot.start()  # it imports torch while nbgrader does its part

    def close(self) -> None:
        """End the confined process, and remove its files."""
        self.slot.stop()
        self._folder.cleanup()

    def digest(self, task: Task) -> str:
        """Of all that decides about the marks."""
        _ = self.course.config  # puts the seed in place
        found = hashlib.sha256(f"{hidden_secret()}|{package_digest()}".encode())
        folder = self.course.submitted(task.assignment, task.student)
        for path in (folder / f"{task.assignment}.ipynb", self.course.source(task.assignment)):
            found.update(path.read_bytes() if path.is_file() else b"none")
        return found.hexdigest()

    def has_marks(self, task: Task) -> bool:
        """Whether the gradebook has heard of the submission: it may be another than last time."""
        with self.course.gradebook() as gradebook:
            try:
                submission = gradebook.find_submission(task.assignment, task.student)
            except MissingEntry:
                return False
            return all(notebook.grades for notebook in submission.notebooks)

    def grade(self, task: Task, digest: str) -> SubmissionRecord:
        """Grade a submission, whatever has been done before."""
        begun = time.monotonic()
        notebook = self.course.submitted(task.assignment, task.student) / f"{task.assignment}.ipynb"
        try:
            handed_in = read_notebook(notebook)
        except ValueError as error:
            record = self._grade_nothing(task, str(error))
        else:
            record = self._grade_notebook(task, handed_in)
        seconds = round(time.monotonic() - begun, 2)
        return replace(record, digest=digest, seconds=seconds, level=str(self.slot.level))

    def _grade_notebook(self, task: Task, handed_in: NotebookNode) -> SubmissionRecord:
        outside = GradeOutside(self.slot, hidden_secret(), task.cell_seconds)
        patiently(lambda: self._convert(task, outside))
        claims, graded = claims_of(handed_in), outside.graded
        parts = tuple(
            part_record(name, part, claims.get(name)) for name, part in graded.parts.items()
        )
        state = worst_state([part.state for part in parts])
        return SubmissionRecord(
            task.assignment, task.student, state, "", "", 0.0, parts, tuple(graded.notes)
        )

    def _convert(self, task: Task, outside: GradeOutside) -> None:
        directory, log = self.course.directory, _Log()
        directory.assignment_id = task.assignment
        directory.student_id = glob.escape(task.student)
        converter = Autograde(coursedir=directory, config=self.course.config)
        converter.log, converter.force = log.logger, True
        converter.autograde_preprocessors = [
            outside,
            ClearMetadataPreprocessor,
            LimitOutput,
            SaveAutoGrades,
            AssignLatePenalties,
            CheckCellMetadata,
        ]
        before = os.getcwd()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own dealings
                converter.start()
        except (NbGraderException, SystemExit) as error:  # nbgrader exits for some settings
            raise GradingError(f"nbgrader: {error} {log.text()}") from None
        finally:
            os.chdir(before)

    def _grade_nothing(self, task: Task, reason: str) -> SubmissionRecord:
        """Enter no points for a notebook that is not there, or cannot be read."""
        parts = missing_parts(self.course.source(task.assignment))
        with self.course.gradebook() as gradebook:
            gradebook.update_or_create_student(task.student)
            submission = gradebook.update_or_create_submission(task.assignment, task.student)
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    grade.auto_score, grade.needs_manual_grade = 0, False
            gradebook.db.commit()
        return SubmissionRecord(
            task.assignment, task.student, "missing", "", "", 0.0, parts, (reason,)
        )


def _found(path: Path, digest: str) -> SubmissionRecord | None:
    """The record, if it is of the same notebook and the same checks."""
    try:
        record = read_record(path)
    except (OSError, ValueError):
        return None
    return record if record.digest == digest else None


@cache
def package_digest() -> str:
    """Of the checks and all that they use."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


class _Log:
    """What nbgrader has to say, kept for the case that it fails."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.logger = logging.Logger("nbgrader", logging.WARNING)
        handler = logging.Handler()
        handler.emit = lambda record: self._lines.append(record.getMessage())
        self.logger.addHandler(handler)

    def text(self) -> str:
        return " ".join(self._lines)[-2000:]
