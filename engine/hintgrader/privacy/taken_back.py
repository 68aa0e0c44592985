"""Taking back one hand-in of a student: as if it had not been handed in, and nothing is lost."""

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

from filelock import FileLock
from nbgrader.api import MissingEntry

from hintgrader.nbgrader.course import GRADING, Course
from hintgrader.records.records import record_path
from hintgrader.records.unfinished import SUFFIX

TAKEN_BACK = "taken_back"  # the folder in which hand-ins are kept that count no more


def take_back(course: Course, assignment: str, student: str) -> Path:
    """Forget the marks of a hand-in, and move it out of the class; return where it is now.

    Raises:
        CourseError: There is no such hand-in.
    """
    course.select_students(assignment, [student])
    handed_in = course.submitted(assignment, student)
    record = record_path(course.results, assignment, student)
    record.parent.mkdir(parents=True, exist_ok=True)
    place = course.root / GRADING / TAKEN_BACK / student
    names = (f"{assignment}{f'-{number}' if number else ''}" for number in count())
    target = next(place / name for name in names if not (place / name).exists())
    with FileLock(record.with_suffix(".lock")):
        with course.gradebook() as gradebook, suppress(MissingEntry):
            gradebook.remove_submission(assignment, student)
        for suffix in (".json", SUFFIX, ".read"):
            record.with_suffix(suffix).unlink(missing_ok=True)
        directory = course.directory
        for made in (directory.autograded_directory, directory.feedback_directory):
            folder = directory.format_path(made, student, assignment)
            shutil.rmtree(folder, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        handed_in.rename(target)
    return target
