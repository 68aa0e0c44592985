"""Verdicts: what each check of an exercise says of each mistake of its bank, kept in a file.

A file belongs to one version of an exercise, which is that of its module and of what the module
imports from the bank. The engine is no part of it, or every change of the engine would make all
files stale: a file whose mistakes or checks are others than the exercise's is stale as well, and
that what it says still holds is for the tests of a course to see.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hintgrader.bank.secret import DEFAULT_SECRET
from hintgrader.checking.case import Case, draw_cases
from hintgrader.checking.judge import examine_one
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.worker.submission import LocalSubmission

# Hidden inputs are drawn from these: a mistake may fail with one seed, and pass with another.
SEEDS = (DEFAULT_SECRET, *(f"seed {number}" for number in range(1, 8)))
# Caught on inputs that students see; on hidden ones of every seed; of some; nowhere; not asked.
CAUGHT, HIDDEN, SOME, PASSED, UNTRIED = "✘", "(✘)", "(?)", "·", "–"
NOT_TRIED = "{0} has not been tried as it is now; run: hintgrader try {0}"
# For each check what it says.
Cells = tuple[str, ...]
# By the name of a mistake, what the checks say.
Verdicts = Mapping[str, Cells]


def examine_bank(exercise: Exercise) -> Verdicts:
    """The verdicts of an exercise's checks on each of its mistakes."""
    return {mistake.name: _examine(exercise, mistake) for mistake in exercise.mistakes}


def _examine(exercise: Exercise, mistake: Mistake) -> Cells:
    """Try a mistake on each check as a grader does: a slow one only if the others have passed."""
    cells: list[str] = []
    for check in exercise.checks:
        untried = check.slow and not {*cells} <= {PASSED, SOME}
        cells.append(UNTRIED if untried else _ask(exercise, check, mistake))
    return tuple(cells)


def _ask(exercise: Exercise, check: Check, mistake: Mistake) -> str:
    """Try a mistake on a check; a slow check draws hidden inputs from one seed alone."""
    submission = LocalSubmission(mistake.answer)

    def fails(cases: Iterable[Case]) -> bool:
        return any(examine_one(case, submission) for case in cases)

    if fails(draw_cases(exercise, check, None)):
        return CAUGHT
    drawn = (draw_cases(exercise, check, s) for s in SEEDS[: 1 if check.slow else None])
    failed = [fails(case for case in cases if case.hidden) for cases in drawn]
    return HIDDEN if all(failed) else SOME if any(failed) else PASSED


def points_of(exercise: Exercise, cells: Cells) -> tuple[float, float]:
    """The least and the most that an answer earns of which the checks say this."""
    pairs = [(check.points, cell) for check, cell in zip(exercise.checks, cells, strict=True)]
    least = sum(points for points, cell in pairs if cell == PASSED)
    return float(least), float(sum(points for points, cell in pairs if cell in (PASSED, SOME)))


def catching(cells: Cells) -> list[int]:
    """The places of the checks that catch a mistake, whatever the seed."""
    return [place for place, cell in enumerate(cells) if cell in (CAUGHT, HIDDEN)]


def deciding(exercise: Exercise, cells: Cells) -> list[int]:
    """The places of those checks, without one that only repeats what another of them says."""
    places = catching(cells)
    return [place for place in places if not exercise.checks[place].repeats] or places


def faults_of_points(exercise: Exercise, verdicts: Verdicts) -> Iterator[str]:
    """Mistakes that earn what they do not declare."""
    for mistake in exercise.mistakes:
        least, most = points_of(exercise, verdicts[mistake.name])
        if mistake.points is not None and not least <= mistake.points <= most:
            earned = f"{least:g}" if least == most else f"{least:g} to {most:g}"
            yield f"{mistake.name} earns {earned}, and declares points={mistake.points:g}"


def write_verdicts(exercise: Exercise, verdicts: Verdicts, path: Path) -> None:
    """Keep the verdicts on a version of an exercise, a line for each mistake."""
    mistakes = {name: " ".join(cells) for name, cells in verdicts.items()}
    content = {"exercise": exercise.name, "version": exercise.version, "mistakes": mistakes}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")


def read_verdicts(exercise: Exercise, path: Path) -> Verdicts | None:
    """The verdicts on an exercise as it is now; None if there are none, or of an earlier one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = {name: tuple(cells.split()) for name, cells in content["mistakes"].items()}
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    names = [mistake.name for mistake in exercise.mistakes]
    is_current = content.get("version") == exercise.version and [*found] == names
    fits = all(len(cells) == len(exercise.checks) for cells in found.values())
    return found if is_current and fits else None
