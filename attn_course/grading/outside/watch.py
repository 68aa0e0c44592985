"""What all processes of a submission use together, and the end of all of them."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil

from attn_course.grading.outside.limits import GIGABYTE, MEMORY, PROCESSES

GLANCE = 0.2  # seconds between two looks


class Watch:
    """Looks now and then at the memory and the processes that a submission uses."""

    def __init__(self, pid: int, own_memory: int, stop_for: Callable[[str], None]) -> None:
        self._pid, self._own_memory, self._stop_for = pid, own_memory, stop_for
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(GLANCE):
            processes = tree(self._pid)
            # what a fork has from the worker, it shares with it as long as it does not write to it
            memory = sum(max(0, memory_of(process) - self._own_memory) for process in processes)
            if len(processes) > PROCESSES:
                return self._stop_for(f"started more than {PROCESSES} processes")
            if memory > MEMORY:
                most = MEMORY // GIGABYTE
                return self._stop_for(f"used {memory / GIGABYTE:.1f} GB of memory, above {most} GB")


def tree(pid: int) -> list[psutil.Process]:
    """A process and all that has come from it, itself last."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    return []


def memory_of(process: psutil.Process) -> int:
    """Bytes that a process has written or been given from one that has."""
    with contextlib.suppress(psutil.Error, OSError):
        if sys.platform != "linux":
            return process.memory_info().rss
        status = Path(f"/proc/{process.pid}/status").read_text()
        return 1024 * sum(map(int, re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+)", status, re.M)))
    return 0


def end_tree(process: subprocess.Popen) -> None:
    """End a process, with all that has come from it: those first, or nobody would find them."""
    for _ in range(50):
        found = tree(process.pid)[:-1]
        for descendant in found:
            with contextlib.suppress(psutil.Error):
                descendant.kill()
        if not found:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
