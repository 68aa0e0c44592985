"""The notebook that stands for one that cannot be read: the reason, and each part without points.

It lies in the autograded folder, so that nbgrader makes a page of it to give back.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Grade, Gradebook
from nbgrader.preprocessors import AssignLatePenalties, ClearOutput, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked

from attn_course.grading.autograde.course import Course
from attn_course.grading.autograde.gradebook import find_grades
from attn_course.grading.autograde.last_words import LastWords
from attn_course.grading.autograde.nbgrader_steps import OneSubmission, last_words, start
from attn_course.grading.restored import PutBackCells, RestoreMetadata

HEADING = re.compile(r"^##? .+", re.MULTILINE)
# What was found may quote the student: as a line of code, indented, it is a text and nothing else.
REASON = """# Nothing could be graded

    {reason}

Your notebook can be graded if it is one file called `{name}` and Jupyter opens it. If you may still
hand in, do so again; if not, ask whoever teaches the course."""


def enter_nothing(course: Course, assignment: str, student: str, reason: str) -> list[str]:
    """Enter no points for a submission that cannot be read, with a notebook that says why.

    Args:
        course: The course.
        assignment: Name of the problem set.
        student: Name of the student's folder.
        reason: What was found instead of a notebook.

    Returns:
        What a person should know of the files in the folder.

    Raises:
        DBAPIError, InvalidEntry, GradingError: As `convert` does.
    """
    nothing = EnterNothing(reason, last_words(course, assignment, student))
    steps = [RestoreMetadata, ClearOutput, PutBackCells, nothing, AssignLatePenalties]
    settings = {"stand_in": stand_in(course, assignment, reason), "sanitize_preprocessors": steps}
    return start(_Unread, course, assignment, student, **settings)


def stand_in(course: Course, assignment: str, reason: str) -> NotebookNode:
    """A notebook that says why nothing was graded, and then names each graded part.

    Args:
        course: The course.
        assignment: Name of the problem set.
        reason: What was found instead of its notebook; it may quote what the student wrote.
    """
    heading, in_one_line = None, " ".join(reason.splitlines())
    cells = [new_markdown_cell(REASON.format(reason=in_one_line, name=f"{assignment}.ipynb"))]
    source = nbformat.read(course.source(assignment), as_version=4)
    for cell in source.cells:
        if is_grade(cell):
            cells += [new_markdown_cell(heading)] if heading else []
            cells.append(cell)
            heading = None
            if not is_locked(cell):
                cell.source = ""  # the solution
        elif cell.cell_type == "markdown" and (found := HEADING.search(cell.source)):
            heading = found[0]
    return new_notebook(cells=cells, metadata=source.metadata)


class EnterNothing(NbGraderPreprocessor):
    """Enters no points, and marks the cells as those of a notebook that was not read.

    Args:
        reason: What was found instead of a notebook.
        before: What was written the last time.
    """

    def __init__(self, reason: str, before: LastWords) -> None:
        super().__init__()
        self._reason, self._before = reason, before

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Change the gradebook, then the notebook."""
        where = resources["nbgrader"]
        self._before.compare([self._reason])
        with Gradebook(where["db_url"]) as gradebook:
            submission = gradebook.find_submission(where["assignment"], where["student"])
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    self._before.save(grade, 0)
                for comment in notebook.comments:
                    comment.auto_comment = None
            gradebook.db.commit()
        self._before.keep()
        for cell in filter(is_grade, nb.cells):
            cell.metadata.nbgrader["unread"] = True
        return nb, resources


class _Unread(OneSubmission):
    """Puts another notebook, which is not run, in the place of the one that cannot be read."""

    stand_in: NotebookNode

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        where = assignment_id, student_id
        with self._grades(*where) as grades:
            waiting = {grade.id for grade in grades if grade.needs_manual_grade}
        super().init_assignment(*where)
        with self._grades(*where) as grades:  # without a file, nbgrader has called off all looks
            for grade in grades:
                grade.needs_manual_grade = grade.id in waiting

    @contextmanager
    def _grades(self, assignment_id: str, student_id: str) -> Iterator[list[Grade]]:
        """The grades in the gradebook, if there are any yet; what is changed in them is saved."""
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            yield find_grades(gradebook, assignment_id, student_id) or []
            gradebook.db.commit()

    def convert_single_notebook(self, notebook_filename: str) -> None:
        self._init_preprocessors()
        resources = self.init_single_notebook_resources(notebook_filename)
        self.write_single_notebook(*self.exporter.from_notebook_node(self.stand_in, resources))
