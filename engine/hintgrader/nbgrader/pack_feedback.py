"""Everybody's feedback on a problem set in one zip, for those who have no exchange.

Moodle and Canvas put a file of such a zip beside the person whom its name begins with, as the names
in their own archives do. Where those were collected, they are used again; else a folder has the
student's id.
"""

from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from hintgrader.nbgrader.archives.names import read_name
from hintgrader.nbgrader.course import GRADING, Course, CourseError
from hintgrader.records.records import record_path

EXTRACTED = "extracted"  # nbgrader's folder for unpacked archives


@dataclass(frozen=True)
class PackedFeedback:
    """A zip with pages, and who has none in it.

    Attributes:
        path: The zip.
        students: Those with a page in it.
        missing: Those who handed in, and have no page.
        stale: Those in it who were graded again after their page was made.
    """

    path: Path
    students: tuple[str, ...]
    missing: tuple[str, ...]
    stale: tuple[str, ...]


def pack_feedback(course: Course, assignment: str, target: Path | None = None) -> PackedFeedback:
    """Write a zip with the page of each student.

    Args:
        course: The course.
        assignment: Name of the problem set.
        target: The zip; by default it lies beside the records. One that is there is replaced.

    Raises:
        CourseError: Nobody has a page, or nobody has handed in.
    """
    handed_in = course.select_students(assignment, ())
    pages = {student: _page(course, assignment, student) for student in handed_in}
    found = tuple(student for student, page in pages.items() if page.is_file())
    if not found:
        make = f"nbgrader generate_feedback {assignment} --force"
        raise CourseError(f"There is no feedback on {assignment} yet. Make it first: {make}")
    target = target or course.results / f"{assignment}-feedback.zip"
    target.parent.mkdir(parents=True, exist_ok=True)
    names = _names_in_archive(course, assignment)
    with ZipFile(target, "w", ZIP_DEFLATED) as packed:
        for student in found:
            before = names.get(student, f"{student}/")
            packed.write(pages[student], f"{before}{assignment}.html")
    stale = tuple(one for one in found if _graded_since(course, assignment, one, pages[one]))
    missing = tuple(student for student in handed_in if student not in found)
    return PackedFeedback(target, found, missing, stale)


def _page(course: Course, assignment: str, student: str) -> Path:
    directory = course.directory
    folder = directory.format_path(directory.feedback_directory, student, assignment)
    return Path(folder, f"{assignment}.html")


def _graded_since(course: Course, assignment: str, student: str, page: Path) -> bool:
    record = record_path(course.results, assignment, student)
    return record.is_file() and record.stat().st_mtime_ns > page.stat().st_mtime_ns


def _names_in_archive(course: Course, assignment: str) -> dict[str, str]:
    """The names that a learning system put in front of files, if its archive was collected."""
    extracted = course.root / GRADING / "downloaded" / assignment / EXTRACTED
    with course.gradebook() as gradebook:
        roster = gradebook.students
        found = {}
        for file in sorted(extracted.rglob("*")):
            named = read_name(file.relative_to(extracted), roster) if file.is_file() else None
            if named and named.prefix and len(named.ids) == 1:
                found[named.ids[0]] = named.prefix
    return found
