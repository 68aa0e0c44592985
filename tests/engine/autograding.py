"""Courses that are graded as a class is: laid out, released, handed in, looked at afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypeVar

import nbformat
import psutil
import pytest
from filelock import FileLock
from hintgrader.authoring.parts import with_table
from hintgrader.nbgrader.course import Course
from hintgrader.records.records import SubmissionRecord, read_record, record_path
from hintgrader.testing.courses import SECRET, hand_in, seed_of_no_other_course
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from attn_bank import BANK
from tests.conftest import shared_folder
from tests.engine.test_nbgrader import FIRST, STUDENTS, lay_out, read_points

T = TypeVar("T")
POINTS = read_points()
OF = sum(POINTS.values())
SMALL, PARTS_OF_SMALL = "a small course", 2
OF_SMALL = sum(list(POINTS.values())[:PARTS_OF_SMALL])
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux does")


def released_course(base: Path, name: str = "a course") -> Path:
    """The course with its first problem set released, in a folder with a space in its name.

    It is made once for a whole test run, whichever worker asks first, to be copied.
    """
    course, done = shared_folder(base) / name, shared_folder(base) / f"{name} is released"
    with FileLock(done.with_suffix(".lock")):
        if not done.exists():
            course.mkdir()
            lay_out(course, FIRST)
            if name == SMALL:
                keep_parts(course / "solutions" / FIRST / f"{FIRST}.ipynb")
            (course / "grading").mkdir()
            (course / "grading" / "secret.txt").write_text(f"{SECRET}\n", encoding="utf-8")
            with seed_of_no_other_course():
                made = NbGraderAPI(config=Course(course).config).generate_assignment(FIRST)
            assert made["success"], made
            done.touch()
    return course


def small_course(base: Path) -> Path:
    """The same with few parts in the problem set, for tests to which it does not matter which."""
    return released_course(base, SMALL)


def keep_parts(path: Path) -> None:
    """Leave the first parts of a problem set, and the last, which is in words."""
    notebook, sections = nbformat.read(path, as_version=4), [[]]
    for cell in notebook.cells:
        if cell.source.startswith("## Part "):
            sections.append([])
        sections[-1].append(cell)
    notebook.cells = list(chain(*sections[: PARTS_OF_SMALL + 1], sections[-1]))
    nbformat.write(with_table(notebook, BANK), path)


def hand_in_as_students(course: Path, *students: str) -> None:
    """Hand in what the students of `test_nbgrader.py` do."""
    for student in students:
        wrong = STUDENTS[student]
        hand_in(course, FIRST, student, {part: change for part, (change, _) in wrong.items()})


def notebook_of(course: Path, student: str) -> Path:
    """Return the path of the notebook that a student handed in."""
    return course / "grading" / "submitted" / student / FIRST / f"{FIRST}.ipynb"


def begin(course: Path, temporary: Path, *words: str) -> subprocess.Popen:
    """The command, as it is typed, in a terminal of its own of eighty columns."""
    command = [sys.executable, "-m", "hintgrader", "autograde", FIRST, *words]
    own = {"TMPDIR": str(temporary), "COLUMNS": "80"}
    environment = {k: v for k, v in os.environ.items() if k != "HINTGRADER_SECRET"} | own
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        command,
        cwd=course,
        env=environment,
        start_new_session=True,
        preexec_fn=hear_interrupts,
        **both,
    )


def hear_interrupts() -> None:
    """Listen as in a terminal; a command that a shell runs in the background is deaf to them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def gradebook(course: Path) -> Gradebook:
    """The gradebook of a course, opened."""
    return Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}", "attention")


def path_of_record(course: Path, student: str) -> Path:
    return record_path(course / "grading" / "results", FIRST, student)


def record_of(course: Path, student: str) -> SubmissionRecord:
    return read_record(path_of_record(course, student))


def cells_of(course: Path, student: str) -> dict[str, tuple]:
    """Return each cell's points and need of a reader, and its comment, from the gradebook."""
    with gradebook(course) as book:
        (notebook,) = book.find_submission(FIRST, student).notebooks
        cells = {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for grade in notebook.grades
        }
        comments = {f"on {comment.name}": comment.auto_comment for comment in notebook.comments}
    return cells | comments


def until(look: Callable[[], T], seconds: float = 60) -> T:
    """Look until there is something to be seen, and return it."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen


def have_ended(processes: Iterable[psutil.Process]) -> bool:
    """No process runs; a zombie does not, though in a container nobody may ever wait for it."""
    with suppress(psutil.NoSuchProcess):  # one of them has just ended: look again
        return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)
    return False


def processes_with(folder: Path) -> list[psutil.Process]:
    """Processes that were started with a temporary folder of their own."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            arguments = process.cmdline()
        except psutil.Error:
            continue
        if str(folder) in " ".join((*arguments, *environment.values())):
            found.append(process)
    return [process for process in found if process.pid != os.getpid()]


def with_submission(grader: psutil.Process) -> list[psutil.Process]:
    """Return a grader's processes once it runs a submission; nothing before."""
    with suppress(psutil.NoSuchProcess):  # one of them has just ended: look again
        found = grader.children(recursive=True)
        parents = {process.ppid() for process in found}
        pythons = [process for process in found if process.name().startswith("python")]
        return found if any(process.pid in parents for process in pythons) else []
    return []
