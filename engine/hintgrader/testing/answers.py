"""A class that has answered one part in words, which nobody has read."""

from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from hintgrader.nbgrader.course import Course

WORDS, POINTS = "words", 3  # the cell, and what a person can give for it


def hand_in_words(course: Course, assignment: str, answers: Mapping[str, str]) -> None:
    """Enter a problem set that is one such part, and everybody's answer, into the gradebook.

    Args:
        course: A course without a gradebook.
        assignment: Name of the problem set.
        answers: The answers by student.
    """
    (course.root / "grading").mkdir(mode=0o700)
    cell = new_markdown_cell()
    kinds = dict.fromkeys(("grade", "solution"), True) | dict.fromkeys(("locked", "task"), False)
    cell.metadata["nbgrader"] = {"grade_id": WORDS, "points": POINTS, "schema_version": 3} | kinds
    with course.gradebook() as gradebook:
        gradebook.add_assignment(assignment)
        where = gradebook.add_notebook(assignment, assignment).name, assignment
        gradebook.add_grade_cell(WORDS, *where, max_score=POINTS, cell_type="markdown")
        gradebook.add_solution_cell(WORDS, *where)
        for student, cell.source in answers.items():
            gradebook.add_submission(assignment, gradebook.add_student(student).id)
            gradebook.find_grade(WORDS, *where, student).needs_manual_grade = True
            path: Path = course.autograded(assignment, student)
            path.parent.mkdir(parents=True)
            nbformat.write(new_notebook(cells=[cell]), path)
        gradebook.db.commit()
