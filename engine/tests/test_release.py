"""A set that grading would refuse is not released: `nbgrader generate_assignment` says so first."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from hintgrader import __version__
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.rebuild_notebook import rebuild
from hintgrader.nbgrader.set_checks import check_gradable
from hintgrader.testing.courses import seed_of_no_other_course
from tests.example import FIRST as SET
from tests.example import lay_out

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the small course, with a set that is released."""
    course = tmp_path_factory.mktemp("small") / "course"
    lay_out(course)
    before = list(sys.path), set(sys.modules)
    with seed_of_no_other_course():
        assert release(course) == ""
        yield course
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if name.startswith("methods_"):
            del sys.modules[name]


@pytest.fixture
def course(released: Path, tmp_path: Path) -> Path:
    shutil.copytree(released, tmp_path / "course")
    return tmp_path / "course"


def release(course: Path) -> str:
    """Release the set; return the complaint if it is refused, else nothing."""
    done = NbGraderAPI(config=Course(course).config).generate_assignment(SET)
    return "" if done["success"] else f"{done.get('log')} {done.get('error')}"


def source_of(course: Path) -> Path:
    return Course(course).source(SET)


def change(course: Path, how: Callable[[NotebookNode], None]) -> None:
    notebook = nbformat.read(source_of(course), as_version=4)
    how(notebook)
    nbformat.write(notebook, source_of(course))


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    is_it = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells}
    return is_it[name]


def give_other_points(course: Path) -> None:
    change(course, lambda found: cell_of(found, "fit-check").metadata.nbgrader.update(points=9))


def forget_the_points(course: Path) -> None:
    """A part without points has to say that it was dropped."""
    change(course, lambda found: cell_of(found, "fit-check").metadata.nbgrader.update(points=0))


def check_nothing(course: Path) -> None:
    change(course, lambda found: cell_of(found, "fit-check").update(source="assert fit"))


def check_what_is_not_there(course: Path) -> None:
    name = f'check("{SET}/nothing")'
    change(course, lambda found: cell_of(found, "fit-check").update(source=name))


def add_a_notebook(course: Path) -> None:
    shutil.copy(source_of(course), source_of(course).with_name("more.ipynb"))


def rename_the_notebook(course: Path) -> None:
    source_of(course).rename(source_of(course).with_name("other.ipynb"))


def drop_a_part(course: Path) -> None:
    """Its cells are gone, and the table of parts still has it."""
    change(course, lambda found: found.cells.remove(cell_of(found, "summarise-check")))


def reword_the_table(course: Path) -> None:
    text = source_of(course).read_text(encoding="utf-8")
    assert "| 3 |" in text
    source_of(course).write_text(text.replace("| 3 |", "| 30 |"), encoding="utf-8")


FAULTS = {
    give_other_points: "fit-check: it gives 9 points, and 01_least_squares/fit has 4",
    forget_the_points: "fit-check: it gives 0 points, and 01_least_squares/fit has 4",
    check_nothing: "fit-check: it gives points and checks no exercise",
    check_what_is_not_there: "there is no exercise '01_least_squares/nothing'",
    add_a_notebook: "more.ipynb is a notebook beside the one that is graded",
    rename_the_notebook: "01_least_squares.ipynb does not exist",
    drop_a_part: "the table of parts, or a heading, is not what the exercises say",
    reword_the_table: "the table of parts, or a heading, is not what the exercises say",
}


def test_released_notebook_says_which_engine_gave_it_out(course: Path) -> None:
    found = rebuild((course / "exercises" / SET / f"{SET}.ipynb").read_bytes())
    assert found.released_by == __version__
    assert "hintgrader" not in nbformat.read(source_of(course), as_version=4).metadata


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faulty_set_is_not_released(fault: Callable[[Path], None], course: Path) -> None:
    before = (course / "exercises" / SET / f"{SET}.ipynb").read_bytes()
    fault(course)
    said = release(course)
    assert FAULTS[fault] in said
    assert (course / "exercises" / SET / f"{SET}.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    "fault",
    [add_a_notebook, rename_the_notebook, drop_a_part, check_nothing, give_other_points],
    ids=lambda fault: fault.__name__,
)
def test_faulty_set_is_not_graded_either(fault: Callable[[Path], None], course: Path) -> None:
    check_gradable(Course(course), SET)
    fault(course)
    with pytest.raises(CourseError):
        check_gradable(Course(course), SET)


def test_set_with_submissions_neither_gains_nor_loses_a_part(course: Path) -> None:
    with Gradebook(Course(course).directory.db_url, "methods") as book:
        book.add_student("ada")
        book.add_submission(SET, "ada")
    assert release(course) == ""
    before = (course / "exercises" / SET / f"{SET}.ipynb").read_bytes()
    change(course, lambda found: cell_of(found, "fit-check").metadata.nbgrader.update(grade_id="b"))
    said = release(course)
    assert "b is new in 01_least_squares. As it holds submissions, it takes no new cell." in said
    assert "fit-check is gone from 01_least_squares." in said
    assert (course / "exercises" / SET / f"{SET}.ipynb").read_bytes() == before
