"""Alarms about a submission, as facts: a kind and a detail, not a sentence."""

import enum
from collections.abc import Iterable
from typing import NamedTuple

MAX_DETAIL = 180  # characters of what an alarm says of its occasion


class Kind(enum.Enum):
    """A kind of alarm.

    Attributes:
        accuses: Whether no honest notebook does it, so that a person should read the code; else it
            is a remark, and no more. The guide for instructors lists those that do.
        text: What an instructor reads; a detail takes the place of the braces.
    """

    TAMPERED = True, "tried to exchange {}"  # the grader; what comes after cannot be trusted
    REPLACED = True, "tried to replace {}"  # what cells see of it, on which no points depend
    IMPORTED = True, "tried to import {}"  # what is held back
    READ = True, "tried to read {}"  # what is secret
    WROTE = True, "tried to write {}"
    HOOKED = True, "called {}"  # while an answer was called; in cells, debuggers do it
    SIGNALLED = True, "tried to send a signal to a process"
    CALLED_SYSTEM = True, "tried to call {} of the system"
    LIMITED = True, "tried to limit another process"
    SOCKET = True, "tried to use {}"  # of another process
    COMPARED = False, "put a function of its own in the place of {}"  # perhaps to print
    STARTED = False, "started a process ({})"
    LOOKED_UP = False, "looked at what has called it ({})"
    LOOKED_THROUGH = False, "looked through {}"
    LIMITED_ITSELF = False, "changed its own limits"
    NETWORK = False, "tried to use the network"
    LOOPBACK = False, "used a socket of its own machine"
    THREAD = False, "runs a thread beside its cells"
    OPEN_FILES = False, "keeps many files or sockets open"
    CUT = False, "showed more than is kept, which was cut"
    FORGIVEN = False, "a line failed, and its cell went on: {}"
    STOPPED = False, "a cell stopped itself with {}"

    def __init__(self, accuses: bool, text: str) -> None:
        self.accuses, self.text = accuses, text


class Alarm(NamedTuple):
    """A noticed action: its kind, and a detail."""

    kind: Kind
    detail: str = ""

    def __str__(self) -> str:
        return self.kind.text.format(self.detail)

    @property
    def accuses(self) -> bool:
        return self.kind.accuses


def most_severe(alarms: Iterable[Alarm], most: int) -> list[Alarm]:
    """Each alarm once, and no more than so many; what accuses comes first, or it would be cut."""
    return sorted(dict.fromkeys(alarms), key=lambda alarm: not alarm.accuses)[:most]
