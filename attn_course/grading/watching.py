"""Noticing what an answer calls: a library function that does the exercise, or the course's own.

Three nets, because there are many ways to call softmax: torch functions by name, torch operators
whatever they were called by, and every function of Python's by the file that it stands in, or of
C's by its name.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

FOLDER = Path(__file__).resolve().parents[1]
PACKAGE = f"{FOLDER}{os.sep}"
CHECKING = f"{PACKAGE}shapes{os.sep}"
# where pip installs packages, Debian and Colab included
INSTALLED = ("site-packages", "dist-packages")
# the files of the grader that are at work while an answer runs
AT_WORK = ["submission.py", "watching.py", "instruments.py", "compare.py"]
AT_WORK += [f"outside/{name}.py" for name in ("alarms", "called_back", "packing", "wire")]
# What these start, or switch off, is not seen any more; no answer needs them, except for a bar that
# shows how far a loop is, whose thread does nothing else.
OUT_OF_SIGHT = {"setprofile", "settrace", "start_new_thread", "start_joinable_thread"}
OUT_OF_SIGHT |= {"fork", "forkpty", "fork_exec", "posix_spawn", "posix_spawnp", "system"}
BARS = os.path.join("tqdm", "_monitor.py")
GRADING = {str(FOLDER / "grading" / name) for name in AT_WORK}


@contextmanager
def watched(
    avoid: tuple[str, ...], may_use: tuple[str, ...], borrowed: list[str]
) -> Iterator[None]:
    """Write down in `borrowed` what is called inside the `with` block and should not be.

    Args:
        avoid: Names of library functions.
        may_use: Functions of `attn_course`, as `attn_course.module.function`; all others are
            written down.
        borrowed: Where to.
    """
    load_what_watching_needs()
    with (
        _Functions(avoid, borrowed),
        _Operators(avoid, borrowed),
        profiled(_frame_watcher(avoid, may_use, borrowed)),
    ):
        yield


def _frame_watcher(
    avoid: tuple[str, ...], may_use: tuple[str, ...], borrowed: list[str]
) -> Callable[[FrameType, str, object], None]:
    def watch(frame: FrameType, event: str, called: object) -> None:
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if event == "c_call" and file not in GRADING and _is_noticed(called, frame, avoid):
            borrowed.append(called.__name__)
        if event != "call" or name.startswith("<"):  # a module being imported, a lambda
            return
        if file.startswith(PACKAGE) and not file.startswith(CHECKING) and file not in GRADING:
            full = ".".join((frame.f_globals.get("__name__", ""), name))
            if not _inside_package(frame.f_back) and full not in may_use:
                borrowed.append(full)
        elif name in avoid and any(folder in file for folder in INSTALLED):
            borrowed.append(name)

    return watch


def _is_noticed(called: object, frame: FrameType, avoid: tuple[str, ...]) -> bool:
    """Whether a function that is not written in Python is one to avoid, or a way out of sight."""
    if called.__name__ not in avoid:
        return called.__name__ in OUT_OF_SIGHT and not _shows_a_bar(frame)
    of_tensor = isinstance(getattr(called, "__self__", None), torch.Tensor)
    return of_tensor or str(called.__module__).startswith("torch")


def _shows_a_bar(frame: FrameType) -> bool:
    """Whether it is tqdm that asks for a thread, which redraws its bars."""
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    return file.endswith(BARS) and any(folder in file for folder in INSTALLED)


class _Functions(TorchFunctionMode):
    """Notices torch functions by the name they are called by."""

    def __init__(self, avoid: tuple[str, ...], borrowed: list[str]) -> None:
        super().__init__()
        self.avoid, self.borrowed = avoid, borrowed

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in self.avoid:
            self.borrowed.append(func.__name__)
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    """Notices torch operators, by whichever name they were called."""

    def __init__(self, avoid: tuple[str, ...], borrowed: list[str]) -> None:
        super().__init__()
        self.avoid, self.borrowed = avoid, borrowed

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__.strip("_")
        if name in self.avoid:
            self.borrowed.append(name)
        return func(*args, **(kwargs or {}))


@cache
def load_what_watching_needs() -> None:
    """Let torch import the 800 modules that its first watched operator needs.

    It takes seconds on a busy machine, which must not count as the answer's.
    """
    with _Operators((), []):
        torch.ones(()).exp()


def _inside_package(frame: FrameType | None) -> bool:
    """Whether the caller is the package itself, looking through the wrappers of `checked`."""
    while frame is not None and frame.f_code.co_filename.startswith(CHECKING):
        frame = frame.f_back
    file = "" if frame is None else frame.f_code.co_filename
    return file.startswith(PACKAGE) and file not in GRADING


@contextmanager
def profiled(watcher: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        yield
    finally:
        sys.setprofile(before)
