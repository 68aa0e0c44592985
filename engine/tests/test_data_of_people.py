"""Data of a person and of a class: handed out, backed up, restored and deleted by a command."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import Result
from nbgrader.api import MissingEntry
from typer.testing import CliRunner

from hintgrader.__main__ import app
from hintgrader.records.records import read_record
from tests.gradebooks import SET, book, lay_out_graded, path_of

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a file of Eve's in each place where there may be one."""
    course = lay_out_graded(tmp_path_factory.mktemp("graded") / "course")
    grading = course / "grading"
    for place in ("submitted/eve/x.txt", "autograded/eve/x.txt", "feedback/eve/x.txt"):
        (grading / place).parent.mkdir(parents=True)
        (grading / place).write_text("eve")
    for place in ("results/table.csv", "downloaded/set/archive.zip", "submitted/ada/x.txt"):
        (grading / place).parent.mkdir(parents=True, exist_ok=True)
        (grading / place).write_text("all")
    return course


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    shutil.copytree(graded, tmp_path / "course")
    return tmp_path / "course"


def data(course: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["data", *words, "--course", str(course)])


def test_person_is_handed_all_that_is_known(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "eve.zip"
    assert data(course, "export", "eve", str(target)).exit_code == 0
    with ZipFile(target) as packed:
        names = {name for name in packed.namelist() if name != "gradebook.json"}
        marks = json.loads(packed.read("gradebook.json"))
    places = {f"{step}/eve/x.txt" for step in ("submitted", "autograded", "feedback")}
    assert names == places | {f"results/{SET}/eve.json"}
    assert marks["submissions"][SET]["score"] == 1.5
    assert target.stat().st_mode & 0o077 == 0
    assert data(course, "export", "eve", str(target)).exit_code == 2


def test_hand_in_is_taken_back_with_its_marks_and_its_files_are_kept(course: Path) -> None:
    submitted = course / "grading" / "submitted" / "eve" / SET
    for number in ("", "-1"):
        submitted.mkdir(parents=True)
        (submitted / "mine.txt").write_text("mine")
        kept = course / "grading" / "taken_back" / "eve" / f"{SET}{number}"
        done = data(course, "take-back", SET, "eve")
        assert (done.exit_code, done.output.strip()) == (0, f"{kept} has it now")
        assert (kept / "mine.txt").read_text() == "mine"
    assert not submitted.exists()
    assert not path_of(course, "eve").exists()
    with book(course) as gradebook:
        assert gradebook.find_student("eve")
        with pytest.raises(MissingEntry):
            gradebook.find_submission(SET, "eve")
        assert gradebook.find_submission(SET, "ada")
    none = data(course, "take-back", SET, "eve")
    assert (none.exit_code, "Nobody has handed in" in none.output) == (2, True)
    assert data(course, "delete", "eve", "--yes").exit_code == 0
    assert not list((course / "grading").rglob("mine.txt"))


def test_person_is_deleted_and_nobody_else(course: Path) -> None:
    assert data(course, "delete", "eve").exit_code == 1  # who does not answer has not agreed
    done = data(course, "delete", "eve", "--yes")
    assert done.exit_code == 0
    assert "archive.zip" in done.output
    with book(course) as gradebook:
        assert [student.id for student in gradebook.students] == ["ada"]
        with pytest.raises(MissingEntry):
            gradebook.find_submission(SET, "eve")
    left = [path for path in (course / "grading").rglob("*") if "eve" in path.name]
    assert left == []
    assert (course / "grading" / "submitted" / "ada" / "x.txt").exists()
    assert not (course / "grading" / "results" / "table.csv").exists()
    assert read_record(path_of(course, "ada"))


@pytest.mark.parametrize("name", ["nobody", "..", "ada/..", ""])
def test_nobody_else_is_deleted_by_a_strange_name(course: Path, name: str) -> None:
    before = sorted((course / "grading").rglob("*"))
    assert data(course, "delete", "--yes", "--", name).exit_code == 2
    assert sorted((course / "grading").rglob("*")) == before


def test_class_is_backed_up_and_restored(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.tar.gz"
    assert data(course, "backup", str(target)).exit_code == 0
    assert target.stat().st_mode & 0o077 == 0
    assert "is not empty" in data(course, "restore", str(target)).output
    before = {p.name: p.read_bytes() for p in (course / "grading").rglob("*.json")}
    shutil.rmtree(course / "grading")
    assert data(course, "restore", str(target)).exit_code == 0
    assert {p.name: p.read_bytes() for p in (course / "grading").rglob("*.json")} == before
    assert (course / "grading").stat().st_mode & 0o777 == 0o700
    assert read_record(path_of(course, "eve")).points == 1.5  # its key is there, too
    with book(course) as gradebook:
        assert gradebook.find_submission(SET, "eve").score == 1.5


def test_what_is_no_backup_is_refused(course: Path, tmp_path: Path) -> None:
    shutil.rmtree(course / "grading")
    target = tmp_path / "other.tar.gz"
    with tarfile.open(target, "w:gz") as packed:
        packed.add(course / "nbgrader_config.py", "nbgrader_config.py")
    assert data(course, "restore", str(target)).exit_code == 2
    target.write_bytes(b"nothing")
    assert data(course, "restore", str(target)).exit_code == 2
