"""Requests to the kernel that a submission is refused, by Linux's seccomp.

They are those by which it could leave something to the next submission (memory that belongs to no
process, keys), change or look into a process that is not its own, take memory that nobody counts,
or make itself the root of a world of its own. No answer needs them.
"""

import ctypes
import errno
import platform
import struct
import sys
from typing import NamedTuple

NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2  # of prctl
LOAD, MASK, EQUAL, LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # of the filter's language
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # where they stand in what a filter is given
FOREIGN_NUMBERS = 0x40000000  # and above: of a second numbering of x86_64
ALL_BITS, NEW_NAMESPACES, SHARED_ANONYMOUS = 0xFFFFFFFF, 0x7E020080, 0x21

# Numbers by kind of machine; those from 424 on are the same everywhere.
NUMBERS = {
    "x86_64": {
        **{"mmap": 9, "shmget": 29, "clone": 56, "kill": 62, "semget": 64, "msgget": 68},
        **{"ptrace": 101, "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144},
        **{"pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166},
        **{"sched_setaffinity": 203, "mq_open": 240, "add_key": 248, "request_key": 249},
        **{"keyctl": 250, "ioprio_set": 251, "unshare": 272, "perf_event_open": 298},
        **{"prlimit64": 302, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311},
        **{"kcmp": 312, "sched_setattr": 314, "memfd_create": 319, "bpf": 321},
        **{"userfaultfd": 323},
    },
    "aarch64": {
        **{"ioprio_set": 30, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51},
        **{"unshare": 97, "ptrace": 117, "sched_setparam": 118, "sched_setscheduler": 119},
        **{"sched_setaffinity": 122, "kill": 129, "setpriority": 140},
        **{"mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194, "add_key": 217},
        **{"request_key": 218, "keyctl": 219, "clone": 220, "mmap": 222},
        **{"perf_event_open": 241, "prlimit64": 261, "setns": 268, "process_vm_readv": 270},
        **{"process_vm_writev": 271, "kcmp": 272, "sched_setattr": 274, "memfd_create": 279},
        **{"bpf": 280, "userfaultfd": 282},
    },
}
EVERYWHERE = {
    **{"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428},
    **{"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433},
    **{"clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447},
}
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


class Only(NamedTuple):
    """A call is refused only if the bits of an argument under a mask (do not) equal a value."""

    argument: int
    mask: int
    value: int
    equal: bool


OF_ANOTHER_PROCESS = Only(0, ALL_BITS, 0, equal=False)
CONDITIONS = {
    "clone": Only(0, NEW_NAMESPACES, 0, equal=False),
    "kill": Only(0, ALL_BITS, ALL_BITS, equal=True),  # everybody's process
    "mmap": Only(3, SHARED_ANONYMOUS, SHARED_ANONYMOUS, equal=True),
    "prlimit64": OF_ANOTHER_PROCESS,
    "sched_setaffinity": OF_ANOTHER_PROCESS,
    "sched_setattr": OF_ANOTHER_PROCESS,
    "sched_setparam": OF_ANOTHER_PROCESS,
    "sched_setscheduler": OF_ANOTHER_PROCESS,
}


def refuse_system_calls() -> bool:
    """Refuse them to this process and all that come from it, for good.

    Returns:
        Whether that is known to work on this kind of machine.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in NUMBERS:
        return False
    program = _program(machine)
    code = ctypes.create_string_buffer(b"".join(program))
    pointer = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    prctl = ctypes.CDLL(None).prctl
    prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return prctl(SET_SECCOMP, FILTER, ctypes.c_char_p(pointer), 0, 0) == 0


def _program(machine: str) -> list[bytes]:
    program = [_step(LOAD, ARCHITECTURE), _step(EQUAL, ARCHITECTURES[machine], 1, 0)]
    program += [_step(RETURN, UNKNOWN), _step(LOAD, NUMBER)]
    program += [_step(LEAST, FOREIGN_NUMBERS, 0, 1), _step(RETURN, UNKNOWN)]
    for name, number in (NUMBERS[machine] | EVERYWHERE).items():
        answer = _step(RETURN, UNKNOWN if name == "clone3" else REFUSE)  # libc then takes clone
        if (only := CONDITIONS.get(name)) is None:
            program += [_step(EQUAL, number, 0, 1), answer]
            continue
        program += [_step(EQUAL, number, 0, 5), _step(LOAD, ARGUMENTS + 8 * only.argument)]
        program += [_step(MASK, only.mask), _step(EQUAL, only.value, *_jumps(only.equal))]
        program += [answer, _step(LOAD, NUMBER)]
    return [*program, _step(RETURN, ALLOW)]


def _jumps(refuse_if_equal: bool) -> tuple[int, int]:
    """How many steps to leave out where a value is equal, and where it is not."""
    return (0, 1) if refuse_if_equal else (1, 0)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
