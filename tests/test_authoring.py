"""Laying out an exercise, the tables of parts, and what is said to be missing or stale."""

import shutil
from itertools import count
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attn_bank import BANK
from attn_grade.authoring.faults import faults_of
from attn_grade.authoring.parts import with_table
from attn_grade.nbgrader.course import Course
from tests.autograding import seed_of_no_other_course
from tests.commands import type_command
from tests.conftest import ROOT
from tests.test_nbgrader import lay_out

NEW = "02_edit_distance/count"


def attn_grade(course: Path, *words: str) -> tuple[int, list[str]]:
    """Run a command in the folder of a course; its status, and what it says on stderr."""
    run = type_command("attn_grade", *words, folder=course, apart=True)
    return run.status, run.stderr.splitlines()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the small course, which asks for right answers as well."""
    source, course = ROOT / "tests" / "another_course", tmp_path / "course"
    shutil.copytree(source, course, ignore=shutil.ignore_patterns("__pycache__", "grading"))
    answers = course / "answers"
    for path in course.glob("methods_bank/*/[a-z]*.py"):
        target = answers / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("def one(): ...\ndef another(): ...\ndef _helps(): ...\n")
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write('c.AttnGrade.right_answers = "answers"\nc.AttnGrade.min_right_answers = 2\n')
    return course


def test_new_exercise_is_laid_out_and_what_it_lacks_is_said(course: Path) -> None:
    assert attn_grade(course, "check-course") == (0, [])
    assert attn_grade(course, "new", NEW) == (0, [])
    source = course / "solutions" / "02_edit_distance" / "02_edit_distance.ipynb"
    notebook = nbformat.read(source, as_version=4)
    assert "## Part B. What it is about (1 point, 0 minutes)" in str(notebook.cells[-3].source)
    assert "| B |  | 1 | 0 |" in notebook.cells[0].source
    assert attn_grade(course, "check-course") == (
        1,
        [
            f"{NEW} does not say how long it takes: set its `minutes`",
            f"{NEW} knows 1 mistake; it needs at least 3",
            f"{NEW} has 0 right answers in answers/edit_distance/count.py; it needs at least 2",
            f"{NEW} is the first of its part: set its `title`, for the table",
        ],
    )
    status, said = attn_grade(course, "new", NEW)
    assert status == 2
    assert said[0].endswith("methods_bank/edit_distance/count.py is there already.")


def test_cells_and_tables_that_do_not_fit_the_exercises_are_named(course: Path) -> None:
    for number, (assignment, old, new) in enumerate(
        [
            ("01_least_squares", "01_least_squares/fit", "01_least_squares/fits"),
            ("02_edit_distance", '"points": 4', '"points": 5'),
            ("02_edit_distance", "two words aligned | 4 |", "two words | 5 |"),
        ]
    ):
        path = course / "solutions" / assignment / f"{assignment}.ipynb"
        text = path.read_text(encoding="utf-8")
        assert old in text, number
        path.write_text(text.replace(old, new), encoding="utf-8")
    first, second = (
        f"solutions/{name}/{name}.ipynb" for name in ("01_least_squares", "02_edit_distance")
    )
    missing = "01_least_squares/fits"
    assert attn_grade(course, "check-course") == (
        1,
        [
            f"{first}: fit-check: there is no exercise {missing!r}; lay it out: attn-grade new"
            f" {missing}",
            f"{second}: align-check: it gives 5 points, and 02_edit_distance/align has 4: give the"
            " cell as many.",
            f"{second}: the table of parts, or a heading, is not what the exercises say; run:"
            " attn-grade tables",
            f"01_least_squares/fit is in the bank, and no graded cell of {first} says"
            ' check("01_least_squares/fit")',
        ],
    )


def test_nothing_is_missing_in_this_course(tmp_path: Path) -> None:
    lay_out(tmp_path, *(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()))
    shutil.copytree(ROOT / "tests" / "right_answers", tmp_path / "tests" / "right_answers")
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("c.AttnGrade.checks = []\n")  # the builders have tests of their own
    with seed_of_no_other_course():
        assert list(faults_of(Course(tmp_path))) == []


def test_what_a_program_of_the_course_says_is_passed_on(tmp_path: Path) -> None:
    lay_out(tmp_path, *(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()))
    shutil.copytree(ROOT / "tests" / "right_answers", tmp_path / "tests" / "right_answers")
    (tmp_path / "stale.py").write_text("import sys\nsys.exit(f'{sys.argv[1]} is stale; make it')")
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("c.AttnGrade.checks = ['stale.py \"the page\"']\n")
    with seed_of_no_other_course():
        assert list(faults_of(Course(tmp_path))) == ["the page is stale; make it"]


NUMBERS = count()


def part(words: str, *cells: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    heading = f"## Part X. {words} (9 points, 7 minutes)\n\nText."
    return [new_markdown_cell(heading, id=f"part-{next(NUMBERS)}"), *cells]


def graded(name: str, source: str, points: float, **about: bool) -> nbformat.NotebookNode:
    about = {"grade": True, "solution": False, "grade_id": name, "points": points} | about
    return new_code_cell(source, metadata={"nbgrader": about}, id=f"cell-{next(NUMBERS)}")


def test_parts_of_several_exercises_and_of_none_have_their_row() -> None:
    table = "Before.\n\n| Part | What |\n|---|---|\n| Z | old | 1 | 1 |\n\nAfter."
    names = ("09_multi_head/split_heads", "09_multi_head/merge_heads")
    checks = [graded(name, f'check("{name}")', 0) for name in names]
    words = [graded(name, "", 2.5, solution=True) for name in ("words", "more-words")]
    parts = [*part("Cut", *checks, words[0]), *part("In words", words[1])]
    cells = [new_markdown_cell(table, id="title"), *parts]
    changed = with_table(new_notebook(cells=cells), BANK)
    assert changed.cells[0].source.splitlines() == [
        "Before.",
        "",
        "| Part | What you do | Points | Minutes |",
        "|---|---|---|---|",
        "| A | cut the features into heads, and join them again | 5.5 | 10 |",
        "| B | in words | 2.5 | 7 |",
        "",
        "After.",
    ]
    headings = [cell.source.splitlines()[0] for cell in changed.cells if "Part" in cell.source][1:]
    assert headings[0] == "## Part A. Cut (5.5 points, 10 minutes)"
    assert headings[1] == "## Part B. In words (2.5 points, 7 minutes)"
    assert with_table(changed, BANK) == changed
