"""Checks that a course is graded with its own packages, where copies of them are installed too.

On a hub `hintgrader` finds the copy that students' servers use, and `python -m hintgrader` in the
folder of the course finds the course's own. If one is newer, each would undo the other's marks.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.supervisor.isolation import folder_of

CURE = (
    "Type the command as `python -m hintgrader ...` or `python -m nbgrader ...` in the course's"
    " folder, which uses the first; or bring the second up to date (on a hub: tools/set_up_hub.sh)."
)


def check_one_source(course: Course) -> None:
    """Check that no other copy of a package is in use than the course's own, unless it is the same.

    Raises:
        CourseError: One is; the message names both.
    """
    if problem := next(second_sources(course), None):
        raise CourseError(problem)


def second_sources(course: Course) -> Iterator[str]:
    """Sentences on packages that are used from elsewhere, and differ from the course's own."""
    for package in (*course.bank.student_packages, course.bank.package):
        own, used = (course.root / package).resolve(), folder_of(package)
        if own.is_dir() and own != used and _modules(own) != _modules(used):
            yield f"{own} and {used} differ, and this command uses the second. {CURE}"


def _modules(folder: Path) -> dict[str, bytes]:
    paths = folder.rglob("*.py")
    return {os.fspath(path.relative_to(folder)): path.read_bytes() for path in paths}
