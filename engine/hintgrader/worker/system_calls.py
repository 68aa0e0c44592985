"""Requests to the kernel that a submission is refused, by Linux's seccomp.

They are those by which it could leave something to the next submission (memory that belongs to no
process, keys), change or look into a process that is not its own, take memory that nobody counts,
or make itself the root of a world of its own. No answer needs them.
"""

import errno

from hintgrader.worker.seccomp import LIBRARY, MASKED_EQ, NE, Condition, Filter

SHARED_STATE = "shmget semget msgget mq_open add_key request_key keyctl"
LOOKING = "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd perf_event_open setpriority"
UNACCOUNTED = (
    "memfd_create memfd_secret io_uring_setup io_uring_enter io_uring_register userfaultfd"
)
PRIVILEGED = (
    "unshare setns pivot_root chroot mount umount2 open_tree move_mount fsopen fsconfig fsmount"
    " fspick mount_setattr bpf ioprio_set"
)
REFUSED = {*f"{SHARED_STATE} {LOOKING} {UNACCOUNTED} {PRIVILEGED}".split()}  # always
OTHER_PROCESS_ONLY = "prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler"
NEW_NAMESPACES = [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)]  # flags of clone
SHARED_ANONYMOUS, ALL_BITS = 0x21, 0xFFFFFFFF


def can_refuse() -> bool:
    """True if system calls can be refused here, with Linux and its library libseccomp."""
    return LIBRARY is not None


def refuse_system_calls() -> None:
    """Refuse them to this process and all that come from it, for good, if that can be done."""
    if LIBRARY is None:
        return
    rules = Filter(LIBRARY)

    def bits(argument: int, mask: int) -> Condition:
        return Condition(argument, MASKED_EQ, mask, mask)

    for name in sorted(REFUSED):
        rules.refuse(name, errno.EPERM)
    for name in OTHER_PROCESS_ONLY.split():
        rules.refuse(name, errno.EPERM, Condition(0, NE, 0))
    for flag in NEW_NAMESPACES:
        rules.refuse("clone", errno.EPERM, bits(0, flag))
    rules.refuse("clone3", errno.ENOSYS)  # its flags cannot be seen; libc then takes clone
    rules.refuse("kill", errno.EPERM, bits(0, ALL_BITS))  # everybody's process
    rules.refuse("mmap", errno.EPERM, bits(3, SHARED_ANONYMOUS))
    rules.load()
