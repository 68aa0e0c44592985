"""Say how far somebody has come in the problem sets, and what is next.

    python tools/progress.py                        every set: its parts, points, what is next
    python tools/progress.py 01_retrieval/softmax   an answer with all points, beside the author's

All that is known lies in `exercises/`: in the notebooks, and in what their checks have kept beside
them. Nothing leaves the folder; a page with the same is written into it, `progress.html`. Of a part
with all its points the author's solution is shown, and of no other; where `solutions/` is not given
out, of none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "engine"))  # it runs without an environment, too

from hintgrader.progress.sets import EDITED, read_set, sets_in  # noqa: E402
from hintgrader.progress.told import Progress, write_page  # noqa: E402


def summary(root: Path) -> Iterator[str]:
    """A line for each problem set, what is next, and where more is to be seen."""
    exercises = root / "exercises"
    sets = sets_in(exercises)
    yield from Progress(exercises, sets).lines()
    full = [step.exercise for one in sets for step in one.checked if step.is_full]
    if full and (root / "solutions").is_dir():
        yield f"The author's solution beside yours: make progress PART={full[-1]}"
    try:
        yield f"As a page: {write_page(exercises)}"
    except (OSError, ValueError) as error:
        yield f"There is no page: {error}"


def beside(exercise: str, root: Path) -> Iterator[str]:
    """One's own answer and the author's, if one's own has all points.

    Raises:
        ValueError: There is no such part, it lacks points, or there are no solutions here.
    """
    name = exercise.partition("/")[0]
    mine, theirs = (root / folder / name / f"{name}.ipynb" for folder in ("exercises", "solutions"))
    if not mine.is_file():
        raise ValueError(f"There is no problem set {name}. A part is called 01_retrieval/softmax.")
    read = read_set(mine)
    if not read.steps:
        raise ValueError(f"{mine}: {read.fault}")
    steps = {step.exercise: step for step in read.checked}
    if (own := steps.get(exercise)) is None:
        choice = ", ".join(map(str, steps))
        raise ValueError(f"There is no part {exercise}. Choose one of: {choice}.")
    if own.differs == EDITED:
        again = "Run the answer, then its check, and save."
        raise ValueError(f"{exercise} was edited since its check. {again}")
    if own.differs:
        raise ValueError(f"The answer to {exercise} that was checked is not saved. Save it first.")
    if own.shown is None:
        raise ValueError(f"{exercise} has not been checked. Get its points first, and save.")
    if not own.is_full:
        points = f"{own.shown:g}/{own.points:g}"
        raise ValueError(f"{exercise} shows {points} points. Get all of them first, and save.")
    if not theirs.is_file():
        raise ValueError("The solutions are not in this copy of the course.")
    author = next(step for step in read_set(theirs).checked if step.exercise == exercise)
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
        lines = (
            beside(options.exercise, options.root) if options.exercise else summary(options.root)
        )
        print("\n".join(lines))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
