"""Changing a problem set, as the guide says, and what becomes of work that is graded already."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from attn_grade.authoring.new import lay_out_exercise
from attn_grade.authoring.parts import write_tables
from attn_grade.nbgrader.course import Course
from attn_grade.nbgrader.gradable import check_gradable
from attn_grade.stations.digest import digest_of
from tests.autograding import seed_of_no_other_course
from tests.conftest import ROOT
from tests.test_release import SET, cell_of, change, release, source_of

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")

SUMMARISE = "methods_bank/least_squares/summarise.py"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    """A copy of the small course, released and with a submission in the gradebook."""
    course = tmp_path / "course"
    ignored = shutil.ignore_patterns("__pycache__", "grading")
    shutil.copytree(ROOT / "tests" / "another_course", course, ignore=ignored)
    before = list(sys.path)
    forget()
    sys.path.insert(0, str(course))
    with seed_of_no_other_course():
        assert release(course) == ""
        with Course(course).gradebook() as book:
            book.add_student("ada")
            book.add_submission(SET, "ada")
        yield course
    sys.path[:] = before
    forget()


def forget() -> None:
    """Import the packages of the small course anew, as a new command does."""
    for name in [name for name in sys.modules if name.startswith("methods_")]:
        del sys.modules[name]


def released(course: Path) -> str:
    """What students get, once the set is released again without a word."""
    forget()
    list(write_tables(Course(course)))
    assert release(course) == ""
    check_gradable(Course(course), SET)
    return (course / "exercises" / SET / f"{SET}.ipynb").read_text(encoding="utf-8")


def known_points(course: Path) -> dict[str, float]:
    with Course(course).gradebook() as book:
        return {cell.name: cell.max_score for cell in book.find_notebook(SET, SET).grade_cells}


def change_file(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_reworded_task_is_released_and_all_is_graded_again(course: Path) -> None:
    before = digest_of(Course(course), SET, "ada")
    change_file(source_of(course), "Write** `fit", "Compute** `fit")
    assert "Compute** `fit" in released(course)
    assert known_points(course) == {"fit-check": 4, "summarise-check": 3}
    assert digest_of(Course(course), SET, "ada") != before


def test_translated_text_is_released(course: Path) -> None:
    change_file(source_of(course), "Part A. The coefficients (4", "Part A. Die Koeffizienten (4")
    change_file(source_of(course), "# Problem set 01: least", "# Aufgaben 01: least")
    assert "Part A. Die Koeffizienten (4 points, 20 minutes)" in released(course)


def test_points_are_changed_in_the_exercise_and_in_its_cell(course: Path) -> None:
    change_file(course / SUMMARISE, "            2.5,\n", "            4.5,\n")
    forget()
    assert "it gives 3 points, and 01_least_squares/summarise has 5" in release(course)
    change(course, lambda found: give(found, "summarise-check", 5))
    assert "| B | what a fit leaves over | 5 | 15 |" in released(course)
    assert known_points(course)["summarise-check"] == 5


def test_part_without_points_stays_for_who_has_handed_in(course: Path) -> None:
    change_file(course / SUMMARISE, "            2.5,\n", "            0,\n")
    change_file(course / SUMMARISE, "promises=Promises()", "promises=Promises(points=0)")
    change(course, lambda found: give(found, "summarise-check", 0))
    assert "(0 points, 15 minutes)" in released(course)
    assert known_points(course) == {"fit-check": 4, "summarise-check": 0}


def give(notebook: NotebookNode, name: str, points: float) -> None:
    cell_of(notebook, name).metadata.nbgrader.points = points


def drop(notebook: NotebookNode) -> None:
    names = {"summarise-task", "summarise", "summarise-check"}
    notebook.cells = [cell for cell in notebook.cells if cell.id not in names]


def test_part_is_dropped_while_nobody_has_handed_in(course: Path) -> None:
    change(course, drop)
    forget()
    list(write_tables(Course(course)))
    assert "summarise-check is gone from 01_least_squares. As it holds" in release(course)
    with Course(course).gradebook() as book:
        book.remove_submission(SET, "ada")
    assert "summarise" not in released(course)
    assert known_points(course) == {"fit-check": 4}


def test_exercise_is_added_to_a_new_set_and_to_one_that_nobody_has_handed_in(course: Path) -> None:
    forget()
    list(lay_out_exercise(Course(course), "01_least_squares/ridge"))
    assert "ridge-check is new in 01_least_squares. As it holds submissions" in release(course)
    with Course(course).gradebook() as book:
        book.remove_submission(SET, "ada")
    change_file(course / "methods_bank/least_squares/ridge.py", 'title=""', 'title="a ridge"')
    assert "| C | a ridge | 1 |" in released(course)
    forget()
    list(lay_out_exercise(Course(course), "03_splines/knots"))
    new = course / "solutions" / "03_splines" / "03_splines.ipynb"
    assert nbformat.read(new, as_version=4).cells[0].source.startswith("# Problem set 03")
