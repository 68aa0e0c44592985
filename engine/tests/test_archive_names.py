"""The owner of a file from a learning system: its name changes neither owner nor time."""

from __future__ import annotations

import logging
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Student
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.archives.collector import RosterCollector

SET = "01_retrieval"
EXTRACTED = f"/course/downloaded/{SET}/extracted"
CLASS = [
    Student(id="ada", first_name="Ada", last_name="Lovelace", lms_user_id="1001"),
    Student(id="alan", first_name="Alan", last_name="Turing", lms_user_id="1002"),
    Student(id="van_ada", first_name="Van", last_name="Ada", lms_user_id="1003"),
    Student(id="my_own_id", first_name="Eve", last_name="Own", lms_user_id="1004"),
    Student(id="eve", first_name="Eve_4711_assignsubmission", last_name="file", lms_user_id="1005"),
]
# Paths that systems make of a name that Alan chooses; `{}` is that name.
OF_ALAN = [
    "all/Alan Turing_4711_assignsubmission_file/{}x.ipynb",
    "all/Alan Turing_4711_assignsubmission_file_{}x.ipynb",
    "Turing Alan_4711_assignsubmission_file_{}x.ipynb",
    "all/turingalan_1002_98765_{}x.ipynb",
    "all/turingalan_LATE_1002_98765_{}/work.ipynb",
    "all/Set 1_alan_attempt_2027-03-05-21-05-00_{}x.ipynb",
    "all/Set_1_alan_attempt_2027-03-05-21-05-00_{}x.ipynb",
]
# As a guide for instructors may say it.
ONES_OWN = r".*/\d+-\d+ - (?P<full_name>[^/]+?) - [^/]+/[^/]+"
BLACKBOARD = "_attempt_2027-03-05-21-05-00_"
FORGED = [
    "my_alan_attempt_2020-01-01-00-00-00_s",
    "x_ada_attempt_2020-01-01-00-00-00_s",
    "Ada Lovelace_4711_assignsubmission_file",
    "x/Ada Lovelace_4711_assignsubmission_file/x",
    "x/lovelaceada_1001_98765_x",
    "lovelaceada_LATE_1001_98765_x",
    "_1001_98765_",
]
names = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.lists(st.sampled_from([*FORGED, "_", "/", "ada", "1001", BLACKBOARD, " "])).map("".join),
)


def collected(path: str, roster: list[Student] = CLASS, **how: str) -> dict[str, str] | None:
    """Return what the collector makes of a file from an archive; None if it leaves it."""
    course = CourseDirectory(root="/course", assignment_id=SET)
    how["log"] = logging.getLogger("collector")
    collector = RosterCollector(parent=ZipCollectApp(coursedir=course), **how)
    collector._students = lambda: iter(roster)
    return collector.collect(f"{EXTRACTED}/{path}")


@settings(deadline=None, max_examples=150)
@given(name=names, form=st.sampled_from(OF_ALAN))
def test_name_that_a_student_chooses_changes_neither_owner_nor_time(name: str, form: str) -> None:
    assert collected(form.format(name)) == collected(form.format(""))
    assert collected(form.format(name))["student_id"] == "alan"


@pytest.mark.parametrize(("form", "name"), [*product(OF_ALAN, FORGED)])
def test_name_that_looks_like_the_systems_own_changes_nothing(form: str, name: str) -> None:
    found = collected(form.format(name))
    assert found["student_id"] == "alan"
    assert found.get("timestamp", "2027-03-05 21:05:00") == "2027-03-05 21:05:00"


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize(
    "beginning",
    [
        "all/No Body_4711_assignsubmission_file/",
        "all/nobody_9999_98765_",
        f"all/Set 1_nobody{BLACKBOARD}",
        "all/12-345 - No Body - Feb 28, 2027 905 PM/",
    ],
)
def test_file_of_nobody_becomes_nobodys_else(beginning: str, name: str) -> None:
    assert collected(f"{beginning}{name}.ipynb") is None


def test_underscores_of_an_id_are_told_from_those_of_a_title() -> None:
    assert collected(f"all/Set_1_my_own_id{BLACKBOARD}x.ipynb")["student_id"] == "my_own_id"
    assert collected(f"all/Set 1_ada{BLACKBOARD}x.ipynb")["student_id"] == "ada"


def test_ambiguous_file_is_left_and_both_students_are_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("WARNING"):
        assert collected(f"all/Set 1_van_ada{BLACKBOARD}x.ipynb") is None
    said = f"2 students of the roster fit 'Set 1_van_ada{BLACKBOARD}x.ipynb': ada, van_ada"
    assert said in caplog.text


def test_name_of_a_person_may_look_like_a_part_of_moodles() -> None:
    """Moodle writes a blank for each underscore in a name."""
    path = "all/Eve 4711 assignsubmission file_9_assignsubmission_file/x.ipynb"
    assert collected(path)["student_id"] == "eve"


def test_numbers_in_a_title_of_blackboard_are_nobodys_number_of_canvas() -> None:
    roster = [Student(id="alan"), Student(id="12345")]
    found = collected(f"all/Set_1_12345{BLACKBOARD}x.ipynb", roster)
    assert found["student_id"] == "12345"


@pytest.mark.parametrize("name", [*FORGED, "x/12-9 - Ada Lovelace - Feb 28, 2027 905 PM/x"])
def test_pattern_of_ones_own_is_tried_on_as_little_as_fits_it(name: str) -> None:
    path = f"all/12-345 - Alan Turing - Feb 28, 2027 905 PM/{name}.ipynb"
    assert collected(path, named_regexp=ONES_OWN)["student_id"] == "alan"
