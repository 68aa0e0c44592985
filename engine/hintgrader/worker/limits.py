"""Resource limits of a submission, and protection of the process it was forked from."""

import ctypes
import os
import signal
import sys
from contextlib import suppress

from hintgrader.worker.system_calls import refuse_system_calls
from hintgrader.worker.time_limits import BACKSTOP_SECONDS

GIGABYTE = 2**30
MEMORY = 4 * GIGABYTE  # of one process, and of all together
PROCESSES = 64
FILE_SIZE, OPEN_FILES = GIGABYTE // 16, 256
SET_PARENT_DEATH_SIGNAL, SET_DUMPABLE, SET_CHILD_SUBREAPER = 1, 4, 36  # of Linux's prctl


def guard_worker() -> None:
    """Hide this process from others of the same user, and adopt the orphans of its children.

    A process whose parent has ended becomes a child of this one, so that it can be found.
    """
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(SET_DUMPABLE, 0, 0, 0, 0)


def become(user: int) -> None:
    """Give up being root for good.

    Raises:
        OSError: That user is none here.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def limit_this_process(count_processes: bool) -> None:
    """Set limits that this process and all it starts cannot raise again.

    Args:
        count_processes: Whether to limit the number of processes, which the kernel counts by user:
            only where the user is one of the sandbox's own.
    """
    import resource  # there is none on Windows, where this module only has to load

    limits = {
        resource.RLIMIT_DATA: MEMORY,
        resource.RLIMIT_FSIZE: FILE_SIZE,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CPU: BACKSTOP_SECONDS,
        resource.RLIMIT_CORE: 0,
    }
    if count_processes:
        limits[resource.RLIMIT_NPROC] = PROCESSES
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(kind, (least, least))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing raises an OSError instead
    refuse_system_calls()
