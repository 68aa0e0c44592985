"""nbgrader's steps for exactly one submission, whatever its name and whatever lies in its folder.

nbgrader takes the names of folders for patterns: grading `*`, it would grade everybody. It follows
links, and gives a submission up for a date that it cannot read.
"""

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Grade, Gradebook, MissingEntry
from nbgrader.converters import Autograde, BaseConverter
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.course import GradingError
from hintgrader.nbgrader.gradebook import find_grades

Steps = Sequence[object]  # preprocessors, or their classes


class _SafeFileCopy(BaseConverter):
    """Copies the files that were found beside a notebook, and no others."""

    files: Sequence[Path]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        for path in self.files:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target / path, follow_symlinks=False)


class Directory(CourseDirectory):
    """Knows when a submission was handed in, whatever lies in its folder."""

    time: datetime | None = None

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        return self.time


class SubmissionConverter(Autograde, _SafeFileCopy):
    """Takes one notebook through steps of nbgrader's, into the gradebook and the autograded folder.

    Attributes:
        notebook: What goes through the steps, whatever lies in the folder that was handed in.
        steps: They run nothing.
        files: What is copied from that folder, by paths in it.
    """

    notebook: NotebookNode
    steps: Steps

    def start(self) -> None:
        """Convert it.

        Raises:
            DBAPIError, InvalidEntry: The gradebook refuses; it may do so no more when asked again.
            GradingError: nbgrader gives up, for a setting.
            Exception: Of whatever kind, at which it gives up.
        """
        log, before = _Log(), os.getcwd()
        self.log = self.coursedir.log = log.logger
        try:
            super().start()
        except (NbGraderException, SystemExit) as error:  # nbgrader exits for some settings
            cause = log.error or error
            if isinstance(cause, Exception) and not isinstance(cause, NbGraderException):
                raise cause from None
            raise GradingError(f"nbgrader stops at {type(cause).__name__}: {cause}") from cause
        finally:
            os.chdir(before)

    def init_notebooks(self) -> None:
        assignment = self.coursedir.assignment_id
        folder = self._format_source(assignment, self.coursedir.student_id)
        self.assignments = {folder: [os.path.join(folder, f"{assignment}.ipynb")]}
        self.notebooks: list[str] = []

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        where = assignment_id, student_id
        with self._grades(*where) as grades:
            waiting = {grade.id for grade in grades if grade.needs_manual_grade}
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            with suppress(MissingEntry):  # nbgrader keeps the time of an earlier version
                gradebook.find_submission(*where).timestamp = None
            gradebook.db.commit()
        super().init_assignment(*where)
        with self._grades(*where) as grades:  # without a file, nbgrader has called off all looks
            for grade in grades:
                grade.needs_manual_grade = grade.id in waiting

    @contextmanager
    def _grades(self, assignment_id: str, student_id: str) -> Iterator[list[Grade]]:
        """The grades in the gradebook, if there are any yet; what is changed in them is saved."""
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            yield find_grades(gradebook, assignment_id, student_id) or []
            gradebook.db.commit()

    def convert_single_notebook(self, notebook_filename: str) -> None:
        self.exporter._preprocessors = []
        for step in self.steps:
            self.exporter.register_preprocessor(step)
        resources = self.init_single_notebook_resources(notebook_filename)
        self.write_single_notebook(*self.exporter.from_notebook_node(self.notebook, resources))


class _Log(logging.Handler):
    """Keeps the error for which nbgrader gives up, of which it prints a page."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = None
        self.logger = logging.Logger("nbgrader", logging.ERROR)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.error = self.error or sys.exc_info()[1]
