"""Mistakes of an answer that judges: what each of them misjudges adds up.

A law that looks at verdicts has for its evidence a list with the name of what was misjudged.
"""

from itertools import combinations
from typing import NamedTuple

from hintgrader.checking.case import Place
from hintgrader.checking.findings import Finding, Findings
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.cache import Effort, Exhausted, FindingsCache
from hintgrader.hints.recognised import Recognised, by_place, places
from hintgrader.hints.same_mistake import alike_at

MOST = 4  # mistakes in one answer
# In operations of torch: a mistake has to be tried on all that is judged, which is light work.
MOST_WORK = 3_000_000


def misjudging_together(
    exercise: Exercise, findings: Findings, secret: str | None
) -> Recognised | None:
    """The mistakes that misjudge together what the answer does, and nothing else; or None.

    Each has a part of its own, and there must be one such set. Where the answer raises an
    exception, it may misjudge as well.
    """
    mine = by_place(findings)
    wrong = {place for place, found in mine.items() if not found.raised}
    if not any(_is_verdict(mine[place]) for place in wrong):
        return None
    try:
        shares = _largest(_shares(exercise, mine, secret))
    except Exhausted:
        return None
    for number in range(1, MOST + 1):
        covers = [one for one in combinations(shares, number) if _fit_together(one, wrong)]
        if covers:
            return _named(covers[0], findings) if len(covers) == 1 else None
    return None


class _Share(NamedTuple):
    """The draws that a mistake misjudges."""

    places: frozenset[Place]
    mistake: Mistake


def _is_verdict(found: Finding) -> bool:
    one = found.evidence
    return isinstance(one, list) and len(one) == 1 and isinstance(one[0], str)


def _shares(exercise: Exercise, mine: dict[Place, Finding], secret: str | None) -> list[_Share]:
    """The share of each mistake that misjudges nothing beside the answer's; one for each hint."""
    found, effort = dict[str, _Share](), Effort(MOST_WORK)
    for mistake in exercise.mistakes:
        if mistake.evidence is not None:
            signed = {place for place, one in mine.items() if one.evidence == mistake.evidence}
            found |= {mistake.hint: _Share(frozenset(signed), mistake)} if signed else {}
            continue
        for answer in (mistake.answer, *mistake.also):
            theirs = FindingsCache(exercise, answer, secret, effort)
            if mistake.hint not in found and (here := _common(mine, theirs)):
                found[mistake.hint] = _Share(here, mistake)
    return [*found.values()]


def _common(mine: dict[Place, Finding], theirs: FindingsCache) -> frozenset[Place]:
    """All that the one misjudges; nothing if it misjudges anything else, or anything otherwise."""
    here = {(row, draw): theirs[row].at(draw) for row, draw in mine}  # few, which tell the most
    wrong = {place: one for place, one in here.items() if one}
    if not all(alike_at(mine[place], one) for place, one in wrong.items()):
        return frozenset()
    alone = wrong and all(place in mine for place, _ in places(theirs))
    return frozenset(wrong) if alone else frozenset()


def _largest(shares: list[_Share]) -> list[_Share]:
    """Without those whose part is in another's: they are told by less."""
    return [one for one in shares if not any(one.places < other.places for other in shares)]


def _fit_together(several: tuple[_Share, ...], wrong: set[Place]) -> bool:
    together = frozenset[Place]().union(*(share.places for share in several))
    return wrong <= together and len(together) == sum(len(share.places) for share in several)


def _named(several: tuple[_Share, ...], findings: Findings) -> Recognised:
    """The two that misjudge most, and the rows in which there is something else."""
    first, *rest = sorted(several, key=lambda share: -len(share.places))
    explained = first.places.union(*(share.places for share in rest[:1]))
    others = {row for row, draw in by_place(findings) if (row, draw) not in explained}
    second = rest[0].mistake if rest else None
    return Recognised(first.mistake, None, tuple(sorted(others)), second=second)
