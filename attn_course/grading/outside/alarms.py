"""Noticing what a submission reaches for, by Python's audit hooks, which cannot be taken off again.

An alarm stops nothing: the walls do. It tells the instructor whose code to read.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

from attn_course.grading.submission import __file__ as SUBMISSION
from attn_course.grading.watching import __file__ as WATCHING

MOST = 20  # alarms of one request that are kept
NETWORK = {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"}
KILLING = {"os.kill", "os.killpg", "signal.pthread_kill"}
STARTING = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"}
LOOKING = {"sys.setprofile", "sys.settrace", "gc.get_objects", "gc.get_referrers"}
HELD_BACK = ("attn_course.grading.exercises", "attn_course.grading.judge")
SECRET_PATHS = ("grading/exercises", "solutions/", "gradebook", "grading/secret", "/mem")


class Alarms:
    """Collects what is noticed until it is taken."""

    def __init__(self) -> None:
        self._raised: list[str] = []
        self._off = False

    def listen(self) -> None:
        """Begin; there is no way back in this process and those forked from it."""
        sys.addaudithook(self._notice)

    def take(self) -> list[str]:
        """What has been noticed since the last time."""
        taken = list(dict.fromkeys(self._raised))
        self._raised.clear()
        return taken

    @contextlib.contextmanager
    def off(self) -> Iterator[None]:
        """Notice nothing of what the grader's own code does in the `with` block."""
        self._off = True
        try:
            yield
        finally:
            self._off = False

    def _notice(self, event: str, arguments: tuple) -> None:
        if self._off or len(self._raised) >= MOST:
            return
        if alarm := _alarm(event, arguments):
            self._raised.append(alarm[:200])


def _alarm(event: str, arguments: tuple) -> str | None:
    """What an event means, if it is one that no answer needs."""
    if event == "open" or event == "os.listdir":
        path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else ""
        return f"tried to read {path}" if any(part in path for part in SECRET_PATHS) else None
    if event == "import":
        return f"tried to import {arguments[0]}" if arguments[0].startswith(HELD_BACK) else None
    if event in NETWORK:
        return "tried to use the network"
    if event in KILLING:
        return "tried to send a signal to a process"
    if event in STARTING:
        return f"started a process ({event})"
    if event in LOOKING and sys._getframe(2).f_code.co_filename not in (WATCHING, SUBMISSION):
        return f"called {event}"
    return None
