"""Mistakes of an answer that judges: what each of them misjudges adds up.

A law that looks at verdicts has for its evidence a list with the name of what was misjudged.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import NamedTuple

from hintgrader.checking.case import Place
from hintgrader.checking.findings import Finding, Findings
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.cache import Exhausted, FindingsCache
from hintgrader.hints.recognised import Recognised, by_place
from hintgrader.hints.same_mistake import alike_at, is_verdict

MOST = 4  # mistakes in one answer
Made = Sequence[tuple[Mistake, FindingsCache]]


def misjudging_together(exercise: Exercise, findings: Findings, made: Made) -> Recognised | None:
    """The mistakes that misjudge together what the answer does, and nothing else; or None.

    Each has a part of its own, and there must be one such set. Where the answer raises an
    exception, it may misjudge as well.

    Args:
        exercise: What was answered.
        findings: Of the answer.
        made: The mistakes that are made to be compared.
    """
    mine = by_place(findings)
    wrong = {place for place, found in mine.items() if not found.raised}
    if not any(is_verdict(mine[place]) for place in wrong):
        return None
    try:
        shares = _largest(_shares(exercise, mine, made))
        for number in range(1, MOST + 1):
            fitting = (one for one in combinations(shares, number) if _fit_together(one, wrong))
            covers = [several for several in fitting if all(one.is_all for one in several)]
            if covers:
                hints = {frozenset(one.mistake.hint for one in several) for several in covers}
                return _named(covers[0], findings) if len(hints) == 1 else None
    except Exhausted:
        return None
    return None


class _Share(NamedTuple):
    """The draws that a mistake misjudges, of those that the answer does.

    Args:
        places: The draws.
        mistake: Whose they are.
        findings: Its findings; None if it is known by its evidence.
    """

    places: frozenset[Place]
    mistake: Mistake
    findings: FindingsCache | None = None
    mine: Collection[Place] = ()

    @property
    def is_all(self) -> bool:
        """True if it misjudges nothing else, which takes long to find out."""
        return self.findings is None or not self.findings.errs_elsewhere(self.mine)


def _shares(exercise: Exercise, mine: dict[Place, Finding], made: Made) -> list[_Share]:
    """The share of each mistake that seems to misjudge nothing else."""
    found = list[_Share]()
    for mistake in exercise.mistakes:
        if mistake.evidence is not None:
            signed = {place for place, one in mine.items() if one.evidence == mistake.evidence}
            found += [_Share(frozenset(signed), mistake)] if signed else []
            continue
        for theirs in (of_mistake for one, of_mistake in made if one is mistake):
            if here := _common(mine, theirs):
                found.append(_Share(here, mistake, theirs, mine))
    return found


def _common(mine: dict[Place, Finding], theirs: FindingsCache) -> frozenset[Place]:
    """All that both misjudge; nothing if it judges otherwise there, or errs where that is seen."""
    if theirs.errs_elsewhere(mine, hastily=True):
        return frozenset()
    wrong = set[Place]()
    for (row, draw), found in mine.items():  # few, which tell the most
        if one := theirs[row].at(draw):
            if not alike_at(found, one):
                return frozenset()
            wrong.add((row, draw))
    return frozenset(wrong)


def _largest(shares: list[_Share]) -> list[_Share]:
    """Without those whose part is in another's: they are told by less."""
    return [one for one in shares if not any(_is_in(one, other) for other in shares)]


def _is_in(one: _Share, other: _Share) -> bool:
    return one.places < other.places and other.is_all


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
