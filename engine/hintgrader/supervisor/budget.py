"""Limits on what a notebook, and each request to it, computes, and on how long it waits."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hintgrader.supervisor.processor_time import Usage
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker.clock import idle_limit
from hintgrader.worker.time_limits import PATIENCE


class Budget:
    """The seconds of a whole notebook, with all its tries.

    Args:
        seconds: How many it may compute; as many may pass in which it only waits.

    Attributes:
        computed: Those that it has computed.
        idle: Those in which it waited for something other than a processor.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self.computed, self.idle = seconds, 0.0, 0.0

    def exceeded(self) -> Termination | None:
        """The reason why nothing more can be done; None if something can."""
        if self.computed >= self.seconds:
            return Termination(Cause.SLOW_NOTEBOOK)
        if self.idle >= self.seconds:
            return Termination(Cause.STALLED_NOTEBOOK, f"{self.seconds:.0f}")
        return None


class Request:
    """A request to a process, while it is under way.

    Args:
        seconds: How long it may compute.
        budget: Of the notebook, which pays for it.
        usage: Gives the latest that is known of what the process has used.
    """

    def __init__(self, seconds: float, budget: Budget, usage: Callable[[], Usage | None]) -> None:
        self._seconds, self._budget, self._usage = seconds, budget, usage
        self._begun = self._latest = usage()
        self._computed = self._idle = self._ours = 0.0

    def check(self) -> None:
        """Check that it has used no more than it may.

        Raises:
            Termination: It has.
        """
        if (now := self._usage()) is None or now == self._latest:
            return
        begun = self._begun = self._begun or now
        self._latest = now
        computed = now.computed - begun.computed
        idle = now.at - begun.at - computed - (now.queued - begun.queued) - self._ours
        self._spend(max(0.0, computed - self._computed), max(0.0, idle - self._idle))
        if self._computed >= self._seconds:
            raise Termination(Cause.SLOW_REQUEST, f"{self._seconds:.0f}")
        if self._idle >= idle_limit(self._seconds) + PATIENCE:
            raise Termination(Cause.STALLED, f"{idle_limit(self._seconds):.0f}")
        if ended := self._budget.exceeded():
            raise ended

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Do something for the process inside the `with` block, which waits for it: that is not
        idle, and what it takes to compute counts as its own."""
        began, computed = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            self._ours += time.monotonic() - began
            self._spend(time.thread_time() - computed, 0.0)

    def _spend(self, computed: float, idle: float) -> None:
        self._computed += computed
        self._idle += idle
        self._budget.computed += computed
        self._budget.idle += idle
