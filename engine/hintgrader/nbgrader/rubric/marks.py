"""Points and comments of the gradebook that follow from the items that an answer has."""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from nbgrader.api import Comment, Grade, SubmittedNotebook

from hintgrader.nbgrader.rubric.comments import applied, with_lines
from hintgrader.nbgrader.rubric.items import Item


@dataclass(frozen=True)
class Changed:
    """The outcome of a change of items.

    Attributes:
        students: Those whose comment or points are others now.
        kept: Those of them whose points a person typed, which stay.
    """

    students: tuple[str, ...]
    kept: tuple[str, ...]


def give(notebook: SubmittedNotebook, items: Iterable[Item], item: Item, has: bool) -> None:
    """Give an answer an item, or take it away; points that were typed give way to the items'.

    Args:
        notebook: The submission in an open gradebook.
        items: All items of the problem set.
        item: The one in question.
        has: True if the answer has it from now on.

    Raises:
        ValueError: The submission was graded before there was such a cell.
    """
    if not (entry := _entries(notebook).get(item.cell)):
        raise ValueError(f"The submission has no cell {item.cell}: grade it again")
    grade, comment = entry
    names = {*applied(comment.manual_comment), item.name} - ({item.name} if not has else set())
    chosen = [one for one in items if one.cell == item.cell and one.name in names]
    comment.manual_comment = with_lines(comment.manual_comment, chosen)
    grade.manual_score = _sum((one.points for one in chosen), grade.max_score)
    grade.needs_manual_grade = grade.manual_score is None and grade.auto_score is None


def follow(notebooks: Iterable[SubmittedNotebook], items: Collection[Item]) -> Changed:
    """Let points and comments of a class follow items that have changed.

    An item that is gone is taken from everybody. Points that a person typed in place of an item's
    stay. A cell that has no item left waits to be read.
    """
    students, kept = [], []
    for notebook in notebooks:
        for cell, (grade, comment) in _entries(notebook).items():
            if not (before := applied(comment.manual_comment)):
                continue
            chosen = [item for item in items if item.cell == cell and item.name in before]
            said = with_lines(comment.manual_comment, chosen)
            if said == comment.manual_comment:
                continue
            comment.manual_comment = said
            students.append(notebook.student.id)
            if not _are_same(grade.manual_score, _sum(before.values(), grade.max_score)):
                kept.append(notebook.student.id)
                continue
            grade.manual_score = _sum((item.points for item in chosen), grade.max_score)
            if grade.manual_score is None and grade.auto_score is None:
                grade.needs_manual_grade = True
    return Changed(*(tuple(sorted(set(names))) for names in (students, kept)))


def count_items(notebooks: Iterable[SubmittedNotebook]) -> Counter[tuple[str, str]]:
    """The number of answers that have an item, by cell and item."""
    return Counter(
        (cell, name)
        for notebook in notebooks
        for cell, (_, comment) in _entries(notebook).items()
        for name in applied(comment.manual_comment)
    )


def _entries(notebook: SubmittedNotebook) -> dict[str, tuple[Grade, Comment]]:
    """Points and comment of the cells that have both."""
    comments = {comment.name: comment for comment in notebook.comments}
    return {g.name: (g, comments[g.name]) for g in notebook.grades if g.name in comments}


def _sum(points: Iterable[float], most: float) -> float | None:
    """The points of some items within what the cell gives; None of no items."""
    found = list(points)
    return min(max(math.fsum(found), 0.0), most) if found else None


def _are_same(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and math.isclose(one, other, abs_tol=1e-6)
