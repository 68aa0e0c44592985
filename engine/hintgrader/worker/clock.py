"""The time of a process, counted so that it does not depend on how busy the machine is.

Of the time that passes, a process computes for some; for some it is ready to, and other programs
have all processors; for the rest it waits: for a lock, an input, the end of a sleep.
"""

import time

from hintgrader.worker.time_limits import IDLE_SECONDS


def idle_limit(seconds: float) -> float:
    """The seconds that may be spent waiting where so many may be spent computing."""
    return max(seconds, IDLE_SECONDS)


def queued(task: str = "thread-self") -> float:
    """Seconds in which a task was ready and no processor was free; 0 where the kernel counts none.

    Args:
        task: Its folder in `/proc`.
    """
    try:
        with open(f"/proc/{task}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class Clock:
    """The time of this process since the clock was made."""

    def __init__(self) -> None:
        self._began, self._used, self._queued = time.monotonic(), time.process_time(), queued()

    @property
    def computed(self) -> float:
        """Seconds of processor time, of all threads together."""
        return time.process_time() - self._used

    @property
    def idle(self) -> float:
        """Seconds in which nothing was computed, though there was a processor for it."""
        passed = time.monotonic() - self._began
        return passed - self.computed - (queued() - self._queued)
