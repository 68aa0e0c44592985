"""Noticing what an answer calls: a library function that does the exercise, or the course's own.

Three nets, because there are many ways to call softmax: torch functions by name, torch operators
whatever they were called by, and every function of Python's by the file that it stands in, or of
C's by its name.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from attn_grade.inside.dispatch import Onlooker

# where pip installs packages, Debian and Colab included
INSTALLED = ("site-packages", "dist-packages")
# What these start, or switch off, is not seen any more; no answer needs them, except for a bar that
# shows how far a loop is, whose thread does nothing else.
UNWATCHED_CALLS = {"setprofile", "settrace", "start_new_thread", "start_joinable_thread"}
UNWATCHED_CALLS |= {"fork", "forkpty", "fork_exec", "posix_spawn", "posix_spawnp", "system"}
# as `threading` calls it from Python 3.13 on
SAME_CALL = {"start_joinable_thread": "start_new_thread"}
TQDM_MONITOR = os.path.join("tqdm", "_monitor.py")
Watcher = Callable[[FrameType, str, Any], None]  # what `sys.setprofile` takes
# the grader's own files, which are at work while an answer runs
GRADER = f"{Path(__file__).resolve().parent}{os.sep}"


@dataclass(frozen=True)
class StudentPackages:
    """The packages whose functions an answer is not to borrow, wherever they are installed.

    Args:
        names: Of the packages.
        wrappers: Of modules in them whose functions only wrap others, such as those that check
            shapes: what they call counts as called by their caller.
    """

    names: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()

    def contain(self, file: str) -> bool:
        """True for the file of a function of these packages that is no wrapper."""
        return file.startswith(_places(self.names)) and not self.are_wrappers(file)

    def are_wrappers(self, file: str) -> bool:
        """True for the file of a function that only wraps another."""
        return file.startswith(_places(self.wrappers))


NO_PACKAGES = StudentPackages()


@cache
def _places(names: tuple[str, ...]) -> tuple[str, ...]:
    """Prefixes of the paths of these packages and modules."""
    return tuple(map(_place, names))


def _place(name: str) -> str:
    """The folder of a package, or the file of a module."""
    spec = find_spec(name)
    if spec and spec.submodule_search_locations:
        return f"{spec.submodule_search_locations[0]}{os.sep}"
    if spec and spec.origin:
        return spec.origin
    raise ModuleNotFoundError(f"{name}, which the bank names, is not installed")


@contextmanager
def watched(
    avoid: tuple[str, ...],
    may_use: tuple[str, ...],
    packages: StudentPackages,
    borrowed: list[str],
) -> Iterator[None]:
    """Write down in `borrowed` what is called inside the `with` block and should not be.

    Args:
        avoid: Names of library functions.
        may_use: Functions of `packages`, as `package.module.function`; all others are written down.
        packages: Those whose functions are noticed.
        borrowed: Where to.
    """
    with (
        _Functions(avoid, borrowed),
        _Operators(avoid, borrowed),
        profiled(_frame_watcher(avoid, may_use, packages, borrowed)),
    ):
        yield


def _frame_watcher(
    avoid: tuple[str, ...],
    may_use: tuple[str, ...],
    packages: StudentPackages,
    borrowed: list[str],
) -> Watcher:
    def watch(frame: FrameType, event: str, called: Any) -> None:
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if event == "c_call" and not file.startswith(GRADER) and _is_reported(called, frame, avoid):
            borrowed.append(SAME_CALL.get(called.__name__, called.__name__))
        if event != "call" or name.startswith("<"):  # a module being imported, a lambda
            return
        if packages.contain(file):
            full = ".".join((frame.f_globals.get("__name__", ""), name))
            if not _called_by(packages, frame.f_back) and full not in may_use:
                borrowed.append(full)
        elif name in avoid and any(folder in file for folder in INSTALLED):
            borrowed.append(name)

    return watch


def _is_reported(called: Any, frame: FrameType, avoid: tuple[str, ...]) -> bool:
    """True for a function not written in Python that must be avoided, or that escapes watching."""
    if called.__name__ not in avoid:
        return called.__name__ in UNWATCHED_CALLS and not _starts_progress_bar(frame)
    of_tensor = isinstance(getattr(called, "__self__", None), torch.Tensor)
    return of_tensor or str(called.__module__).startswith("torch")


def _starts_progress_bar(frame: FrameType) -> bool:
    """True if tqdm asks for the thread that redraws its progress bars."""
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    return file.endswith(TQDM_MONITOR) and any(folder in file for folder in INSTALLED)


class _Functions(TorchFunctionMode):
    """Notices torch functions by the name they are called by."""

    def __init__(self, avoid: tuple[str, ...], borrowed: list[str]) -> None:
        super().__init__()
        self.avoid, self.borrowed = avoid, borrowed

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in self.avoid:
            self.borrowed.append(func.__name__)
        return func(*args, **(kwargs or {}))


class _Operators(Onlooker):
    """Notices torch operators, by whichever name they were called."""

    def __init__(self, avoid: tuple[str, ...], borrowed: list[str]) -> None:
        super().__init__()
        self.avoid, self.borrowed = avoid, borrowed

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__.strip("_")
        if name in self.avoid:
            self.borrowed.append(name)
        return func(*args, **(kwargs or {}))


def _called_by(packages: StudentPackages, caller: FrameType | None) -> bool:
    """True if the caller is a function of these packages, looking through wrappers."""
    while caller is not None and packages.are_wrappers(caller.f_code.co_filename):
        caller = caller.f_back
    return caller is not None and packages.contain(caller.f_code.co_filename)


@contextmanager
def profiled(watcher: Watcher) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        yield
    finally:
        sys.setprofile(before)
