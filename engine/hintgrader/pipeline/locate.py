"""A hand-in: what a student handed in, and when."""

import fnmatch
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hintgrader.nbgrader.course import Course, GradingError
from hintgrader.nbgrader.gradebook import is_name
from hintgrader.nbgrader.times import read_timestamp
from hintgrader.records.records import record_path

MAX_NAMED = 5  # of the files that are left out
# What a browser would run, if it lay beside the page that is given back.
PAGES = ("*.htm", "*.html", "*.xhtml", "*.xht", "*.mhtml", "*.svg", "*.xml")


@dataclass(frozen=True)
class HandIn:
    """A submission to a problem set, of which nothing has been read yet.

    Attributes:
        course: The course.
        assignment: Name of the problem set.
        student: Name of the student's folder.
        time: When, in UTC without a zone, as the gradebook keeps it; None if that is not known.
        files: What lies beside the notebook and is given back with it, by paths in the folder.
        notes: What a person should know of the files in the folder.
    """

    course: Course
    assignment: str
    student: str
    time: datetime | None
    files: tuple[Path, ...]
    notes: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return self.course.submitted(self.assignment, self.student)

    @property
    def notebook(self) -> Path:
        return notebook_in(self.folder, self.assignment)

    @property
    def autograded(self) -> Path:
        """The path of the notebook that is given back."""
        return self.course.autograded(self.assignment, self.student)

    @property
    def record_path(self) -> Path:
        return record_path(self.course.results, self.assignment, self.student)


def find_hand_in(course: Course, assignment: str, student: str) -> HandIn:
    """Look at what a student handed in.

    Raises:
        GradingError: nbgrader takes the name of the folder for another student's, or for none.
    """
    directory = course.directory
    directory.student_id = student
    if directory.student_id != student:  # nbgrader drops spaces around a name
        taken = f"{student!r} for {directory.student_id!r}"
        raise GradingError(f"nbgrader takes the folder {taken}. Give it another name.")
    if not is_name(student):
        raise GradingError("The name of the folder is no text, or too long. Give it another name.")
    folder = course.submitted(assignment, student)
    time, notes = read_timestamp(folder, course.config)
    if (name := notebook_in(folder, assignment).name) != f"{assignment}.ipynb":
        notes.append(f"graded is {name!r}, the only notebook in the folder")
    files, left_out = _files(folder, [*directory.ignore, "*.ipynb", *PAGES])
    if left_out:
        names = ", ".join(map(repr, sorted(left_out)[:MAX_NAMED]))
        notes.append(f"links and files of no use were left out: {names}")
    return HandIn(course, assignment, student, time, tuple(files), tuple(notes))


def notebook_in(folder: Path, assignment: str) -> Path:
    """The notebook that a student handed in.

    A browser calls the second download `01_retrieval (1).ipynb`: what begins with the name of the
    problem set is taken if it is the only notebook.
    """
    usual = folder / f"{assignment}.ipynb"
    found = [path for path in folder.glob("*.ipynb") if not path.name.startswith(".")]
    if len(found) == 1 and found[0].name.startswith(assignment) and found[0].is_file():
        return found[0]
    return usual


def _files(source: Path, ignored: list[str]) -> tuple[list[Path], list[str]]:
    """The files to copy, and the names of links, pipes and the like to leave out."""
    taken, left_out = [], []

    def wanted(names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if not any(fnmatch.fnmatch(name.lower(), one.lower()) for one in ignored)
        ]

    for place, folders, files in os.walk(source):
        folders[:] = wanted(folders)
        for name in wanted(files):
            path = Path(place, name)
            inside = path.relative_to(source)
            if path.is_symlink() or not path.is_file():
                left_out.append(str(inside))
            else:
                taken.append(inside)
        left_out += [name for name in folders if Path(place, name).is_symlink()]
    return taken, left_out
