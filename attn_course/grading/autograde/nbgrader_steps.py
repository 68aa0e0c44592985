"""nbgrader's steps for exactly one submission, whatever its name and whatever lies in its folder.

nbgrader takes the names of folders for patterns: grading `*`, it would grade everybody. It follows
links, and gives a submission up for a date that it cannot read.
"""

import fnmatch
import logging
import os
import shutil
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.converters import Autograde, BaseConverter
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, LimitOutput, NbGraderPreprocessor
from sqlalchemy.exc import DBAPIError

from attn_course.grading.autograde.course import Course
from attn_course.grading.autograde.last_words import LastWords, SaveMarks
from attn_course.grading.autograde.records import record_path
from attn_course.grading.autograde.times import UnknownZoneError, read_time


class GradingError(Exception):
    """A submission cannot be graded, for a reason that does not lie in its notebook."""


def convert(course: Course, assignment: str, student: str, run: NbGraderPreprocessor) -> list[str]:
    """Take a submission through nbgrader's steps, into the gradebook and the autograded folder.

    Args:
        course: The course.
        assignment: Name of the problem set.
        student: Name of the student's folder.
        run: Takes the place of nbgrader's `Execute`.

    Returns:
        What a person should know of the files in the folder.

    Raises:
        DBAPIError, InvalidEntry: The gradebook refuses; it may do so no more when asked again.
        GradingError: nbgrader gives up.
    """
    steps = [
        run,
        ClearMetadataPreprocessor,
        LimitOutput,
        SaveMarks(last_words(course, assignment, student)),
        AssignLatePenalties,  # and no second look at the metadata: they are as they were
    ]
    return start(OneSubmission, course, assignment, student, autograde_preprocessors=steps)


def last_words(course: Course, assignment: str, student: str) -> LastWords:
    """What a submission said when it was graded the last time."""
    return LastWords(record_path(course.results, assignment, student).with_suffix(".read"))


def start(
    kind: "type[OneSubmission]", course: Course, assignment: str, student: str, **settings: object
) -> list[str]:
    """Let nbgrader convert a submission.

    Args:
        kind: The converter.
        course: The course.
        assignment: Name of the problem set.
        student: Name of the student's folder.
        settings: Attributes of the converter.

    Returns:
        What a person should know of the files in the folder.

    Raises:
        DBAPIError, InvalidEntry, GradingError: As `convert` does.
    """
    directory, log = _Directory(config=course.config), _Log()
    directory.assignment_id, directory.student_id = assignment, student
    if directory.student_id != student:  # nbgrader drops spaces around a name
        taken = f"{student!r} for that of {directory.student_id!r}"
        raise GradingError(f"nbgrader takes the folder {taken}. Give it another name.")
    converter = kind(coursedir=directory, config=course.config)
    converter.log = directory.log = log.logger
    converter.force = True
    converter.exporter_class = NotebookExporter  # a server may do this: nothing runs in its name
    for name, value in settings.items():
        setattr(converter, name, value)
    before = os.getcwd()
    try:
        converter.start()
    except (NbGraderException, SystemExit) as error:  # nbgrader exits for some settings
        cause = log.error or error
        if isinstance(cause, DBAPIError | InvalidEntry):
            raise cause from None
        raise GradingError(f"nbgrader stops at {type(cause).__name__}: {cause}") from cause
    finally:
        os.chdir(before)
    return directory.notes + converter.notes


class _Directory(CourseDirectory):
    """Reads the date of a submission in favour of the student, if it can be read at all."""

    notes: list[str]

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.notes = []

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        path = Path(dest_path, "timestamp.txt")
        home = str(self.config.get("Exchange", {}).get("timezone", "UTC"))  # makes no setting of it
        try:  # Windows begins a text with a mark
            return read_time(path.read_text(encoding="utf-8-sig"), home) if path.is_file() else None
        except UnknownZoneError as error:
            when, found = "read as the earliest time that it can mean", error.earliest
            problem = f"names a zone that is not known, {str(error)!r}"
        except Exception:  # whatever is in that file
            when, found, problem = "counted as handed in in time", None, "cannot be read"
        self.notes.append(f"timestamp.txt {problem}: {when}")
        return found


class _CarefulCopy(BaseConverter):
    """Copies what lies beside a notebook, but for links, pipes and what the settings ignore."""

    notes: list[str]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        source = Path(self._format_source(assignment_id, student_id))
        target = Path(self._format_dest(assignment_id, student_id))
        left_out = []
        for folder, folders, files in os.walk(source):
            folders[:] = [name for name in folders if not self._is_ignored(name)]
            for name in [name for name in files if not self._is_ignored(name)]:
                path = Path(folder, name)
                if path.is_symlink() or not path.is_file():
                    left_out.append(f"{path.relative_to(source)!s}")
                    continue
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            left_out += [name for name in folders if Path(folder, name).is_symlink()]
        if left_out:
            names = ", ".join(map(repr, sorted(left_out)[:5]))
            self.notes.append(f"links and files of no use were left out: {names}")

    def _is_ignored(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, kind) for kind in [*self.coursedir.ignore, "*.ipynb"])


class OneSubmission(Autograde, _CarefulCopy):
    """Grades the one submission whose name is in the settings, taken as it is."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.notes = []

    def init_notebooks(self) -> None:
        assignment = self.coursedir.assignment_id
        folder = self._format_source(assignment, self.coursedir.student_id)
        self.assignments = {folder: [os.path.join(folder, f"{assignment}.ipynb")]}
        self.notebooks = []

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            with suppress(MissingEntry):  # nbgrader keeps the time of an earlier version
                gradebook.find_submission(assignment_id, student_id).timestamp = None
            gradebook.db.commit()
        super().init_assignment(assignment_id, student_id)


class _Log:
    """Keeps the error for which nbgrader gives up, of which it prints a page."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.logger = logging.Logger("nbgrader", logging.ERROR)
        handler = logging.Handler()
        handler.emit = self._keep
        self.logger.addHandler(handler)

    def _keep(self, _: logging.LogRecord) -> None:
        self.error = self.error or sys.exc_info()[1]
