"""Grading a notebook: its cells run in a confined process, its functions are called from here."""

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass

from hintgrader.bank.bank import Bank
from hintgrader.exercise.definition import Exercise
from hintgrader.supervisor.channel import Channel
from hintgrader.supervisor.deadline import Deadline
from hintgrader.supervisor.pending_part import PendingPart
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.supervisor.remote_submission import RemoteSubmission
from hintgrader.supervisor.results import (
    Cell,
    Graded,
    GradedPart,
    failed_part,
    read_shown,
    skipped_output,
)
from hintgrader.supervisor.retries import Retries, Retry
from hintgrader.supervisor.snapshot import NoFunction, take_snapshot
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker.alarm import Alarm, Kind
from hintgrader.worker.packing import MALFORMED
from hintgrader.worker.time_limits import CELL_SECONDS, SNAPSHOT_SECONDS
from hintgrader.worker.wire import Message

__all__ = ["Cell", "Graded", "GradedPart", "grade_notebook"]


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
        cell_seconds: How long a cell may compute, and how long it may wait.
        notebook_seconds: The same of all of it, with all that has to be begun anew; None for half
            an hour, or more where a cell may take long.
    """
    deadline = Deadline(process, cell_seconds, notebook_seconds)
    run = _Run(cells, bank, process, secret, cell_seconds, deadline)
    while (graded := run.go_through()) is None:
        pass
    return graded


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
            with self.process.submission(self.deadline.budget) as channel, self.open:
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
        begun: list[PendingPart] = []
        all_ran = self.deadline.run(self._run_cells, channel, graded, begun)
        graded.incomplete |= any(shown["error"] for shown in graded.shown)
        graded.alarms += channel.take_alarms()
        graded.incomplete |= graded.any_forgiven
        if all_ran or not self.process.is_over:
            self.deadline.start_hidden()
            self.deadline.run(self._finish_all, begun)
        late = self.deadline.budget.exceeded() or Termination(Cause.SLOW_NOTEBOOK)
        self.retries.fill_unfinished(graded, {one.index for one in begun}, late)
        self.retries.leave_dependents(graded)

    def _run_cells(self, channel: Channel, graded: Graded, begun: list[PendingPart]) -> None:
        for index, cell in enumerate(self.cells):
            self.deadline.mark()
            self._publish_farewells(channel, cell.source)
            if cell.grade_id and cell.exercise:
                exercise = self.bank.find(cell.exercise)
                part = self._begin(channel, index, exercise, graded, begun)
                graded.parts[cell.grade_id] = part
                self._publish_points(channel, index, part)
            graded.show(self._run_cell(channel, index))

    def _finish_all(self, begun: list[PendingPart]) -> None:
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
            except Termination as error:
                self.retries.exclude_cell(index, error)
        return skipped_output(ended)

    def _begin(
        self,
        channel: Channel,
        index: int,
        exercise: Exercise,
        graded: Graded,
        begun: list[PendingPart],
    ) -> GradedPart:
        """Take a snapshot of the notebook as it is now, and try the public inputs on it."""
        if ended := self.retries.parts.get(index):
            part = failed_part(exercise, f"it {ended}", ended)
        elif isinstance(snapshot := self._snapshot(channel, index, exercise), NoFunction):
            part = self.retries.part_without_function(exercise, index, graded, snapshot)
        else:
            submission = RemoteSubmission(snapshot)
            one = PendingPart.begin(index, exercise, submission, slow=self.secret is None)
            self._require_running(index, submission)
            part = one.part
            begun.append(one)
        part.alarms += self._alarms(channel)
        return part

    def _alarms(self, channel: Channel) -> list[Alarm]:
        """Alarms of the cells before a part; what they tampered with stays so for all after it."""
        alarms = channel.take_alarms()
        now = any(alarm.kind is Kind.TAMPERED for alarm in alarms)
        if self.tampered and not now:
            alarms.append(Alarm(Kind.TAMPERED, "what watches it, in an earlier cell"))
        self.tampered |= now
        return alarms

    def _snapshot(self, channel: Channel, index: int, exercise: Exercise) -> Channel | NoFunction:
        """A channel to the notebook as it is now, or why there is no function to call."""
        opened = closing(self.process.open_channel(self.deadline.budget))
        snapshot = self.open.enter_context(opened)
        try:
            return take_snapshot(channel, snapshot, exercise) or snapshot
        except Termination as ended:
            self.retries.exclude_latest(index, ended)

    def _publish_points(self, channel: Channel, index: int, part: GradedPart) -> None:
        """Publish to the notebook's own `check` the points on the public inputs."""
        if index in self.retries.parts:  # perhaps because of this very message
            return
        rows = [(row.label, row.points, row.problem, row.kept) for row in part.public.rows]
        message = {"kind": "points", "exercise": part.exercise, "rows": rows}
        try:
            channel.ask(message | {"hint": part.public.hint}, SNAPSHOT_SECONDS)
        except Termination as ended:
            self.retries.exclude_latest(index, ended)

    def _publish_farewells(self, channel: Channel, source: str) -> None:
        """Tell the notebook's own `check` what became of the retired parts that a cell names."""
        for name in filter(source.__contains__, self.bank.retired):
            rows = [(row.label, 0.0, None, 0.0) for row in self.bank.farewell(name).rows]
            message = {"kind": "points", "exercise": name, "rows": rows, "hint": None}
            with suppress(Termination):  # that the process has ended, the cell itself finds
                channel.ask(message, SNAPSHOT_SECONDS)

    def _finish(self, begun: PendingPart) -> None:
        """Try the hidden inputs; now nothing that they say can be shown any more."""
        silent = begun.try_hidden(self.secret)
        self._require_running(begun.index, begun.submission)
        begun.award_points(self.secret, silent)

    def _require_running(self, index: int, submission: RemoteSubmission) -> None:
        if submission.channel.ended and self.process.is_over:
            self.retries.exclude_part(index, submission.channel.ended)
