"""Checks that the gradebook holds the marks that were graded, and those that were given by hand."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from nbgrader.api import Grade, Gradebook
from nbgrader.api import SubmittedAssignment as Submission
from nbgrader.preprocessors import AssignLatePenalties

from hintgrader.nbgrader.course import Course, GradingError
from hintgrader.records.records import NOT_GRADED, read_record, record_path
from hintgrader.records.seal import key_held
from hintgrader.records.unfinished import reason_unfinished

ByHand = dict[tuple[str, str, str], tuple[float | None, float | None]]


def changed_marks(course: Course, submissions: Iterable[Submission]) -> Iterator[str]:
    """Sentences on marks in the gradebook that are not as graded, each with what mends it."""
    for submission in submissions:
        assignment, student = submission.name, submission.student_id
        if problem := _problem(course, submission):
            again = f"hintgrader autograde {assignment} --student {student}"
            yield f"{student}, {assignment}: {problem}. Grade it again: {again}"


def unreadable_work(course: Course, submissions: Iterable[Submission]) -> set[tuple[str, str]]:
    """Students and problem sets whose work could not be read, and has no points from a person."""
    found = set()
    for submission in submissions:
        path = record_path(course.results, submission.name, submission.student_id)
        with suppress(OSError, ValueError):
            if read_record(path).unreadable and not submission.score:
                found.add((submission.student_id, submission.name))
    return found


def outdated_penalties(
    course: Course, submissions: Iterable[Submission]
) -> Iterator[tuple[str, str]]:
    """Students and problem sets whose late penalty would now be another one.

    It was computed when they were graded: from fewer points, or by another rule or due date.
    """
    late = AssignLatePenalties(config=course.config)
    late.init_plugin()
    for submission in submissions:
        student, seconds = submission.student_id, submission.total_seconds_late
        for notebook in submission.notebooks:
            now = 0.0
            if seconds > 0:
                rule = late.plugin_inst.late_submission_penalty
                now = min(max(rule(student, notebook.score, seconds) or 0.0, 0.0), notebook.score)
            if not math.isclose(now, notebook.late_submission_penalty or 0.0, abs_tol=1e-9):
                yield student, submission.name


def marks_not_given(
    course: Course, gradebook: Gradebook, assignment: str
) -> dict[tuple[str, str], str]:
    """Students and a problem set that they have handed in without a mark so far, and why.

    A submission all of whose parts a person has graded has its mark.
    """
    found_there = gradebook.find_assignment(assignment).submissions
    submissions = {each.student_id: each for each in found_there}
    found = {}
    for student in sorted({*submissions, *course.students(assignment)}):
        path = record_path(course.results, assignment, student)
        if not path.exists() and not _is_graded_by_hand(submissions.get(student)):
            found[student, assignment] = reason_unfinished(path) or "it has not been graded"
    return found


def marks_incomplete(
    course: Course, submissions: Iterable[Submission]
) -> dict[tuple[str, str], str]:
    """Students and problem sets with a part that only waited, and that no person has graded."""
    found = {}
    for submission in submissions:
        path = record_path(course.results, submission.name, submission.student_id)
        by_hand = {one.name for one in _grades(submission) if one.manual_score is not None}
        with suppress(OSError, ValueError):
            parts = [p.part for p in read_record(path).parts if p.state == NOT_GRADED]
            if left := [part for part in parts if part not in by_hand]:
                why = f"{', '.join(left)} only waited, and is not graded"
                found[submission.student_id, submission.name] = why
    return found


def _is_graded_by_hand(submission: Submission | None) -> bool:
    grades = _grades(submission) if submission else []
    return bool(grades) and all(grade.manual_score is not None for grade in grades)


def _has_points(grade: Grade) -> bool:
    return grade.auto_score is not None or grade.manual_score is not None


def _grades(submission: Submission) -> list[Grade]:
    return [grade for notebook in submission.notebooks for grade in notebook.grades]


def _problem(course: Course, submission: Submission) -> str | None:
    path = record_path(course.results, submission.name, submission.student_id)
    try:
        record = read_record(path)
    except FileNotFoundError:
        if reason_unfinished(path) is None and any(map(_has_points, _grades(submission))):
            return "the marks are not from hintgrader"
        return None
    except ValueError as error:
        return str(error)
    points = {part.part: (part.points, part.of) for part in record.parts}
    for notebook in submission.notebooks:
        if (notebook.late_submission_penalty or 0) < 0:
            return "the late penalty is below zero"
        for grade in notebook.grades:
            said = f"the gradebook gives {grade.auto_score} of {grade.max_score} for {grade.name}"
            if grade.name in points and points[grade.name] != (grade.auto_score, grade.max_score):
                return f"{said}, and graded were {points[grade.name][0]} of {points[grade.name][1]}"
            if grade.name not in points and grade.auto_score:
                return f"{said}, which was not graded"
    return None


@contextmanager
def unsandboxed(course: Course) -> Iterator[None]:
    """Grade within the block without a sandbox: keep the key of the records out of reach, and see
    to what is given by hand.

    Raises:
        GradingError: What a person gives has changed meanwhile.
    """
    with key_held(course.results):
        before = _by_hand(course)
        yield
        after = _by_hand(course)
    if changed := sorted({place for place, marks in after.items() if before.get(place) != marks}):
        named = "; ".join(" ".join(place) for place in changed[:5])
        raise GradingError(
            f"While submissions ran without a sandbox, marks that a person gives have changed:"
            f" {named}. If that was not you, restore grading/gradebook.db from a backup."
        )


def _by_hand(course: Course) -> ByHand:
    """The marks that a person has given, and the points beyond them."""
    with course.gradebook() as gradebook:
        return {
            (submission.name, submission.student_id, grade.name): _given(grade)
            for assignment in gradebook.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
            if any(_given(grade))
        }


def _given(grade: Grade) -> tuple[float | None, float | None]:
    return grade.manual_score, grade.extra_credit
