"""Feedback in one zip: under the names that the learning system knows, or the students' ids."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.pack_feedback import pack_feedback
from hintgrader.testing.commands import type_command
from tests.example import FIRST, lay_out

CLASS = {"ada": ("Ada", "Lovelace", None), "grace": ("Grace", "Hopper", None)}
MOODLE = "Ada Lovelace_4711_assignsubmission_file"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = Course(lay_out(tmp_path / "course"))
    (course.root / "grading").mkdir(mode=0o700)
    with course.gradebook() as book:
        for student, (first, last, number) in CLASS.items():
            book.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    for student in (*CLASS, "zoe"):
        course.submitted(FIRST, student).mkdir(parents=True)
    return course


def give_page(course: Course, student: str) -> None:
    page = course.root / "grading" / "feedback" / student / FIRST / f"{FIRST}.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"<p>{student}</p>", encoding="utf-8")


def downloaded(course: Course, name: str) -> None:
    path = course.root / "grading" / "downloaded" / FIRST / "extracted" / "all.zip" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")


def read(path: Path) -> dict[str, str]:
    with ZipFile(path) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def test_without_an_archive_a_folder_has_the_students_id(course: Course) -> None:
    give_page(course, "ada")
    packed = pack_feedback(course, FIRST)
    assert read(packed.path) == {f"ada/{FIRST}.html": "<p>ada</p>"}
    assert (packed.students, packed.missing) == (("ada",), ("grace", "zoe"))


@pytest.mark.parametrize(
    ("name", "number", "prefix"),
    [
        (f"{MOODLE}/any.ipynb", None, f"{MOODLE}/"),
        (f"{MOODLE}_any.ipynb", None, f"{MOODLE}_"),
        ("lovelaceada_LATE_4711_98765_any.ipynb", "4711", "lovelaceada_LATE_4711_98765_"),
        ("Set 1_ada_attempt_2027-02-28-21-05-00_any.ipynb", None, "ada/"),
    ],
)
def test_page_is_called_as_the_learning_system_calls_the_persons_files(
    course: Course, name: str, number: str | None, prefix: str
) -> None:
    with course.gradebook() as book:
        book.update_or_create_student("ada", lms_user_id=number)
    give_page(course, "ada")
    give_page(course, "grace")
    downloaded(course, name)
    packed = pack_feedback(course, FIRST)
    assert list(read(packed.path)) == [f"{prefix}{FIRST}.html", f"grace/{FIRST}.html"]


def test_page_older_than_the_marks_is_named(course: Course) -> None:
    give_page(course, "ada")
    record = course.results / FIRST / "ada.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}", encoding="utf-8")
    later = record.stat().st_mtime + 100
    os.utime(record, (later, later))
    assert pack_feedback(course, FIRST).stale == ("ada",)


def test_nothing_is_packed_before_there_is_feedback(course: Course) -> None:
    with pytest.raises(CourseError, match=f"nbgrader generate_feedback {FIRST} --force"):
        pack_feedback(course, FIRST)


def test_command_says_who_is_left_out_and_its_zip_is_private(course: Course) -> None:
    give_page(course, "ada")
    said = type_command("hintgrader", "pack-feedback", FIRST, folder=course.root)
    assert "has the pages of 1. Without a page: grace, zoe." in said.stdout
    path = course.results / f"{FIRST}-feedback.zip"
    assert path.stat().st_mode & 0o077 == 0
