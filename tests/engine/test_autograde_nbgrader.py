"""Nbgrader works on a class that the command has graded as on a class that it graded itself."""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.save_marks import SaveMarks
from hintgrader.pipeline.grade import grade_submission
from hintgrader.pipeline.tasks import Task
from hintgrader.pipeline.warm_process import close_graders
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from nbgrader.api import InvalidEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.plugins import CsvExportPlugin
from sqlalchemy.exc import OperationalError

from tests.engine.autograding import (
    OF,
    POINTS,
    cells_of,
    gradebook,
    hand_in_as_students,
    notebook_of,
    released_course,
)
from tests.engine.test_nbgrader import FIRST, graded_by_nbgrader

STUDENTS = ["broken", "shuffled"]


def api_of(course: Path) -> NbGraderAPI:
    """nbgrader, as its own pages call it."""
    return NbGraderAPI(config=Course(course).config)


def by_command(course: Path, student: str) -> None:
    grade_submission(Task(str(course), FIRST, student))


@pytest.fixture(scope="module")
def courses(tmp_path_factory) -> Iterator[tuple[Path, Path]]:
    """The same submissions, graded by the command, and by nbgrader."""
    released = released_course(tmp_path_factory.getbasetemp())
    course = Path(shutil.copytree(released, tmp_path_factory.mktemp("graded") / "course"))
    hand_in_as_students(course, *STUDENTS)
    shutil.copytree(course / "exercises", course / "grading" / "submitted" / "untouched")
    with seed_of_no_other_course():
        for student in (*STUDENTS, "untouched"):
            by_command(course, student)
        yield course, graded_by_nbgrader(tmp_path_factory.getbasetemp())
        close_graders()


@pytest.mark.parametrize("student", [*STUDENTS, "untouched"])
def test_gradebook_says_what_it_says_after_nbgraders_own_command(courses, student):
    ours, theirs = (cells_of(course, student) for course in courses)
    assert ours == theirs
    words = (0, None, False) if student == "untouched" else (None, None, True)
    assert ours["words"] == words  # what is written there, a person has to read
    said = "No response." if student == "untouched" else None
    assert (ours["on words"], ours["on softmax"]) == (said, said)


@pytest.mark.parametrize("student", [*STUDENTS, "untouched"])
def test_autograded_notebook_is_nbgraders_but_for_what_its_cells_showed(courses, student):
    cells = []
    for course in courses:
        path = Course(course).autograded(FIRST, student)
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # when it ran
        cells.append([(c.cell_type, c.source, c.metadata) for c in notebook.cells])
    assert cells[0] == cells[1]


def test_nbgrader_makes_feedback_of_what_was_graded(courses):
    done = api_of(courses[0]).generate_feedback(FIRST, "broken")
    assert done["success"], done
    page = courses[0] / "grading" / "feedback" / "broken" / FIRST / f"{FIRST}.html"
    text = page.read_text(encoding="utf-8")
    assert "its cell stopped with SyntaxError" in text
    assert "hidden=True" not in text


def test_nbgrader_exports_and_shows_what_was_graded(courses, tmp_path):
    course = courses[0]
    hand_in(course, FIRST, "nothing", {})
    notebook_of(course, "nothing").write_text("{", encoding="utf-8")
    by_command(course, "nothing")
    path = tmp_path / "grades.csv"
    with gradebook(course) as book:
        CsvExportPlugin(to=str(path)).export(book)
    with path.open(newline="", encoding="utf-8") as file:
        scores = {line["student_id"]: float(line["score"]) for line in csv.DictReader(file)}
    slip, softmax = POINTS["slip-check"], POINTS["softmax-check"]
    assert scores == {"broken": softmax, "shuffled": OF - slip, "untouched": 0, "nothing": 0}
    shown = {line["student"]: line for line in api_of(course).get_submissions(FIRST)}
    assert {student for student, line in shown.items() if line["autograded"]} == scores.keys()
    assert shown["shuffled"]["needs_manual_grade"]


def fail_first(monkeypatch, *errors: Exception) -> None:
    """Let nbgrader fail to save marks, with one error after the other, and then succeed."""
    save, left = SaveMarks.preprocess, list(errors)

    def preprocess(self: SaveMarks, *given: object) -> tuple:
        if left:
            raise left.pop(0)
        return save(self, *given)

    monkeypatch.setattr(SaveMarks, "preprocess", preprocess)


def test_marks_that_the_gradebook_refuses_are_saved_when_it_does_so_no_more(courses, monkeypatch):
    locked = OperationalError("INSERT", {}, Exception("database is locked"))
    fail_first(monkeypatch, locked, InvalidEntry("another made it at the same time"))
    task = Task(str(courses[0]), FIRST, "shuffled", force=True)
    assert grade_submission(task).points == OF - POINTS["slip-check"]


def test_submission_that_nbgrader_gives_up_is_unreadable_until_it_is_graded_again(
    courses, monkeypatch
):
    fail_first(monkeypatch, ValueError("something odd"))
    stopped = grade_submission(Task(str(courses[0]), FIRST, "shuffled", force=True))
    assert (stopped.unreadable, stopped.points) == (True, 0)
    assert stopped.notes[0] == "the grader stopped at your work with ValueError"
    assert stopped.notes[1].startswith("ValueError: something odd [grade.py:")
    assert " > test_autograde_nbgrader.py:" in stopped.notes[1]
    page = Course(courses[0]).autograded(FIRST, "shuffled").read_text("utf-8")
    assert "with ValueError" in page
    assert "may be no fault of yours" in page
    assert "something odd" not in page
    again = grade_submission(Task(str(courses[0]), FIRST, "shuffled"))
    assert (again.unreadable, again.points) == (False, OF - POINTS["slip-check"])
