"""The points of a class, in the tables that learning systems read.

    nbgrader export --to moodle.csv \\
        --exporter=hintgrader.nbgrader.exports.learning_systems.MoodleExporter

Late penalties are subtracted. Students without a submission get an empty cell, and so do those
whose work cannot be read, or has no marks so far: a word among numbers stops the import. It is in a
column of its own, where the system takes one.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, Student
from nbgrader.plugins import ExportPlugin
from traitlets import Dict, Unicode

from hintgrader.nbgrader.exports.checked import check_before_export, chosen, end_export
from hintgrader.nbgrader.printable import cell_of_csv

Points = dict[tuple[str, str], str]


class TableExporter(ExportPlugin):
    """A table with a line for each student and a column for each problem set.

    Attributes:
        columns: Headings of the first columns, which identify a student.
        words: Heading of a column of words on a problem set; None if the system takes no words.
        ends: The last cell of the first line and of each student's, if there is one.
        headings: The heading of a problem set's column; its name by default.
    """

    columns: tuple[str, ...]
    words: str | None = None
    ends: tuple[str, ...] = ()
    default_file = "grades.csv"
    headings = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="For each problem set, by its name, what the learning system calls its column.",
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the table into the file `to`, or into one named after the learning system."""
        words = check_before_export(self, gradebook)
        assignments = [a for a in gradebook.assignments if chosen(a.name, self.assignment)]
        students = [s for s in gradebook.students if chosen(s.id, self.student)]
        assignments.sort(key=lambda assignment: assignment.name)
        students.sort(key=lambda student: student.id)
        points = self._points(assignments) | dict.fromkeys(words, "")
        noted = [a for a in assignments if self.words and a.name in {name for _, name in words}]
        headings = [*self.columns, *map(self.heading, assignments)]
        headings += [f"{a.name} {self.words}" for a in noted]
        table = [[*headings, *self.ends[:1]], *self.below_head(assignments)]
        for student in students:
            earned = [points.get((student.id, a.name), "") for a in assignments]
            said = [words.get((student.id, a.name), "") for a in noted]
            named = map(cell_of_csv, self.person(student))
            table.append([*named, *earned, *said, *self.ends[1:]])
        target = Path(self.to or self.default_file)
        with target.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table)
        self.log.info("%s: %d students, %d columns", target, len(students), len(assignments))
        end_export(self, words)

    def _points(self, assignments: Iterable[Assignment]) -> Points:
        points = {}
        for assignment in assignments:
            for submission in assignment.submissions:
                left = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
                points[submission.student_id, assignment.name] = f"{left:g}"
            if waiting := sum(s.needs_manual_grade for s in assignment.submissions):
                message = "%s: submissions with parts that nobody has read: %d; points may rise"
                self.log.warning(message, assignment.name, waiting)
        return points

    def heading(self, assignment: Assignment) -> str:
        """The heading of a problem set's column."""
        return self.headings.get(assignment.name, assignment.name)

    def below_head(self, assignments: list[Assignment]) -> list[list[str]]:
        """Lines between the first and the students'."""
        return []

    def person(self, student: Student) -> tuple[str, ...]:
        """The cells below `columns`."""
        raise NotImplementedError


class MoodleExporter(TableExporter):
    """Exporter for *Grades*, *Import*, *CSV file* in Moodle, where each column is mapped by
    hand."""

    default_file = "moodle.csv"
    columns = ("Username", "Email address")
    words = "feedback"  # to be mapped to the feedback of the grade item

    def person(self, student: Student) -> tuple[str, ...]:
        """Two cells, of which you map one to a user."""
        return student.id, student.email or ""


class CanvasExporter(TableExporter):
    """Exporter for *Grades*, *Import* in Canvas; headings such as `Retrieval (4711)` name
    assignments.

    The ID is Canvas's own number of a person, `lms_user_id` in the gradebook; without it the login
    decides.
    """

    default_file = "canvas.csv"
    columns = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")

    def person(self, student: Student) -> tuple[str, ...]:
        """Name, number and login; the section may be empty, but its column must be there."""
        name = ", ".join(filter(None, (student.last_name, student.first_name)))
        return name or student.id, student.lms_user_id or "", "", student.id, ""

    def below_head(self, assignments: list[Assignment]) -> list[list[str]]:
        """The points that there are to earn, from which Canvas makes a new assignment."""
        blank = [""] * (len(self.columns) - 1)
        return [["    Points Possible", *blank, *(f"{a.max_score:g}" for a in assignments)]]


class BrightspaceExporter(TableExporter):
    """Exporter for *Enter Grades*, *Import* in Brightspace; a heading is the name of a grade
    item."""

    default_file = "brightspace.csv"
    columns = ("Username",)
    words = "note Text Grade"  # an item of text, which does not count
    ends = ("End-of-Line Indicator", "#")

    def heading(self, assignment: Assignment) -> str:
        """The name of the grade item, and that numbers follow."""
        return f"{super().heading(assignment)} Points Grade"

    def person(self, student: Student) -> tuple[str, ...]:
        """The user name."""
        return (student.id,)


class BlackboardExporter(TableExporter):
    """Exporter for *Upload* in Blackboard; a heading that ends in `|4711` fills the column 4711."""

    default_file = "blackboard.csv"
    columns = ("Username",)
    words = "note"  # becomes a column of text, which does not count

    def person(self, student: Student) -> tuple[str, ...]:
        """The user name."""
        return (student.id,)
