"""Which cells and parts of a notebook end everything, found one after the other."""

from collections.abc import Sequence
from typing import NoReturn

from attn_course.grading.outside.graded import Cell
from attn_course.grading.outside.talk import Ended


class Again(Exception):
    """One culprit more is known; all has to begin anew without it."""


class Lost:
    """The culprits.

    Args:
        notebook: Its cells, in order.

    Attributes:
        cells: Those that are not run any more, by index, and what they did.
        parts: Those of whose functions none is called any more, by the index of the graded cell.
    """

    def __init__(self, notebook: Sequence[Cell]) -> None:
        self._notebook = notebook
        self.cells: dict[int, Ended] = {}
        self.parts: dict[int, Ended] = {}

    @property
    def anything(self) -> bool:
        """Whether there are any."""
        return bool(self.cells or self.parts)

    def lose_cell(self, index: int, ended: Ended) -> NoReturn:
        """Run a cell no more, for what it did."""
        self.cells[index] = ended
        raise Again

    def lose_part(self, index: int, ended: Ended) -> NoReturn:
        """Call the function of a part no more, for what it did."""
        self.parts[index] = ended
        raise Again

    def blame(self, index: int, ended: Ended) -> NoReturn:
        """For what happened between cells, run a cell of the part no more.

        It is the last one that is still run; or, where there is none, the part.
        """
        for before in reversed(self.cells_of(index)):
            if before not in self.cells:
                self.lose_cell(before, ended)
        self.lose_part(index, ended)

    def trouble_before(self, index: int) -> Ended | None:
        """What ended a cell of the part that a graded cell ends."""
        return next((self.cells[i] for i in self.cells_of(index) if i in self.cells), None)

    def cells_of(self, index: int) -> range:
        """The cells of the part that a graded cell ends."""
        first = index
        while first and not self._notebook[first - 1].exercise:
            first -= 1
        return range(first, index)
