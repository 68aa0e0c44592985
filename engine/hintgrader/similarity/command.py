"""The page of similarity of a problem set."""

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.utils import is_solution

from hintgrader.nbgrader.cells import code_cells
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.private import check_private
from hintgrader.pipeline.load import read_notebook
from hintgrader.pipeline.locate import notebook_in
from hintgrader.records.records import replace_text
from hintgrader.report.environment import page_environment
from hintgrader.similarity.compare import FEW, LEAST, RUN, SHARE, Comparison, Tokens, compare
from hintgrader.similarity.normal_form import normal_form

TEMPLATES = Path(__file__).parent / "templates"
SOLUTION = "the public solution"
Answers = dict[str, dict[str, str]]  # the cells, by part and student


@dataclass(frozen=True)
class PartSimilarity:
    """A part on the page.

    Attributes:
        name: What nbgrader calls the cell of its answer.
        found: How its answers compare.
        sources: The answers as they were handed in, by name.
        unparsed: Whose answer is no Python.
    """

    name: str
    found: Comparison
    sources: dict[str, str]
    unparsed: tuple[str, ...]


def write_similarity(folder: Path, assignment: str, path: Path | None = None) -> Path:
    """Write the page; return where it is. Nothing of what was handed in is run.

    Args:
        folder: Of the course.
        assignment: Name of the problem set.
        path: Where to; None for the usual place.

    Raises:
        CourseError: There is no such course or problem set, or nobody has handed in.
    """
    course = Course(folder.resolve())
    check_private(course)
    students = course.select_students(assignment, ())
    answers, unreadable = _answers(course, assignment, students)
    parts = [_part(name, sources) for name, sources in answers.items()]
    page = (
        page_environment(TEMPLATES)
        .get_template("similarity.html.j2")
        .render(
            assignment=assignment,
            parts=parts,
            unreadable=unreadable,
            solution=SOLUTION,
            run=RUN,
            least=LEAST,
            few=FEW,
            share=SHARE,
            few_answers=5 * FEW,
        )
    )
    written = path or course.results / f"{assignment}-similarity.html"
    replace_text(written, page)
    return written


def _answers(course: Course, assignment: str, students: list[str]) -> tuple[Answers, list[str]]:
    """The cells of answers, and who handed in nothing that can be read."""
    author = nbformat.read(course.source(assignment), as_version=4)
    cells = {c.metadata.nbgrader.grade_id: c.source for c in code_cells(author) if is_solution(c)}
    answers: Answers = {name: {SOLUTION: source} for name, source in cells.items()}
    unreadable = []
    for student in students:
        notebook = notebook_in(course.submitted(assignment, student), assignment)
        try:
            found = read_notebook(notebook, course.settings.bank).notebook
        except ValueError:
            unreadable.append(student)
            continue
        for cell in code_cells(found):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in answers:
                answers[name][student] = cell.source
    return answers, unreadable


def _part(name: str, sources: dict[str, str]) -> PartSimilarity:
    forms = {who: normal_form(source) for who, source in sources.items()}
    read: dict[str, Tokens] = {who: form for who, form in forms.items() if form is not None}
    unparsed = tuple(who for who, form in forms.items() if form is None)
    return PartSimilarity(name, compare(read), sources, unparsed)
