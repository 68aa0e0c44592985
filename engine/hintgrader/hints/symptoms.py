"""Symptoms: what the draws at which an answer is right have in common, and no other draw has."""

from collections.abc import Iterator, Mapping

from torch import Tensor

from hintgrader.checking.case import Case, draw_cases
from hintgrader.checking.findings import Findings, Sign
from hintgrader.exercise.definition import Exercise
from hintgrader.worker.plain import Input

ENOUGH = 2  # draws on either side
Feature = tuple[str, float]
Draws = list[tuple[Case, Mapping[str, float]]]
ONE_SIZE = (
    "in all that was tried your answer is right where {} is {}, and nowhere else: is a number"
    " written down that should be taken from the inputs?"
)
UP_TO = (
    "in all that was tried your answer is right as long as {} is at most {}, and wrong from {} on:"
    " is something as long as you have made it, whatever comes in?"
)


def symptom(exercise: Exercise, findings: Findings, secret: str | None) -> Sign | None:
    """The size by which right and wrong draws are told apart; None if there is none.

    A row has to hold draws of both kinds, which differ in little but their sizes.
    """
    right, wrong, mixed = Draws(), Draws(), False
    for check, found in zip(exercise.checks, findings, strict=True):
        if check.slow or any(one.late for one in found):
            continue
        cases = draw_cases(exercise, check, secret)
        failed = {one.draw for one in found}
        mixed |= 0 < len(failed) < len(cases)
        for draw, case in enumerate(cases):
            (wrong if draw in failed else right).append((case, _features(case)))
    if not mixed or min(len(right), len(wrong)) < ENOUGH:
        return None
    names = [n for n in right[0][1] if all(n in features for _, features in (*right, *wrong))]
    said = {name: one for name in names if (one := _told_apart(name, right, wrong))}
    if len({*said.values()}) != 1:  # of several sizes nobody knows which it is
        return None
    name, (words, *numbers) = next(iter(said.items()))
    kind = "right_for_one_size" if words == ONE_SIZE else "right_up_to_a_size"
    return Sign(kind, words.format(f"`{name}`", *(f"{number:g}" for number in numbers)))


def _told_apart(name: str, right: Draws, wrong: Draws) -> tuple[str, *tuple[float, ...]] | None:
    """The words for a size that only right draws have, and numbers, from public draws alone."""
    seen = [features[name] for case, features in right if not case.hidden]
    missed = [features[name] for case, features in wrong if not case.hidden]
    values = {features[name] for _, features in right}
    others = {features[name] for _, features in wrong}
    if not seen or values & others:
        return None
    if len(values) == 1 and len(others) > 1:
        return ONE_SIZE, seen[0]
    if missed and len(values) > 1 and max(values) < min(others):
        return UP_TO, max(seen), min(missed)
    return None


def _features(case: Case) -> dict[str, float]:
    shown = {n: v for n, v in case.inputs.items() if n not in case.check.withheld}
    return dict(one for name, value in shown.items() for one in _sizes(name, value))


def _sizes(name: str, value: Input) -> Iterator[Feature]:
    if isinstance(value, Tensor):
        for axis in range(-1, -min(value.ndim, 2) - 1, -1):
            yield f"{name}.shape[{axis}]", value.shape[axis]
    elif isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, list | tuple):
        yield f"len({name})", len(value)
