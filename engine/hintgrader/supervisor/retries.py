"""Finds the cells and parts that end the process, one attempt after the other."""

from collections.abc import Sequence
from typing import NoReturn

from hintgrader.bank.bank import Bank
from hintgrader.exercise.definition import Exercise
from hintgrader.supervisor.results import (
    Cell,
    Graded,
    GradedPart,
    failed_part,
    find_cell_error,
    skipped_output,
)
from hintgrader.supervisor.snapshot import NoFunction
from hintgrader.supervisor.termination import Termination


class Retry(Exception):
    """Raised when another cell or part is excluded and the notebook has to be run again."""


class Retries:
    """The cells and parts to leave out of the next attempt, because they ended earlier ones.

    Args:
        notebook: Its cells, in order.
        bank: Where its exercises are.

    Attributes:
        cells: Cells that are not run any more, by index, and what they did.
        parts: Parts none of whose functions is called any more, by the index of the graded cell.
    """

    def __init__(self, notebook: Sequence[Cell], bank: Bank) -> None:
        self._notebook, self._bank = notebook, bank
        self.cells: dict[int, Termination] = {}
        self.parts: dict[int, Termination] = {}

    @property
    def any_excluded(self) -> bool:
        """True if any cell or part is excluded."""
        return bool(self.cells or self.parts)

    def exclude_cell(self, index: int, ended: Termination) -> NoReturn:
        """Run a cell no more, for what it did."""
        self.cells[index] = ended
        raise Retry

    def exclude_part(self, index: int, ended: Termination) -> NoReturn:
        """Call the function of a part no more, for what it did."""
        self.parts[index] = ended
        raise Retry

    def exclude_latest(self, index: int, ended: Termination) -> NoReturn:
        """Exclude the last cell of a part that still runs, for what happened between cells.

        It is the last one that is still run; or, where there is none, the part.
        """
        for before in reversed(self.cells_of(index)):
            if before not in self.cells:
                self.exclude_cell(before, ended)
        self.exclude_part(index, ended)

    def trouble_before(self, index: int) -> Termination | None:
        """The reason why a cell of this part was excluded, or None."""
        return next((self.cells[i] for i in self.cells_of(index) if i in self.cells), None)

    def part_without_function(
        self, exercise: Exercise, index: int, graded: Graded, absence: NoFunction
    ) -> GradedPart:
        """A part that defines no function, with the first cause that is known."""
        if trouble := self.trouble_before(index):
            return failed_part(exercise, f"its cell {trouble}", trouble)
        ran = [(self._notebook[i], graded.shown[i]) for i in self.cells_of(index)]
        if stopped := find_cell_error(exercise.function, ran):
            part = failed_part(exercise, stopped)
            part.notes.append(stopped)
            return part
        part = failed_part(exercise, absence.problem, unwritten=absence.unwritten)
        part.failed = absence.problem
        return part

    def fill_unfinished(self, graded: Graded, unfinished: set[int], late: Termination) -> None:
        """Fill in parts without points for what was not done, when there is no time for a retry.

        Args:
            graded: What has been done.
            unfinished: The graded cells whose functions have not been tried on all inputs.
            late: Why there is none.
        """
        for index, cell in enumerate(self._notebook):
            if index >= len(graded.shown):
                graded.show(skipped_output(self.cells.get(index) or late))
            if not (cell.grade_id and cell.exercise):
                continue
            if cell.grade_id not in graded.parts or index in unfinished:
                part = self._excluded_part(index, cell.exercise, late)
                if before := graded.parts.get(cell.grade_id):
                    part.alarms += before.alarms
                    part.notes += before.notes
                graded.parts[cell.grade_id] = part

    def leave_dependents(self, graded: Graded) -> None:
        """Leave ungraded what may have lost points for want of a cell that only waited."""
        waited = {index: ended for index, ended in self.cells.items() if ended.waited}
        for index, cell in enumerate(self._notebook):
            part = graded.parts.get(cell.grade_id or "")
            before = next((ended for place, ended in waited.items() if place < index), None)
            if part and before and part.state == "graded" and part.points != part.points.of:
                part.leave(self._bank.find(part.exercise), before)

    def _excluded_part(self, index: int, name: str, late: Termination) -> GradedPart:
        exercise = self._bank.find(name)
        if ended := self.trouble_before(index):
            return failed_part(exercise, f"its cell {ended}", ended)
        ended = self.parts.get(index) or late
        return failed_part(exercise, f"it {ended}", ended)

    def cells_of(self, index: int) -> range:
        """The cells of the part that a graded cell ends."""
        first = index
        while first and not self._notebook[first - 1].exercise:
            first -= 1
        return range(first, index)
