"""Problem sets as a student has them: their parts, and what the checks have shown of each."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hintgrader.progress.remembered import FILE, Checked, definition, fingerprint, recall

TITLE = re.compile(r"^# (.*)", re.MULTILINE)
HEADING = re.compile(r"^## Part (\w+)\. (.*) \(", re.MULTILINE)
CHECKED = re.compile(r'check\("([\w/]+)"')
MARK = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)


class Step(NamedTuple):
    """A cell that gives points.

    Attributes:
        part: The letter of its part.
        title: Of the part.
        exercise: What it checks; None if a person reads it.
        shown: The points of its last check; None if there was none.
        points: To be earned.
        edited: Whether the answer was changed after that check.
        answers: The code of the cells in which it is answered, by their names.
    """

    part: str
    title: str
    exercise: str | None
    shown: float | None
    points: float
    edited: bool
    answers: dict[str, str]

    @property
    def earned(self) -> float:
        """The points of the answer as it stands; those of another answer are none of it."""
        return 0.0 if self.edited else self.shown or 0.0

    @property
    def is_full(self) -> bool:
        return self.shown is not None and self.earned >= self.points

    def __str__(self) -> str:
        """Letter and points; a dash if the check has not run."""
        shown = "-" if self.shown is None else f"{self.shown:g}"
        edited = " edited since" if self.edited else ""
        return f"{self.part} {shown}/{self.points:g}{edited}"


class ProblemSet(NamedTuple):
    """A notebook with parts.

    Attributes:
        path: Of the notebook.
        title: Its headline.
        steps: Its cells that give points, in their order.
        saved: When, in seconds since the epoch.
        fault: What cannot be read; empty if all can.
    """

    path: Path
    title: str
    steps: list[Step]
    saved: float
    fault: str = ""

    @property
    def checked(self) -> list[Step]:
        """The parts with a check; what a person reads has no points before that."""
        return [step for step in self.steps if step.exercise]

    @property
    def earned(self) -> float:
        return sum(step.earned for step in self.checked)

    @property
    def points(self) -> float:
        return sum(step.points for step in self.checked)

    @property
    def is_begun(self) -> bool:
        return any(step.shown is not None for step in self.steps)


def sets_in(exercises: Path) -> list[ProblemSet]:
    """The problem sets of a folder, each in a folder of its own name; unreadable ones, too."""
    paths = sorted(exercises.glob("*/*.ipynb"))
    found = [read_set(path) for path in paths if path.stem == path.parent.name]
    return [one for one in found if one.fault or one.checked]


def sets_beside(folder: Path) -> list[ProblemSet]:
    """The problem sets in a folder, and those beside it; what else lies there is passed over."""
    here = [read_set(path) for path in sorted(folder.glob("*.ipynb"))]
    here = [one for one in here if one.checked]
    known = {one.path for one in here}
    there = [one for one in sets_in(folder.parent) if one.checked and one.path not in known]
    return sorted(here + there, key=lambda each: each.path.stem)


def read_set(path: Path) -> ProblemSet:
    """Read a notebook, and what was kept beside it of its checks."""
    kept, damaged = recall(path.parent)
    fault = f"{FILE} beside it cannot be read; the tables in the notebook count" if damaged else ""
    try:
        saved = path.stat().st_mtime
        cells = list(_cells(path))
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        said = f"{error}" if isinstance(error, OSError | ValueError) else "it has no cells"
        return ProblemSet(path, path.stem, [], 0.0, f"it cannot be read as a notebook: {said}")
    markdown = (source for kind, source, _, _ in cells if kind == "markdown")
    title = next((found[1] for source in markdown if (found := TITLE.search(source))), path.stem)
    return ProblemSet(path, title, list(_steps(cells, kept, saved)), saved, fault)


Cell = tuple[str, str, dict[str, object], float | None]


def _cells(path: Path) -> Iterator[Cell]:
    """Yield of each cell the kind, the source, nbgrader's words on it, and the points that it shows."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        about = cell["metadata"].get("nbgrader") or {}
        texts = [
            "".join(output.get("data", {}).get("text/plain", ""))
            for output in cell.get("outputs", [])
        ]
        shown = [float(text) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text)]
        yield cell["cell_type"], "".join(cell["source"]), about, shown[-1] if shown else None


def _steps(cells: list[Cell], kept: dict[str, Checked], saved: float) -> Iterator[Step]:
    part, title = "", ""
    answers: dict[str, str] = {}
    for place, (kind, source, about, shown) in enumerate(cells):
        if kind == "markdown" and (found := HEADING.search(source)):
            (part, title), answers = found.groups(), {}
        if about.get("grade"):
            checked = CHECKED.search(source)
            exercise = checked[1] if checked else None
            last = kept.get(exercise or "")
            edited = last is not None and saved > last.time and _differs(last, cells, place)
            if last is not None:
                shown = last.points
            points = about["points"]
            if not isinstance(points, int | float):
                raise TypeError("points are no number")
            yield Step(part, title, exercise, shown, points, edited, answers)
            answers = {}
        elif about.get("solution") and kind == "code":
            answers[str(about["grade_id"])] = MARK.sub("", source)


def _differs(last: Checked, cells: list[Cell], place: int) -> bool:
    """True if the notebook, saved after a check, defines another answer than was checked."""
    code = [source if kind == "code" else "" for kind, source, _, _ in cells]
    stands = definition(code[:place], last.function) or definition(code, last.function) or ""
    return last.answer not in ("", fingerprint(stands))
