"""Which cells and parts of a notebook end everything, found one after the other."""

from collections.abc import Sequence
from typing import NoReturn

from attn_grade.bank import Bank
from attn_grade.host.ended import Cause, Ended
from attn_grade.host.graded import Cell, Graded, Part, nothing_shown, part_without


class Retry(Exception):
    """One culprit more is known; all has to begin anew without it."""


class Retries:
    """What is left out of the next try at a notebook, because it ended the ones before.

    Args:
        notebook: Its cells, in order.
        bank: Where its exercises are.

    Attributes:
        cells: Those that are not run any more, by index, and what they did.
        parts: Those of whose functions none is called any more, by the index of the graded cell.
    """

    def __init__(self, notebook: Sequence[Cell], bank: Bank) -> None:
        self._notebook, self._bank = notebook, bank
        self.cells: dict[int, Ended] = {}
        self.parts: dict[int, Ended] = {}

    @property
    def anything(self) -> bool:
        """Whether there are any."""
        return bool(self.cells or self.parts)

    def leave_out_cell(self, index: int, ended: Ended) -> NoReturn:
        """Run a cell no more, for what it did."""
        self.cells[index] = ended
        raise Retry

    def leave_out_part(self, index: int, ended: Ended) -> NoReturn:
        """Call the function of a part no more, for what it did."""
        self.parts[index] = ended
        raise Retry

    def blame(self, index: int, ended: Ended) -> NoReturn:
        """For what happened between cells, run a cell of the part no more.

        It is the last one that is still run; or, where there is none, the part.
        """
        for before in reversed(self.cells_of(index)):
            if before not in self.cells:
                self.leave_out_cell(before, ended)
        self.leave_out_part(index, ended)

    def trouble_before(self, index: int) -> Ended | None:
        """What ended a cell of the part that a graded cell ends."""
        return next((self.cells[i] for i in self.cells_of(index) if i in self.cells), None)

    def give_up(self, graded: Graded, unfinished: set[int]) -> None:
        """Nothing for what has not been done, when there is no time to begin anew.

        Args:
            graded: What has been done.
            unfinished: The graded cells whose functions have not been tried on all inputs.
        """
        for index, cell in enumerate(self._notebook):
            if index >= len(graded.shown):
                graded.show(nothing_shown(self.cells.get(index) or _late()))
            if not (cell.grade_id and cell.exercise):
                continue
            if cell.grade_id not in graded.parts or index in unfinished:
                part = self._left_out(index, cell.exercise)
                if before := graded.parts.get(cell.grade_id):
                    part.alarms += before.alarms
                    part.notes += before.notes
                graded.parts[cell.grade_id] = part

    def _left_out(self, index: int, name: str) -> Part:
        exercise = self._bank.find(name)
        if ended := self.trouble_before(index):
            return part_without(exercise, f"its cell {ended}", ended)
        ended = self.parts.get(index) or _late()
        return part_without(exercise, f"it {ended}", ended)

    def cells_of(self, index: int) -> range:
        """The cells of the part that a graded cell ends."""
        first = index
        while first and not self._notebook[first - 1].exercise:
            first -= 1
        return range(first, index)


def _late() -> Ended:
    return Ended(Cause.SLOW_NOTEBOOK)
