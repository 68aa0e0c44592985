"""Changing a problem set, as the guide says, and what becomes of work that is graded already."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from typer.testing import CliRunner

from hintgrader.__main__ import app
from hintgrader.authoring.new import lay_out_exercise
from hintgrader.authoring.parts import write_tables
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.exports.mark_checks import changed_marks
from hintgrader.nbgrader.set_checks import check_gradable
from hintgrader.pipeline import grade as grader
from hintgrader.pipeline.digest import digest_of
from hintgrader.pipeline.grade import grade_submission
from hintgrader.pipeline.tasks import Task
from hintgrader.pipeline.warm_process import close_graders
from hintgrader.testing.courses import seed_of_no_other_course
from tests.example import lay_out
from tests.test_release import SET, cell_of, change, release, source_of

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")

SUMMARISE = "methods_bank/least_squares/summarise.py"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    """A copy of the small course, released and with a submission in the gradebook."""
    course = tmp_path / "course"
    lay_out(course)
    before = list(sys.path)
    forget()
    sys.path.insert(0, str(course))
    with seed_of_no_other_course():
        assert release(course) == ""
        with Course(course).gradebook() as book:
            book.add_student("ada")
            book.add_submission(SET, "ada")
        yield course
        close_graders()
    sys.path[:] = before
    forget()


def forget() -> None:
    """Import the packages of the small course anew, as a new command does."""
    for name in [name for name in sys.modules if name.startswith("methods_")]:
        del sys.modules[name]


def released(course: Path) -> str:
    """Return the set that students get, once it is released again without a word."""
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


def test_reworded_task_is_released_and_what_is_graded_stays_so(course: Path) -> None:
    before = digest_of(Course(course), SET, "ada")
    change_file(source_of(course), "Write** `fit", "Compute** `fit")
    assert "Compute** `fit" in released(course)
    assert known_points(course) == {"fit-check": 4, "summarise-check": 3}
    assert digest_of(Course(course), SET, "ada") == before


def test_translated_text_is_released_and_what_is_graded_stays_so(course: Path) -> None:
    before = digest_of(Course(course), SET, "ada")
    change_file(source_of(course), "Part A. The coefficients (4", "Part A. Die Koeffizienten (4")
    change_file(source_of(course), "# Problem set 01: least", "# Aufgaben 01: least")
    assert "Part A. Die Koeffizienten (4 points, 20 minutes)" in released(course)
    assert digest_of(Course(course), SET, "ada") == before


def test_points_are_changed_in_the_exercise_and_in_its_cell(course: Path) -> None:
    before = digest_of(Course(course), SET, "ada")
    change_file(course / SUMMARISE, "            2.5,\n", "            4.5,\n")
    forget()
    assert "it gives 3 points, and 01_least_squares/summarise has 5" in release(course)
    change(course, lambda found: give(found, "summarise-check", 5))
    assert "| B | what a fit leaves over | 5 | 15 |" in released(course)
    assert known_points(course)["summarise-check"] == 5
    forget()
    assert digest_of(Course(course), SET, "ada") != before


def hand_in(course: Path) -> None:
    """Ada's notebook: both parts right, and as it shows."""
    source = nbformat.read(source_of(course), as_version=4)
    path = Course(course).submitted(SET, "ada") / f"{SET}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = nbformat.read(course / "exercises" / SET / path.name, as_version=4)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution"):
            cell.source = cell_of(source, about["grade_id"]).source
        elif points := about.get("points"):
            shown = {"text/plain": f"{points:.1f}"}
            cell.outputs = [nbformat.v4.new_output("execute_result", shown, execution_count=1)]
    nbformat.write(notebook, path)


def graded_anew(course: Path, force: bool = False) -> tuple[list[tuple], float, float, list[str]]:
    """Grade Ada anew: return her parts, her points, all points, and what an export would say."""
    forget()
    record = grade_submission(Task(str(course), SET, "ada", force, level="limits"))
    with Course(course).gradebook() as book:
        submission = book.find_submission(SET, "ada")
        said = list(changed_marks(Course(course), [submission]))
        parts = [(part.points, part.of, part.state, part.notes) for part in record.parts]
        return parts, submission.score, submission.max_score, said


def test_part_is_dropped_after_work_was_handed_in_and_costs_nobody_anything(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is said to have shown more than was earned, and the other part stays as it was."""
    hand_in(course)
    before = source_of(course).read_text(encoding="utf-8")
    both = [(4, 4, "graded", ()), (3, 3, "graded", ())]
    assert graded_anew(course) == (both, 7, 7, [])
    runner = CliRunner()
    dropped = runner.invoke(app, ["drop", f"{SET}/nothing", "--course", str(course)])
    assert dropped.exit_code == 2
    assert "No graded cell" in dropped.output
    dropped = runner.invoke(app, ["drop", f"{SET}/summarise", "--course", str(course)])
    assert dropped.exit_code == 0, dropped.output
    assert "(0 points, 15 minutes)" in released(course)
    assert known_points(course) == {"fit-check": 4, "summarise-check": 0}
    first = [(4, 4, "graded", ()), (0, 0, "graded", ())]
    with monkeypatch.context() as patch:  # no code runs again
        patch.setattr(grader, "run_notebook", None)
        assert graded_anew(course) == (first, 4, 4, [])
        source_of(course).write_text(before, encoding="utf-8")
        released(course)
        assert graded_anew(course) == (both, 7, 7, [])
    dropped = runner.invoke(app, ["drop", f"{SET}/summarise", "--course", str(course)])
    released(course)
    assert graded_anew(course, force=True) == (first, 4, 4, [])


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
