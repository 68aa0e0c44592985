"""All that a course knows of one student: as an archive, or deleted."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from nbgrader.api import MissingEntry, SubmittedNotebook

from hintgrader.nbgrader.course import GRADING, Course, CourseError
from hintgrader.privacy.taken_back import TAKEN_BACK

STEPS = ("submitted", "autograded", "feedback", TAKEN_BACK)


def export_person(course: Course, student: str, target: Path) -> int:
    """Write everything known about a student into a zip; return the number of files in it.

    Raises:
        CourseError: Nothing is known about such a student, or the file is there already.
    """
    files, marks = list(files_of(course, student)), _marks(course, student)
    if not files and marks is None:
        raise CourseError(f"Nothing is known about {student}.")
    if target.exists():
        raise CourseError(f"{target} is there already.")
    with ZipFile(target, "x", ZIP_DEFLATED) as packed:
        for path in files:
            packed.write(path, path.relative_to(course.root / GRADING))
        packed.writestr("gradebook.json", json.dumps(marks, indent=1, default=str))
    return len(files) + 1


def delete_person(course: Course, student: str) -> list[Path]:
    """Delete everything known about a student; the files that may still hold something about them.

    The tables, logs and pages on the class, which name everybody, are deleted as well: they can be
    made again. What a learning system put into one archive for all is left, and returned.

    Raises:
        CourseError: Nothing is known about such a student.
    """
    files, known = list(files_of(course, student)), _marks(course, student) is not None
    if not files and not known:
        raise CourseError(f"Nothing is known about {student}.")
    if known:
        with course.gradebook() as gradebook:
            gradebook.remove_student(student)
    for path in files:
        path.unlink()
    for step in STEPS:
        shutil.rmtree(course.root / GRADING / step / student, ignore_errors=True)
    for path in course.results.glob("*.*"):
        if path.is_file() and path.suffix in (".csv", ".log", ".html", ".zip"):
            path.unlink()
    kept = [path for path in (course.root / GRADING).glob("*.csv")]
    return sorted([*kept, *(course.root / GRADING).glob("downloaded/*/*")])


def files_of(course: Course, student: str) -> Iterator[Path]:
    """The files of a student: handed in, graded, given back, and what is recorded of them.

    Raises:
        CourseError: The name is none of a folder.
    """
    if student in ("", ".", "..") or Path(student).name != student:
        raise CourseError(f"{student!r} is no name of a student.")
    grading = course.root / GRADING
    for step in STEPS:
        yield from (p for p in sorted((grading / step / student).rglob("*")) if not p.is_dir())
    for folder in sorted(course.results.glob("*/")):
        yield from (
            path
            for suffix in (".json", ".begun", ".read", ".lock", ".history")
            if (path := folder / f"{student}{suffix}").is_file()
        )


def _marks(course: Course, student: str) -> dict[str, Any] | None:
    """The entries of the gradebook on a student; None if it knows nobody of this name."""
    with course.gradebook() as gradebook:
        try:
            found = gradebook.find_student(student)
        except MissingEntry:
            return None
        about = {name: getattr(found, name) for name in ("id", "first_name", "last_name", "email")}
        submissions = {
            submission.assignment.name: {
                "time": submission.timestamp,
                "score": submission.score,
                "cells": [cell for notebook in submission.notebooks for cell in _cells(notebook)],
            }
            for submission in found.submissions
        }
    return about | {"submissions": submissions}


def _cells(notebook: SubmittedNotebook) -> Iterator[dict[str, Any]]:
    for grade in notebook.grades:
        points = {name: getattr(grade, name) for name in ("auto_score", "manual_score", "score")}
        yield {"cell": grade.name, "extra_credit": grade.extra_credit} | points
    for comment in notebook.comments:
        yield {"cell": comment.name, "comment": comment.comment}
