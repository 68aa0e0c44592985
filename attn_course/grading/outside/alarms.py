"""Noticing what a submission reaches for, by Python's audit hooks, which cannot be taken off again.

An alarm stops nothing: the walls do. It tells the instructor whose code to read. Whoever knows how
alarms are kept can silence them, for they are kept in the submission's own process.
"""

import os
import re
import socket
import sys
from types import CodeType

from attn_course.grading.outside.integrity import exchanged, parts_at_work

EXCHANGED = "tried to exchange"  # parts of the grader; what comes after cannot be trusted
MOST_EXCHANGED = 3  # of them that are named
MOST = 20  # alarms of one request that are kept
NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
KILLING = {"os.kill", "os.killpg", "signal.pthread_kill"}
STARTING = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"}
LOOKING_AROUND = {"fc-list", "ldconfig", "gcc", "ld", "uname", "lscpu"}
LOOKING = {"sys.setprofile", "sys.settrace", "gc.get_objects", "gc.get_referrers"}
OPENING = {"open", "os.listdir", "os.scandir"}
HELD_BACK = ("attn_course.grading.exercises", "attn_course.grading.judge")
HELD_BACK += ("attn_course.grading.checking", "attn_course.grading.trial")
SECRET_PATHS = re.compile(
    r"grading/exercises|grading/(judge|checking|trial)|solutions/|gradebook|grading/secret"
    r"|/proc/\d+/(mem|environ)$"
)


class Alarms:
    """Collects what is noticed until it is taken.

    Args:
        own: Code of the grader's that does some of it too, and is not meant.
    """

    def __init__(self, own: set[CodeType]) -> None:
        self._own, self._raised = own, []
        self._before, self._told = parts_at_work(), set()
        self.is_called = False  # whether what runs is an answer, called by the grader

    def listen(self) -> None:
        """Begin; there is no way back in this process and those forked from it."""
        sys.meta_path.insert(0, self)
        sys.addaudithook(self._notice)

    def take(self, compare: bool = True) -> list[str]:
        """What has been noticed since the last time.

        Args:
            compare: Whether to look at all parts of the grader, which takes a millisecond.
        """
        others = exchanged(self._before) if compare else []
        others = [name for name in others if name not in self._told]
        self._raised += [f"{EXCHANGED} {name}" for name in others[:MOST_EXCHANGED]]
        self._told |= {*others}
        taken = list(dict.fromkeys(self._raised))[:MOST]
        self._raised.clear()
        return taken

    def find_spec(self, name: str, *_: object) -> None:
        """Find no module, as one of those that Python asks for it; but hear which is wanted."""
        if str(name).startswith(HELD_BACK):
            self._raised.append(f"tried to import {name}")

    def _notice(self, event: str, arguments: tuple) -> None:
        alarm = len(self._raised) < MOST and self._alarm(event, arguments)
        if alarm and sys._getframe(1).f_code not in self._own:
            self._raised.append(alarm[:200])

    def _alarm(self, event: str, arguments: tuple) -> str | None:
        """What an event means, if it is one that no answer needs."""
        if event in OPENING:
            path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else ""
            return f"tried to read {path}" if SECRET_PATHS.search(path) else None
        if event in NETWORK and not _is_local(arguments[0]):
            return "tried to use the network"
        if event in KILLING:
            return "tried to send a signal to a process"
        if event in STARTING and not _is_looking_around(event, arguments):
            return f"started a process ({event})"
        if event in LOOKING and self.is_called:  # in cells, debuggers and profilers do it
            return f"called {event}"
        return None


def _is_looking_around(event: str, arguments: tuple) -> bool:
    """Whether it is a program by which libraries learn what fonts and libraries there are."""
    return event == "subprocess.Popen" and os.path.basename(str(arguments[0])) in LOOKING_AROUND


def _is_local(what: object) -> bool:
    """Whether it is a socket between processes of one machine."""
    return isinstance(what, socket.socket) and what.family == getattr(socket, "AF_UNIX", None)
