"""What a record is of, in one word: when it changes, a submission is graded again."""

import hashlib
from functools import cache

from attn_course.grading.autograde.course import Course
from attn_course.grading.checking import hidden_secret
from attn_course.grading.outside.isolation import PACKAGE


def digest_of(course: Course, assignment: str, student: str) -> str:
    """Of all that decides about the marks: notebook, time, problem set, seed and checks."""
    _ = course.config  # puts the seed in place
    found = hashlib.sha256(f"{hidden_secret()}|{package_digest()}".encode())
    folder = course.submitted(assignment, student)
    notebook, handed_in_at = folder / f"{assignment}.ipynb", folder / "timestamp.txt"
    for path in (notebook, handed_in_at, course.source(assignment)):
        content = path.read_bytes() if path.is_file() else b"none"
        found.update(hashlib.sha256(content).digest())
    return found.hexdigest()


@cache
def package_digest() -> str:
    """Of the checks and all that they use, by the names of their files and what these hold."""
    sources = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    found = hashlib.sha256()
    for name in sorted(sources):
        found.update(name.encode() + b"\0" + sources[name].read_bytes() + b"\0")
    return found.hexdigest()
