"""Counting the parts of a graded submission by the points that their cells give.

A part that is dropped counts nothing, and counts again once it is put back. What its checks found
is kept, so no code runs for that.
"""

from collections.abc import Mapping
from dataclasses import replace

import nbformat

from hintgrader.nbgrader.cells import graded_cells
from hintgrader.nbgrader.gradebook import find_grades
from hintgrader.pipeline.locate import HandIn
from hintgrader.records.records import PartRecord, SubmissionRecord


def count(part: PartRecord, gives: float) -> PartRecord:
    """A part whose cell gives so many points: as many as its exercise, or 0 if it was dropped."""
    if part.of == gives:
        return part
    earned = sum(row.points if row.problem is None else row.kept for row in part.rows)
    return replace(part, points=earned if gives else 0.0, of=gives)


def count_again(hand_in: HandIn, record: SubmissionRecord) -> SubmissionRecord | None:
    """An earlier record, counted as its problem set says now, and entered into the gradebook.

    Returns:
        None if a late penalty was computed from other points, so that it has to be graded again.
    """
    gives = points_of_cells(hand_in)
    counted = {part.part: count(part, gives.get(part.part, part.of)) for part in record.parts}
    if tuple(counted.values()) == record.parts:
        return record
    with hand_in.course.gradebook() as gradebook:
        submission = gradebook.find_submission(hand_in.assignment, hand_in.student)
        if submission.late_submission_penalty:
            return None
        for grade in find_grades(gradebook, hand_in.assignment, hand_in.student) or []:
            if grade.name in counted:
                grade.auto_score = counted[grade.name].points
        gradebook.db.commit()
    return replace(record, parts=tuple(counted.values()))


def points_of_cells(hand_in: HandIn) -> Mapping[str, float]:
    """The points that each graded cell of a problem set gives, by its name."""
    source = hand_in.course.source(hand_in.assignment)
    cells = graded_cells(nbformat.read(source, as_version=4))
    return {cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points) for cell in cells}
