"""The time that processes use, as the kernel counts it."""

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from hintgrader.worker.clock import queued


@dataclass(frozen=True)
class Usage:
    """The time that some processes have used, and all that has ended of what they started.

    Attributes:
        at: When that was, as `time.monotonic` counts.
        computed: Seconds of processor time.
        queued: Seconds in which a thread was ready, and no processor free.
    """

    at: float
    computed: float = 0.0
    queued: float = 0.0


def usage_of(processes: Iterable[psutil.Process]) -> Usage:
    """The time that these processes have used by now."""
    at = time.monotonic()  # first: what they use meanwhile is not taken for idle time
    computed = waited = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            computed += sum(process.cpu_times()[:4])  # its own, and that of children that ended
            waited += sum(queued(f"{process.pid}/task/{one}") for one in _threads(process.pid))
    return Usage(at, computed, waited)


def _threads(pid: int) -> list[str]:
    return os.listdir(f"/proc/{pid}/task") if os.path.isdir("/proc/self/task") else []
