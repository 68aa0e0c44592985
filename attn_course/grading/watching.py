"""Noticing what an answer calls: a library function that does the exercise, or the course's own.

Three nets, because there are many ways to call softmax: torch functions by name, torch operators
whatever they were called by, and every Python function by the file that it stands in.
"""

import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

FOLDER = Path(__file__).resolve().parents[1]
PACKAGE = f"{FOLDER}{os.sep}"
CHECKING = f"{PACKAGE}shapes{os.sep}"
# where pip installs packages, Debian and Colab included
INSTALLED = ("site-packages", "dist-packages")
EXPONENTIALS = {"exp", "exp2", "expm1", "softmax", "log_softmax", "logsumexp", "logaddexp"}
# the files of the grader that are at work while an answer runs
GRADING = {str(FOLDER / "grading" / name) for name in ("submission.py", "watching.py")}


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
        _profile(_frame_watcher(avoid, may_use, borrowed)),
    ):
        yield


def _frame_watcher(
    avoid: tuple[str, ...], may_use: tuple[str, ...], borrowed: list[str]
) -> Callable[[FrameType, str, object], None]:
    def watch(frame: FrameType, event: str, _: object) -> None:
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if event != "call" or name.startswith("<"):  # a module being imported, a lambda
            return
        if file.startswith(PACKAGE) and not file.startswith(CHECKING) and file not in GRADING:
            full = ".".join((frame.f_globals.get("__name__", ""), name))
            if not _inside_package(frame.f_back) and full not in may_use:
                borrowed.append(full)
        elif name in avoid and any(folder in file for folder in INSTALLED):
            borrowed.append(name)

    return watch


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


class Largest(TorchDispatchMode):
    """Notes the largest tensor that is stored inside the `with` block, for laws about memory.

    Attributes:
        numbers: How many numbers it stores; a view, such as that of `expand`, stores none.
        shape: Its shape.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers, self.shape = 0, ()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor) and self.stored(tensor) > self.numbers:
                self.numbers, self.shape = self.stored(tensor), tuple(tensor.shape)
        return made

    @staticmethod
    def stored(tensor: Tensor) -> int:
        return tensor.untyped_storage().nbytes() // tensor.element_size()


class Kept(Largest):
    """Notes as well how much is stored at one time, and what is raised to powers together.

    Attributes:
        held: The most numbers in all tensors that were alive together.
        raised: Lengths of all axes of what went through an exponential or a softmax.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held, self.raised, self._now = 0, set(), 0
        self._users, self._alive = Counter(), {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = super().__torch_dispatch__(func, types, args, kwargs)
        for tensor in filter(torch.is_tensor, tree_leaves(made)):
            self._keep(tensor)
        name = func.overloadpacket.__name__.strip("_")
        if name in EXPONENTIALS or (name == "pow" and func._overloadname != "Tensor_Scalar"):
            self.raised.update(*(getattr(one, "shape", ()) for one in tree_leaves(args)))
        return made

    def _keep(self, tensor: Tensor) -> None:
        place, numbers = tensor.untyped_storage().data_ptr(), self.stored(tensor)

        def let_go(reference: weakref.ref) -> None:
            del self._alive[id(reference)]
            self._users[place] -= 1
            self._now -= 0 if self._users[place] else numbers

        self._now += 0 if self._users[place] else numbers
        self._users[place] += 1
        watch = weakref.ref(tensor, let_go)
        self._alive[id(watch)] = watch
        self.held = max(self.held, self._now)


class Count(TorchDispatchMode):
    """Counts how often torch is asked for something inside the `with` block, for laws about loops.

    Attributes:
        number: How often.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.number += 1
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
def _profile(watcher: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        yield
    finally:
        sys.setprofile(before)
