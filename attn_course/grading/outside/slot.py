"""The grader's side: the confined process, where one submission runs after the other."""

import contextlib
import math
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attn_course.grading.outside.isolation import LOG, Level, start_worker
from attn_course.grading.outside.limits import PATIENCE
from attn_course.grading.outside.talk import Ended, Talk
from attn_course.grading.outside.watch import Watch, end_tree, memory_of, tree
from attn_course.grading.outside.wire import END, FORK, BrokenMessage, Message, receive

START = 120.0  # seconds that a worker may take to import torch, on a busy machine


class Slot:
    """A place where one submission after the other is run.

    Args:
        level: How far submissions are kept away.
        folder: Where `copy_package` has put what they may import.
        preload: Names of modules that are imported once for all of them.
        course: The folder of their course, which they are not to see.
    """

    def __init__(
        self,
        level: Level,
        folder: Path,
        preload: tuple[str, ...] = (),
        course: Path | None = None,
    ) -> None:
        self.level, self._folder, self._preload, self._course = level, folder, preload, course
        self.stopped_for: str | None = None  # why the process was ended from here
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Start the process anew without waiting; importing torch takes it seconds."""
        self.stop()
        ours, theirs = socket.socketpair()
        what = self._preload, self._course
        self._process = start_worker(self.level, self._folder, theirs.fileno(), *what)
        theirs.close()
        ours.settimeout(START)
        self._control, self.stopped_for = ours, None
        self._is_ready = False

    def stop(self) -> None:
        """End the process and all that runs in it."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            end_tree(self._process)
        self._process = self._control = None

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_over(self) -> bool:
        """Whether the process was ended from here, or has ended."""
        return bool(self.stopped_for) or not self.runs

    @contextlib.contextmanager
    def submission(self, until: float = math.inf) -> Iterator[Talk]:
        """A child of the process for one submission; nothing that it leaves outlives the block.

        Args:
            until: When all has to be over, as `time.monotonic` counts.
        """
        self._make_ready()
        talk = Talk(self, until)
        try:
            socket.send_fds(self._control, [FORK], [talk.take_other_end()])
        except OSError:  # it has ended since it was clean
            self.start()
            self._make_ready()
            socket.send_fds(self._control, [FORK], [talk.take_other_end()])
        self._watch = Watch(self._process.pid, self._own_memory, self._stop_for)
        try:
            yield talk
        finally:
            talk.close()
            self._watch.stop()
            talk.left = self._clean_up()

    def look(self) -> None:
        """See that what has been asked leaves nothing running that would not let the next be.

        Raises:
            Ended: It does.
        """
        if reason := self._watch.too_many_left():
            raise Ended(reason)

    def _make_ready(self) -> None:
        if not self.runs:
            self.start()
        if self._is_ready:
            return
        try:
            receive(self._control)
            self._own_memory = max(map(memory_of, tree(self._process.pid)))
        except (BrokenMessage, TimeoutError, ValueError) as error:
            self.stop()
            said = (self._folder / LOG).read_text(errors="replace")[-1000:]
            raise RuntimeError(f"the confined process did not start: {error}. {said}") from None
        self._is_ready = True

    def _stop_for(self, reason: str) -> None:
        self.stopped_for = reason
        end_tree(self._process)

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
