"""Whose file is whose, in the archives that learning systems hand out.

    nbgrader zip_collect 01_retrieval \\
        --collector=attn_course.grading.autograde.collect.RosterCollector

They name files after the person in ways of their own; the roster says which student that is.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.plugins import FileNameCollectorPlugin

# `Ada Lovelace_4711_assignsubmission_file/`: the number is the submission's.
MOODLE = r".*/(?P<full_name>[^/]+)_\d+_assignsubmission_file"
# `lovelaceada_LATE_4711_98765_`: of the numbers, the first is the person's.
CANVAS = r".*/[^/_]+_(?:LATE_)?(?P<lms_user_id>\d+)_\d+_[^/]*$"
# `Problem set_ada_attempt_2027-02-28-21-05-00_`
BLACKBOARD = (
    r".*/[^/]+_(?P<student_id>[^/_]+)_attempt_"
    r"(?P<day>\d{4}-\d\d-\d\d)-(?P<hour>\d\d)-(?P<minute>\d\d)-(?P<second>\d\d)"
)


class RosterCollector(FileNameCollectorPlugin):
    """Knows the archives of Moodle, Canvas and Blackboard, and students by the gradebook.

    For others set `named_regexp`, with one of the groups `student_id`, `full_name` and
    `lms_user_id`. Every notebook that somebody handed in is taken for that of the problem set,
    whatever it is called now.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Who handed a file in, as nbgrader asks it; None if it is no notebook, or of nobody."""
        if Path(submitted_file).suffix not in self.valid_ext:
            return None
        patterns = [self.named_regexp] if self.named_regexp else [MOODLE, CANVAS, BLACKBOARD]
        found = next(filter(None, (re.match(p, submitted_file) for p in patterns)), None)
        if found is None:
            self.log.warning("%s: of no form that is known", submitted_file)
            return None
        groups = found.groupdict()
        ids = [student.id for student in self._students() if _is_meant(student, groups)]
        if len(ids) != 1:
            self.log.warning("%s: %d students of the roster fit", submitted_file, len(ids))
            return None
        collected = {"student_id": ids[0], "file_id": self.parent.coursedir.assignment_id}
        if groups.get("day"):
            clock = ":".join(groups[part] for part in ("hour", "minute", "second"))
            collected["timestamp"] = f"{groups['day']} {clock}"
        return collected

    def _students(self) -> Iterator[Student]:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            yield from gradebook.students


def _is_meant(student: Student, groups: dict[str, str | None]) -> bool:
    if groups.get("student_id"):
        return student.id == groups["student_id"]
    if groups.get("lms_user_id"):
        return student.lms_user_id == groups["lms_user_id"]
    first, last = student.first_name or "", student.last_name or ""
    return _plain(groups["full_name"]) in (_plain(f"{first} {last}"), _plain(f"{last} {first}"))


def _plain(name: str) -> str:
    """A name however it is spelt: macOS makes a character of its own of an accent."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
