"""The grader's side: a confined process, and talks with what runs in it."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from attn_course.grading.outside.isolation import LOG, Level, start_worker
from attn_course.grading.outside.limits import GIGABYTE, MEMORY, PATIENCE, PROCESSES
from attn_course.grading.outside.wire import END, FORK, KILL, BrokenMessage, Message, receive, send

START = 120.0  # seconds that a worker may take to import torch, on a busy machine
GLANCE = 0.2  # seconds between two looks at what a submission uses


class Ended(Exception):
    """There is nobody any more to answer: it ended itself, or was ended for what it did.

    Args:
        reason: What happened, to go on after "it" in a sentence for the student.
        out_of_time: Whether it was too slow.
    """

    def __init__(self, reason: str, out_of_time: bool = False) -> None:
        super().__init__(reason)
        self.out_of_time = out_of_time


class Slot:
    """A place where one submission after the other is run.

    Args:
        level: How far submissions are kept away.
        folder: Where `copy_package` has put what they may import.
        preload: Names of modules that are imported once for all of them.
    """

    def __init__(self, level: Level, folder: Path, preload: tuple[str, ...] = ()) -> None:
        self.level, self._folder, self._preload = level, folder, preload
        self.stopped_for: str | None = None  # why the process was ended from here
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Start the process anew without waiting; importing torch takes it seconds."""
        self.stop()
        ours, theirs = socket.socketpair()
        self._process = start_worker(self.level, self._folder, theirs.fileno(), self._preload)
        theirs.close()
        ours.settimeout(START)
        self._control, self.stopped_for = ours, None
        self._is_ready = False

    def stop(self) -> None:
        """End the process and all that runs in it."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            _end_tree(self._process)
        self._process = self._control = None

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.poll() is None

    @contextlib.contextmanager
    def submission(self) -> Iterator["Talk"]:
        """A child of the process for one submission; nothing that it leaves outlives the block."""
        self._make_ready()
        talk = Talk(self)
        socket.send_fds(self._control, [FORK], [talk.take_other_end()])
        watch = _Watch(self._process.pid, self._own_memory, self._stop_for)
        try:
            yield talk
        finally:
            talk.close()
            watch.stop()
            talk.left = self._clean_up()

    def kill(self) -> None:
        """End the child, whatever it is doing; forks of it go on."""
        with contextlib.suppress(OSError):
            self._control.send(KILL)

    def _make_ready(self) -> None:
        if not self.runs:
            self.start()
        if self._is_ready:
            return
        try:
            receive(self._control)
        except (BrokenMessage, TimeoutError) as error:
            self.stop()
            said = (self._folder / LOG).read_text(errors="replace")[-1000:]
            raise RuntimeError(f"the confined process did not start: {error}. {said}") from None
        self._is_ready = True
        self._own_memory = max(map(_memory, _tree(self._process.pid)))

    def _stop_for(self, reason: str) -> None:
        self.stopped_for = reason
        _end_tree(self._process)

    def _clean_up(self) -> Message:
        """Have all that is left ended; start anew if that does not go well."""
        try:
            self._control.settimeout(PATIENCE + 10.0)
            self._control.send(END)
            left = receive(self._control)
            is_clean = left["alive"] == 0
        except (BrokenMessage, KeyError, OSError):  # a TimeoutError is an OSError
            left, is_clean = {}, False
        if not is_clean:
            self.start()
        return left


class Talk:
    """Questions to a submission's process.

    Attributes:
        ended: Why nobody answers any more, if so.
        alarms: What it reached for.
        left: What it left behind, once it is over: `processes`, `files`.
    """

    def __init__(self, slot: Slot, alarms: list[str] | None = None) -> None:
        self.slot = slot
        self.ended: Ended | None = None
        self.alarms = [] if alarms is None else alarms
        self.left: Message = {}
        self._ours, self._theirs = socket.socketpair()

    def take_other_end(self) -> int:
        """The descriptor that the process gets; it belongs to whoever takes it."""
        return self._theirs.fileno()

    def close(self) -> None:
        """Say no more."""
        self._ours.close()
        self._theirs.close()

    def send_end(self, other: "Talk") -> None:
        """Hand this process the other end of a new talk, for a fork of it."""
        socket.send_fds(self._ours, [b"s"], [other.take_other_end()])
        other._theirs.close()

    def ask(
        self,
        message: Message,
        seconds: float,
        answer: Callable[[Message], Message] | None = None,
        name_of: Callable[[Callable], int] | None = None,
        then: Callable[[], None] | None = None,
    ) -> Message:
        """Send a request, and wait for what comes of it.

        Args:
            message: The request.
            seconds: How long to wait.
            answer: Answers what is asked in between.
            name_of: Numbers the callables of the message.
            then: Called when the request is sent.

        Raises:
            Ended: Nobody answers, or not in time, or what comes is no answer.
        """
        if self.ended:
            raise self.ended
        self._theirs.close()
        deadline = time.monotonic() + seconds
        try:
            self._ours.settimeout(seconds)
            send(self._ours, message, name_of)
            if then:
                then()
            while True:
                self._ours.settimeout(max(0.001, deadline - time.monotonic()))
                reply = receive(self._ours)
                if answer is None or ("callback" not in reply and "gradient" not in reply):
                    self.alarms += map(str, reply.pop("alarms", []))
                    return reply
                send(self._ours, answer(reply))
        except TimeoutError:
            self.ended = Ended(f"did not come back within {seconds:.0f} seconds", out_of_time=True)
        except (AttributeError, BrokenMessage, OSError, TypeError) as error:
            self.ended = self._find_reason(error)
        self.close()
        raise self.ended

    def _find_reason(self, error: Exception) -> Ended:
        """Whether it was ended from here, has ended by itself, or talks nonsense."""
        time.sleep(0.01)
        if self.slot.stopped_for:
            return Ended(self.slot.stopped_for)
        return Ended(f"ended its process, or sent what is no answer ({error})")


class _Watch:
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
            processes = _tree(self._pid)
            # what a fork has from the worker, it shares with it as long as it does not write to it
            memory = sum(max(0, _memory(process) - self._own_memory) for process in processes)
            if len(processes) > PROCESSES:
                return self._stop_for(f"started more than {PROCESSES} processes")
            if memory > MEMORY:
                most = MEMORY // GIGABYTE
                return self._stop_for(f"used {memory / GIGABYTE:.1f} GB of memory, above {most} GB")


def _tree(pid: int) -> list[psutil.Process]:
    """A process and all that has come from it, itself last."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    return []


def _memory(process: psutil.Process) -> int:
    """Bytes that a process has written or been given from one that has."""
    with contextlib.suppress(psutil.Error):
        used = process.memory_info()
        return used.rss - getattr(used, "shared", 0)
    return 0


def _end_tree(process: subprocess.Popen) -> None:
    """End a process, with all that has come from it: those first, or nobody would find them."""
    for _ in range(50):
        found = _tree(process.pid)[:-1]
        for descendant in found:
            with contextlib.suppress(psutil.Error):
                descendant.kill()
        if not found:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
