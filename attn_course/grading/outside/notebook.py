"""Grading a notebook: its cells run in a confined process, its functions are called from here."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from attn_course.grading.checking import missing, nothing, score_of
from attn_course.grading.judge import Findings, examine_hidden, examine_public
from attn_course.grading.outside.alarms import EXCHANGED
from attn_course.grading.outside.answers import OutsideSubmission
from attn_course.grading.outside.graded import (
    Cell,
    Graded,
    Part,
    how_it_stopped,
    nothing_shown,
    part_without,
    read_shown,
    what_lacked,
)
from attn_course.grading.outside.lost import Again, Lost
from attn_course.grading.outside.packing import NO_MESSAGE
from attn_course.grading.outside.slot import Slot
from attn_course.grading.outside.talk import Ended, Talk
from attn_course.grading.outside.time_left import CELL_SECONDS, FINISHING_SECONDS, TimeLeft
from attn_course.grading.outside.wire import Message
from attn_course.grading.spec import find_exercise

__all__ = ["Cell", "Graded", "Part", "grade_notebook"]

SNAPSHOT_SECONDS = 30.0


def grade_notebook(
    cells: Sequence[Cell],
    slot: Slot,
    secret: str | None,
    cell_seconds: float = CELL_SECONDS,
    notebook_seconds: float | None = None,
) -> Graded:
    """Run a notebook, and grade each function as it is when its check cell comes.

    A cell or a function that ends the process, does not come back or uses too much is left out, and
    all is begun anew: it costs its own part and no other. When there is no time for that any more,
    what has been begun is graded, and the rest is left out.

    Args:
        cells: Its code cells, in order.
        slot: Where to run it.
        secret: What hidden inputs are drawn from; None for none.
        cell_seconds: How long a cell may take.
        notebook_seconds: How long all of it may take, with all that has to be begun anew; None
            for half an hour, or more where a cell may take long.
    """
    run = _Run(cells, slot, secret, cell_seconds, TimeLeft(slot, cell_seconds, notebook_seconds))
    while (graded := run.go_through()) is None:
        pass
    return graded


@dataclass
class _Begun:
    """A part whose public inputs have been tried, and whose hidden ones have to wait."""

    index: int
    part: Part
    findings: Findings
    submission: OutsideSubmission


@dataclass
class _Run:
    """The tries at one notebook, each without what turned out to end all before."""

    cells: Sequence[Cell]
    slot: Slot
    secret: str | None
    cell_seconds: float
    time_left: TimeLeft
    exchanged: bool = False

    def __post_init__(self) -> None:
        self.open, self.lost = ExitStack(), Lost(self.cells)

    def go_through(self) -> Graded | None:
        """One try: what came of it, or None if it has to be begun anew."""
        graded, self.exchanged = Graded(), False
        self.time_left.begin()
        try:
            with self.slot.submission(self.time_left.until) as talk, self.open:
                self._grade(talk, graded)
        except Again:
            return None
        graded.incomplete |= self.lost.anything
        graded.notes += talk.what_is_left()
        return graded

    def _grade(self, talk: Talk, graded: Graded) -> None:
        """Run all cells, try the public inputs as their cells come, and then the hidden ones.

        Nothing hidden has been sent while a cell can still show it.
        """
        begun: list[_Begun] = []
        all_ran = self.time_left.do(self._run_cells, talk, graded, begun)
        graded.incomplete |= any(shown["error"] for shown in graded.shown)
        graded.notes += what_lacked(graded.shown) + talk.take_alarms()
        if all_ran or not self.slot.is_over:
            self.time_left.do(self._finish_all, begun)
        self.lost.give_up(graded, {one.index for one in begun})

    def _run_cells(self, talk: Talk, graded: Graded, begun: list[_Begun]) -> None:
        for index, cell in enumerate(self.cells):
            self.time_left.note()
            if cell.exercise:
                graded.parts[cell.grade_id] = part = self._begin(talk, index, graded, begun)
                self._tell_score(talk, index, part)
            graded.show(self._run_cell(talk, index))

    def _finish_all(self, begun: list[_Begun]) -> None:
        """Finish one after the other, and take them off the list."""
        while begun:
            self.time_left.note()
            self._finish(begun[0])
            begun.pop(0)

    def _run_cell(self, talk: Talk, index: int) -> Message:
        if (ended := self.lost.cells.get(index)) is None:
            try:
                message = {"kind": "cell", "source": self.cells[index].source}
                shown = read_shown(talk.ask(message, self.cell_seconds))
                self.slot.look()
                return shown
            except NO_MESSAGE:
                self.lost.lose_cell(index, talk.end())
            except Ended as error:
                self.lost.lose_cell(index, error)
        return nothing_shown(ended)

    def _begin(self, talk: Talk, index: int, graded: Graded, begun: list[_Begun]) -> Part:
        """Take a snapshot of the notebook as it is now, and try the public inputs on it."""
        name = self.cells[index].exercise
        if ended := self.lost.parts.get(index):
            return part_without(name, f"it {ended}", ended, self._notes(talk))
        snapshot = self._snapshot(talk, index)
        if isinstance(snapshot, str):
            trouble = self.lost.trouble_before(index)
            if trouble:
                return part_without(name, f"its cell {trouble}", trouble, self._notes(talk))
            ran = [(self.cells[i], graded.shown[i]) for i in self.lost.cells_of(index)]
            stopped = how_it_stopped(name, ran)
            return part_without(name, [*stopped, snapshot][0], None, self._notes(talk) + stopped)
        submission = OutsideSubmission(snapshot)
        findings = examine_public(find_exercise(name), name, submission, slow=self.secret is None)
        self._see_that_all_goes_on(index, submission)
        score = score_of(name, findings, None, diagnose=False)
        part = Part(name, score, score, notes=self._notes(talk))
        begun.append(_Begun(index, part, findings, submission))
        return part

    def _notes(self, talk: Talk) -> list[str]:
        """Alarms of the cells before a part; what they have exchanged stays so for all after it."""
        notes = talk.take_alarms()
        if self.exchanged and not _is_exchanged(notes):
            notes.append(f"{EXCHANGED} what watches it, in an earlier cell")
        self.exchanged = _is_exchanged(notes)
        return notes

    def _snapshot(self, talk: Talk, index: int) -> Talk | str:
        """A talk with the notebook as it is now, or why there is no function to talk with."""
        exercise = find_exercise(self.cells[index].exercise)
        message = {"kind": "snapshot", "function": exercise.function}
        message |= {"avoid": exercise.avoid, "may_use": exercise.may_use}
        snapshot = self.open.enter_context(closing(Talk(self.slot, self.time_left.until)))
        try:
            then = partial(talk.send_end, snapshot)
            reply = talk.ask(message, SNAPSHOT_SECONDS, then=then)
        except Ended as ended:
            self.lost.blame(index, ended)
        if "missing" not in reply:
            return snapshot
        instead = reply["missing"]
        if instead is None:
            return missing(exercise, None)
        return f"`{exercise.function}` is {instead!s:.40}, not a function"

    def _tell_score(self, talk: Talk, index: int, part: Part) -> None:
        """Let the notebook's own `check` give the score on the public inputs."""
        if index in self.lost.parts:  # perhaps because of this very message
            return
        rows = [(row.label, row.points, row.problem) for row in part.public.rows]
        message = {"kind": "score", "exercise": part.exercise, "rows": rows}
        try:
            talk.ask(message | {"hint": part.public.hint}, SNAPSHOT_SECONDS)
        except Ended as ended:
            self.lost.blame(index, ended)

    def _finish(self, begun: _Begun) -> None:
        """Try the hidden inputs; now nothing that they say can be shown any more."""
        part, submission = begun.part, begun.submission
        name, findings = part.exercise, begun.findings
        submission.talk.until = self.time_left.until + FINISHING_SECONDS
        if self.secret is not None:
            findings = examine_hidden(find_exercise(name), name, submission, self.secret, findings)
        silent = submission.look()
        self._see_that_all_goes_on(begun.index, submission)
        part.score = score_of(name, findings, self.secret)
        if silent:  # an honest answer has no reason to
            part.score = nothing(find_exercise(name), f"in the end it {silent}")
        part.trouble = submission.trouble
        part.notes = list(dict.fromkeys([*part.notes, *submission.talk.take_alarms()]))
        if _is_exchanged(part.notes):
            part.score = nothing(find_exercise(name), "what watches it was exchanged")

    def _see_that_all_goes_on(self, index: int, submission: OutsideSubmission) -> None:
        if submission.talk.ended and self.slot.is_over:
            self.lost.lose_part(index, submission.talk.ended)


def _is_exchanged(notes: list[str]) -> bool:
    return any(note.startswith(EXCHANGED) for note in notes)
