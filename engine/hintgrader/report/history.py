"""The command that tells the history of one submission, and takes notes for it."""

from collections.abc import Iterator

from filelock import FileLock

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.gradebook import find_grades
from hintgrader.records.history import changes, note_words, read_history
from hintgrader.records.records import record_path


def tell_history(course: Course, assignment: str, student: str, note: str = "") -> Iterator[str]:
    """Lines on what a submission earned, when, and what people said; a note is kept first.

    Raises:
        CourseError: Nothing was handed in by this student, or the note has no words or too many.
    """
    course.select_students(assignment, [student])
    path = record_path(course.results, assignment, student)
    if note:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(path.with_suffix(".lock")):
                note_words(path, note)
        except ValueError as error:
            raise CourseError(f"Nothing was kept: {error}.") from None
    points: dict[str, float] = {}
    for event in read_history(path):
        said = event.note
        if event.engine:
            changed = changes(points, event.points) if points else ""
            said = f"{event.engine}: {sum(event.points.values()):g} points"
            said += f" ({changed})" if changed else ""
            points = event.points
        yield f"{event.at} UTC  {said}"
    yield from _by_hand(course, assignment, student)


def _by_hand(course: Course, assignment: str, student: str) -> Iterator[str]:
    """The points that a person gave or took away in the formgrader, as they are now."""
    with course.gradebook() as gradebook:
        for grade in find_grades(gradebook, assignment, student) or []:
            if grade.manual_score is not None:
                found = "" if grade.auto_score is None else f", and the grader {grade.auto_score:g}"
                yield f"now  by hand: {grade.name} {grade.manual_score:g}{found}"
