"""Findings on wrong answers to an exercise, worked out once for a class, and no more than are asked
for: most wrong answers differ from a student's at the first draw.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, overload

from torch import Tensor

from hintgrader.checking.case import Case, Place, draw_cases
from hintgrader.checking.findings import Finding, Findings
from hintgrader.checking.judge import examine_one
from hintgrader.checking.own_answer import OwnAnswer
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.wrong_answers import Answer
from hintgrader.hints.recognised import by_place
from hintgrader.hints.same_mistake import TOLERANCE, alike, alike_at, alike_but_for_words
from hintgrader.values.equality import same
from hintgrader.worker.measurements import Count

# What a trial costs besides its operations, in operations, and how many numbers are made, or
# multiplied, in the time of one: measured at all draws of sixty exercises.
A_TRIAL, MADE, MULTIPLIED = 500, 2_000, 50_000


class Exhausted(Exception):
    """Raised when diagnosis has done all that it may do for one answer."""


class Effort:
    """The work that may still be done to recognise an answer, counted in operations of torch.

    Seconds would not do: hints would be others on a slow machine.
    """

    def __init__(self, most: float) -> None:
        self.left = most

    def spend(self, work: float) -> None:
        """Take the work of a candidate off what is left.

        Raises:
            Exhausted: It is more than is left.
        """
        if work > self.left:
            self.left = 0
            raise Exhausted
        self.left -= work


class FindingsCache(Sequence["RowCache"]):
    """The findings on a wrong answer at all checks; each is worked out when it is looked at.

    Args:
        exercise: Whose checks are tried.
        answer: The wrong answer.
        secret: What draws the hidden inputs; None tries the others alone.
        effort: What the cases are taken off.
    """

    def __init__(
        self, exercise: Exercise, answer: Answer, secret: str | None, effort: Effort
    ) -> None:
        self.exercise, self.answer, self.secret, self.effort = exercise, answer, secret, effort
        self._rows = [RowCache(self, row) for row in range(len(exercise.checks))]

    @overload
    def __getitem__(self, row: int) -> "RowCache": ...
    @overload
    def __getitem__(self, row: slice) -> "list[RowCache]": ...
    def __getitem__(self, row: Any) -> Any:
        return self._rows[row]

    def __len__(self) -> int:
        return len(self._rows)

    def agrees(self, findings: Findings) -> bool:
        """True if it gives the same evidence at all checks; light draws are asked first."""
        mine = by_place(findings)
        checks = self.exercise.checks
        if any(one.late for one in mine.values()) or any(check.slow for check in checks):
            first = next(iter(mine))  # one draw of a slow check takes as long as all
            there = checks[first[0]].slow or self.agrees_at(first, mine[first])
            return there and all(map(alike, findings, self))
        return all(self.agrees_at(place, mine.get(place)) for place in self._by_work)

    def agrees_at(self, place: Place, mine: Finding | None) -> bool:
        """True if it gives the same evidence at one draw, or is right there as well."""
        theirs = self[place[0]].at(place[1])
        return mine is theirs if mine is None or theirs is None else alike_at(mine, theirs)

    def agrees_from(self, place: Place, findings: Findings, but_for_words: bool = False) -> bool:
        """Likewise, for an answer of which little is hoped: one call at this place shows most.

        Numbers that are not the student's are held against nothing else.
        """
        mine, check = by_place(findings)[place], self.exercise.checks[place[0]]
        if isinstance(mine.evidence, Tensor) and not (check.invariant or check.gradient):
            case = draw_cases(self.exercise, check, self.secret)[place[1]]
            self.effort.spend(_work(case))
            if not same(mine.evidence, OwnAnswer(self.answer).call(case.given).output, TOLERANCE):
                return False
        if not self.agrees_at(place, mine):
            return False
        if but_for_words:
            return all(map(alike_but_for_words, findings, self))
        return self.agrees(findings)

    def errs_elsewhere(self, places: Collection[Place], hastily: bool = False) -> bool:
        """True if it errs at any other place; `hastily` looks only where that is quickly seen."""
        others = [place for place in self._by_work if place not in places]
        tried = others[: len(others) // 2] if hastily else others
        return any(self[row].at(draw) for row, draw in tried)

    @cached_property
    def _by_work(self) -> list[Place]:
        """All draws of what is not slow, from the least work to the most."""
        work = {
            (row, draw): _work(case)
            for row, check in enumerate(self.exercise.checks)
            for draw, case in enumerate(draw_cases(self.exercise, check, self.secret))
            if not check.slow
        }
        return sorted(work, key=work.__getitem__)


class RowCache(Sequence[Finding]):
    """The findings at one check; a slow one is not tried after one that has failed."""

    def __init__(self, tried: FindingsCache, row: int) -> None:
        self._tried, self._row = tried, row
        self._at: dict[int, Finding | None] = {}

    def at(self, draw: int) -> Finding | None:
        """The finding at one draw, or None."""
        if draw not in self._at:
            tried, row = self._tried, self._row
            case = draw_cases(tried.exercise, tried.exercise.checks[row], tried.secret)[draw]
            tried.effort.spend(_work(case))
            found = _find(case, tried.answer)
            self._at[draw] = found and replace(found, draw=draw)
        return self._at[draw]

    def __iter__(self) -> Iterator[Finding]:
        exercise, check = self._tried.exercise, self._tried.exercise.checks[self._row]
        if check.slow and any(map(any, self._tried[: self._row])):
            return
        for draw in range(len(draw_cases(exercise, check, self._tried.secret))):
            if (found := self.at(draw)) is not None:
                yield found
                if found.late:
                    return

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...
    def __getitem__(self, index: Any) -> Any:
        return [*self][index]


@lru_cache(maxsize=32768)  # all mistakes of a problem set at all draws, and its pairs at one
def _find(case: Case, answer: Answer) -> Finding | None:
    return examine_one(case, OwnAnswer(answer))


@lru_cache(maxsize=2048)
def _work(case: Case) -> float:
    """The work of trying an answer at a draw: what it takes to try the reference."""
    if case.check.slow:  # those who train are recognised by their evidence
        return 0
    with Count() as count:
        examine_one(case, OwnAnswer(case.reference))
    return A_TRIAL + count.number + count.made / MADE + count.products / MULTIPLIED
