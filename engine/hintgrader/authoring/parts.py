"""The parts of a problem set: the table at its top and the headings, as the exercises give them.

Title and minutes are fields of an exercise; its checks' points add up to its own. A part without an
exercise, which a person reads, keeps the words and minutes of its heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase

import nbformat
from nbformat import NotebookNode

from hintgrader.bank.bank import Bank
from hintgrader.exercise.definition import Exercise
from hintgrader.nbgrader.cells import gives_points, graded_cells, is_dropped, to_run
from hintgrader.nbgrader.course import Course

HEAD = "| Part | What you do | Points | Minutes |\n|---|---|---|---|\n"
TABLE = re.compile(r"^\| Part \|.*\n\|[-:| ]+\|(?:\n|\Z)(?:\|.*(?:\n|$))*", re.MULTILINE)
HEADING = re.compile(r"^## Part \w+\. (.*) \([\d.]+ points?, (\d+) minutes?\)$", re.MULTILINE)


@dataclass
class Part:
    """A part, from its heading to the next.

    Attributes:
        words: Of its heading.
        read_minutes: What its heading says it takes.
        exercises: Those that its cells check.
        points: To be earned in it, by checks and from a person.
    """

    words: str
    read_minutes: int
    exercises: list[Exercise] = field(default_factory=list)
    points: float = 0

    @property
    def title(self) -> str:
        own = self.words[:1].lower() + self.words[1:]
        return self.exercises[0].title if self.exercises else own

    @property
    def minutes(self) -> int:
        return sum(one.minutes for one in self.exercises) if self.exercises else self.read_minutes


def parts_in(notebook: NotebookNode, bank: Bank) -> list[Part]:
    """The parts of a problem set, in their order.

    Raises:
        ValueError: A cell checks an exercise that there is not.
    """
    parts: list[Part] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts += [Part(words, int(minutes)) for words, minutes in HEADING.findall(cell.source)]
        about = cell.metadata.get("nbgrader", {})
        if not parts or not (about.get("grade") or about.get("task")):
            continue
        if cell.cell_type == "code" and gives_points(cell) and (name := to_run(cell).exercise):
            exercise = bank.find(name)
            parts[-1].exercises.append(exercise)
            parts[-1].points += 0 if is_dropped(cell) else exercise.points
        else:
            parts[-1].points += about.get("points", 0)
    return parts


def with_table(notebook: NotebookNode, bank: Bank) -> NotebookNode:
    """The problem set with its table and its headings as the exercises give them.

    One without a table stays as it is, and so does what else is written in it.

    Raises:
        ValueError: A cell checks an exercise that there is not.
    """
    notebook = nbformat.from_dict(notebook)
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    if not any(TABLE.search(cell.source) for cell in texts):
        return notebook
    parts = list(zip(ascii_uppercase, parts_in(notebook, bank), strict=False))
    rows = [f"| {letter} | {p.title} | {p.points:g} | {p.minutes} |" for letter, p in parts]
    headings = (
        f"## Part {letter}. {part.words} ({part.points:g} point{'' if part.points == 1 else 's'},"
        f" {part.minutes} minutes)"
        for letter, part in parts
    )
    for cell in texts:
        table = HEAD + "".join(f"{row}\n" for row in rows)
        ends = cell.source.endswith("\n")
        cell.source = TABLE.sub(table.replace("\\", r"\\"), cell.source)
        cell.source = cell.source if ends else cell.source.rstrip("\n")
        cell.source = HEADING.sub(lambda _: next(headings), cell.source)
    return notebook


def with_points(notebook: NotebookNode, bank: Bank) -> NotebookNode:
    """The problem set in which a cell that checks an exercise gives the points of its checks.

    Raises:
        ValueError: A cell checks an exercise that there is not.
    """
    notebook = nbformat.from_dict(notebook)
    for cell in graded_cells(notebook):
        if (name := to_run(cell).exercise) and not is_dropped(cell):
            points = bank.find(name).points
            if cell.metadata.nbgrader.points != points:  # 2 stays 2, and no 2.0
                whole = points == int(points)
                cell.metadata.nbgrader.points = int(points) if whole else points
    return notebook


def write_tables(course: Course) -> Iterator[Path]:
    """Bring points and tables of all problem sets in step; the paths of those that were not."""
    for path in sources_of(course):
        notebook = nbformat.read(path, as_version=4)
        changed = with_table(with_points(notebook, course.bank), course.bank)
        if changed != notebook:
            write_notebook(changed, path)
            yield path


def sources_of(course: Course) -> list[Path]:
    """The problem sets as their author writes them."""
    folder = course.source("*").parent.parent
    found = (course.source(place.name) for place in sorted(folder.glob("[!.]*")))
    return [path for path in found if path.is_file()]


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook as a file that ends with a line."""
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
