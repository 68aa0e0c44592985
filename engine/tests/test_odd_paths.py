"""A course in a folder of any name: all commands of the guide, and nothing beside the folder."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import make_url

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.testing.commands import type_command
from tests.example import FIRST as SET
from tests.example import lay_out

# What shells, addresses, formats and settings of alembic take for something else.
ODD = 'Attention? 50% #1 it\'s "Übung" + & ; ~'
NAMES = ["Attention? Why", "100% #1", 'it\'s "so"', "Übung", "a+b&c=d", "a%41", "a;b"]


@pytest.fixture
def course(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A course in a folder that the test names."""
    course = lay_out(tmp_path / request.param / "course")
    (course / "grading").mkdir(mode=0o700)
    return course


def typed(course: Path, *words: str) -> str:
    """Type a command in the folder of a course; return what it says."""
    none = dict.fromkeys(("HINTGRADER_SECRET", "HINTGRADER_DB_URL"))
    environment = {**none, "JUPYTER_CONFIG_DIR": str(course.parent / "none"), "COLUMNS": "80"}
    run = type_command(*words, folder=course, environment=environment)
    assert run.status == 0, f"{words}: {run.stdout}"
    return run.stdout


@pytest.mark.parametrize("course", NAMES, indirect=True)
def test_gradebook_is_in_the_folder_of_grading_and_nowhere_else(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HINTGRADER_SECRET", "HINTGRADER_DB_URL"):
        monkeypatch.delenv(name, raising=False)
    here = Course(course)
    assert make_url(here.directory.db_url).database == f"{course}/grading/gradebook.db"
    with here.gradebook() as gradebook:
        gradebook.add_student("ada")
    assert (course / "grading" / "gradebook.db").is_file()
    assert os.listdir(course.parents[1]) == [course.parent.name]
    assert os.listdir(course.parent) == ["course"]


@pytest.mark.parametrize("course", ["a[1]", "a{b}", "$HOME"], indirect=True)
def test_folder_that_nbgrader_takes_for_a_pattern_is_refused(course: Path) -> None:
    with pytest.raises(CourseError, match="Rename the folder"):
        Course(course)
    run = type_command("nbgrader", "db", "student", "list", folder=course, umask=0o077)
    assert "$" in str(course) or "Rename the folder" in run.stdout  # nbgrader finds no settings


def hand_in(course: Path) -> None:
    """One hand-in by hand, and one in the archive of a learning system."""
    for student in ("ada", "alan"):
        target = course / "grading" / "submitted" / student / SET / f"{SET}.ipynb"
        target.parent.mkdir(parents=True)
        shutil.copy(course / "solutions" / SET / f"{SET}.ipynb", target)
    archive = course / "grading" / "downloaded" / SET / "archive"
    archive.mkdir(parents=True)
    with ZipFile(archive / "all? 50% #1.zip", "w") as packed:
        packed.write(target, "Grace Hopper_4711_assignsubmission_file/mine? #1.ipynb")


@pytest.mark.left_to_proofs
@pytest.mark.parametrize("course", [ODD], indirect=True)
def test_all_commands_of_the_guide_work_in_a_folder_of_an_odd_name(course: Path) -> None:
    beside = course.parent
    exchange = f"--Exchange.root={beside / 'exchange'}"
    (beside / "exchange").mkdir()
    (beside / "exchange").chmod(0o777)
    roster = "id,first_name,last_name\nada,Ada,Lovelace\ngrace,Grace,Hopper\n"
    (course / "grading" / "roster.csv").write_text(roster, encoding="utf-8")
    typed(course, "nbgrader", "db", "student", "import", "grading/roster.csv")
    typed(course, "nbgrader", "generate_assignment", SET, "--force")
    typed(course, "nbgrader", "release_assignment", SET, exchange)
    hand_in(course)
    typed(course, "nbgrader", "list", "--inbound", exchange)
    typed(course, "nbgrader", "collect", SET, "--update", exchange)
    typed(course, "nbgrader", "zip_collect", SET)
    said = typed(course, "hintgrader", "autograde", SET)
    assert "3 submissions: 3 graded; 0 not graded." in said
    typed(course, "hintgrader", "report", SET)
    typed(course, "hintgrader", "check-course")
    typed(course, "nbgrader", "generate_feedback", SET, "--force")
    typed(course, "nbgrader", "release_feedback", SET, exchange)
    typed(course, "nbgrader", "export", "--to", "grading/grades.csv")
    assert (course / "grading" / "grades.csv").read_text("utf-8").count(",7.0,7.0\n") == 3
    exporter = "hintgrader.nbgrader.exports.learning_systems.MoodleExporter"
    typed(course, "nbgrader", "export", "--to", f"{beside}/m.csv", f"--exporter={exporter}")
    typed(course, "hintgrader", "data", "export", "ada", f"{beside}/ada.zip")
    typed(course, "hintgrader", "data", "backup", f"{beside}/backup.tar.gz")
    with tarfile.open(beside / "backup.tar.gz") as packed:
        assert "grading/gradebook.db" in packed.getnames()
    typed(course, "hintgrader", "data", "delete", "ada", "--yes")
    shutil.rmtree(course / "grading")
    typed(course, "hintgrader", "data", "restore", f"{beside}/backup.tar.gz")
    assert "ada (Lovelace, Ada)" in typed(course, "nbgrader", "db", "student", "list")
    typed(course, "hintgrader", "new", f"{SET}/part")
    typed(course, "hintgrader", "tables")
    typed(course, "hintgrader", "drop", f"{SET}/fit")
    typed(course, "nbgrader", "autograde", SET, "--student", "alan", "--force")
    there = {"exchange", "m.csv", "ada.zip", "backup.tar.gz", "course"}
    assert {path.name for path in beside.iterdir()} - {"none"} == there
