"""Gradings without students' code, for tests and a benchmark of what carries them to workers.

Each does what `grade_submission` promises: it holds the lock of its submission, is content with a
record that is there, writes marks as nbgrader does, and the record last. It notes what it begins
and completes, so that one can count.
"""

import os
import re
import shutil
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock
from hintgrader.nbgrader.gradebook import prepare_gradebook
from hintgrader.pipeline.tasks import Task
from hintgrader.records.records import (
    PartRecord,
    SubmissionRecord,
    read_record,
    record_path,
    write_record,
)
from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning

NOTEBOOK, CELLS, POINTS = "one", ("first", "second", "third"), 4
COURSE_ID = "attention"
ROOT = Path(__file__).resolve().parent.parent


def lay_out(course: Path, url: str, assignment: str) -> None:
    """Make a course whose gradebook knows a notebook of three graded cells, of 4 points each."""
    shutil.copy(ROOT / "nbgrader_config.py", course)
    prepare_gradebook(url, COURSE_ID)
    with Gradebook(url, COURSE_ID) as gradebook:
        gradebook.add_assignment(assignment, course_id=COURSE_ID)
        gradebook.add_notebook(NOTEBOOK, assignment)
        for cell in CELLS:
            kind = {"max_score": POINTS, "cell_type": "code"}
            gradebook.add_grade_cell(cell, NOTEBOOK, assignment, **kind)


def marks(student: str) -> list[float]:
    """The marks of a student for each cell: by a number in the name, all different up to 125."""
    number = int(re.search(r"\d+", student)[0])
    return [float(number // 5**place % 5) for place in range(len(CELLS))]


def gradebook_marks(url: str, assignment: str) -> dict[str, list[float]]:
    """Return the marks that the gradebook holds, for each student."""
    with Gradebook(url, COURSE_ID) as gradebook:
        found = gradebook.assignment_submissions(assignment)
        return {
            one.student.id: [
                gradebook.find_grade(cell, NOTEBOOK, assignment, one.student.id).auto_score
                for cell in CELLS
            ]
            for one in found
        }


def note(task: Task, what: str) -> None:
    """Write down what happens: one line in one call, which the system does not interleave."""
    with Path(task.course, "notes").open("a", encoding="utf-8") as file:
        file.write(f"{what} {task.student} {os.getpid()}\n")


def noted(course: Path, what: str) -> Counter[str]:
    """Count how often something was noted of each student."""
    return Counter(student for said, student, _ in _notes(course) if said == what)


def processes(course: Path, what: str = "begun") -> dict[str, int]:
    """The process that began, or completed, the grading of a student last."""
    return {student: int(process) for said, student, process in _notes(course) if said == what}


def _notes(course: Path) -> list[list[str]]:
    if not (course / "notes").exists():
        return []
    return [line.split() for line in (course / "notes").read_text("utf-8").splitlines()]


def wait_until(happened: Callable[[], bool], seconds: float = 90) -> None:
    """Wait for something that other processes do.

    Raises:
        TimeoutError: It did not happen in time.
    """
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"did not happen within {seconds} s")
        time.sleep(0.1)


def grade(task: Task) -> SubmissionRecord:
    """Grade, with what the student's name begins with.

    `deadly` ends the process that grades it, `slow` takes two seconds, and `waits` as long as it
    takes until three processes have begun to grade.
    """
    path = record_path(Path(task.course, "grading", "results"), task.assignment, task.student)
    with FileLock(path.with_suffix(".lock")):
        if path.exists():
            return read_record(path)
        note(task, "begun")
        if task.student.startswith("deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        if task.student.startswith("slow"):
            time.sleep(2)
        if task.student.startswith("waits"):
            wait_until(lambda: len({process for *_, process in _notes(Path(task.course))}) >= 3)
        record = _graded(task)
        write_record(path, record)
        note(task, "completed")
        return record


def _graded(task: Task) -> SubmissionRecord:
    url, points = os.environ["HINTGRADER_DB_URL"], marks(task.student)
    with Gradebook(url, COURSE_ID) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own dealings
        gradebook.update_or_create_student(task.student)  # as its Autograde begins
        gradebook.update_or_create_submission(task.assignment, task.student)
    with Gradebook(url) as gradebook:  # as its SaveAutoGrades ends
        for cell, mark in zip(CELLS, points, strict=True):
            saved = gradebook.find_grade(cell, NOTEBOOK, task.assignment, task.student)
            saved.auto_score = mark
            gradebook.db.commit()
    parts = tuple(
        PartRecord(cell, f"{task.assignment}/{cell}", mark, POINTS, "graded")
        for cell, mark in zip(CELLS, points, strict=True)
    )
    return SubmissionRecord(task.assignment, task.student, "graded", "plain", "none", 0.0, parts)
