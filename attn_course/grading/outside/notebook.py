"""Grading a notebook: its cells run in a confined process, its functions are called from here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from attn_course.grading.checking import missing, nothing, score_of
from attn_course.grading.judge import Findings, examine_hidden, examine_public
from attn_course.grading.outside.answers import OutsideSubmission
from attn_course.grading.outside.slot import Ended, Slot, Talk
from attn_course.grading.outside.wire import Message
from attn_course.grading.score import Score
from attn_course.grading.spec import find_exercise

CELL_SECONDS, SNAPSHOT_SECONDS = 180.0, 30.0
CHECKS = re.compile(r"""check\(\s*["']([\w/]+)["']""")
REACHING = ("tried to", "called ")


@dataclass(frozen=True)
class Cell:
    """A code cell to run.

    Args:
        source: Its text, without hidden tests.
        grade_id: What nbgrader calls it, if it gives points.
    """

    source: str
    grade_id: str | None = None

    @property
    def exercise(self) -> str | None:
        """The exercise that it checks."""
        found = CHECKS.search(self.source) if self.grade_id else None
        return found and found[1]


@dataclass
class Part:
    """What a graded cell has earned.

    Attributes:
        exercise: Its name.
        score: On all inputs.
        public: On those that a student can see; what an honest notebook shows.
        trouble: What ended it, if it did not come to its end.
        notes: What else a person should know.
    """

    exercise: str
    score: Score
    public: Score
    trouble: Ended | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        """One of the states of a record; that it claims too much is for others to find."""
        if any(note.startswith(REACHING) for note in self.notes):
            return "cheated?"
        if self.trouble:
            return "timed out" if self.trouble.out_of_time else "crashed"
        unwritten = all(row.problem and row.problem.startswith(NOTHING) for row in self.score.rows)
        return "missing" if unwritten else "graded"


NOTHING = ("there is no function", "not written yet")


@dataclass
class Graded:
    """What came of a notebook.

    Attributes:
        parts: By the names of their cells.
        shown: For each cell what it showed, as `Shell.run` says it.
        notes: What a person should know that belongs to no part.
    """

    parts: dict[str, Part] = field(default_factory=dict)
    shown: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def grade_notebook(
    cells: Sequence[Cell],
    slot: Slot,
    secret: str | None,
    cell_seconds: float = CELL_SECONDS,
) -> Graded:
    """Run a notebook, and grade each function as it is when its check cell comes.

    A cell or a function that ends the process, does not come back or uses too much is left out, and
    all is begun anew: it costs its own part and no other.

    Args:
        cells: Its code cells, in order.
        slot: Where to run it.
        secret: What hidden inputs are drawn from; None for none.
        cell_seconds: How long a cell may take.
    """
    run = _Run(cells, slot, secret, cell_seconds)
    while (graded := run.go_through()) is None:
        pass
    return graded


class _Again(Exception):
    """One culprit more is known; all has to begin anew without it."""


@dataclass
class _Begun:
    """A part whose public inputs have been tried, and whose hidden ones have to wait."""

    index: int
    part: Part
    findings: Findings
    submission: OutsideSubmission


class _Run:
    """The tries at one notebook, and the cells and parts that turned out to end all."""

    def __init__(
        self, cells: Sequence[Cell], slot: Slot, secret: str | None, cell_seconds: float
    ) -> None:
        self.cells, self.slot, self.secret, self.cell_seconds = cells, slot, secret, cell_seconds
        self.lost_cells: dict[int, Ended] = {}
        self.lost_parts: dict[int, Ended] = {}

    def go_through(self) -> Graded | None:
        """One try: what came of it, or None if it has to be begun anew."""
        graded = Graded()
        try:
            with self.slot.submission() as talk:
                self._grade(talk, graded)
        except _Again:
            return None
        if left := talk.left.get("processes"):
            graded.notes.append(f"left {left} processes behind, which were ended")
        return graded

    def _grade(self, talk: Talk, graded: Graded) -> None:
        """Run all cells, try the public inputs as their cells come, and then the hidden ones.

        Nothing hidden has been sent while a cell can still show it.
        """
        begun = []
        for index, cell in enumerate(self.cells):
            if cell.exercise:
                graded.parts[cell.grade_id] = part = self._begin(talk, index, begun)
                self._tell_score(talk, index, part)
            graded.shown.append(self._run_cell(talk, index))
        graded.notes += _take_alarms(talk)
        for one in begun:
            self._finish(one)

    def _run_cell(self, talk: Talk, index: int) -> Message:
        if (ended := self.lost_cells.get(index)) is None:
            try:
                message = {"kind": "cell", "source": self.cells[index].source}
                return talk.ask(message, self.cell_seconds)
            except Ended as ended:
                self.lost_cells[index] = ended
                raise _Again from None
        return {"printed": "", "shown": [], "error": ["Ended", f"This cell {ended}."]}

    def _begin(self, talk: Talk, index: int, begun: list[_Begun]) -> Part:
        """Take a snapshot of the notebook as it is now, and try the public inputs on it."""
        name = self.cells[index].exercise
        if ended := self.lost_parts.get(index):
            return _part_without(name, f"it {ended}", ended, _take_alarms(talk))
        snapshot = self._snapshot(talk, index)
        if isinstance(snapshot, str):
            trouble = self._trouble_before(index)
            problem = f"its cell {trouble}" if trouble else snapshot
            return _part_without(name, problem, trouble, _take_alarms(talk))
        submission = OutsideSubmission(snapshot)
        findings = examine_public(find_exercise(name), name, submission, slow=self.secret is None)
        self._see_that_slot_lives(index, submission)
        score = score_of(name, findings, None, diagnose=False)
        part = Part(name, score, score, notes=_take_alarms(talk))
        begun.append(_Begun(index, part, findings, submission))
        return part

    def _snapshot(self, talk: Talk, index: int) -> Talk | str:
        """A talk with the notebook as it is now, or why there is no function to talk with."""
        exercise = find_exercise(self.cells[index].exercise)
        message = {"kind": "snapshot", "function": exercise.function}
        message |= {"avoid": exercise.avoid, "may_use": exercise.may_use}
        snapshot = Talk(self.slot)
        try:
            then = partial(talk.send_end, snapshot)
            reply = talk.ask(message, SNAPSHOT_SECONDS, then=then)
        except Ended as ended:
            self.lost_parts[index] = ended
            raise _Again from None
        if "missing" not in reply:
            return snapshot
        instead = reply["missing"]
        if instead is None:
            return missing(exercise, None)
        return f"`{exercise.function}` is {instead!s:.40}, not a function"

    def _tell_score(self, talk: Talk, index: int, part: Part) -> None:
        """Let the notebook's own `check` give the score on the public inputs."""
        rows = [(row.label, row.points, row.problem) for row in part.public.rows]
        message = {"kind": "score", "exercise": part.exercise, "rows": rows}
        try:
            talk.ask(message | {"hint": part.public.hint}, SNAPSHOT_SECONDS)
        except Ended as ended:
            self.lost_parts[index] = ended
            raise _Again from None

    def _finish(self, begun: _Begun) -> None:
        """Try the hidden inputs; now nothing that they say can be shown any more."""
        part, submission = begun.part, begun.submission
        name, findings = part.exercise, begun.findings
        if self.secret is not None:
            findings = examine_hidden(find_exercise(name), name, submission, self.secret, findings)
        self._see_that_slot_lives(begun.index, submission)
        part.score = score_of(name, findings, self.secret)
        part.trouble = submission.trouble
        part.notes += _take_alarms(submission.talk)
        submission.talk.close()

    def _see_that_slot_lives(self, index: int, submission: OutsideSubmission) -> None:
        if submission.talk.ended and not self.slot.runs:
            self.lost_parts[index] = submission.talk.ended
            raise _Again

    def _trouble_before(self, index: int) -> Ended | None:
        """What ended a cell of the part that this graded cell ends."""
        first = index
        while first and not self.cells[first - 1].exercise:
            first -= 1
        return next((self.lost_cells[i] for i in range(first, index) if i in self.lost_cells), None)


def _part_without(name: str, problem: str, trouble: Ended | None, notes: list[str]) -> Part:
    score = nothing(find_exercise(name), problem)
    return Part(name, score, score, trouble, notes)


def _take_alarms(talk: Talk) -> list[str]:
    alarms = list(dict.fromkeys(talk.alarms))
    talk.alarms.clear()
    return alarms
