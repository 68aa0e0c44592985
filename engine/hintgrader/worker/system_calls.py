"""Requests to the kernel that a submission is refused, by Linux's seccomp.

They are those by which it could leave something to the next submission (memory that belongs to no
process, keys), change or look into a process that is not its own, take memory that nobody counts,
or make itself the root of a world of its own. No answer needs them.
"""

import errno

try:
    import pyseccomp as seccomp  # in the worker, before any fork: it looks for its library
except (ImportError, OSError, RuntimeError):  # not Linux, or without libseccomp
    seccomp = None

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
    return seccomp is not None


def refuse_system_calls() -> None:
    """Refuse them to this process and all that come from it, for good, if that can be done."""
    if not can_refuse():
        return
    rules = seccomp.SyscallFilter(seccomp.ALLOW)

    def refuse(name: str, *conditions: object, error: int = errno.EPERM) -> None:
        if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0:  # older kernels lack some
            rules.add_rule(seccomp.ERRNO(error), name, *conditions)

    def bits(argument: int, mask: int) -> object:
        return seccomp.Arg(argument, seccomp.MASKED_EQ, mask, mask)

    for name in sorted(REFUSED):
        refuse(name)
    for name in OTHER_PROCESS_ONLY.split():
        refuse(name, seccomp.Arg(0, seccomp.NE, 0))
    for flag in NEW_NAMESPACES:
        refuse("clone", bits(0, flag))
    refuse("clone3", error=errno.ENOSYS)  # its flags cannot be seen; libc then takes clone
    refuse("kill", bits(0, ALL_BITS))  # everybody's process
    refuse("mmap", bits(3, SHARED_ANONYMOUS))
    rules.load()
