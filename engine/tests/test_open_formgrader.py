"""A formgrader that stays open: over odd times of submissions, and over a restored backup."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from hintgrader.nbgrader.course import Course
from hintgrader.records.records import write_record
from hintgrader.testing.commands import type_command
from hintgrader.testing.formgraders import formgrader as running_formgrader
from tests.gradebooks import SET, book, lay_out_graded, path_of, record

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")

TIMES = {  # what may stand in timestamp.txt
    "words": b"yesterday",
    "zeros": bytes(10),
    "latin": b"2027-03-01 18:00 M\xe4rz",
    "year-0": b"0000-01-01 00:00:00 UTC",
    "year-1": b"0001-01-01 00:00:00 +1400",
    "year-10000": b"10000-01-01 00:00:00 UTC",
    "buddhist": b"2570-03-01 18:00:00 UTC",
    "persian": b"1405-12-10 18:00:00 UTC",
    "long": b"9" * 10**6,
    "empty": b"",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which two are graded, and others handed in at odd times."""
    course = lay_out_graded(tmp_path_factory.mktemp("open") / "course")
    for name, content in TIMES.items():
        folder = course / "grading" / "submitted" / name / SET
        folder.mkdir(parents=True)
        shutil.copy(course / "solutions" / SET / f"{SET}.ipynb", folder)
        (folder / "timestamp.txt").write_bytes(content)
    for name, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        folder = course / "grading" / "submitted" / name / SET
        shutil.copytree(course / "grading" / "submitted" / "empty" / SET, folder)
        (folder / "timestamp.txt").unlink()
        make(folder / "timestamp.txt")
    return course


@pytest.mark.parametrize("name", [*TIMES, "pipe", "folder"])
def test_odd_time_of_a_submission_stops_no_command(course: Path, name: str) -> None:
    directory = Course(course).directory
    folder = course / "grading" / "submitted" / name / SET
    assert directory.get_existing_timestamp(str(folder)) is None


@pytest.fixture(scope="module")
def formgrader(course: Path) -> Iterator[str]:
    """The address of a formgrader."""
    with running_formgrader(course) as address:
        yield f"{address}/api"


def ask(address: str) -> Any:
    with urlopen(address, timeout=20) as answer:
        return json.load(answer)


def test_odd_times_of_submissions_do_not_keep_the_page_of_all_from_loading(
    formgrader: str,
) -> None:
    found = {one["student"]: one for one in ask(f"{formgrader}/submissions/{SET}")}
    assert {*TIMES, "pipe", "folder"} <= found.keys()
    assert {found[name]["timestamp"] for name in (*TIMES, "pipe", "folder")} == {None}


def test_restored_gradebook_is_the_one_that_an_open_formgrader_shows(
    course: Path, formgrader: str, tmp_path: Path
) -> None:
    with book(course) as gradebook:
        (notebook,) = gradebook.find_submission(SET, "eve").notebooks
        grades = f"{formgrader}/grades?submission_id={notebook.id}"
    shown = lambda: [one["auto_score"] for one in ask(grades) if one["auto_score"]]  # noqa: E731
    backup = str(tmp_path / "backup.tar.gz")
    said = type_command("hintgrader", "data", "backup", backup, folder=course)
    assert said.status == 0, said.stdout
    with book(course) as gradebook:
        gradebook.find_grade("fit-check", SET, SET, "eve").auto_score = 0.5
        gradebook.db.commit()
    assert shown() == [0.5]
    shutil.rmtree(course / "grading")
    said = type_command("hintgrader", "data", "restore", backup, folder=course)
    assert said.status == 0, said.stdout
    assert shown() == [1.5]
    eve = next(one for one in ask(f"{formgrader}/students") if one["id"] == "eve")
    assert eve["score"] == 1.5


STATES = {"unreadable": {"unreadable": True}, "cheated?": {"state": "cheated?"}}


@pytest.mark.parametrize("state", [*STATES, "not graded", None])
def test_state_of_a_submission_is_told_to_the_tables(
    course: Path, formgrader: str, state: str | None
) -> None:
    about = STATES.get(state or "", {"state": state or "graded"})
    write_record(path_of(course, "ada"), replace(record("ada", 0.0), **about))
    found = {one["student"]: one for one in ask(f"{formgrader}/submissions/{SET}")}
    assert (found["ada"]["state"], found["eve"]["state"]) == (state, None)


def test_page_of_submissions_has_the_script_that_shows_the_states(formgrader: str) -> None:
    for page in (f"manage_submissions/{SET}", f"gradebook/{SET}/{SET}"):
        with urlopen(formgrader.replace("/api", f"/{page}"), timeout=20) as answer:
            html = answer.read().decode()
        before, script, _ = html.partition("with the states of `hintgrader`")
        assert script
        assert "submissions.js" in before  # nbgrader's own, which it builds on
