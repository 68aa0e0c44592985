"""A course in which two students are graded, without a grading: gradebook and records alone."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook

from hintgrader.records.records import PartRecord, SubmissionRecord, record_path, write_record
from tests.example import lay_out

SET = "01_least_squares"
GRADED = {"ada": 0.0, "eve": 1.5}


def lay_out_graded(course: Path) -> Path:
    """Make it in a folder."""
    lay_out(course)
    (course / "grading").mkdir(mode=0o700)
    with book(course) as gradebook:
        gradebook.add_assignment(SET)
        gradebook.add_notebook(SET, SET)
        for cell, points in (("fit-check", 4), ("words", 2)):
            gradebook.add_grade_cell(cell, SET, SET, max_score=points, cell_type="code")
        for student, points in GRADED.items():
            gradebook.add_student(student)
            gradebook.add_submission(SET, student)
            gradebook.find_grade("fit-check", SET, SET, student).auto_score = points
            write_record(path_of(course, student), record(student, points))
        gradebook.db.commit()
    return course


def record(student: str, points: float) -> SubmissionRecord:
    part = PartRecord("fit-check", f"{SET}/fit", points, 4.0, "graded")
    return SubmissionRecord(SET, student, "graded", "limits", parts=(part,))


def book(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course}/grading/gradebook.db", "methods")


def path_of(course: Path, student: str) -> Path:
    return record_path(course / "grading" / "results", SET, student)
