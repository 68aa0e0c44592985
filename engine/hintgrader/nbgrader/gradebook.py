"""nbgrader's gradebook when several processes write to it at once.

nbgrader looks whether a row is there and makes it if not. Two processes that look at the same
moment both make it, and one of them fails: for tables, for the course, for a student. So what all
submissions share is made before the first is graded, and what still collides is tried again.

nbgrader opens the gradebook a dozen times a submission, each time with a new engine of
SQLAlchemy's, which would compile all statements anew. Here there is one for each address.
"""

import os
import random
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TypeVar

import nbgrader.api
from nbgrader.api import Grade, Gradebook, InvalidEntry, MissingEntry
from sqlalchemy import Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import DBAPIError

TRIES = 6
MAX_NAME = 128  # characters of a student's id
T = TypeVar("T")


@cache
def engine_of(url: str, **options: bool) -> Engine:
    """The engine for an address; a process that is forked leaves its parent's connections alone.

    A file is opened anew for each transaction: it may be another one, put back from a backup.
    """
    pool = NullPool if make_url(url).get_backend_name() == "sqlite" else None
    engine = create_engine(url, poolclass=pool, **options)
    os.register_at_fork(after_in_child=partial(engine.dispose, close=False))
    return engine


nbgrader.api.create_engine = engine_of


def with_retries(action: Callable[[], T], seconds: float = 0.1) -> T:
    """Do what several processes do at once, again if the database refuses it.

    Args:
        action: May be done any number of times.
        seconds: The mean wait after the first refusal; it doubles after each.

    Raises:
        InvalidEntry: What nbgrader makes of a refusal, if the last of six tries ends so.
        DBAPIError: What SQLAlchemy makes of one.
    """
    for attempt in range(TRIES - 1):
        try:
            return action()
        except (InvalidEntry, DBAPIError):
            # of random length, or two that collided would collide again
            time.sleep(seconds * 2**attempt * random.uniform(0.5, 1.5))
    return action()


def prepare_gradebook(url: str, course_id: str, students: Iterable[str] = ()) -> None:
    """Make the tables, the course and the students that the gradebook lacks, before the grading.

    Args:
        url: nbgrader's `db_url`, for SQLite or PostgreSQL.
        course_id: nbgrader's `CourseDirectory.course_id`.
        students: The students to be graded.

    Raises:
        DBAPIError: The database cannot be reached, or refuses.
    """
    with_retries(lambda: _create_missing(url, course_id, list(students)))


def _create_missing(url: str, course_id: str, students: list[str]) -> None:
    Gradebook(url).close()  # nbgrader saves marks so, under a course id of its own
    with Gradebook(url, course_id) as gradebook:
        known = {student.id for student in gradebook.students}
        for student in filter(is_name, sorted(set(students) - known)):
            gradebook.update_or_create_student(student)


def is_name(student: str) -> bool:
    """True if the name of a folder is a text that the gradebook takes."""
    return len(student) <= MAX_NAME and not any("\ud800" <= c <= "\udfff" for c in student)


def find_grades(gradebook: Gradebook, assignment: str, student: str) -> list[Grade] | None:
    """The grades of all parts of a submission; None if the gradebook does not know it."""
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return None
    return [grade for notebook in submission.notebooks for grade in notebook.grades]
