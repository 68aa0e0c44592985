"""Saves what a submission earns; reviewed cells stay reviewed if it is graded again unchanged.

nbgrader asks for a second look at all that a person has graded, whenever it grades again. After a
change of the checks that would be the words of the whole class.
"""

import hashlib
import json
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Grade
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import determine_grade

from hintgrader.records.records import replace_text


class ReviewState:
    """The text a student had written when points were last saved, as a digest in a file.

    It lies apart from the notebook, which a grading that stops in the middle has removed.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._digest, self._are_same = path, "", False

    def compare(self, written: list[object]) -> None:
        """Look whether the student has written something else since."""
        self._digest = hashlib.sha256(json.dumps(written).encode()).hexdigest()
        found = self._path.read_bytes() if self._path.is_file() else None  # it may be no text
        self._are_same = found == self._digest.encode()

    def keep(self) -> None:
        """Save the digest for the next comparison, once all points are saved."""
        replace_text(self._path, self._digest)

    def save(self, grade: Grade, points: float | None) -> None:
        """Put points into a grade, and whether a person has to look at it, again or at all."""
        was_read = grade.manual_score is not None and not grade.needs_manual_grade
        stays = was_read and self._are_same and grade.auto_score == points
        is_open = grade.manual_score is not None or points is None
        grade.auto_score, grade.needs_manual_grade = points, is_open and not stays


class SaveMarks(SaveAutoGrades):
    """Saves what a submission earns; answers to read once more are marked so.

    Args:
        before: What was written the last time.
    """

    def __init__(self, before: ReviewState) -> None:
        super().__init__()
        self._before = before

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Look whether the student has changed anything, then save."""
        self._before.compare(_written_in(nb))
        saved = super().preprocess(nb, resources)
        self._before.keep()
        return saved

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader["grade_id"], *where)
        points, _ = determine_grade(cell, self.log)
        self._before.save(grade, points)
        self.gradebook.db.commit()  # all at once: what was read is never marked in between


def _written_in(notebook: NotebookNode) -> list[object]:
    """The cells that a student may change, with the pictures in them."""
    free = [cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("locked")]
    return [[cell.source, cell.get("attachments")] for cell in free]
