"""The few calls of libseccomp that refuse system calls to this process, by ctypes.

Names and numbers are those of `seccomp.h`; what each function does, its manual page says
(seccomp_init(3), seccomp_rule_add(3), seccomp_load(3)). The library is looked for when this module
is imported, which is in the worker, before any fork.
"""

import ctypes
import os
from collections.abc import Callable
from ctypes import CDLL, c_int, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any

SONAME = "libseccomp.so.2"
ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # actions; the second with an error number in its low bits
NE, MASKED_EQ = 1, 7  # comparisons


class Condition(ctypes.Structure):
    """A system call's argument, by its place, held against a value; `struct scmp_arg_cmp`.

    With `MASKED_EQ` the first value is the mask, and the second what is left under it.
    """

    _fields_ = [("arg", c_uint), ("op", c_int), ("a", c_uint64), ("b", c_uint64)]


def _load_library() -> CDLL | None:
    try:
        library = CDLL(SONAME)
    except OSError:  # not Linux, or without libseccomp
        return None
    for name, result, *arguments in (
        ("seccomp_init", c_void_p, c_uint32),
        ("seccomp_release", None, c_void_p),
        ("seccomp_load", c_int, c_void_p),
        ("seccomp_syscall_resolve_name", c_int, ctypes.c_char_p),
        ("seccomp_rule_add_array", c_int, c_void_p, c_uint32, c_int, c_uint, c_void_p),
    ):
        function: Callable[..., Any] = getattr(library, name)
        function.restype, function.argtypes = result, arguments  # type: ignore[attr-defined]
    return library


LIBRARY = _load_library()


class Filter:
    """Rules for system calls; what none of them refuses is allowed.

    Raises:
        OSError: libseccomp refuses, here or in a method.
    """

    def __init__(self, library: CDLL) -> None:
        self._library = library
        self._rules = library.seccomp_init(ALLOW)
        if not self._rules:
            raise OSError("libseccomp makes no filter")

    def refuse(self, name: str, error: int, *conditions: Condition) -> None:
        """Let a call fail with an error number if all conditions hold; one that is not known here,
        as on an older kernel, is left out."""
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            held = (Condition * len(conditions))(*conditions)
            action = ERRNO | error
            _check(
                self._library.seccomp_rule_add_array(
                    *(self._rules, action, number, len(conditions), held)
                )
            )

    def load(self) -> None:
        """Put the rules in force, for this process and all that come from it, for good."""
        _check(self._library.seccomp_load(self._rules))
        self._library.seccomp_release(self._rules)
        self._rules = None


def _check(status: int) -> None:
    if status < 0:
        raise OSError(-status, f"libseccomp: {os.strerror(-status)}")
