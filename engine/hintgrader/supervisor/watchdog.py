"""Watches the memory, the processes and the time of a submission, and kills them all."""

import contextlib
import math
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil

from hintgrader.supervisor.processor_time import Usage, usage_of
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker.limits import GIGABYTE, MEMORY, PROCESSES
from hintgrader.worker.time_limits import POLL_SECONDS

MAX_LEFT = 16  # processes that a cell may leave running
GRADER_PROCESSES = 20  # at most: bubblewrap, the worker, the notebook and its snapshots


class Watchdog:
    """Looks now and then at the memory, the processes and the time that a submission uses.

    Args:
        pid: Of the process that all others have come from.
        own_memory: Bytes that it uses itself.
        stop_for: Called from a thread with the reason, once it is too much.

    Attributes:
        usage: The time that it had used at the latest look; None before the first one.
    """

    def __init__(self, pid: int, own_memory: int, stop_for: Callable[[Termination], None]) -> None:
        self._pid, self._own_memory, self._stop_for = pid, own_memory, stop_for
        self._room, self._newest = -1, math.nan  # nobody has counted yet
        self.usage: Usage | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def too_many_left(self) -> Termination | None:
        """The reason to end a submission whose cell leaves too many processes running, or None."""
        # counting them takes longer than most cells: it is left out while fewer processes than
        # there is room for have begun on the whole machine
        if 0 <= (newest := _newest_pid()) - self._newest <= self._room:
            return None
        number = len(tree(self._pid)) - GRADER_PROCESSES
        self._room, self._newest = MAX_LEFT - number, newest
        return Termination(Cause.LEFT_RUNNING, number, MAX_LEFT) if number > MAX_LEFT else None

    def _poll(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            processes = tree(self._pid)
            self.usage = usage_of(processes)
            if len(processes) > PROCESSES:
                return self._stop_for(Termination(Cause.PROCESSES, PROCESSES))
            if (memory := self._memory(processes)) > MEMORY:
                most = MEMORY // GIGABYTE
                ended = Termination(Cause.MEMORY, f"{memory / GIGABYTE:.1f}", most)
                return self._stop_for(ended)

    def _memory(self, processes: list[psutil.Process]) -> int:
        """Bytes that all processes use beyond the memory of the process they were forked from."""
        # what a fork has from another, it shares with it as long as neither writes to it: to
        # count that once takes the kernel long, so it is only asked when it matters
        rough = sum(max(0, memory_of(process) - self._own_memory) for process in processes)
        if rough <= MEMORY:
            return rough
        return sum(map(_memory_shared_out, processes)) - self._own_memory


def _newest_pid() -> float:
    """The number of the process that began last, where the kernel says so; else NaN."""
    try:
        return float(Path("/proc/loadavg").read_text().split()[4])
    except (OSError, IndexError):
        return math.nan


def tree(pid: int) -> list[psutil.Process]:
    """A process and all that has come from it, itself last."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    return []


def memory_of(process: psutil.Process) -> int:
    """Bytes that a process has written, or inherited from one that has."""
    with contextlib.suppress(psutil.Error, OSError):
        if sys.platform != "linux":
            return process.memory_info().rss
        status = Path(f"/proc/{process.pid}/status").read_text()
        return 1024 * sum(map(int, re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+)", status, re.M)))
    return 0


def _memory_shared_out(process: psutil.Process) -> int:
    """Bytes of a process, with shared ones divided among their users where the kernel reports
    that."""
    try:
        used = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except PermissionError:
        return memory_of(process)
    except OSError:
        return 0
    return 1024 * sum(map(int, re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", used, re.M)))


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process, with all that has come from it: those first, or nobody would find them."""
    for _ in range(50):
        found = tree(process.pid)[:-1]
        for descendant in found:
            with contextlib.suppress(psutil.Error):
                descendant.kill()
        if not found:
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
