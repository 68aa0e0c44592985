"""The notebook that stands for one that cannot be read: the reason, and each part without points.

It lies in the autograded folder, so that nbgrader makes a page of it to give back.
"""

import re

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked

from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.save_marks import ReviewState

HEADING = re.compile(r"^##? .+", re.MULTILINE)
# What was found may quote the student: as a line of code, indented, it is a text and nothing else.
REASON = """# Nothing could be graded

    {reason}

That is not a zero: no points are given yet. {cure}"""
CURE = """\
Your work can be graded if it is one notebook called `{name}` that Jupyter opens. If you can still
hand in, do so again; otherwise ask your instructor."""
STOPPED = """\
That may be no fault of yours. Your instructor is told of it, and can grade your work again, or by
hand: please ask."""


def placeholder_notebook(
    course: Course, assignment: str, reason: str, stopped: bool = False
) -> NotebookNode:
    """A notebook that says why nothing was graded, and then names each graded part.

    Args:
        course: The course.
        assignment: Name of the problem set.
        reason: What was found instead of its notebook; it may quote what the student wrote.
        stopped: Whether grading has stopped at it: then another file may be no cure.
    """
    heading, in_one_line = None, " ".join(reason.splitlines())
    cure = STOPPED if stopped else CURE.format(name=f"{assignment}.ipynb")
    cells = [new_markdown_cell(REASON.format(reason=in_one_line, cure=cure))]
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
    """Enters no points, and marks the cells as not read.

    Args:
        reason: What was found instead of a notebook.
        before: What was written the last time.
    """

    def __init__(self, reason: str, before: ReviewState) -> None:
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
            cell.metadata.nbgrader["unreadable"] = True
        return nb, resources
