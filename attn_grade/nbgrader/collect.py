"""Matches files in the archives of learning systems to students.

    nbgrader zip_collect 01_retrieval \\
        --collector=attn_grade.nbgrader.collect.RosterCollector

They name files after the person in ways of their own; the roster says which student that is.
"""

from collections.abc import Iterator
from pathlib import Path, PurePath

from nbgrader.api import Gradebook, Student
from nbgrader.plugins import FileNameCollectorPlugin

from attn_grade.nbgrader.archive_names import read_name, read_name_by


class RosterCollector(FileNameCollectorPlugin):
    """Knows the archives of Moodle, Canvas and Blackboard, and students by the gradebook.

    For others set `named_regexp`, with one of the groups `student_id`, `full_name` and
    `lms_user_id`. Every notebook that somebody handed in is taken for that of the problem set,
    whatever it is called now.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return nbgrader's description of a file; None if it is no notebook or its student is
        unknown."""
        if Path(submitted_file).suffix not in self.valid_ext:
            return None
        path = self._within_archives(submitted_file)
        if self.named_regexp:
            named = read_name_by(self.named_regexp, path, self._students())
        else:
            named = read_name(path, self._students())
        if named is None:
            self.log.warning("%r: unknown form of name", submitted_file)
            return None
        if len(named.ids) != 1:
            fit = f"{len(named.ids)} students of the roster fit"
            whom = f": {', '.join(named.ids)}" if named.ids else ""
            self.log.warning("%r: %s %r%s", submitted_file, fit, named.part, whom)
            return None
        collected = {"student_id": named.ids[0], "file_id": self.parent.coursedir.assignment_id}
        return collected | ({"timestamp": named.time} if named.time else {})

    def _within_archives(self, submitted_file: str) -> PurePath:
        """The path of a file in the folder into which archives are extracted."""
        app = self.parent
        extracted = app._format_collect_path(app.extracted_directory)  # nbgrader tells nobody else
        return PurePath(submitted_file).relative_to(extracted)

    def _students(self) -> Iterator[Student]:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            yield from gradebook.students
