"""Recognising a mistake: which of the known wrong answers computes what the student's does.

A hint has to be true of the answer. What agrees at every check, on all inputs, is knowledge. What
agrees only at the first check that failed is said as that, and only if nothing speaks against it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from torch import Tensor

from attn_grade.equality import same, share_of_numbers
from attn_grade.exercise import Exercise
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import Finding, Findings, examine
from attn_grade.mistakes import Mistake

Made = Sequence[tuple[Mistake, Findings]]


class Recognised(NamedTuple):
    """A known mistake that agrees with what was found.

    Args:
        mistake: The mistake.
        row: The index of the one check at which it is known to agree; None if at all.
    """

    mistake: Mistake
    row: int | None = None


def recognise(exercise: Exercise, findings: Findings, secret: str | None) -> Recognised | None:
    """The known mistake that agrees with the findings, or None.

    A mistake that declares its evidence agrees if that is what was found first. Any other is made,
    to be compared.
    """
    if not any(findings):
        return None
    if declared := by_evidence(exercise, findings):
        return declared
    made = [(m, _findings(exercise, m, secret)) for m in exercise.mistakes if m.evidence is None]
    return choose(findings, made)


def by_evidence(exercise: Exercise, findings: Findings) -> Recognised | None:
    """The mistake that declares as its evidence what was found first, or None."""
    first = _first(findings)
    for mistake in exercise.mistakes if first is not None else ():
        if mistake.evidence is not None and same(mistake.evidence, findings[first][0].evidence):
            return Recognised(mistake)
    return None


def choose(findings: Findings, made: Made) -> Recognised | None:
    """The mistake that agrees with the findings, out of those whose own findings are known.

    It fails the same checks. If it gives the same evidence at all of them, it is what was done. If
    only at the first, then that evidence has to hold numbers, and at no other check may its numbers
    differ: there one of the two gives an error or `nan`. Nor may another mistake agree as well.
    """
    first = _first(findings)
    if first is None:
        return None
    fitting = [(m, theirs) for m, theirs in made if [*map(bool, theirs)] == [*map(bool, findings)]]
    for mistake, theirs in fitting:
        if all(map(_alike, findings, theirs)):
            return Recognised(mistake)
    if not all(share_of_numbers(one.evidence) for one in findings[first]):
        return None
    near = [
        mistake
        for mistake, theirs in fitting
        if _alike(findings[first], theirs[first]) and not any(map(_differ, findings, theirs))
    ]
    return Recognised(near[0], first) if len({mistake.hint for mistake in near}) == 1 else None


def _first(findings: Findings) -> int | None:
    return next((index for index, found in enumerate(findings) if found), None)


@lru_cache(maxsize=512)  # both rounds of all mistakes of a problem set, for one secret
def _findings(exercise: Exercise, mistake: Mistake, secret: str | None) -> Findings:
    return examine(exercise, LocalSubmission(mistake.answer), secret)


def _alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        isinstance(one.evidence, Tensor) == isinstance(other.evidence, Tensor)
        and same(one.evidence, other.evidence)
        for one, other in zip(mine, theirs, strict=True)
    )


def _differ(mine: list[Finding], theirs: list[Finding]) -> bool:
    """True if both are numbers, and others."""
    all_numbers = all(share_of_numbers(one.evidence) == 1 for one in (*mine, *theirs))
    return all_numbers and not _alike(mine, theirs)
