"""Say how far somebody has come in the problem sets, and what is next.

    python tools/progress.py                        every set: its parts, points, what is next
    python tools/progress.py 01_retrieval/softmax   an answer with all points, beside the author's

All that is known stands in the notebooks in `exercises/`: what each check showed when the notebook
was saved. Nothing else is kept, and nothing leaves the folder. Of a part with all its points the
author's solution is shown, and of no other; where `solutions/` is not given out, of none.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## Part (\w+)\. (.*) \(", re.MULTILINE)
CHECKED = re.compile(r'check\("([\w/]+)"')
MARK = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)


class Step(NamedTuple):
    """A cell that gives points.

    Attributes:
        part: The letter of its part.
        title: Of the part.
        exercise: What it checks; None if a person reads it.
        earned: What it showed; None if it has shown nothing yet.
        points: To be earned.
        answers: The code of the cells in which it is answered, by their names.
    """

    part: str
    title: str
    exercise: str | None
    earned: float | None
    points: float
    answers: dict[str, str]

    @property
    def is_full(self) -> bool:
        return self.earned is not None and self.earned >= self.points


def steps_of(path: Path) -> Iterator[Step]:
    """The cells of a problem set that give points, in their order.

    Raises:
        ValueError: The file is no notebook.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a notebook: {error}") from error
    part, title = "", ""
    answers: dict[str, str] = {}
    for cell in cells:
        source, about = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "markdown" and (found := HEADING.search(source)):
            (part, title), answers = found.groups(), {}
        if about.get("grade"):
            checked = CHECKED.search(source)
            exercise = checked[1] if checked else None
            yield Step(part, title, exercise, shown_by(cell), about["points"], answers)
            answers = {}
        elif about.get("solution") and cell["cell_type"] == "code":
            answers[about["grade_id"]] = MARK.sub("", source)


def shown_by(cell: dict[str, Any]) -> float | None:
    """The points that a check has shown last; None if it has shown none."""
    for output in reversed(cell.get("outputs", [])):
        text = "".join(output.get("data", {}).get("text/plain", ""))
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return float(text)
    return None


def summary(exercises: Path) -> Iterator[str]:
    """A line for each problem set, and at last what is next."""
    unfinished = []
    for path in sorted(exercises.glob("[0-9]*/[0-9]*.ipynb")):
        steps = [step for step in steps_of(path) if step.exercise]
        said = [f"{step.part} {points(step)}" for step in steps]
        earned = sum(step.earned or 0 for step in steps)
        yield f"{path.stem:22} {', '.join(said)}: {earned:g} of {sum(s.points for s in steps):g}"
        behind = [step for step in steps if not step.is_full]
        if behind:
            begun = any(step.earned is not None for step in steps)
            unfinished.append((begun * path.stat().st_mtime, path.stem, behind[0]))
    if unfinished:
        # the set that was saved last, of those begun; the first of all if none is
        _, name, step = max(unfinished, key=lambda each: each[0])
        yield f"Next: {name}, part {step.part}. {step.title}"
    else:
        yield "Nothing is left but the parts in words, which a person reads."


def points(step: Step) -> str:
    """The points of a step; a dash if its check has not run."""
    return f"{'-' if step.earned is None else f'{step.earned:g}'}/{step.points:g}"


def beside(exercise: str, root: Path) -> Iterator[str]:
    """One's own answer and the author's, if one's own has all points.

    Raises:
        ValueError: There is no such part, it lacks points, or there are no solutions here.
    """
    name = exercise.partition("/")[0]
    mine, theirs = (root / folder / name / f"{name}.ipynb" for folder in ("exercises", "solutions"))
    if not mine.is_file():
        raise ValueError(f"There is no problem set {name}. A part is called 01_retrieval/softmax.")
    steps = {step.exercise: step for step in steps_of(mine) if step.exercise}
    if (own := steps.get(exercise)) is None:
        raise ValueError(f"There is no part {exercise}. Choose one of: {', '.join(steps)}.")
    if not own.is_full:
        raise ValueError(f"{exercise} shows {points(own)} points. Get all of them first, and save.")
    if not theirs.is_file():
        raise ValueError("The solutions are not in this copy of the course.")
    author = next(step for step in steps_of(theirs) if step.exercise == exercise)
    for cell, source in author.answers.items():
        yield f"# --- yours ---\n{own.answers.get(cell, '').strip()}\n"
        yield f"# --- the author's ---\n{source.strip()}\n"


def main(arguments: list[str]) -> int:
    """Print it; return 0, or 1 after a message."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "exercise", nargs="?", help="a part with all points, such as 01_retrieval/softmax"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        if options.exercise:
            print("\n".join(beside(options.exercise, options.root)))
        else:
            print("\n".join(summary(options.root / "exercises")))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
