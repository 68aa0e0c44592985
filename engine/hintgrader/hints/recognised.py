"""A known mistake that was recognised beside another fault.

Real work has two faults at once. One that reaches many draws hides the other: an exception, another
form of the output, axes that are counted from the front. The draws that it spoils are left out, and
on the rest the numbers have to be one known mistake's.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

from hintgrader.checking.case import Axes, Place
from hintgrader.checking.findings import Finding, Findings
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.same_mistake import (
    alike,
    alike_at,
    alike_where_finite,
    bare,
    denies,
    does_not_fit,
    in_form,
    is_word,
    one_number_alone,
    other_forms,
    tells,
)

Made = Sequence[tuple[Mistake, Findings]]
ENOUGH = 2  # draws at which the numbers of two answers do not agree by chance


class Recognised(NamedTuple):
    """A known mistake, or another reading, that agrees with the findings.

    Args:
        mistake: The mistake; None if it is the number of axes alone, or the form of the output.
        row: The index of a check at which it agrees, where it is not known to at all; else None.
        others: The indices of checks at which there is another fault.
        second: Another mistake that was made as well.
        forms: What is to mend in the form of the output besides, such as its dtype.
        axes: The only number of axes with which the answer does what it does; None if any.
        fewer: Whether it does so with fewer axes as well.
    """

    mistake: Mistake | None
    row: int | None = None
    others: tuple[int, ...] = ()
    forms: tuple[str, ...] = ()
    axes: int | None = None
    fewer: bool = False
    second: Mistake | None = None


def beside_another_fault(
    findings: Findings, made: Made, repeats: Set[int], axes: Axes
) -> Recognised | None:
    """The one mistake that agrees in numbers wherever another fault does not hide it, or None."""
    mine = by_place(findings)
    words = {place for place, found in mine.items() if is_word(found)}
    forms = tuple(sorted({form for found in mine.values() for form in other_forms(found)}))
    for spoiled in (words, {place for place, found in mine.items() if not tells(found)}):
        if (spoiled or forms) and (mistake := _only_one(mine, made, spoiled, repeats)):
            others = sorted({row for row, _ in spoiled} - repeats)
            return Recognised(mistake, None, tuple(others), forms)
    numbers = sorted({*axes.values()})
    for number, fewer in [*((n, False) for n in numbers), *((n, True) for n in numbers[1:-1])]:
        here = {place for place, n in axes.items() if n == number or (fewer and n < number)}
        elsewhere = axes.keys() - here
        at_one_check = {row for row, _ in here} & {row for row, _ in elsewhere} - repeats
        if not (at_one_check or len(numbers) > 2) or not elsewhere <= mine.keys():
            continue  # it may be something else that these draws have in common
        misfits = {place for place in elsewhere if does_not_fit(mine[place])}
        if mine.keys() == elsewhere and misfits:
            return Recognised(None, axes=number, fewer=fewer)
        if mine.keys() == elsewhere or misfits != elsewhere:
            continue  # numbers that merely differ are no sign of axes
        if mistake := _only_one(mine, made, elsewhere, repeats, misfits):
            return Recognised(mistake, axes=number, fewer=fewer)
    return None


def in_some_rows(findings: Findings, made: Made, repeats: Set[int]) -> Recognised | None:
    """The one mistake that agrees in numbers at whole checks, or None; elsewhere there is more.

    It must not fail at any draw where the answer is right, nor leave `nan` where it has numbers.
    """
    mine, best = by_place(findings), ENOUGH
    found: list[Recognised] = []
    rows = [r for r, one in enumerate(findings) if one and r not in repeats]
    rows = [row for row in rows if all(map(tells, findings[row]))]
    for mistake, theirs in made:
        agree = [row for row in rows if alike(findings[row], theirs[row])]
        draws = len(_at(findings, agree))
        if draws < best or not all(place in mine for place, _ in places(theirs)):
            continue
        if any(map(denies, findings, theirs)) or one_number_alone(_at(findings, agree)):
            continue
        if draws > best:
            best, found = draws, []
        if draws == best:
            others = [r for r, one in enumerate(findings) if one and r not in {*agree, *repeats}]
            found.append(Recognised(mistake, agree[0], tuple(others)))
    hints = {one.mistake.hint for one in found if one.mistake}
    return found[0] if len(hints) == 1 else None


def in_different_draws(findings: Findings, made: Made, repeats: Set[int]) -> Recognised | None:
    """The two mistakes that share the draws among them, each the very same at some; or None.

    Neither may fail at a draw where the answer is right. At least one raises exceptions in its
    share, of the same kind and with the same words: numbers may agree at one draw by chance.
    """
    mine = by_place(findings)
    words = {place for place, found in mine.items() if is_word(found)}
    raised = {place for place, found in mine.items() if found.raised}
    sharing = []
    for mistake, of_mistake in made if raised else ():
        theirs = by_place(of_mistake)
        if theirs.keys() <= mine.keys():
            same = {place for place, found in theirs.items() if alike_at(mine[place], found)}
            sharing.append((mistake, same))
    pairs = {}
    for (one, here), (other, there) in combinations(sharing, 2):
        shares = here - there, there - here
        surely = [share <= words or len(share) >= ENOUGH for share in shares]
        all_of_it = all(shares) and all(at in here | there or at[0] in repeats for at in mine)
        if all_of_it and all(surely) and any(share <= raised for share in shares):
            pairs[frozenset((one.hint, other.hint))] = Recognised(one, second=other)
    return next(iter(pairs.values())) if len(pairs) == 1 else None


def _at(findings: Findings, rows: Iterable[int]) -> list[Finding]:
    return [one for row in rows for one in findings[row]]


def _only_one(
    mine: Mapping[Place, Finding],
    made: Made,
    left_out: Collection[Place],
    repeats: Set[int],
    fits: Set[Place] = frozenset(),
) -> Mistake | None:
    """The mistake that agrees at all other draws, if there is one, and enough of them are wrong.

    At the places of `fits` its own axes have to fit.
    """
    shown = {p: it for p, found in mine.items() if p not in left_out and (it := in_form(found))}
    if sum(row not in repeats and not is_word(it) for (row, _), it in shown.items()) < ENOUGH:
        return None
    fitting = []
    for mistake, findings in made:
        theirs = ((p, bare(found)) for p, found in places(findings) if p not in left_out)
        if not all(p in shown and alike_at(shown[p], found) for p, found in theirs):
            continue
        all_of_them = by_place(findings)
        if not shown.keys() <= all_of_them.keys():
            continue
        if any(p in fits and does_not_fit(found) for p, found in all_of_them.items()):
            continue
        spoiled = ((mine[p], all_of_them.get(p)) for p in left_out if p in mine)
        if all(
            alike_where_finite(one.evidence, other.evidence if other else one.expected)
            for one, other in spoiled
        ):
            fitting.append((mistake, any(map(is_word, all_of_them.values()))))
    # one that has such a fault itself says more than is known
    plain = [mistake for mistake, has_words in fitting if not has_words]
    found = plain or [mistake for mistake, _ in fitting]
    return found[0] if len({mistake.hint for mistake in found}) == 1 else None


def places(findings: Findings) -> Iterator[tuple[Place, Finding]]:
    return (((row, one.draw), one) for row, found in enumerate(findings) for one in found)


def by_place(findings: Findings) -> dict[Place, Finding]:
    return dict(places(findings))
