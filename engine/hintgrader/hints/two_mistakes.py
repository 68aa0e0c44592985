"""Two known mistakes in one answer.

Many a mistake in the bank is made by altering another answer (`hintgrader.exercise.wrong_answers`).
The same is done here to each of the other mistakes, until a pair does what the answer does.
"""

from contextlib import suppress
from functools import cache

from hintgrader.checking.findings import Findings
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.exercise.wrong_answers import Altered, Answer
from hintgrader.hints.cache import Effort, Exhausted, FindingsCache
from hintgrader.hints.recognised import Recognised
from hintgrader.hints.same_mistake import is_verdict, is_word


def both_of_two(
    exercise: Exercise, findings: Findings, secret: str | None, effort: Effort
) -> Recognised | None:
    """The two mistakes that together give what was found, at all checks; None unless one pair does.

    The first draws that were found wrong in numbers are asked first, since most pairs differ there.
    """
    every = ((row, one) for row, found in enumerate(findings) for one in found)
    shown = [(row, one) for row, one in every if not (is_word(one) or is_verdict(one))]
    if not shown or exercise.checks[shown[0][0]].slow:
        return None
    row, first = shown[0]
    found = []
    with suppress(Exhausted):
        for mistake, other, answer in _pairs(exercise):
            theirs = FindingsCache(exercise, answer, secret, effort)
            if theirs.agrees_from((row, first.draw), findings, but_for_words=True):
                found.append((mistake, other))
    hints = {frozenset((mistake.hint, other.hint)) for mistake, other in found}
    return Recognised(found[0][1], second=found[0][0]) if len(hints) == 1 else None


@cache
def _pairs(exercise: Exercise) -> list[tuple[Mistake, Mistake, Answer]]:
    """The alteration of each mistake that is one, in each of the others; the likeliest first."""
    pairs = [
        (mistake, other, answer.of(into))
        for mistake in exercise.mistakes
        for answer in (mistake.answer, *mistake.also)
        if isinstance(answer, Altered)
        for other in exercise.mistakes
        if other.hint != mistake.hint and other.evidence is None
        for into in (other.answer, *other.also)
    ]
    return sorted(pairs, key=_promises_broken)


def _promises_broken(pair: tuple[Mistake, Mistake, Answer]) -> int:
    """The number of mistakes of a pair that no bank wrote down, which are rarer."""
    return sum(mistake.points is None for mistake in pair[:2])
