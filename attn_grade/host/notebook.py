"""Grading a notebook: its cells run in a confined process, its functions are called from here."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from attn_grade.bank import Bank
from attn_grade.check import missing_message, no_points, points_of
from attn_grade.exercise import Exercise
from attn_grade.host.channel import Channel
from attn_grade.host.deadline import CELL_SECONDS, HIDDEN_SECONDS, Deadline
from attn_grade.host.ended import Ended
from attn_grade.host.graded import (
    Cell,
    Graded,
    Part,
    environment_errors,
    failed_part,
    find_cell_error,
    read_shown,
    skipped_output,
)
from attn_grade.host.process import SandboxProcess
from attn_grade.host.remote_submission import RemoteSubmission
from attn_grade.host.retries import Retries, Retry
from attn_grade.inside.alarm import Alarm, Kind
from attn_grade.inside.packing import MALFORMED
from attn_grade.inside.wire import Message
from attn_grade.judge import Findings, examine_hidden, examine_public

__all__ = ["Cell", "Graded", "Part", "grade_notebook"]

SNAPSHOT_SECONDS = 30.0


def grade_notebook(
    cells: Sequence[Cell],
    bank: Bank,
    process: SandboxProcess,
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
        bank: Where its exercises are.
        process: Where to run it.
        secret: What hidden inputs are drawn from; None for none.
        cell_seconds: How long a cell may take.
        notebook_seconds: How long all of it may take, with all that has to be begun anew; None
            for half an hour, or more where a cell may take long.
    """
    deadline = Deadline(process, cell_seconds, notebook_seconds)
    run = _Run(cells, bank, process, secret, cell_seconds, deadline)
    while (graded := run.go_through()) is None:
        pass
    return graded


@dataclass
class _Begun:
    """A part whose public inputs have been tried, and whose hidden ones have to wait."""

    index: int
    exercise: Exercise
    part: Part
    findings: Findings
    submission: RemoteSubmission


@dataclass(frozen=True)
class _NoFunction:
    """The absence of a function: what a student reads, and whether nothing was written at all."""

    problem: str
    unwritten: bool


@dataclass
class _Run:
    """The tries at one notebook, each without what turned out to end all before."""

    cells: Sequence[Cell]
    bank: Bank
    process: SandboxProcess
    secret: str | None
    cell_seconds: float
    deadline: Deadline
    tampered: bool = False

    def __post_init__(self) -> None:
        self.open, self.retries = ExitStack(), Retries(self.cells, self.bank)

    def go_through(self) -> Graded | None:
        """Make one attempt; return None if it has to be retried."""
        graded, self.tampered = Graded(), False
        self.deadline.start_attempt()
        try:
            with self.process.submission(self.deadline.until) as channel, self.open:
                self._grade(channel, graded)
        except Retry:
            return None
        graded.incomplete |= self.retries.any_excluded
        graded.notes += channel.leftovers()
        return graded

    def _grade(self, channel: Channel, graded: Graded) -> None:
        """Run all cells, try the public inputs as their cells come, and then the hidden ones.

        Nothing hidden has been sent while a cell can still show it.
        """
        begun: list[_Begun] = []
        all_ran = self.deadline.run(self._run_cells, channel, graded, begun)
        graded.incomplete |= any(shown["error"] for shown in graded.shown)
        graded.notes += environment_errors(graded.shown)
        graded.alarms += channel.take_alarms()
        if all_ran or not self.process.is_over:
            self.deadline.run(self._finish_all, begun)
        self.retries.fill_unfinished(graded, {one.index for one in begun})

    def _run_cells(self, channel: Channel, graded: Graded, begun: list[_Begun]) -> None:
        for index, cell in enumerate(self.cells):
            self.deadline.mark()
            if cell.grade_id and cell.exercise:
                exercise = self.bank.find(cell.exercise)
                part = self._begin(channel, index, exercise, graded, begun)
                graded.parts[cell.grade_id] = part
                self._tell_points(channel, index, part)
            graded.show(self._run_cell(channel, index))

    def _finish_all(self, begun: list[_Begun]) -> None:
        """Finish one after the other, and take them off the list."""
        while begun:
            self.deadline.mark()
            self._finish(begun[0])
            begun.pop(0)

    def _run_cell(self, channel: Channel, index: int) -> Message:
        if (ended := self.retries.cells.get(index)) is None:
            try:
                message = {"kind": "cell", "source": self.cells[index].source}
                shown = read_shown(channel.ask(message, self.cell_seconds))
                self.process.check_leftovers()
                return shown
            except MALFORMED:
                self.retries.exclude_cell(index, channel.end())
            except Ended as error:
                self.retries.exclude_cell(index, error)
        return skipped_output(ended)

    def _begin(
        self,
        channel: Channel,
        index: int,
        exercise: Exercise,
        graded: Graded,
        begun: list[_Begun],
    ) -> Part:
        """Take a snapshot of the notebook as it is now, and try the public inputs on it."""
        if ended := self.retries.parts.get(index):
            part = failed_part(exercise, f"it {ended}", ended)
        elif isinstance(snapshot := self._snapshot(channel, index, exercise), _NoFunction):
            part = self._part_without(exercise, index, graded, snapshot)
        else:
            submission = RemoteSubmission(snapshot)
            findings = examine_public(exercise, submission, slow=self.secret is None)
            self._require_running(index, submission)
            points = points_of(exercise, findings, None, diagnose=False)
            part = Part(exercise.name, points, points)
            begun.append(_Begun(index, exercise, part, findings, submission))
        part.alarms += self._alarms(channel)
        return part

    def _part_without(
        self, exercise: Exercise, index: int, graded: Graded, nothing_there: _NoFunction
    ) -> Part:
        """A part that defines no function, and why."""
        if trouble := self.retries.trouble_before(index):
            return failed_part(exercise, f"its cell {trouble}", trouble)
        ran = [(self.cells[i], graded.shown[i]) for i in self.retries.cells_of(index)]
        if stopped := find_cell_error(exercise.function, ran):
            part = failed_part(exercise, stopped)
            part.notes.append(stopped)
            return part
        problem, unwritten = nothing_there.problem, nothing_there.unwritten
        return failed_part(exercise, problem, unwritten=unwritten)

    def _alarms(self, channel: Channel) -> list[Alarm]:
        """Alarms of the cells before a part; what they tampered with stays so for all after it."""
        alarms = channel.take_alarms()
        now = any(alarm.kind is Kind.TAMPERED for alarm in alarms)
        if self.tampered and not now:
            alarms.append(Alarm(Kind.TAMPERED, "what watches it, in an earlier cell"))
        self.tampered |= now
        return alarms

    def _snapshot(self, channel: Channel, index: int, exercise: Exercise) -> Channel | _NoFunction:
        """A channel to the notebook as it is now, or why there is no function to call."""
        message: Message = {"kind": "snapshot", "function": exercise.function}
        message |= {"avoid": exercise.avoid, "may_use": exercise.may_use}
        message |= {"packages": exercise.packages.names, "wrappers": exercise.packages.wrappers}
        opened = closing(self.process.open_channel(self.deadline.until))
        snapshot = self.open.enter_context(opened)
        try:
            then = partial(channel.send_end, snapshot)
            reply = channel.ask(message, SNAPSHOT_SECONDS, then=then)
        except Ended as ended:
            self.retries.exclude_latest(index, ended)
        if "missing" not in reply:
            return snapshot
        instead = reply["missing"]
        if instead is None:
            return _NoFunction(missing_message(exercise, None), unwritten=True)
        problem = f"`{exercise.function}` is {instead!s:.40}, not a function"
        return _NoFunction(problem, unwritten=False)

    def _tell_points(self, channel: Channel, index: int, part: Part) -> None:
        """Let the notebook's own `check` show the points on the public inputs."""
        if index in self.retries.parts:  # perhaps because of this very message
            return
        rows = [(row.label, row.points, row.problem) for row in part.public.rows]
        message = {"kind": "points", "exercise": part.exercise, "rows": rows}
        try:
            channel.ask(message | {"hint": part.public.hint}, SNAPSHOT_SECONDS)
        except Ended as ended:
            self.retries.exclude_latest(index, ended)

    def _finish(self, begun: _Begun) -> None:
        """Try the hidden inputs; now nothing that they say can be shown any more."""
        exercise, part, submission = begun.exercise, begun.part, begun.submission
        findings = begun.findings
        submission.channel.until = self.deadline.until + HIDDEN_SECONDS
        if self.secret is not None:
            findings = examine_hidden(exercise, submission, self.secret, findings)
        silent = submission.fetch_alarms()
        self._require_running(begun.index, submission)
        part.points = points_of(exercise, findings, self.secret)
        if silent:  # an honest answer has no reason to
            part.points = no_points(exercise, f"in the end it {silent}")
        part.trouble = submission.trouble
        part.alarms = list(dict.fromkeys([*part.alarms, *submission.channel.take_alarms()]))
        if part.is_tampered:
            part.points = no_points(exercise, "what watches it was exchanged")

    def _require_running(self, index: int, submission: RemoteSubmission) -> None:
        if submission.channel.ended and self.process.is_over:
            self.retries.exclude_part(index, submission.channel.ended)
