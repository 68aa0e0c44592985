"""The folder of a course, as nbgrader sees it."""

import difflib
import glob
import hashlib
import os
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from traitlets import Bool, Int, List, Unicode
from traitlets.config import Config, Configurable
from traitlets.config.loader import PyFileConfigLoader

from hintgrader.worker.wall import Wall

if TYPE_CHECKING:
    from hintgrader.bank.bank import Bank

CONFIG = "nbgrader_config.py"
GRADING = "grading"  # the folder of all that only the grader may see


class HintGrader(Configurable):
    """Settings of the engine, beside nbgrader's."""

    bank = Unicode(help="Name of the package of exercises, which has a `BANK`.").tag(config=True)
    min_mistakes = Int(8, help="So many mistakes an exercise must know.").tag(config=True)
    right_answers = Unicode(help="Folder of right answers, `folder/part.py` for each.").tag(
        config=True
    )
    verdicts = Unicode(help="Folder of verdicts, `folder/part.json` for each.").tag(config=True)
    min_right_answers = Int(4, help="So many right answers it must hold.").tag(config=True)
    checks = List(
        Unicode(), help="Programs of the course, with arguments, that say on stderr what is stale."
    ).tag(config=True)
    check_marks = Bool(True, help="Export no marks but those graded here.").tag(config=True)


class CourseError(Exception):
    """Raised when something asked for does not exist; the message says what does."""


class GradingError(Exception):
    """A submission cannot be graded, for a reason that does not lie in its notebook."""


def did_you_mean(name: str, known: Collection[str]) -> str:
    """A question, after a blank, that names what is spelt nearly like it; empty if nothing is."""
    near = difflib.get_close_matches(name, known, n=3)
    return f" Did you mean: {', '.join(near)}?" if near else ""


@dataclass(frozen=True)
class Course:
    """A course.

    Args:
        root: Its folder, with `nbgrader_config.py` in it.

    Raises:
        CourseError: There is no such file, or nbgrader cannot work in the folder.
    """

    root: Path

    def __post_init__(self) -> None:
        place = str(self.root)
        if not (self.root / CONFIG).is_file():
            raise CourseError(f"{place} is not a course: it has no {CONFIG}.")
        if set(place) & set("[{}") or os.path.expandvars(place) != place:
            said = "nbgrader takes [, {, } and names behind $ in its path for a pattern"
            raise CourseError(f"Rename the folder {place}: {said}.")

    @cached_property
    def config(self) -> Config:
        """The settings of nbgrader; reading them puts the seed of hidden inputs in place."""
        if str(self.root) not in sys.path:
            sys.path.append(str(self.root))  # plugins lie beside the settings that name them
        try:
            return PyFileConfigLoader(CONFIG, str(self.root)).load_config()
        except (Exception, SystemExit) as error:  # it is a program
            reason = f"{type(error).__name__}: {error}"
            raise CourseError(f"{self.root / CONFIG} cannot be read. {reason}") from error

    @cached_property
    def settings(self) -> HintGrader:
        """The settings of the engine."""
        return HintGrader(config=self.config)

    def settings_digest(self) -> str:
        """Digest of the settings file as it is now; `config` may be older."""
        return hashlib.sha256((self.root / CONFIG).read_bytes()).hexdigest()

    @cached_property
    def bank(self) -> "Bank":
        """The exercises.

        Raises:
            CourseError: The settings name none, or it cannot be imported.
        """
        from hintgrader.bank.bank import Bank  # PyTorch, which most commands do without

        if not (name := self.settings.bank):
            raise CourseError(f"{self.root / CONFIG} names no bank of exercises: c.HintGrader.bank")
        try:
            bank = import_module(name).BANK
        except (AttributeError, ImportError) as error:
            raise CourseError(f"The bank of exercises {name!r} cannot be used: {error}") from error
        if not isinstance(bank, Bank):
            raise CourseError(f"{name}.BANK is a {type(bank).__name__}, not a bank of exercises")
        return bank

    @property
    def wall(self) -> Wall:
        """The wall for submissions of this course."""
        directory = self.directory
        gradebook = make_url(directory.db_url).database or ""
        paths = f"{directory.source_directory}/", Path(gradebook).name, f"{GRADING}/secret"
        return Wall(self.bank.student_packages, self.bank.package, tuple(filter(None, paths)))

    @property
    def directory(self) -> CourseDirectory:
        """A new object of nbgrader's, which knows the names of folders."""
        return CourseDirectory(config=self.config)

    @property
    def results(self) -> Path:
        """The folder of records, tables, reports and logs."""
        return self.root / GRADING / "results"

    def submitted(self, assignment: str, student: str) -> Path:
        """The folder that a student handed in."""
        folder = self.directory.submitted_directory
        return self.root / self.directory.format_path(folder, student, assignment)

    def autograded(self, assignment: str, student: str) -> Path:
        """The notebook with what its cells showed and earned."""
        place = self.directory.autograded_directory
        folder = self.directory.format_path(place, student, assignment)
        return Path(folder, f"{assignment}.ipynb")

    def source(self, assignment: str) -> Path:
        """The problem set as its author wrote it."""
        folder = self.directory.format_path(self.directory.source_directory, ".", assignment)
        return self.root / folder / f"{assignment}.ipynb"

    def students(self, assignment: str) -> list[str]:
        """The students with a submission."""
        everybody = self.submitted(assignment, "*")
        parts = everybody.relative_to(everybody.anchor).parts
        pattern = [part if part == "*" else glob.escape(part) for part in parts]
        found = sorted(
            folder.relative_to(everybody.anchor).parts[parts.index("*")]
            for folder in Path(everybody.anchor).glob(os.path.join(*pattern))
            if folder.is_dir()
        )
        return [name for name in found if name not in self._excluded]

    @property
    def _excluded(self) -> list[str]:
        """Names that are no student's."""
        return self.directory.student_id_exclude.split(",")

    def select_students(self, assignment: str, names: Iterable[str]) -> list[str]:
        """The named students, or all with a submission if none are named.

        Raises:
            CourseError: Nothing was handed in by one of them, or by nobody; the message says who
                was meant, or where it should be.
        """
        handed_in = self.students(assignment)
        if not handed_in:
            everybody = self.submitted(assignment, "*")
            raise CourseError(f"Nobody has handed in {assignment}: nothing is at {everybody}.")
        for name in sorted(set(names) - set(handed_in)):
            raise CourseError(f"Nothing was handed in by {name}.{did_you_mean(name, handed_in)}")
        return sorted(set(names)) or handed_in

    def misplaced_files(self, assignment: str) -> dict[str, list[str]]:
        """Files in the students' folders that belong to no problem set, by student."""
        folder = self.submitted(assignment, "*")
        if folder.name != assignment or folder.parent.name != "*":
            return {}  # the settings lay submissions out otherwise
        found: dict[str, list[str]] = {}
        with self.gradebook() as gradebook:
            known = {each.name for each in gradebook.assignments}
        for student in folder.parent.parent.glob("[!.]*"):
            if student.is_dir() and student.name not in self._excluded:
                there = student.glob("[!.]*")
                names = sorted(one.name for one in there if one.is_file() or one.name not in known)
                found |= {student.name: names} if names else {}
        return found

    def roster(self) -> list[str]:
        """The names of all students whom the gradebook knows."""
        with self.gradebook() as gradebook:
            return sorted(student.id for student in gradebook.students)

    def gradebook(self) -> Gradebook:
        """Open the gradebook; the caller closes it."""
        directory = self.directory
        return Gradebook(directory.db_url, directory.course_id)
