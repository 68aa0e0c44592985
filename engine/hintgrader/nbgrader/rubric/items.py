"""The items of a problem set, in the table `instructor_rubric.csv` beside its source.

nbgrader's settings keep files of this name from students. The table is written by hand, in a
spreadsheet, or by the formgrader's page.
"""

import csv
import difflib
import io
import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

import nbformat
from nbgrader.api import Notebook, TaskCell
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade, is_solution, is_task

from hintgrader.nbgrader.course import CourseError
from hintgrader.nbgrader.roster.spreadsheet import column_name, read_rows
from hintgrader.records.records import replace_text

RUBRIC = "instructor_rubric.csv"
COLUMNS = ("cell", "item", "points", "sentence")
NAME = r"\w+(?:[-.]\w+)*"  # it stands in a comment of HTML, which two hyphens would end
MAX_NAME, MAX_SENTENCE = 60, 500  # characters
Cells = Mapping[str, float]  # the points that a person can give, by cell


@dataclass(frozen=True)
class Item:
    """An item of the rubric.

    Attributes:
        cell: nbgrader's name of the cell that a person grades.
        name: What the table calls the item, once for each cell.
        points: Added to the points of the cell, or taken off if below zero.
        sentence: What the student reads, in Markdown.
    """

    cell: str
    name: str
    points: float
    sentence: str


def table_of(directory: CourseDirectory, assignment: str) -> Path:
    """The path of the table of a problem set."""
    folder = directory.format_path(directory.source_directory, ".", assignment)
    return Path(directory.root, folder, RUBRIC)


def graded_by_hand(notebook: Notebook) -> dict[str, float]:
    """The cells that a person grades, with their points, as the gradebook knows them."""
    written = {cell.name for cell in notebook.solution_cells}
    cells = (*notebook.grade_cells, *notebook.task_cells)
    return {c.name: c.max_score for c in cells if isinstance(c, TaskCell) or c.name in written}


def graded_by_hand_in(source: Path) -> dict[str, float]:
    """The same, as the author of a problem set wrote them."""
    cells = nbformat.read(source, as_version=4).cells
    by_hand = [cell for cell in cells if is_task(cell) or (is_grade(cell) and is_solution(cell))]
    return {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points for cell in by_hand}


def read_items(path: Path, cells: Cells) -> list[Item]:
    """The items of a table in its order; none if there is no table.

    Args:
        path: The table.
        cells: The cells that a person grades.

    Raises:
        CourseError: Something is wrong with it; the message names the row, and what mends it.
    """
    if not path.is_file():
        return []
    rows = read_rows(path, COLUMNS[0])
    head = [column_name(name) for name in next(rows, (0, []))[1]]
    if sorted(filter(None, head)) != sorted(COLUMNS):
        raise CourseError(f"{path}: the first row must be {','.join(COLUMNS)}.")
    items: list[Item] = []
    for number, values in rows:
        row = dict(zip(head, values, strict=False))
        try:
            items = with_item(items, *(row.get(name, "") for name in COLUMNS), cells=cells)
        except ValueError as error:
            raise CourseError(f"{path}, row {number}: {error}.") from None
    return items


def with_item(
    items: list[Item], cell: str, name: str, points: str, sentence: str, *, cells: Cells
) -> list[Item]:
    """The items and one more, as a person wrote it.

    Raises:
        ValueError: It cannot be one; the message says why.
    """
    if cell not in cells:
        near = difflib.get_close_matches(cell, cells, n=1) or sorted(cells)
        meant = f"; there is {', '.join(near)}" if near else ""
        raise ValueError(f"{cell!r} is no cell that a person grades{meant}")
    if not re.fullmatch(NAME, name) or len(name) > MAX_NAME:
        raise ValueError(f"{name!r} is no name of an item: write letters, digits, single hyphens")
    if any((item.cell, item.name) == (cell, name) for item in items):
        raise ValueError(f"{cell} has an item {name!r} already")
    said = " ".join(sentence.split())
    if not said or len(said) > MAX_SENTENCE or "<!--" in said:
        raise ValueError(f"a sentence has 1 to {MAX_SENTENCE} characters, and no <!--")
    return [*items, Item(cell, name, _number(points, cells[cell]), said)]


def find_item(items: Iterable[Item], cell: str, name: str) -> Item:
    """The item of a cell.

    Raises:
        ValueError: There is none.
    """
    for item in items:
        if (item.cell, item.name) == (cell, name):
            return item
    raise ValueError(f"{cell} has no item {name!r} any more: load the page again")


def edited(
    items: list[Item], cell: str, name: str, points: str, sentence: str, *, cells: Cells
) -> tuple[list[Item], Item]:
    """The items with one of them changed, or, without a name, with a new one; and that one.

    Raises:
        ValueError: There is no such item, or it cannot be so; the message says why.
    """
    if not name:
        here = {item.name for item in items if item.cell == cell}
        found = with_item(items, cell, _new_name(here, sentence), points, sentence, cells=cells)
        return found, found[-1]
    old = find_item(items, cell, name)
    others = [item for item in items if item is not old]
    changed = with_item(others, cell, name, points, sentence, cells=cells)[-1]
    return [changed if item is old else item for item in items], changed


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write the table atomically."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*astuple(item)[:2], f"{item.points:g}", item.sentence) for item in items)
    replace_text(path, table.getvalue())


def _number(text: str, most: float) -> float:
    try:
        points = float(text.replace(",", ".").replace("−", "-"))
    except ValueError:
        points = math.nan
    if not math.isfinite(points) or float(f"{points:g}") != points:
        raise ValueError(f"points {text!r} is no number, such as 1, 0.5 or -1")
    if abs(points) > most:
        raise ValueError(f"{points:g} points are more than the cell gives, which is {most:g}")
    return points


def _new_name(taken: Container[str], sentence: str) -> str:
    """A name for an item, from its first words, that no other has."""
    words = "-".join(re.findall(r"[^\W_]+", sentence.lower())[:3])[: MAX_NAME - 4] or "item"
    names = (f"{words}-{number}" if number else words for number in (0, *range(2, 10**3)))
    return next(name for name in names if name not in taken)
