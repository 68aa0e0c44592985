"""Noticing what a submission reaches for, by Python's audit hooks, which cannot be taken off again.

An alarm stops nothing: the walls do. It tells the instructor whose code to read. Code that
knows how alarms are kept can silence them, since they are kept in the submission's own process.
"""

import sys
from collections.abc import Callable
from importlib.machinery import FileFinder
from multiprocessing import popen_fork
from subprocess import Popen
from types import CodeType

from hintgrader.worker.alarm import MAX_DETAIL, Alarm, Kind, most_severe
from hintgrader.worker.events import FRAME_EVENTS, WATCHED_EVENTS, Arguments, classify_event
from hintgrader.worker.integrity import Parts, exchanged, parts_at_work
from hintgrader.worker.shown import parts_compared
from hintgrader.worker.wall import Wall

MAX_EXCHANGED = 3  # parts of the grader that are named
MAX_ALARMS = 20  # of one request that are kept
MAX_LISTED = 3  # folders of the grader that are named, of those looked through
# a process of its own making
OWN_PROCESS_SIGNALS = (Popen.send_signal, popen_fork.Popen._send_signal)  # type: ignore[attr-defined]  # private
CELL = "<ipython-input"  # how the names of their files begin


class Alarms:
    """Collects what is noticed until it is taken.

    Args:
        wall: What is held back.
        own: Code of the grader's that does some of it too, and is not meant.
        parts_shown: Gives what cells see of the grader.
    """

    def __init__(self, wall: Wall, own: set[CodeType], parts_shown: Callable[[], Parts]) -> None:
        looks_around = FileFinder._fill_cache  # type: ignore[attr-defined]  # private
        not_meant = {one.__code__ for one in (looks_around, *OWN_PROCESS_SIGNALS)}
        self._wall, self._own = wall, own | not_meant
        self._raised: list[Alarm] = []
        self._watched = {
            Kind.TAMPERED: parts_at_work,
            Kind.REPLACED: parts_shown,
            Kind.COMPARED: parts_compared,
        }
        self._before: dict[Kind, Parts] = {}
        self._raised_once: set[Alarm] = set()
        self.in_answer = False  # whether what runs is an answer, called by the grader

    def listen(self) -> None:
        """Begin; there is no way back in this process and those forked from it."""
        self._before = {kind: parts() for kind, parts in self._watched.items()}
        sys.meta_path.insert(0, self)

        def hear(event: str, arguments: Arguments, heard: frozenset[str] = WATCHED_EVENTS) -> None:
            if event in heard:  # Python asks fifty thousand times a notebook
                self._notice(event, arguments)

        sys.addaudithook(hear)

    def add(self, *alarms: Alarm, once: bool = False) -> None:
        """Raise alarms for what is noticed elsewhere; `once`: each a single time."""
        new = [alarm for alarm in alarms if not (once and alarm in self._raised_once)]
        self._raised_once |= {*(new if once else ())}
        self._raised += new

    def take(self, compare: bool = True) -> list[tuple[str, str]]:
        """Return the alarms since the last call, as names of kinds and details, and clear them.

        Args:
            compare: Whether to look at all parts of the grader, which takes a millisecond.
        """
        for kind, parts in self._watched.items() if compare else ():
            others = [Alarm(kind, name) for name in exchanged(self._before[kind], parts())]
            others = [alarm for alarm in others if alarm not in self._raised_once]
            self.add(*others[:MAX_EXCHANGED])
            self._raised_once |= {*others}
        taken = most_severe(self._raised, MAX_ALARMS)
        self._raised.clear()
        return [(alarm.kind.name, alarm.detail) for alarm in taken]

    def find_spec(self, name: str, *_: object) -> None:
        """Find no module, as one of those that Python asks for it; but hear which is wanted."""
        if self._wall.holds_back(str(name)):
            self._raised.append(Alarm(Kind.IMPORTED, str(name)[:MAX_DETAIL]))

    def _notice(self, event: str, arguments: Arguments) -> None:
        alarm = classify_event(event, arguments, self.in_answer, self._wall)
        if not alarm:
            return
        alarm = Alarm(alarm.kind, alarm.detail[:MAX_DETAIL])
        if alarm in self._raised or not self._has_room(alarm):
            return
        code = _calling_code()
        file = getattr(code, "co_filename", "")
        if code not in self._own and (event not in FRAME_EVENTS or file.startswith(CELL)):
            self._raised.append(alarm)

    def _has_room(self, alarm: Alarm) -> bool:
        """True if there is room for another alarm of its kind: remarks must not crowd out
        accusations."""
        looked = [one for one in self._raised if one.kind is Kind.LOOKED_THROUGH]
        if alarm.kind is Kind.LOOKED_THROUGH and len(looked) >= MAX_LISTED:
            return False
        return sum(one.accuses == alarm.accuses for one in self._raised) < MAX_ALARMS


def _calling_code() -> CodeType | None:
    """The code that raised an event, found by an error: asking for frames would raise another
    event.

    A thread of C's has no such code.
    """
    try:
        raise LookupError
    except LookupError as error:
        frame = error.__traceback__ and error.__traceback__.tb_frame
        for _ in range(3):
            frame = frame and frame.f_back
        return getattr(frame, "f_code", None)
