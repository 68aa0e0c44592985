"""The confined process, seen from the grader's side: one submission runs in it after the other."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hintgrader.supervisor.budget import Budget
from hintgrader.supervisor.channel import Channel
from hintgrader.supervisor.isolation import LOG, start_worker, worker_settings
from hintgrader.supervisor.termination import Termination
from hintgrader.supervisor.watchdog import Watchdog, end_tree, memory_of, tree
from hintgrader.worker.level import Level
from hintgrader.worker.time_limits import CLEAN_UP_SECONDS, KILL_GRACE, START_SECONDS
from hintgrader.worker.wall import Wall
from hintgrader.worker.wire import END, FORK, BrokenMessage, Message, receive, send


@dataclass
class _Worker:
    """A started worker process.

    Attributes:
        process: The process itself; all that it has forked hangs on it.
        control: Where it takes orders.
        own_memory: Bytes that it uses before the first submission; None until it is ready.
    """

    process: subprocess.Popen[bytes]
    control: socket.socket
    own_memory: int | None = None


class SandboxProcess:
    """The confined process, which is started again when it has to be.

    Args:
        level: How far submissions are kept away.
        folder: Where `lay_out` has put what they may import.
        wall: What that is, and what is held back.
        preload: Names of modules that are imported once for all of them.
        course: The folder of their course, which they are not to see.
    """

    def __init__(
        self,
        level: Level,
        folder: Path,
        wall: Wall,
        preload: tuple[str, ...] = (),
        course: Path | None = None,
    ) -> None:
        self.level, self._folder, self._wall = level, folder, wall
        self._preload, self._course = preload, course
        self.stopped_for: Termination | None = None  # why the process was ended from here
        self._worker: _Worker | None = None

    def start(self) -> None:
        """Start the process anew without waiting; importing torch takes it seconds."""
        self._start()

    def _start(self) -> _Worker:
        self.stop()
        ours, theirs = socket.socketpair()
        what = self._wall, self._course
        process = start_worker(self.level, self._folder, theirs.fileno(), *what)
        theirs.close()
        ours.settimeout(START_SECONDS)
        with contextlib.suppress(BrokenMessage):  # who waits for it to be ready hears why
            send(ours, worker_settings(self.level, self._wall, self._preload))
        self._worker, self.stopped_for = _Worker(process, ours), None
        return self._worker

    def stop(self) -> None:
        """End the process and all that runs in it."""
        if self._worker is not None:
            self._worker.control.close()
            end_tree(self._worker.process)
        self._worker = None

    @property
    def runs(self) -> bool:
        """True if the process is running."""
        return self._worker is not None and self._worker.process.poll() is None

    @property
    def is_over(self) -> bool:
        """True once the process was stopped from here or has ended."""
        return bool(self.stopped_for) or not self.runs

    @contextlib.contextmanager
    def submission(self, budget: Budget | None = None) -> Iterator[Channel]:
        """A child of the process for one submission; nothing that it leaves outlives the block.

        Args:
            budget: Of what it may use in all; None for no limit.
        """
        worker = self._ready_worker()
        channel = self.open_channel(budget)
        try:
            socket.send_fds(worker.control, [FORK], [channel.take_other_end()])
        except OSError:  # it has ended since it was clean
            self.start()
            worker = self._ready_worker()
            socket.send_fds(worker.control, [FORK], [channel.take_other_end()])
        pid, stop = worker.process.pid, partial(self._stop_for, worker)
        self._watchdog = Watchdog(pid, worker.own_memory or 0, stop)
        try:
            yield channel
        finally:
            channel.close()
            self._watchdog.stop()
            channel.left = self._clean_up(worker)

    def open_channel(self, budget: Budget | None = None) -> Channel:
        """A channel whose other end nobody has yet."""
        return Channel(lambda: self.stopped_for, lambda: self._watchdog.usage, budget)

    def check_leftovers(self) -> None:
        """Check that the last request left no crowd of processes running.

        Raises:
            Termination: It does.
        """
        if ended := self._watchdog.too_many_left():
            raise ended

    def _ready_worker(self) -> _Worker:
        """The process, which runs and has imported torch."""
        worker = self._worker if self.runs else None
        worker = worker or self._start()
        if worker.own_memory is not None:
            return worker
        try:
            receive(worker.control)
            worker.own_memory = max(map(memory_of, tree(worker.process.pid)))
        except (BrokenMessage, TimeoutError, ValueError) as error:
            self.stop()
            log = (self._folder / LOG).read_text(encoding="utf-8", errors="replace")[-1000:]
            raise RuntimeError(f"the confined process did not start: {error}. {log}") from None
        return worker

    def _stop_for(self, worker: _Worker, ended: Termination) -> None:
        self.stopped_for = ended
        end_tree(worker.process)

    def _clean_up(self, worker: _Worker) -> Message:
        """Clean up after a submission; start a new process if that fails."""
        try:
            worker.control.settimeout(KILL_GRACE + CLEAN_UP_SECONDS)
            worker.control.send(END)
            left = receive(worker.control)
            is_clean = left["alive"] == 0
        except (BrokenMessage, KeyError, OSError):  # a TimeoutError is an OSError
            left, is_clean = {}, False
        if not is_clean:
            self.start()
        return left
