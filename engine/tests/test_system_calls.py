"""System calls that are refused to a submission, tried in a process of their own."""

from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from hintgrader.worker import seccomp
from hintgrader.worker.system_calls import REFUSED, can_refuse

pytestmark = pytest.mark.skipif(not can_refuse(), reason="libseccomp is not installed")

BEGIN = """
import ctypes, mmap, os, signal, sys, threading
from hintgrader.worker.system_calls import refuse_system_calls
libc = ctypes.CDLL(None, use_errno=True)
refuse_system_calls()
"""
TRIED = {
    "libc.unshare(0x10000000)": errno.EPERM,
    "libc.ptrace(0, 0, 0, 0)": errno.EPERM,
    "libc.memfd_create(b'x', 0)": errno.EPERM,
    "libc.shmget(0, 4096, 0o1600)": errno.EPERM,
    "libc.kill(-1, 0)": errno.EPERM,
    "libc.syscall(435, 0, 0)": errno.ENOSYS,  # clone3
    "libc.mmap(None, 4096, 3, 0x21, -1, 0)": errno.EPERM,
    "libc.sched_setaffinity(1, 8, b'\\xff' * 8)": errno.EPERM,
}
ALLOWED = (
    "os.kill(os.getpid(), 0)",
    "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
    "threading.Thread(target=print).start()",
    "os.waitpid(os.fork() or os._exit(0), 0)",
    "__import__('subprocess').run(['true'], check=True)",
)


def run(source: str) -> str:
    command = [sys.executable, "-c", BEGIN + source]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_call_that_leaves_something_or_looks_elsewhere_fails_with_its_error_number() -> None:
    calls = "\n".join(f"{call}; print(ctypes.get_errno())" for call in TRIED)
    assert [int(word) for word in run(calls).split()] == list(TRIED.values())


def test_what_an_answer_may_need_is_allowed() -> None:
    assert run("\n".join([*ALLOWED, "print('all')"])).endswith("all")


def test_filter_is_inherited_by_what_it_starts() -> None:
    inner = "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))"
    assert run(f"import subprocess; subprocess.run([sys.executable, '-c', {inner!r}])") == "-1"


def test_every_call_is_known_here_by_its_name() -> None:
    """A name with a slip in it would be left out as if the kernel lacked it."""
    assert seccomp.LIBRARY is not None
    resolve = seccomp.LIBRARY.seccomp_syscall_resolve_name
    assert {name for name in REFUSED if resolve(name.encode()) == -1} == set()


def test_refusal_of_the_library_is_an_error_and_no_open_door() -> None:
    assert seccomp.LIBRARY is not None
    with pytest.raises(OSError, match="libseccomp"):
        seccomp.Filter(seccomp.LIBRARY).refuse("kill", 1, seccomp.Condition(9, seccomp.NE, 0))
