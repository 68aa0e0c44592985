"""Recognising a mistake: which of the known wrong answers computes what the student's does.

A hint has to be true of the answer. What agrees at every check, on all inputs, is knowledge. What
agrees only at the first check that failed is said as that, and only if nothing speaks against it.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from torch import Tensor

from attn_grade.equality import same, share_of_numbers
from attn_grade.exercise import Exercise
from attn_grade.findings import Finding, Findings
from attn_grade.inside.plain import Plain
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import examine
from attn_grade.mistakes import Mistake

Made = Sequence[tuple[Mistake, Findings]]


class Recognised(NamedTuple):
    """A known mistake that agrees with what was found.

    Args:
        mistake: The mistake.
        row: The index of the one check at which it is known to agree; None if at all.
        others: The indices of checks that another fault has spoiled.
        dtype: Whether the dtype of the output is wrong besides.
    """

    mistake: Mistake
    row: int | None = None
    others: tuple[int, ...] = ()
    dtype: bool = False


def recognise(exercise: Exercise, findings: Findings, secret: str | None) -> Recognised | None:
    """The known mistake that agrees with the findings, or None.

    A mistake that declares its evidence agrees if that is what was found first. Any other is made,
    to be compared.
    """
    if not any(findings):
        return None
    if declared := by_evidence(exercise, findings):
        return declared
    made = [
        (mistake, _findings(exercise, answer, secret))
        for mistake in exercise.mistakes
        if mistake.evidence is None
        for answer in (mistake.answer, *mistake.also)
    ]
    repeats = {row for row, check in enumerate(exercise.checks) if check.repeats}
    return choose(findings, made, repeats)


def by_evidence(exercise: Exercise, findings: Findings) -> Recognised | None:
    """The mistake that declares as its evidence what was found first, or None."""
    if (first := _first(findings)) is None:
        return None
    for mistake in exercise.mistakes:
        if mistake.evidence is not None and same(mistake.evidence, findings[first][0].evidence):
            return Recognised(mistake)
    return None


def choose(findings: Findings, made: Made, repeats: Set[int] = frozenset()) -> Recognised | None:
    """The mistake that agrees with the findings, out of those whose own findings are known.

    It fails the same checks. If it gives the same evidence at all of them, it is what was done; so
    it is if it alone does where there are numbers, and elsewhere raises the same exceptions with
    other words. If only at the first, then that evidence has to hold numbers, and at no other check
    may its numbers differ: there one of the two gives an error or `nan`. Nor may another mistake
    agree as well.

    A fault of another kind may hide it: where it is the dtype, numbers are compared without that;
    checks at which there is an error, or a gradient that is cut off, are left out.

    Args:
        findings: Of the answer.
        made: The mistakes with their findings.
        repeats: The indices of checks that draw what another one draws.
    """
    first = _first(findings)
    if first is None:
        return None
    fitting = [(m, theirs) for m, theirs in made if [*map(bool, theirs)] == [*map(bool, findings)]]
    for mistake, theirs in fitting:
        if all(map(_alike, findings, theirs)):
            return Recognised(mistake)
    if any(map(_tells, (one for found in findings for one in found))):
        near = [m for m, theirs in fitting if all(map(_alike_but_for_words, findings, theirs))]
        if len({mistake.hint for mistake in near}) == 1:
            return Recognised(near[0])
    if both := _beside_another_fault(findings, made, repeats):
        return both
    if not all(share_of_numbers(one.evidence) for one in findings[first]):
        return None
    rows = [row for row in range(len(findings)) if row not in repeats]
    near = [
        mistake
        for mistake, theirs in made
        if _alike(findings[first], theirs[first])
        and all(bool(findings[row]) == bool(theirs[row]) for row in rows)
        and not any(_differ(findings[row], theirs[row]) for row in rows)
    ]
    return Recognised(near[0], first) if len({mistake.hint for mistake in near}) == 1 else None


def _beside_another_fault(findings: Findings, made: Made, repeats: Set[int]) -> Recognised | None:
    """The one mistake that agrees in numbers wherever another fault does not hide it, or None."""
    hidden = tuple(row for row, found in enumerate(findings) if any(map(_is_word, found)))
    bare = [[one for f in found if (one := _without_dtype(f))] for found in findings]
    shown = [row for row, found in enumerate(bare) if row not in hidden]
    dtype = any(map(_has_other_dtype, (one for row in shown for one in findings[row])))
    telling = [row for row in shown if bare[row] and all(map(_tells, bare[row]))]
    others = tuple(row for row in hidden if row not in repeats)
    if not (hidden or dtype) or _first(findings) in hidden or len(telling) <= len(others):
        return None  # nothing is spoiled, or too much for what is left to be more than chance
    fitting = [
        mistake
        for mistake, theirs in made
        if all(_alike(bare[row], [*map(_bare, theirs[row])]) for row in shown)
    ]
    if len({mistake.hint for mistake in fitting}) != 1:
        return None
    return Recognised(fitting[0], None, others, dtype)


def _first(findings: Findings) -> int | None:
    return next((index for index, found in enumerate(findings) if found), None)


@lru_cache(maxsize=512)  # both rounds of all mistakes of a problem set, for one secret
def _findings(exercise: Exercise, answer: Callable[..., Plain], secret: str | None) -> Findings:
    return examine(exercise, LocalSubmission(answer), secret)


def _is_word(found: Finding) -> bool:
    return isinstance(found.evidence, str)


def _tells(found: Finding) -> bool:
    return share_of_numbers(found.evidence) == 1


def _has_other_dtype(found: Finding) -> bool:
    return _bare(found) is not found


def _bare(found: Finding) -> Finding:
    """The finding with the numbers in the dtype that they should have."""
    one, right = found.evidence, found.expected
    if isinstance(one, Tensor) and isinstance(right, Tensor) and one.dtype != right.dtype:
        return replace(found, evidence=one.to(right.dtype))
    return found


def _without_dtype(found: Finding) -> Finding | None:
    """Likewise; None if the dtype was all that was wrong."""
    bare = _bare(found)
    return None if bare is not found and same(bare.evidence, found.expected) else bare


def _alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        isinstance(one.evidence, Tensor) == isinstance(other.evidence, Tensor)
        and same(one.evidence, other.evidence)
        for one, other in zip(mine, theirs, strict=True)
    )


def _alike_but_for_words(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        (one.raised and one.raised == other.raised) or _alike([one], [other])
        for one, other in zip(mine, theirs, strict=True)
    )


def _differ(mine: list[Finding], theirs: list[Finding]) -> bool:
    """True if both are numbers, and others."""
    all_numbers = all(share_of_numbers(one.evidence) == 1 for one in (*mine, *theirs))
    return all_numbers and not _alike(mine, theirs)
