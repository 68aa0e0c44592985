"""The lines of a comment that name the items an answer has; the other lines are a person's own.

The comment is all that is kept of them: it goes where the gradebook goes, into backups, into
feedback, and away with the student. A line ends with the item's name in a comment of HTML, which
no page shows.
"""

import re
from collections.abc import Iterable

from hintgrader.nbgrader.rubric.items import NAME, Item

LINE = re.compile(rf"- \[([+-]?[\d.]+(?:e-\d+)?)\] .*<!-- ({NAME}) -->\s*")


def applied(comment: str | None) -> dict[str, float]:
    """The items that a comment names, with the points that each gave when it was written."""
    found = map(LINE.fullmatch, (comment or "").split("\n"))
    return {line[2]: float(line[1]) for line in found if line}


def with_lines(comment: str | None, items: Iterable[Item]) -> str | None:
    """A comment with lines for these items and no others; None if nothing is left of it."""
    written = [line for line in (comment or "").split("\n") if not LINE.fullmatch(line)]
    own = "\n".join(written).strip("\n")
    lines = "\n".join(map(line_of, items))
    return "\n\n".join(filter(None, (own, lines))) or None


def line_of(item: Item) -> str:
    """The line of an item, as a student reads it and the page finds it again."""
    points = f"{item.points:+g}" if item.points else "0"
    return f"- [{points}] {item.sentence} <!-- {item.name} -->"
