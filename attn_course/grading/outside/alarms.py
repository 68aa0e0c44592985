"""Noticing what a submission reaches for, by Python's audit hooks, which cannot be taken off again.

An alarm stops nothing: the walls do. It tells the instructor whose code to read. Whoever knows how
alarms are kept can silence them, for they are kept in the submission's own process.
"""

import sys
from collections.abc import Callable
from importlib.machinery import FileFinder
from multiprocessing import popen_fork
from subprocess import Popen
from types import CodeType

from attn_course.grading.outside.events import BY_A_CELL, HEARD, LOOKED, meaning
from attn_course.grading.outside.integrity import Parts, exchanged, parts_at_work
from attn_course.grading.outside.reaching import is_reaching, most_telling
from attn_course.grading.outside.shown import parts_compared

EXCHANGED = "tried to exchange"  # parts of the grader; what comes after cannot be trusted
REPLACED = "tried to replace"  # what cells see of the grader, on which no points depend
COMPARED = "put a function of its own in the place of"  # perhaps to see how it compares
MOST_EXCHANGED = 3  # of them that are named
MOST = 20  # alarms of one request that are kept
MOST_LOOKED = 3  # folders of the grader that are named, of those looked through
ENDS_OWN = (Popen.send_signal, popen_fork.Popen._send_signal)  # a process of its own making
HELD_BACK = ("attn_course.grading.exercises", "attn_course.grading.judge")
HELD_BACK += ("attn_course.grading.checking", "attn_course.grading.trial")
CELL = "<ipython-input"  # how the names of their files begin


class Alarms:
    """Collects what is noticed until it is taken.

    Args:
        own: Code of the grader's that does some of it too, and is not meant.
        parts_shown: Gives what cells see of the grader.
    """

    def __init__(self, own: set[CodeType], parts_shown: Callable[[], Parts]) -> None:
        not_meant = {one.__code__ for one in (FileFinder._fill_cache, *ENDS_OWN)}
        self._own, self._raised = own | not_meant, []
        self._watched = {EXCHANGED: parts_at_work, REPLACED: parts_shown, COMPARED: parts_compared}
        self._before: dict[str, Parts] = {}
        self._told: set[str] = set()
        self._looked = 0
        self.is_called = False  # whether what runs is an answer, called by the grader

    def listen(self) -> None:
        """Begin; there is no way back in this process and those forked from it."""
        self._before = {said: parts() for said, parts in self._watched.items()}
        sys.meta_path.insert(0, self)

        def hear(event: str, arguments: tuple, heard: frozenset = HEARD) -> None:
            if event in heard:  # Python asks fifty thousand times a notebook
                self._notice(event, arguments)

        sys.addaudithook(hear)

    def tell(self, *alarms: str, once: bool = False) -> None:
        """Raise alarms for what is noticed elsewhere; `once`: each a single time."""
        new = [alarm for alarm in alarms if not (once and alarm in self._told)]
        self._told |= {*(new if once else ())}
        self._raised += new

    def take(self, compare: bool = True) -> list[str]:
        """What has been noticed since the last time.

        Args:
            compare: Whether to look at all parts of the grader, which takes a millisecond.
        """
        for said, parts in self._watched.items() if compare else ():
            others = [f"{said} {name}" for name in exchanged(self._before[said], parts())]
            others = [alarm for alarm in others if alarm not in self._told]
            self.tell(*others[:MOST_EXCHANGED])
            self._told |= {*others}
        taken = most_telling(self._raised, MOST)
        self._raised.clear()
        return taken

    def find_spec(self, name: str, *_: object) -> None:
        """Find no module, as one of those that Python asks for it; but hear which is wanted."""
        if str(name).startswith(HELD_BACK):
            self._raised.append(f"tried to import {name}")

    def _notice(self, event: str, arguments: tuple) -> None:
        alarm = meaning(event, arguments, self.is_called)
        if not alarm or alarm[:200] in self._raised or not self._has_room(alarm):
            return
        code = _code_behind_the_hook()
        file = getattr(code, "co_filename", "")
        if code not in self._own and (event not in BY_A_CELL or file.startswith(CELL)):
            self._raised.append(alarm[:200])
            self._looked += alarm.startswith(LOOKED)

    def _has_room(self, alarm: str) -> bool:
        """Whether there are not too many of its kind: remarks must not crowd out what accuses."""
        if alarm.startswith(LOOKED) and self._looked >= MOST_LOOKED:
            return False
        return sum(is_reaching(one) == is_reaching(alarm) for one in self._raised) < MOST


def _code_behind_the_hook() -> CodeType | None:
    """What has raised an event, found by an error: to ask for frames would raise another.

    A thread of C's has no such code.
    """
    try:
        raise LookupError
    except LookupError as error:
        frame = error.__traceback__.tb_frame
        for _ in range(3):
            frame = frame and frame.f_back
        return getattr(frame, "f_code", None)
