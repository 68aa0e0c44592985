"""Nothing of this course is missing or stale, and its tables name parts of several exercises."""

import shutil
from itertools import count
from pathlib import Path

import nbformat
from hintgrader.authoring.faults import faults_of
from hintgrader.authoring.parts import with_table
from hintgrader.nbgrader.course import Course
from hintgrader.testing.courses import seed_of_no_other_course
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attn_bank import BANK
from tests.conftest import ROOT
from tests.engine.test_nbgrader import lay_out


def test_nothing_is_missing_in_this_course(tmp_path: Path) -> None:
    lay_out(tmp_path, *(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()))
    for kept in ("tests/bank/right_answers", "book/kill_matrix"):
        shutil.copytree(ROOT / kept, tmp_path / kept)
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("c.HintGrader.checks = []\n")  # the builders have tests of their own
    with seed_of_no_other_course():
        assert list(faults_of(Course(tmp_path))) == []


def test_what_a_program_of_the_course_says_is_passed_on(tmp_path: Path) -> None:
    lay_out(tmp_path, *(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()))
    for kept in ("tests/bank/right_answers", "book/kill_matrix"):
        shutil.copytree(ROOT / kept, tmp_path / kept)
    (tmp_path / "stale.py").write_text("import sys\nsys.exit(f'{sys.argv[1]} is stale; make it')")
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("c.HintGrader.checks = ['stale.py \"the page\"']\n")
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
