"""The time limit of a notebook, and of its retries: of what it computes, not of what passes."""

from collections.abc import Callable

from hintgrader.supervisor.budget import Budget
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.supervisor.retries import Retry
from hintgrader.worker.time_limits import HIDDEN_SECONDS, NOTEBOOK_SECONDS, SLOW_CELLS, SPARE


class Deadline:
    """The time of a notebook, with all its tries.

    Args:
        process: Where it runs.
        cell_seconds: How long a cell may take.
        seconds: How long the notebook may; None for what is usual.

    Attributes:
        budget: What is left of it.
    """

    def __init__(self, process: SandboxProcess, cell_seconds: float, seconds: float | None) -> None:
        self._process = process
        self._all = seconds or max(NOTEBOOK_SECONDS, SLOW_CELLS * cell_seconds)
        self.budget = Budget(self._all)
        self.start_attempt()

    def start_attempt(self) -> None:
        """Count from here how long a try takes."""
        self.budget.seconds = self._all
        self._began, self._needed = self.budget.computed, 0.0

    def start_hidden(self) -> None:
        """Allow more, now that only the hidden inputs are left to try."""
        self.budget.seconds = self._all + HIDDEN_SECONDS

    def mark(self) -> None:
        """Mark a step that may end the attempt: a retry takes as long as this one to get here."""
        self._needed = self.budget.computed - self._began

    def run(self, work: Callable[..., None], *arguments: object) -> bool:
        """Do some work; whether it could be done, or cannot be for want of time.

        Raises:
            Retry: There is time to begin anew.
        """
        try:
            work(*arguments)
        except Retry:
            if self._has_time_to_retry():
                raise
            return False
        return True

    def _has_time_to_retry(self) -> bool:
        """True if a retry can get as far as this attempt, or has nothing to lose."""
        left = self._all - self.budget.computed
        enough = left > (0.0 if self._process.is_over else self._needed + SPARE * self._all)
        return enough and self.budget.idle < self._all
