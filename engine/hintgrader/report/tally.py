"""Counting a class: what the report says, in numbers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from hintgrader.records.records import STATES, PartRecord, SubmissionRecord

Parts = list[PartRecord]


@dataclass(frozen=True)
class ExerciseTally:
    """An exercise: how many have all of its points, some, and none, and how many wrote nothing."""

    name: str
    of: float
    full: int
    some: int
    none: int
    unwritten: int
    mean: float

    @property
    def written(self) -> int:
        return self.full + self.some + self.none


@dataclass(frozen=True)
class CheckTally:
    """A row of the table of an exercise: how many got it right, of those who wrote something."""

    exercise: str
    label: str
    right: int
    written: int

    @property
    def share(self) -> float:
        return self.right / self.written


@dataclass(frozen=True)
class MistakeTally:
    """A mistake, by its name in the bank of the exercise, and how many students made it."""

    exercise: str
    name: str
    hint: str
    students: int


@dataclass(frozen=True)
class Concern:
    """An item to look at; `exercise` is empty if it concerns the whole submission."""

    student: str
    exercise: str
    state: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Tally:
    """A class.

    Args:
        records: Of all students, those included who handed in nothing.
    """

    records: Sequence[SubmissionRecord]

    @property
    def handed_in(self) -> list[SubmissionRecord]:
        """The submissions with something to grade."""
        return [r for r in self.records if any(part.state != "missing" for part in r.parts)]

    @property
    def absent(self) -> list[SubmissionRecord]:
        """The others, of whom nothing was handed in, or that can be read, or was written."""
        present = {record.student for record in self.handed_in}
        return [record for record in self.records if record.student not in present]

    @property
    def of(self) -> float:
        """Points there are to earn."""
        return max((record.of for record in self.records), default=0.0)

    @property
    def points(self) -> list[float]:
        """The points of each submission with something to grade."""
        return [record.points for record in self.handed_in]

    @property
    def median(self) -> float:
        """The median of the points; there must be some."""
        return median(self.points)

    @property
    def seconds(self) -> float | None:
        """The median of what a submission took; None if none was graded."""
        return median([r.seconds for r in self.handed_in]) if self.handed_in else None

    @property
    def levels(self) -> list[tuple[str, int]]:
        """Counts of submissions by level of isolation, the most common first."""
        return Counter(record.level for record in self.handed_in).most_common()

    @property
    def states(self) -> list[tuple[str, int]]:
        """Counts of parts by state, the worst first."""
        counts = Counter(part.state for record in self.handed_in for part in record.parts)
        return [(state, counts[state]) for state in reversed(STATES) if counts[state]]

    @property
    def exercises(self) -> list[ExerciseTally]:
        """The exercises in their order."""
        return [_tally_exercise(name, parts) for name, parts in self._by_exercise()]

    @property
    def checks(self) -> list[CheckTally]:
        """The rows of all exercises that somebody wrote, the hardest first."""
        found = []
        for name, parts in self._by_exercise():
            rows = [row for part in parts if part.state != "missing" for row in part.rows]
            written = Counter(row.label for row in rows)
            right = Counter(row.label for row in rows if row.problem is None)
            found += [CheckTally(name, each, right[each], written[each]) for each in written]
        return sorted(found, key=lambda check: check.share)

    @property
    def mistakes(self) -> list[MistakeTally]:
        """The mistakes that were recognised, the most common first."""
        counts: Counter[tuple[str, str]] = Counter()
        hints = {}
        for part in (part for record in self.handed_in for part in record.parts):
            if part.mistake is not None:
                counts[part.exercise, part.mistake] += 1
                hints[part.exercise, part.mistake] = part.hint or ""
        return [MistakeTally(*made, hints[made], number) for made, number in counts.most_common()]

    @property
    def unrecognised(self) -> int:
        """The number of written parts that lost points and match no known mistake."""
        return sum(
            part.state == "graded" and part.points < part.of and part.mistake is None
            for record in self.handed_in
            for part in record.parts
        )

    @property
    def concerns(self) -> list[Concern]:
        """The items to look at, the worst first."""
        found = [concern for record in self.handed_in for concern in _concerns_of(record)]
        return sorted(found, key=lambda concern: -STATES.index(concern.state))

    def _by_exercise(self) -> Iterator[tuple[str, Parts]]:
        parts = [part for record in self.handed_in for part in record.parts]
        order = {part.exercise: place for place, part in reversed(list(enumerate(parts)))}
        parts.sort(key=lambda part: order[part.exercise])
        for name, group in groupby(parts, lambda part: part.exercise):
            yield name, list(group)


def _tally_exercise(name: str, parts: Parts) -> ExerciseTally:
    written = [part for part in parts if part.state != "missing"]
    full = sum(part.points >= part.of for part in written)
    none = sum(part.points == 0 for part in written)
    some = len(written) - full - none
    earned = _mean(part.points for part in parts)
    return ExerciseTally(
        name, parts[0].of, full, some, none, len(parts) - len(written), mean=earned
    )


def _concerns_of(record: SubmissionRecord) -> Iterator[Concern]:
    if record.notes:
        yield Concern(record.student, "", "graded", record.notes)
    for part in record.parts:
        if part.notes or part.state not in ("graded", "missing"):
            yield Concern(record.student, part.exercise, part.state, part.notes)


def _mean(numbers: Iterable[float]) -> float:
    listed = list(numbers)
    return sum(listed) / len(listed)
