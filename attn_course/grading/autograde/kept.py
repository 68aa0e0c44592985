"""What a person has read stays read when it is graded again, if nothing in it has changed.

nbgrader asks for a second look at all that a person has graded, whenever it grades again. After a
change of the checks that would be the words of the whole class.
"""

from pathlib import Path

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades


class SaveMarks(SaveAutoGrades):
    """Saves what a submission earns; what is to be read once more is marked so.

    Args:
        before: The notebook as it was graded the last time.
    """

    def __init__(self, before: Path) -> None:
        super().__init__()
        self._before, self._is_same = _read(before), False

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Look whether the student has changed anything, then save."""
        self._is_same = _written_in(nb) == self._before
        return super().preprocess(nb, resources)

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader["grade_id"], *where)
        was_read = grade.manual_score is not None and not grade.needs_manual_grade
        earned = grade.auto_score
        super()._add_score(cell, resources)
        if was_read and self._is_same and grade.auto_score == earned:
            grade.needs_manual_grade = False
            self.gradebook.db.commit()


def _read(path: Path) -> list[str] | None:
    try:
        return _written_in(nbformat.read(path, as_version=4))
    except Exception:  # none, or one that cannot be read
        return None


def _written_in(notebook: NotebookNode) -> list[str]:
    """All cells that a student may change."""
    cells = notebook.cells
    return [cell.source for cell in cells if not cell.metadata.get("nbgrader", {}).get("locked")]
