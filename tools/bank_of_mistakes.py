"""The verdict of each check of an exercise on each mistake of its bank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor

from cells import BuildError

from attn_bank import exercise_names, find_exercise
from attn_grade.check import DEFAULT_SECRET
from attn_grade.exercise import Check, Exercise
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import examine_one
from attn_grade.mistakes import Mistake
from attn_grade.trial import Trial, draw_trials

# Hidden inputs are drawn from these: a mistake may fail with one seed, and pass with another.
SEEDS = (DEFAULT_SECRET, *(f"seed {number}" for number in range(1, 8)))
# Caught on inputs that students see; on hidden ones of every seed; of some; nowhere; not asked.
CAUGHT, HIDDEN, SOME, PASSED, UNTRIED = "✘", "(✘)", "(?)", "·", "–"
# For each check what it says.
Cells = tuple[str, ...]
# For each exercise, by the name of a mistake, what its checks say.
Banks = Mapping[str, Mapping[str, Cells]]


def examine_all() -> Banks:
    """Examine every mistake of every exercise.

    Raises:
        BuildError: A mistake earns something that its bank does not say.
    """
    names = exercise_names()
    with ProcessPoolExecutor() as pool:
        found = dict(zip(names, pool.map(examine_bank, names), strict=True))
    for name, bank in found.items():
        exercise = find_exercise(name)
        for mistake in exercise.mistakes:
            least, most = points_of(exercise, bank[mistake.name])
            if mistake.points is not None and not least <= mistake.points <= most:
                said = f"earns {least:g} to {most:g}, declares {mistake.points:g}"
                raise BuildError(f"{name}: {mistake.name} {said}")
    return found


def examine_bank(name: str) -> Mapping[str, Cells]:
    """Return the verdicts of an exercise's checks on each of its mistakes, by their names."""
    exercise = find_exercise(name)
    return {mistake.name: examine(name, exercise, mistake) for mistake in exercise.mistakes}


def examine(name: str, exercise: Exercise, mistake: Mistake) -> Cells:
    """Try a mistake on each check as a grader does: a slow one only if the others have passed."""
    cells: list[str] = []
    for check in exercise.checks:
        untried = check.slow and not {*cells} <= {PASSED, SOME}
        cells.append(UNTRIED if untried else ask(name, exercise, check, mistake))
    return tuple(cells)


def ask(name: str, exercise: Exercise, check: Check, mistake: Mistake) -> str:
    """Try a mistake on a check; a slow check draws hidden inputs from one seed alone."""
    submission = LocalSubmission(mistake.answer)

    def fails(trials: Iterable[Trial]) -> bool:
        return any(examine_one(trial, submission) for trial in trials)

    if fails(draw_trials(exercise, check, None)):
        return CAUGHT
    drawn = (draw_trials(exercise, check, s) for s in SEEDS[: 1 if check.slow else None])
    failed = [fails(trial for trial in trials if trial.hidden) for trials in drawn]
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
