"""Noticing what an answer calls: a library function that does the exercise, or the course's own.

Two nets, because there are many ways to call softmax: PyTorch's operators, where they are
dispatched, and every function of Python's by the file that it stands in, or of C's by its name.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np
import torch

from hintgrader.worker.forbidden_calls import SCRIPTED, forbidden_calls
from hintgrader.worker.operations import Escaped, Operations, operations
from hintgrader.worker.student_packages import StudentPackages

# where pip installs packages, Debian and Colab included
INSTALLED = ("site-packages", "dist-packages")
# What these start, or switch off, is not seen any more; no answer needs them, except for a bar that
# shows how far a loop is, whose thread does nothing else.
UNWATCHED_CALLS = {"setprofile", "settrace", "addaudithook", "setitimer"}
UNWATCHED_CALLS |= {"start_new_thread", "start_joinable_thread"}
UNWATCHED_CALLS |= {"fork", "forkpty", "fork_exec", "posix_spawn", "posix_spawnp", "system"}
UNWATCHED_CALLS |= {"_enable_record_function", "_disable_profiler", "_disable_profiler_legacy"}
PROFILER = "a profiler"  # that took the place of ours
TRACED = "<eval_with_key>"  # how the names of the files begin in which `torch.fx` writes code
# as `threading` calls it from Python 3.13 on
SAME_CALL = {"start_joinable_thread": "start_new_thread"}
TQDM_MONITOR = os.path.join("tqdm", "_monitor.py")
Watcher = Callable[[FrameType, str, Any], None]  # what `sys.setprofile` takes
# the grader's own files, which are at work while an answer runs
GRADER = f"{Path(__file__).resolve().parent}{os.sep}"


class Watch:
    """Looks out for what an answer calls and should not.

    Args:
        avoid: Families of library functions, and names of others.
        may_use: Functions of `packages`, as `package.module.function`; all others are written down.
        packages: Those whose functions are noticed.
        borrowed: Where to write down what is called and should not be: of a family its first.
    """

    def __init__(
        self,
        avoid: tuple[str, ...],
        may_use: tuple[str, ...],
        packages: StudentPackages,
        borrowed: list[str],
    ) -> None:
        self._avoided = forbidden_calls((*avoid, SCRIPTED))
        self.may_use, self.packages, self.borrowed = may_use, packages, borrowed
        self.operations: Operations
        self._written_down: set[str] = set()
        # by their numbers, as to compare them takes long; kept, so that no other has the number
        self._looked_at: dict[int, CodeType] = {}

    def see(self, frame: FrameType, event: str, called: Any) -> None:
        """Look at a call, as `sys.setprofile` tells of it: several times for each operator."""
        if event == "c_return":
            return
        code = frame.f_code
        if code.co_filename.startswith(GRADER):
            return
        if event == "c_call":
            self._see_function_of_c(frame, called)
        elif event == "call":
            self._see_function_of_python(frame)
        elif event == "return" and id(code) not in self._looked_at:
            self._looked_at[id(code)] = code
            self._see_ufuncs_of(frame)

    def _see_function_of_python(self, frame: FrameType) -> None:
        code = frame.f_code
        if self.packages.contain(code.co_filename):
            self._see_function_of_packages(frame)
        elif any(folder in code.co_filename for folder in INSTALLED):
            self.see_name(code.co_qualname)
        elif code.co_filename.startswith(TRACED):
            self.see_name(code.co_name, scripted=True)

    def _see_function_of_packages(self, frame: FrameType) -> None:
        name = frame.f_code.co_name
        if name.startswith("<") or _called_by(self.packages, frame.f_back):
            return  # a module being imported, a lambda
        if (full := f"{frame.f_globals.get('__name__', '')}.{name}") not in self.may_use:
            self.borrowed.append(full)

    def see_name(self, name: str, scripted: bool = False) -> None:
        """Look at the name of an operator or of a function of a library."""
        entry = SCRIPTED if scripted else self._avoided.entry_of(name)
        if entry and entry not in self._written_down:
            self._written_down.add(entry)
            self.borrowed.append(SCRIPTED if entry == SCRIPTED else self._avoided.word_in(name))

    def ignore(self, entry: str) -> None:
        """Look out for a family no more."""
        self.operations.read_on()
        self._written_down.add(entry)

    def _see_function_of_c(self, frame: FrameType, called: Any) -> None:
        if called.__name__ in UNWATCHED_CALLS and not _starts_progress_bar(frame):
            self.borrowed.append(SAME_CALL.get(called.__name__, called.__name__))
        owner = getattr(called, "__self__", None)
        if isinstance(owner, np.ufunc):  # as in `np.logaddexp.reduce`
            self.see_name(owner.__name__)
        elif isinstance(owner, torch.Tensor) or str(called.__module__).startswith("torch"):
            self.see_name(called.__name__)

    def _see_ufuncs_of(self, frame: FrameType) -> None:
        """Look at the ufuncs that a function names: Python tells nobody of a call to one."""
        code = frame.f_code
        if any(folder in code.co_filename for folder in INSTALLED):
            return
        named = [*frame.f_locals.values(), *map(frame.f_globals.get, code.co_names)]
        for _ in range(2):  # as in `scipy.special.kl_div`
            modules = [one for one in named if isinstance(one, ModuleType)]
            named += [vars(module).get(name) for module in modules for name in code.co_names]
        for one in named:
            if isinstance(one, np.ufunc):
                self.see_name(one.__name__)


@contextmanager
def watched(
    avoid: tuple[str, ...],
    may_use: tuple[str, ...],
    packages: StudentPackages,
    borrowed: list[str],
) -> Iterator[Watch]:
    """Write down in `borrowed` what is called inside the `with` block and should not be.

    For the arguments see `Watch`.
    """
    watch = Watch(avoid, may_use, packages, borrowed)
    try:
        with operations(watch.see_name) as watch.operations, profiled(watch.see):
            yield watch
    except Escaped:
        borrowed.append(PROFILER)


def _starts_progress_bar(frame: FrameType) -> bool:
    """True if tqdm asks for the thread that redraws its progress bars."""
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    return file.endswith(TQDM_MONITOR) and any(folder in file for folder in INSTALLED)


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
