"""Promises of `nbgrader_config.py` on plain nbgrader cells, from a submission to its feedback."""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.problem_sets import nbgrader
from tests.repository.test_builders import lay_out_course

LOUD = "import sys\ndef double(x):\n    print('careful', file=sys.stderr)\n    return 2 * x"
ONLY_VISIBLE = "def double(x):\n    return 4"
ANSWERS = {"loud": LOUD, "visible": ONLY_VISIBLE, "wrong": "def double(x):\n    return 5"}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course of one problem set, with each of the answers graded and given back."""
    course = tmp_path_factory.mktemp("course")
    lay_out_course(course)
    nbgrader(course, "generate_assignment", "01_a", "--force")
    for student, answer in ANSWERS.items():
        notebook = nbformat.read(course / "exercises" / "01_a" / "01_a.ipynb", as_version=4)
        notebook.cells[1].source = answer
        target = course / "grading" / "submitted" / student / "01_a" / "01_a.ipynb"
        target.parent.mkdir(parents=True)
        nbformat.write(notebook, target)
    nbgrader(course, "autograde", "01_a", "--create")
    nbgrader(course, "generate_feedback", "01_a")
    return course


def feedback(course: Path, student: str) -> str:
    """Return the text of a feedback page, without tags."""
    page = course / "grading" / "feedback" / student / "01_a" / "01_a.html"
    body = page.read_text(encoding="utf-8").partition("<body")[2]
    return html.unescape(re.sub("<[^>]*>", "", body))


def test_warning_on_stderr_costs_no_points(course: Path) -> None:
    with Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}") as gradebook:
        scores = {s: gradebook.find_submission("01_a", s).score for s in ANSWERS}
    assert scores == {"loud": 2.0, "visible": 0.0, "wrong": 0.0}


@pytest.mark.parametrize("student", ANSWERS)
def test_feedback_quotes_no_hidden_test(course: Path, student: str) -> None:
    text = feedback(course, student)
    assert "double(2) == 4" in text
    assert "double(3)" not in text
    assert "HIDDEN TESTS" not in text


def test_feedback_tells_a_hidden_failure_from_one_that_the_student_can_see(course: Path) -> None:
    assert "A hidden test failed." in feedback(course, "visible")
    assert "A hidden test failed." not in feedback(course, "wrong")
    assert "AssertionError" in feedback(course, "wrong")
    assert "A hidden test failed." not in feedback(course, "loud")


def test_working_folders_stay_under_grading(course: Path) -> None:
    found = {path.name for path in course.iterdir()}
    assert found == {"nbgrader_config.py", "solutions", "exercises", "grading"}
