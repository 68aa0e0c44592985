"""What Python's audit events mean when a submission raises them."""

import os
import socket
from typing import Any

from attn_grade.inside.alarm import Alarm, Kind
from attn_grade.inside.system_calls import REFUSED
from attn_grade.inside.wall import Wall

NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}
NETWORK |= {"socket.sendto", "socket.sendmsg"}
KILLING = {"os.kill", "os.killpg", "signal.pthread_kill"}
STARTING = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen"}
LOOKING_AROUND = {"fc-list", "ldconfig", "gcc", "ld", "uname", "lscpu"}
LOOKING = {"sys.setprofile", "sys.settrace", "gc.get_objects", "gc.get_referrers"}
BY_A_CELL = {"sys._getframe"}  # the library does it for all, as when it warns
LISTING = {"os.listdir", "os.scandir"}
OPENING = {"open", "sqlite3.connect"}
PLACING = {"os.rename", "os.link", "os.symlink"}  # something, by the second argument
LIMITING = {"resource.setrlimit", "resource.prlimit"}
HEARD = frozenset({"ctypes.dlsym", *NETWORK, *KILLING, *STARTING, *LOOKING, *BY_A_CELL}).union(
    LISTING, OPENING, PLACING, LIMITING
)
OWN_PLACE = os.environ.get("TMPDIR", "/tmp")  # where sockets of its own would be
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LIBC = REFUSED | {"kill", "syscall"}  # functions of C
Arguments = tuple[Any, ...]  # those of an audit event


def meaning(event: str, arguments: Arguments, is_called: bool, wall: Wall) -> Alarm | None:
    """What an event means, if it is one that no answer needs.

    Args:
        event: Its name, as Python's table of audit events has it.
        arguments: Its arguments.
        is_called: Whether it is an answer that runs, called by the grader, and no cell.
        wall: What is held back.
    """
    if event in OPENING or event in LISTING or event in PLACING:
        return _of_a_path(event, arguments, wall)
    if event in NETWORK:
        return _of_the_network(arguments)
    if event in KILLING:
        is_nothing = event == "os.kill" and arguments == (os.getpid(), 0)  # asks whether it runs
        return None if is_nothing else Alarm(Kind.SIGNALLED)
    if event in STARTING and not _is_looking_around(event, arguments):
        return Alarm(Kind.STARTED, event)
    if is_called and event in LOOKING:
        return Alarm(Kind.HOOKED, event)
    if is_called and event in BY_A_CELL:  # as to say the name of a function
        return Alarm(Kind.LOOKED_UP, event)
    if event == "ctypes.dlsym" and arguments[1] in LIBC:
        return Alarm(Kind.CALLED_SYSTEM, arguments[1])
    if event in LIMITING:
        other = event == "resource.prlimit" and arguments[0] not in (0, os.getpid())
        return Alarm(Kind.LIMITED if other else Kind.LIMITED_ITSELF)
    return None


def _of_a_path(event: str, arguments: Arguments, wall: Wall) -> Alarm | None:
    path = _path(arguments[event in PLACING])
    writes = event in PLACING or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
    if event in LISTING:
        return Alarm(Kind.LOOKED_THROUGH, path) if wall.is_grader(path) else None
    if wall.is_secret(path) and path != f"/proc/{os.getpid()}/environ":
        return Alarm(Kind.WROTE if writes else Kind.READ, path)
    if writes and wall.is_package(path):
        return Alarm(Kind.WROTE, path)
    return None


def _path(one: object) -> str:
    """A path in words; none for a descriptor, or for the working directory."""
    return os.fsdecode(one) if isinstance(one, str | bytes | os.PathLike) else ""


def _of_the_network(arguments: Arguments) -> Alarm | None:
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
    """Whom an event of the network means: a host, or what stands where one should."""
    if not isinstance(arguments[0], socket.socket):
        return arguments[0]
    address = arguments[1]
    return address[0] if isinstance(address, tuple) and address else None


def _is_looking_around(event: str, arguments: Arguments) -> bool:
    """Whether it is a program by which libraries learn what fonts and libraries there are."""
    return event == "subprocess.Popen" and os.path.basename(str(arguments[0])) in LOOKING_AROUND
