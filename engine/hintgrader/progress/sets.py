"""Problem sets as a student has them: their parts, and what the checks have shown of each."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hintgrader.progress.remembered import (
    FILE,
    Checked,
    definition,
    fingerprint,
    notebook_of_kernel,
    recall,
    run_so_far,
)

TITLE = re.compile(r"^# (.*)", re.MULTILINE)
HEADING = re.compile(r"^## Part (\w+)\. (.*) \(", re.MULTILINE)
CHECKED = re.compile(r'check\("([\w/]+)"')
UNANSWERED = "YOUR ANSWER HERE"
EDITED = "edited since"
NOT_SAVED = "not saved"
MARK = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)


class Step(NamedTuple):
    """A cell that gives points.

    Attributes:
        part: The letter of its part.
        title: Of the part.
        exercise: What it checks; None if a person reads it.
        shown: The points of its last check; None if there was none.
        points: To be earned.
        differs: Empty if the notebook holds the answer that was checked; else `EDITED`, or
            `NOT_SAVED` if the notebook is older than the check.
        answers: The cells in which it is answered, by their names.
        function: The name of what is checked, if the part has several checks; empty if not.
    """

    part: str
    title: str
    exercise: str | None
    shown: float | None
    points: float
    differs: str
    answers: dict[str, str]
    function: str = ""

    @property
    def earned(self) -> float:
        """The points of the answer as it stands; those of another answer are none of it."""
        return 0.0 if self.differs else self.shown or 0.0

    @property
    def is_full(self) -> bool:
        return self.shown is not None and self.earned >= self.points

    @property
    def name(self) -> str:
        """The letter and the title, and what is checked, if that is not the whole part."""
        return f"{self.part}. {self.title}{f': {self.function}' if self.function else ''}"

    @property
    def is_unwritten(self) -> bool:
        """True of a part in words without any."""
        return not self.exercise and all(
            text.strip() in ("", UNANSWERED) for text in self.answers.values()
        )

    def __str__(self) -> str:
        """Letter and points; a dash if the check has not run."""
        shown = "-" if self.shown is None else f"{self.shown:g}"
        points = f"{shown}/{self.points:g}"
        return " ".join(filter(None, (self.part, self.function, points, self.differs)))


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
    checks = {name: _Checks(path, name, several, saved) for name, several in kept.items()}
    steps = list(_steps(cells, checks))
    several = Counter(step.part for step in steps if step.exercise)
    steps = [
        step._replace(function=step.exercise.partition("/")[2])
        if step.exercise and several[step.part] > 1
        else step
        for step in steps
    ]
    return ProblemSet(path, title, steps, saved, fault)


Cell = tuple[str, str, dict[str, object], float | None]


def _cells(path: Path) -> Iterator[Cell]:
    """Yield each cell's kind, source, nbgrader's words on it, and the points that it shows."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        about = cell["metadata"].get("nbgrader") or {}
        texts = [
            "".join(output.get("data", {}).get("text/plain", ""))
            for output in cell.get("outputs", [])
        ]
        shown = [float(text) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text)]
        yield cell["cell_type"], "".join(cell["source"]), about, shown[-1] if shown else None


def _steps(cells: list[Cell], checks: dict[str, "_Checks"]) -> Iterator[Step]:
    part, title = "", ""
    answers: dict[str, str] = {}
    for place, (kind, source, about, shown) in enumerate(cells):
        if kind == "markdown" and (found := HEADING.search(source)):
            (part, title), answers = found.groups(), {}
        if about.get("grade"):
            checked = CHECKED.search(source)
            exercise = checked[1] if checked else None
            differs = ""
            if exercise in checks:
                shown, differs = checks[exercise].of(cells, place, shown)
            points = about["points"]
            if not isinstance(points, int | float):
                raise TypeError("points are no number")
            if kind == "markdown":
                answers = {str(about.get("grade_id")): source}
            yield Step(part, title, exercise, shown, points, differs, answers)
            answers = {}
        elif about.get("solution") and kind == "code":
            answers[str(about["grade_id"])] = MARK.sub("", source)


class _Checks:
    """The checks of an exercise that a folder keeps, as they concern one of its notebooks.

    Args:
        path: Of the notebook.
        exercise: The name of the exercise.
        kept: Its checks, the last one last, of all notebooks in the folder.
        saved: When the notebook was saved.
    """

    def __init__(self, path: Path, exercise: str, kept: Sequence[Checked], saved: float) -> None:
        self._saved, self._function = saved, kept[-1].function
        self._mine = [one for one in kept if one.notebook == path.name]
        others = {one.name for one in path.parent.glob("*.ipynb")} - {path.name}
        self._others = [one for one in kept if one.notebook in others]
        self._nobodys = [one for one in kept if one.notebook not in {path.name, *others}]
        self._run = _run_in(path, exercise)

    def of(self, cells: list[Cell], place: int, shown: float | None) -> tuple[float | None, str]:
        """The points to show for the check in a cell, and how the answer in the file differs.

        Only an answer that stands in the file counts, or one that this kernel has run and that was
        checked for the first time after the file was saved: nobody can know whether it is saved.
        What another notebook has shown counts for this one if the answers are the same. A check of
        which it is not known where it was made says of another answer nothing.

        Args:
            cells: Of the notebook.
            place: The number of the cell.
            shown: What the table below it shows; it counts where nothing is kept.
        """
        code = [source if kind == "code" else "" for kind, source, _, _ in cells]
        name = self._function
        cell = definition(code[:place], name) or definition(code, name)
        stands = fingerprint(cell) if cell else ""  # such as a function from a file
        last = self._mine[-1] if self._mine else None
        if last and last.time > self._saved and self._was_run(last):
            return last.points, ""
        for one in reversed(self._mine):
            if one.answer == stands:
                return one.points, ""
        if last:
            return last.points, EDITED if self._saved > last.time else NOT_SAVED
        same = [one for one in (*self._others, *self._nobodys) if one.answer == stands]
        if same:
            return same[-1].points, ""
        return (None if self._nobodys else shown), ""

    def _was_run(self, checked: Checked) -> bool:
        cell = definition(self._run, checked.function)
        return cell is not None and fingerprint(cell) == checked.answer


def _run_in(path: Path, exercise: str) -> list[str]:
    """The cells that this kernel has run, if it is the kernel of a notebook; else none."""
    sources = run_so_far()
    with suppress(OSError):
        folder = Path.cwd()
        is_mine = path.parent.resolve() == folder.resolve()
        if sources and is_mine and notebook_of_kernel(folder, exercise) == path.name:
            return sources
    return []
