"""Faults of the words of a problem set: what students would read and should not, or could not."""

import re
from collections.abc import Iterator

import nbformat
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

from hintgrader.authoring.parts import HEADING
from hintgrader.nbgrader.cells import gives_points, to_run
from hintgrader.nbgrader.pages.clean import rendered

EMPTY_FOLD = re.compile(r"<summary>([^<]*)</summary>\s*</details>")
FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
FOLDED_ANSWER = re.compile(r"<details><summary>(?!Hint \d)")
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TELLING = 15  # a line with fewer characters gives nothing away


def faults_of_words(notebook: NotebookNode, exercise: str | None = None) -> Iterator[str]:
    """All that an author should mend in the words of a problem set, or of one exercise's part."""
    cells = notebook.cells if exercise is None else part_of(notebook, exercise)
    for cell in (cell for cell in cells if cell.cell_type == "markdown"):
        for text in EMPTY_FOLD.findall(cell.source):
            yield f"nothing stands under {text!r}"
        if _is_unanswered(cell.source):
            yield f"a question on paper has no answer in a fold: {_beginning(cell)!r}"
        if "$" in cell.source and not _is_typeset(cell.source):
            yield f"a formula cannot be typeset in a report: {_beginning(cell)!r}"
    try:
        shown = released(notebook)
    except RuntimeError as error:  # the marks of a solution do not pair
        yield f"its solutions cannot be cut out: {error}"
        return
    for line in given_away(lines_of_solutions(notebook.cells), shown):
        if any(line in cell.source for cell in cells):
            yield f"students would read a line of a solution: {line!r}"


def part_of(notebook: NotebookNode, exercise: str) -> list[NotebookNode]:
    """The cells of the part that checks an exercise, or all where no heading parts them."""
    part: list[NotebookNode] = []
    found = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and HEADING.search(cell.source):
            if found:
                break
            part = []
        part.append(cell)
        found |= gives_points(cell) and to_run(cell).exercise == exercise
    return part


def released(notebook: NotebookNode) -> NotebookNode:
    """The problem set as students get it."""
    copy = nbformat.from_dict(notebook)
    for step in (ClearSolutions(), ClearHiddenTests()):
        copy, _ = step.preprocess(copy, {})
    return copy


def given_away(lines: list[str], shown: NotebookNode) -> Iterator[str]:
    """The lines of solutions that a problem set shows outside the programs that it gives."""
    given = lines_of_programs(shown)
    for line in lines:
        if line not in given and any(line in cell.source for cell in shown.cells):
            yield line


def lines_of_programs(notebook: NotebookNode) -> set[str]:
    """Lines of the programs in which a task asks for slips; hints, which are folded, hold none."""
    asked = (c for c in notebook.cells if c.cell_type == "markdown" and "slip" in c.source)
    blocks = PROGRAM.findall("\n".join(FOLD.sub("", cell.source) for cell in asked))
    return {line.strip() for block in blocks for line in block.splitlines()}


def lines_of_solutions(cells: list[NotebookNode]) -> list[str]:
    """Lines between the marks of a solution, but for those too short to give anything away."""
    lines, inside = [], False
    for line in (line for cell in cells for line in cell.source.splitlines()):
        if "### BEGIN SOLUTION" in line or "### END SOLUTION" in line:
            inside = "BEGIN" in line
        elif inside and len(line.strip()) > TELLING:
            lines.append(line.strip())
    return lines


def _is_unanswered(source: str) -> bool:
    """True where a question is to be answered on paper, and its part folds no answer."""
    _, asks, rest = source.partition("**On paper first.**")
    question = rest.partition("<details>")[0].partition("**Write**")[0]
    return bool(asks) and "?" in question and not FOLDED_ANSWER.search(rest)


def _is_typeset(source: str) -> bool:
    """True where every formula becomes MathML."""
    page = BeautifulSoup(rendered(source), "html.parser")
    left = any("\\" in code.text for code in page.find_all("code"))
    return bool(page.math) and "$" not in page.text and not left


def _beginning(cell: NotebookNode) -> str:
    return cell.source[:60]
