"""Matches files in the archives of learning systems to students.

    nbgrader zip_collect 01_retrieval \\
        --collector=hintgrader.nbgrader.archives.collector.RosterCollector

They name files after the person in ways of their own; the roster says which student that is.
"""

from collections import defaultdict
from functools import cached_property
from pathlib import Path, PurePath

from nbgrader.api import Gradebook, Student
from nbgrader.plugins import FileNameCollectorPlugin

from hintgrader.nbgrader.archives.names import Named, read_name, read_name_by

MAX_NAMED = 5  # of a student's notebooks


class RosterCollector(FileNameCollectorPlugin):
    """Knows the archives of Moodle, Canvas and Blackboard, and students by the gradebook.

    For others set `named_regexp`, with one of the groups `student_id`, `full_name` and
    `lms_user_id`. Of each student one file is collected: the newest notebook, whatever it is called
    now; or, of somebody without one, any file, so that it is graded as unreadable.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return nbgrader's description of a file; None if it is not the one to collect."""
        path = self._within_archives(submitted_file)
        is_notebook = path.suffix in self.valid_ext
        named = self._read(path)
        if named is None or len(named.ids) != 1:
            if is_notebook:
                self.log.warning("%r: %s", submitted_file, _why_nobodys(named))
            return None
        (student,) = named.ids
        others = self._files.get(student, [])
        notebooks = [other for other in others if other.suffix in self.valid_ext]
        if not is_notebook and (notebooks or path not in others[:1]):
            return None
        if is_notebook and self._chosen(student) not in ([], [path]):
            self._warn_of_others(student, notebooks)
            return None
        collected = {"student_id": student, "file_id": self.parent.coursedir.assignment_id}
        return collected | ({"timestamp": named.time} if named.time else {})

    def _chosen(self, student: str) -> list[PurePath]:
        """The notebook to collect of a student; several if none of them is the one."""
        if student not in self._choices:
            notebooks = [one for one in self._files[student] if one.suffix in self.valid_ext]
            times = {one: self._time(one) for one in notebooks}
            newest = [one for one in notebooks if times[one] == max(times.values())]
            name = f"{self.parent.coursedir.assignment_id}.ipynb"
            self._choices[student] = [one for one in newest if one.name == name] or newest
        return self._choices[student]

    def _warn_of_others(self, student: str, notebooks: list[PurePath]) -> None:
        """Say once what becomes of a student's notebooks, however many there are."""
        if student in self._warned:
            return
        self._warned.add(student)
        chosen = self._chosen(student)
        others = [one for one in notebooks if [one] != chosen]
        listed = ", ".join(repr(str(one)) for one in others[:MAX_NAMED])
        listed += ", ..." if len(others) > MAX_NAMED else ""
        said = f"{len(others)} notebooks; put the right one in its place by hand"
        if len(chosen) == 1:
            said = f"collected is {str(chosen[0])!r}, and not {len(others)} more"
        self.log.warning("%s: %s: %s", student, said, listed)

    @cached_property
    def _choices(self) -> dict[str, list[PurePath]]:
        return {}

    @cached_property
    def _warned(self) -> set[str]:
        return set()

    def _time(self, path: PurePath) -> str:
        """The time when a file was handed in, as text that sorts; empty if the system is silent."""
        named = self._read(path)
        return (named and named.time) or ""

    def _read(self, path: PurePath) -> Named | None:
        if self.named_regexp:
            return read_name_by(self.named_regexp, path, self._students())
        return read_name(path, self._students())

    @cached_property
    def _files(self) -> dict[str, list[PurePath]]:
        """The files that were unpacked, by the student whose they are."""
        found: dict[str, list[PurePath]] = defaultdict(list)
        for file in sorted(self._extracted.rglob("*")):
            path = file.relative_to(self._extracted)
            if file.is_file() and (named := self._read(path)) and len(named.ids) == 1:
                found[named.ids[0]].append(path)
        return found

    @property
    def _extracted(self) -> Path:
        """The folder into which archives are unpacked."""
        app = self.parent
        return Path(app._format_collect_path(app.extracted_directory))  # nbgrader tells nobody else

    def _within_archives(self, submitted_file: str) -> PurePath:
        return PurePath(submitted_file).relative_to(self._extracted)

    def _students(self) -> list[Student]:
        return self._roster

    @cached_property
    def _roster(self) -> list[Student]:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return gradebook.students


def _why_nobodys(named: Named | None) -> str:
    if named is None:
        return "unknown form of name"
    whom = f": {', '.join(named.ids)}" if named.ids else ""
    return f"{len(named.ids)} students of the roster fit {named.part!r}{whom}"
