"""Recognising a mistake: which of the known wrong answers computes what the student's does.

A hint has to be true of the answer. What agrees at every check, on all inputs, is knowledge. What
agrees only at the first check that failed is said as that, and only if nothing speaks against it.
"""

from collections.abc import Sequence, Set
from contextlib import nullcontext, suppress

from hintgrader.checking.case import Axes, axes_of
from hintgrader.checking.findings import Findings
from hintgrader.checking.own_answer import many_own_answers
from hintgrader.checking.probes import OTHER_NUMBERS
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.cache import Effort, Exhausted, FindingsCache
from hintgrader.hints.effects import cause_said, effect_said, raised_said
from hintgrader.hints.form import form_alone
from hintgrader.hints.judgements import misjudging_together
from hintgrader.hints.progress import shown_at_work
from hintgrader.hints.recognised import (
    Made,
    Recognised,
    beside_another_fault,
    by_place,
    in_different_draws,
    in_some_rows,
)
from hintgrader.hints.same_mistake import (
    alike,
    alike_but_for_words,
    differ,
    is_verdict,
    one_number_alone,
    tells,
)
from hintgrader.hints.slips import slip_of
from hintgrader.hints.two_mistakes import both_of_two
from hintgrader.values.equality import same, share_of_numbers

# In operations of torch, about two seconds of a processor.
MOST_WORK = 1_000_000


def recognise(
    exercise: Exercise, findings: Findings, secret: str | None, thorough: bool = True
) -> Recognised | None:
    """The known mistake that agrees with the findings, or None.

    A mistake that declares its evidence agrees if that is what was found first. Any other is made,
    to be compared: what is likeliest first, until as much is tried as a student may wait for. What
    no points depend on is tried only if it is to be `thorough`.
    """
    if not any(findings):
        return None
    if declared := by_evidence(exercise, findings):
        return declared
    with many_own_answers():
        return _compared(exercise, findings, secret, thorough)


def _compared(
    exercise: Exercise, findings: Findings, secret: str | None, thorough: bool
) -> Recognised | None:
    """The known mistake that agrees, of those that are made to be compared."""
    effort = Effort(MOST_WORK)
    made = [
        (mistake, FindingsCache(exercise, answer, secret, effort))
        for mistake in exercise.mistakes
        if mistake.evidence is None or mistake.points is None  # the latter are promises broken
        for answer in (mistake.answer, *mistake.also)
    ]
    repeats = {row for row, check in enumerate(exercise.checks) if check.repeats}
    form, effect = form_alone(findings, repeats), effect_said(exercise, findings, secret)
    try:
        if same_throughout := _same_throughout(findings, made):
            return Recognised(same_throughout)
        if together := misjudging_together(exercise, findings, made):
            return together
        if any(is_verdict(one) for found in findings for one in found):  # which take long to give
            places = by_place(findings)
            made = [one for one in made if not one[1].errs_elsewhere(places, hastily=True)]
        known = choose(findings, made, repeats, axes_of(exercise, secret), throughout=False)
        if known and known.row is None:
            return known
        if form and not form.others:
            return form
        if any(OTHER_NUMBERS in one.signs for found in findings for one in found):
            return effect  # nothing that is known does that
        rest = in_different_draws(findings, made, repeats) or known
        rest = rest or in_some_rows(findings, made, repeats) or form
    except Exhausted:
        return effect or form or cause_said(findings) or raised_said(findings)
    if not thorough:
        return rest
    with suppress(Exhausted), nullcontext() if secret else shown_at_work():
        if slip := slip_of(exercise, findings, secret, effort):
            return Recognised(slip)
        if both := both_of_two(exercise, findings, secret, effort):
            return both
    return effect or rest or cause_said(findings) or raised_said(findings)


def by_evidence(exercise: Exercise, findings: Findings) -> Recognised | None:
    """The mistake that declares as its evidence what was found first, or None.

    A gradient that cannot be taken is left out: to write into an argument prevents that too.
    """
    rows = [
        [] if check.gradient and all(one.raised for one in found) else found
        for check, found in zip(exercise.checks, findings, strict=True)
    ]
    if (first := _first(rows)) is None:
        return None
    for mistake in exercise.mistakes:
        if mistake.evidence is not None and same(mistake.evidence, findings[first][0].evidence):
            return Recognised(mistake)
    return None


def choose(
    findings: Findings,
    made: Made,
    repeats: Set[int] = frozenset(),
    axes: Axes | None = None,
    throughout: bool = True,
) -> Recognised | None:
    """The mistake that agrees with the findings, out of those whose own findings are known.

    It fails the same checks. If it gives the same evidence at all of them, it is what was done; so
    it is if it alone does where there are numbers, and elsewhere raises the same exceptions with
    other words. If only at the first, and no other mistake there, then that evidence has to hold
    several numbers, and at other checks one of the two gives an error, or the answer `nan`.

    A fault of another kind may hide it, see `beside_another_fault`.

    Args:
        findings: Of the answer.
        made: The mistakes with their findings.
        repeats: The indices of checks that draw what another one draws.
        axes: How many axes there are at each draw, if any number may stand in front.
        throughout: Whether one may agree at all checks; False where that has been tried.
    """
    first = _first(findings)
    if first is None:
        return None
    made = [(mistake, theirs) for mistake, theirs in made if _may_be_said(mistake, findings)]
    for mistake, theirs in made if throughout else ():
        if all(map(alike, findings, theirs)):
            return Recognised(mistake)
    if any(map(tells, (one for found in findings for one in found))):
        near = [m for m, theirs in made if all(map(alike_but_for_words, findings, theirs))]
        if len({mistake.hint for mistake in near}) == 1:
            return Recognised(near[0])
    if both := beside_another_fault(findings, made, repeats, axes or {}):
        return both
    numbers = all(share_of_numbers(one.evidence) for one in findings[first])
    if not numbers or one_number_alone(findings[first]):
        return None
    rows = [row for row in range(len(findings)) if row not in repeats]
    near = [
        mistake
        for mistake, theirs in made
        if alike(findings[first], theirs[first])
        and all(bool(findings[row]) == bool(theirs[row]) for row in rows)
        and not any(differ(findings[row], theirs[row]) for row in rows)
    ]
    return Recognised(near[0], first) if len({mistake.hint for mistake in near}) == 1 else None


def _same_throughout(
    findings: Findings, made: Sequence[tuple[Mistake, FindingsCache]]
) -> Mistake | None:
    """The first mistake that gives the same evidence at all checks, or None."""
    for mistake, theirs in made:
        if _may_be_said(mistake, findings) and theirs.agrees(findings):
            return mistake
    return None


def _may_be_said(mistake: Mistake, findings: Findings) -> bool:
    """True unless what was found contradicts what its hint says."""
    evidence = (one.evidence for found in findings for one in found)
    return mistake.shows is None or all(map(mistake.shows, evidence))


def _first(findings: Findings) -> int | None:
    return next((index for index, found in enumerate(findings) if found), None)
