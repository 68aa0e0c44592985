"""Honest hand-ins that are a little odd are graded as they are meant."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.digest import digest_of
from hintgrader.pipeline.load import read_notebook
from hintgrader.pipeline.locate import find_hand_in
from nbgrader.apps import GenerateFeedbackApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files

from tests.conftest import ROOT

SET = "09_multi_head"
BANK = "attn_bank"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder from which Ada hands in, still empty."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    folder = tmp_path / "grading" / "submitted" / "ada" / SET
    folder.mkdir(parents=True)
    return folder


def put(folder: Path, name: str, mark: bytes = b"") -> None:
    released = ROOT / "exercises" / SET / f"{SET}.ipynb"
    (folder / name).write_bytes(mark + released.read_bytes())


@pytest.mark.parametrize("name", [f"{SET} (1).ipynb", f"{SET}-Copy1.ipynb", f"{SET}.final.ipynb"])
def test_only_notebook_may_have_a_longer_name(folder: Path, name: str) -> None:
    course = Course(folder.parents[3])
    before = digest_of(course, SET, "ada")
    put(folder, name)
    found = find_hand_in(course, SET, "ada")
    assert read_notebook(found.notebook, BANK).notebook.cells
    assert found.notes == (f"graded is {name!r}, the only notebook in the folder",)
    assert digest_of(course, SET, "ada") != before


def test_of_two_notebooks_the_one_with_the_name_is_taken(folder: Path) -> None:
    for name in (f"{SET}.ipynb", f"{SET} (1).ipynb"):
        put(folder, name)
    found = find_hand_in(Course(folder.parents[3]), SET, "ada")
    assert (found.notebook.name, found.notes) == (f"{SET}.ipynb", ())


def test_notebooks_of_two_other_names_are_not_guessed(folder: Path) -> None:
    for name in (f"{SET} (1).ipynb", f"{SET} (2).ipynb"):
        put(folder, name)
    found = find_hand_in(Course(folder.parents[3]), SET, "ada")
    with pytest.raises(ValueError, match=r"was not handed in; there is: .*\(1\).*\(2\)"):
        read_notebook(found.notebook, BANK)


def test_mark_at_the_beginning_does_not_matter(folder: Path) -> None:
    put(folder, f"{SET}.ipynb", b"\xef\xbb\xbf")
    assert read_notebook(folder / f"{SET}.ipynb", BANK).notebook.cells


def test_page_of_a_students_own_is_not_given_back(folder: Path) -> None:
    put(folder, f"{SET}.ipynb")
    for name in (f"{SET}.html", "evil.HTML", "picture.svg", "data.csv"):
        (folder / name).write_text("<script>alert(1)</script>")
    course = Course(folder.parents[3])
    assert find_hand_in(course, SET, "ada").files == (Path("data.csv"),)
    app = GenerateFeedbackApp(config=course.config)
    assert find_all_files(str(folder), CourseDirectory(parent=app).ignore) == []
