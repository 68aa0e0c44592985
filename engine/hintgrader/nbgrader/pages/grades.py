"""Summaries of the parts of a submission: points, and the outcome in a few words."""

import re
from dataclasses import dataclass

from bs4 import BeautifulSoup
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import is_grade, is_task

NO_RESPONSE = "No response."  # what nbgrader comments on a cell that is as it was given out


@dataclass(frozen=True)
class PartSummary:
    """A line of the summary; `waiting` says that a person has still to read it."""

    grade_id: str
    title: str
    score: float
    of: float
    waiting: bool
    outcome: str


class GetGradesByPart(GetGrades):
    """Puts points and comments into the notebook as nbgrader does, and a summary beside it.

    The summary is a list of `PartSummary` in `resources["nbgrader"]["parts"]`; `unreadable` beside
    it is True if nothing could be read, and no person has given points either.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Read the gradebook, then sum up."""
        nb, resources = super().preprocess(nb, resources)
        parts = resources["nbgrader"]["parts"] = parts_of(nb)
        given = [cell.metadata.nbgrader for cell in nb.cells if is_grade(cell)]
        marked = any(each.get("unreadable") for each in given)
        resources["nbgrader"]["unreadable"] = marked and not any(part.score for part in parts)
        return nb, resources

    def _get_comment(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_comment(cell, resources)
        if cell.metadata.nbgrader["comment"] == NO_RESPONSE:
            cell.metadata.nbgrader["comment"] = "You left this as it was given out."

    def _get_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_score(cell, resources)
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader["grade_id"], *where)
        cell.metadata.nbgrader["waiting"] = bool(grade.needs_manual_grade)


def parts_of(notebook: NotebookNode) -> list[PartSummary]:
    """The graded cells in their order, each under the heading above it."""
    title, parts = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := _heading(cell.source)):
            title = heading
        if is_grade(cell) or is_task(cell):
            given = cell.metadata.nbgrader
            waiting = given.get("waiting", False)
            of, name = float(given["points"]), given["grade_id"]
            outcome = _say(cell, waiting)
            parts.append(
                PartSummary(name, title or name, float(given["score"]), of, waiting, outcome)
            )
    return parts


def _heading(source: str) -> str | None:
    """The words of the first heading, without what the part is worth."""
    found = re.search(r"^##? +(.+?)(?: *\([^()]*point[^()]*\))?$", source, re.MULTILINE)
    return found and found[1]


def _say(cell: NotebookNode, waiting: bool) -> str:
    """The outcome of a part, from the table of its check if it has one."""
    if waiting:
        return "Still to be read by a person."
    if cell.metadata.nbgrader.get("unreadable") and not cell.metadata.nbgrader["score"]:
        return "Nothing could be graded."
    for output in cell.get("outputs", []):
        if outcome := _summarise(output.get("data", {}).get("text/html", "")):
            return outcome
    if cell.cell_type == "markdown":
        return "Read by a person: see below."
    full = cell.metadata.nbgrader["score"] == cell.metadata.nbgrader["points"]
    return "Everything is right." if full else "See below."


def _summarise(table: str) -> str | None:
    """The checks that were met, and the hint, of a score's table."""
    page = BeautifulSoup(table, "html.parser")
    happened = [row.find_all("td")[-1].get_text() for row in page.select("tbody tr:has(td)")]
    if not happened:
        return None
    if all("not written yet" in words for words in happened):
        return "Not written yet."
    right = sum(words.startswith("✔") for words in happened)
    if right == len(happened):
        return "Everything is right."
    wrong = next(words for words in happened if not words.startswith("✔")).removeprefix("✘ ")
    hints = (p.get_text() for p in page.find_all("p") if "What to look at" in p.text)
    return f"{right} of {len(happened)} checks met. {next(hints, f'First miss: {wrong}')}"
