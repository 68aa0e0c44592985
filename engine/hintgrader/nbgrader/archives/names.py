"""The parts of a path in an archive that a learning system wrote, and no student.

A student chooses the name of the file that is uploaded, and of everything in it if it is an
archive. The system puts the person in front of that: so it is the first match that counts, never a
later one, and only in the file or folder that the system named.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePath

from nbgrader.api import Student

# `Ada Lovelace_4711_assignsubmission_file`, of a folder, or in front of the name of a file. The
# number is the submission's; Moodle writes a blank for an underscore in a name.
MOODLE = re.compile(r"(?P<full_name>[^_]+)_\d+_assignsubmission_file(?:_|$)")
# `lovelaceada_LATE_4711_98765_`: of the numbers, the first is the person's.
CANVAS = re.compile(r"[^_]+_(?:LATE_)?(?P<lms_user_id>\d+)_\d+_")
# `Problem set_ada_attempt_2027-02-28-21-05-00_`; title and id may hold underscores.
BLACKBOARD = re.compile(
    r"(?P<title_and_id>.+?)_attempt_"
    r"(?P<day>\d{4}-\d\d-\d\d)-(?P<hour>\d\d)-(?P<minute>\d\d)-(?P<second>\d\d)(?:_|\.|$)"
)
DEPTH = 2  # the archive, and what the system named in it


@dataclass(frozen=True)
class Named:
    """The name that a learning system gave a file.

    Attributes:
        part: The file or folder that it has named.
        ids: The students of the roster whom it may mean.
        time: When it was handed in; None if the system does not say.
        prefix: What feedback on it has to be called in front, for the system to know whose it is:
            a folder, or the beginning of a name; empty if it takes no feedback in this form.
    """

    part: str
    ids: tuple[str, ...]
    time: str | None = None
    prefix: str = ""


def read_name(path: PurePath, roster: Iterable[Student]) -> Named | None:
    """The student and time in the path of a file; None if its form is unknown.

    Args:
        path: Of the file, within the folder into which archives are extracted.
        roster: The class. It decides where an underscore belongs, and whether a name can be one of
            Canvas's: those hold numbers that the roster of another system lacks.
    """
    students = list(roster)
    for part in path.parts[:DEPTH]:
        if found := MOODLE.match(part):
            prefix = found[0] if found[0].endswith("_") else f"{part}/"
            return Named(part, _ids_by_groups(found.groupdict(), students), prefix=prefix)
        if any(student.lms_user_id for student in students) and (found := CANVAS.match(part)):
            return Named(part, _ids_by_groups(found.groupdict(), students), prefix=found[0])
        if found := BLACKBOARD.match(part):
            ends = found["title_and_id"]
            ids = tuple(student.id for student in students if ends.endswith(f"_{student.id}"))
            clock = ":".join(found[unit] for unit in ("hour", "minute", "second"))
            return Named(part, ids, f"{found['day']} {clock}")
    return None


def read_name_by(pattern: str, path: PurePath, roster: Iterable[Student]) -> Named | None:
    """The same by a pattern of the instructor's own, tried on as little of the path as fits it.

    Args:
        pattern: With one of the groups `student_id`, `full_name` and `lms_user_id`.
        path: As for `read_name`.
        roster: The class.
    """
    beginnings = accumulate(path.parts, lambda before, part: f"{before}/{part}", initial="")
    found = next(filter(None, (re.match(pattern, each) for each in beginnings if each)), None)
    return Named(found[0], _ids_by_groups(found.groupdict(), roster)) if found else None


def _ids_by_groups(groups: dict[str, str | None], students: Iterable[Student]) -> tuple[str, ...]:
    return tuple(student.id for student in students if _is_meant(student, groups))


def _is_meant(student: Student, groups: dict[str, str | None]) -> bool:
    if groups.get("student_id"):
        return student.id == groups["student_id"]
    if groups.get("lms_user_id"):
        return student.lms_user_id == groups["lms_user_id"]
    first, last = student.first_name or "", student.last_name or ""
    name = _plain(groups.get("full_name") or "")
    return bool(name) and name in (_plain(f"{first} {last}"), _plain(f"{last} {first}"))


def _plain(name: str) -> str:
    """A name however it is spelt: macOS makes a character of its own of an accent."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().replace("_", " ").split())
