"""Classifies Python's audit events that a submission raises."""

import os
import socket
from typing import Any

from hintgrader.worker.alarm import Alarm, Kind
from hintgrader.worker.system_calls import REFUSED
from hintgrader.worker.wall import Wall

NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}
NETWORK |= {"socket.sendto", "socket.sendmsg"}
KILL_EVENTS = {"os.kill", "os.killpg", "signal.pthread_kill"}
START_EVENTS = {
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.posix_spawn",
    "os.system",
    "subprocess.Popen",
}
PROBING_PROGRAMS = {"fc-list", "ldconfig", "gcc", "ld", "uname", "lscpu"}
LOOKING = {"sys.setprofile", "sys.settrace", "gc.get_objects", "gc.get_referrers"}
FRAME_EVENTS = {"sys._getframe"}  # the library does it for all, as when it warns
LIST_EVENTS = {"os.listdir", "os.scandir"}
OPEN_EVENTS = {"open", "sqlite3.connect"}
PLACE_EVENTS = {"os.rename", "os.link", "os.symlink"}  # something, by the second argument
LIMIT_EVENTS = {"resource.setrlimit", "resource.prlimit"}
WATCHED_EVENTS = frozenset(
    {"ctypes.dlsym", *NETWORK, *KILL_EVENTS, *START_EVENTS, *LOOKING, *FRAME_EVENTS}
).union(LIST_EVENTS, OPEN_EVENTS, PLACE_EVENTS, LIMIT_EVENTS)
OWN_PLACE = os.environ.get("TMPDIR", "/tmp")  # where sockets of its own would be
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LIBC = REFUSED | {"kill", "syscall"}  # functions of C
Arguments = tuple[Any, ...]  # of an audit event


def classify_event(event: str, arguments: Arguments, in_answer: bool, wall: Wall) -> Alarm | None:
    """The alarm for an event that no answer needs, or None.

    Args:
        event: Its name, as Python's table of audit events has it.
        arguments: Its arguments.
        in_answer: Whether it is an answer that runs, called by the grader, and no cell.
        wall: What is held back.
    """
    if event in OPEN_EVENTS or event in LIST_EVENTS or event in PLACE_EVENTS:
        return _path_alarm(event, arguments, wall)
    if event in NETWORK:
        return _network_alarm(arguments)
    if event in KILL_EVENTS:
        return None if _is_own(event, arguments[0]) else Alarm(Kind.SIGNALLED)
    if event in START_EVENTS and not _is_probing(event, arguments):
        return Alarm(Kind.STARTED, event)
    if in_answer and event in LOOKING:
        return Alarm(Kind.HOOKED, event)
    if in_answer and event in FRAME_EVENTS:  # as to say the name of a function
        return Alarm(Kind.LOOKED_UP, event)
    if event == "ctypes.dlsym" and arguments[1] in LIBC:
        return Alarm(Kind.CALLED_SYSTEM, arguments[1])
    if event in LIMIT_EVENTS:
        other = event == "resource.prlimit" and arguments[0] not in (0, os.getpid())
        return Alarm(Kind.LIMITED if other else Kind.LIMITED_ITSELF)
    return None


def _is_own(event: str, target: object) -> bool:
    """True if a signal is for this process, or for one that it has started itself."""
    if event == "signal.pthread_kill" or (event == "os.kill" and target == os.getpid()):
        return True
    if not isinstance(target, int) or target <= 0 or not hasattr(os, "waitid"):
        return False
    try:  # which fails for any process that is no child; WNOWAIT leaves it to be waited for
        os.waitid(os.P_PID, target, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except OSError:
        return False
    return True


def _path_alarm(event: str, arguments: Arguments, wall: Wall) -> Alarm | None:
    path = _path(arguments[event in PLACE_EVENTS])
    writes = event in PLACE_EVENTS or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
    if event in LIST_EVENTS:
        return Alarm(Kind.LOOKED_THROUGH, path) if wall.is_grader(path) else None
    if wall.is_secret(path) and path != f"/proc/{os.getpid()}/environ":
        return Alarm(Kind.WROTE if writes else Kind.READ, path)
    if writes and wall.is_package(path):
        return Alarm(Kind.WROTE, path)
    return None


def _path(one: object) -> str:
    """A path in words; none for a descriptor, or for the working directory."""
    return os.fsdecode(one) if isinstance(one, str | bytes | os.PathLike) else ""


def _network_alarm(arguments: Arguments) -> Alarm | None:
    """Sockets between processes of one machine are no network; but not all are its own."""
    one = arguments[0]
    if _host(arguments) in LOOPBACK:
        return Alarm(Kind.LOOPBACK)
    if not isinstance(one, socket.socket) or one.family != getattr(socket, "AF_UNIX", None):
        return Alarm(Kind.NETWORK)
    address = _path(arguments[1])
    is_own = not address.startswith("/") or address.startswith(OWN_PLACE)
    return None if is_own else Alarm(Kind.SOCKET, address)


def _host(arguments: Arguments) -> object:
    """The host that an event of the network names, or whatever was given in its place."""
    if not isinstance(arguments[0], socket.socket):
        return arguments[0]
    address = arguments[1]
    return address[0] if isinstance(address, tuple) and address else None


def _is_probing(event: str, arguments: Arguments) -> bool:
    """True for a program by which libraries look for fonts and libraries.

    From Python 3.13 on, `subprocess` may start it by `os.posix_spawn`, which raises a second event.
    """
    is_program = event in ("subprocess.Popen", "os.posix_spawn")
    return is_program and os.path.basename(str(arguments[0])) in PROBING_PROGRAMS
