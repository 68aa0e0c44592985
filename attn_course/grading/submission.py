"""Calling a student's function with plain inputs, and what came of it, as plain data.

Everything that the grader knows of an answer it knows from an `Outcome`. A submission that runs in
another process only has to turn the same requests into the same outcomes.
"""

import io
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attn_course.grading.spec import Inputs, Plain

PACKAGE = Path(__file__).resolve().parents[1]
CHECKING = str(PACKAGE / "shapes.py")
CALLING = str(Path(__file__).resolve())
SECONDS_A_CALL = 10


@dataclass(frozen=True)
class Outcome:
    """What one call gave.

    Args:
        output: What was returned; None together with an error.
        error: Name of the exception's type and its message, if one was raised.
        gradients: For each requested input the gradient of the sum of output times `upstream`;
            None if no gradient reaches it.
        inputs_after: The inputs as the call left them.
        borrowed: Functions it called that it should have written itself.
    """

    output: Plain = None
    error: tuple[str, str] | None = None
    gradients: dict[str, Tensor | None] = field(default_factory=dict)
    inputs_after: Inputs = field(default_factory=dict)
    borrowed: tuple[str, ...] = ()


class OutOfTime(BaseException):
    """A call did not come back; no `except Exception` of the answer can swallow this."""


class LocalSubmission:
    """A function of this process, watched while it runs.

    Args:
        function: The answer.
        avoid: Names of library functions whose use is noticed.
        may_use: Functions of `attn_course` whose use is not noticed; None watches nothing.
    """

    def __init__(
        self,
        function: Callable[..., Plain],
        avoid: tuple[str, ...] = (),
        may_use: tuple[str, ...] | None = None,
    ) -> None:
        self.function, self.avoid, self.may_use = function, avoid, may_use
        self.never_returned: Outcome | None = None

    def call(self, inputs: Inputs, upstream: Tensor | None = None, wrt: tuple[str, ...] = ()):
        """Call the function on copies of the inputs.

        Args:
            inputs: The arguments, by name.
            upstream: What the output is weighted with for the gradient.
            wrt: Names of the inputs whose gradients are asked for.
        """
        if self.never_returned:  # do not wait for it again
            return self.never_returned
        given = {name: _copy(value, name in wrt) for name, value in inputs.items()}
        borrowed: list[str] = []
        try:
            with self._watched(borrowed), _silent(), _time_limit(SECONDS_A_CALL):
                output = self.function(**given)
                gradients = _gradients(output, upstream, given, wrt)
        except KeyboardInterrupt:
            raise
        except OutOfTime as error:
            self.never_returned = Outcome(error=_describe(error))
            return self.never_returned
        except BaseException as error:  # an answer may well call exit()
            return Outcome(error=_describe(error), borrowed=tuple(borrowed))
        after = {name: _detach(value) for name, value in given.items()}
        return Outcome(_detach(output), None, gradients, after, tuple(borrowed))

    @contextmanager
    def _watched(self, borrowed: list[str]) -> Iterator[None]:
        if self.may_use is None:
            yield
            return
        _load_what_watching_needs()
        with ExitStack() as stack:
            stack.enter_context(_Functions(self.avoid, borrowed))
            stack.enter_context(_Operators(self.avoid, borrowed))
            stack.enter_context(_profile(self._frame_watcher(borrowed)))
            yield

    def _frame_watcher(self, borrowed: list[str]) -> Callable[[FrameType, str, object], None]:
        def watch(frame: FrameType, event: str, _: object) -> None:
            if event != "call":
                return
            name, file = frame.f_code.co_name, frame.f_code.co_filename
            if name.startswith("<"):  # a module being imported, a lambda
                return
            if file.startswith(str(PACKAGE)) and file not in (CHECKING, CALLING):
                full = ".".join((frame.f_globals.get("__name__", ""), name))
                if not _inside_package(frame.f_back) and full not in self.may_use:
                    borrowed.append(full)
            elif name in self.avoid and "site-packages" in file:
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


@cache
def _load_what_watching_needs() -> None:
    """Let torch import the 800 modules that its first watched operator needs.

    It takes seconds on a busy machine, which must not count as the answer's.
    """
    with _Operators((), []):
        torch.ones(()).exp()


def _inside_package(frame: FrameType | None) -> bool:
    """Whether the caller is the package itself, looking through the wrappers of `checked`."""
    while frame is not None and frame.f_code.co_filename == CHECKING:
        frame = frame.f_back
    file = "" if frame is None else frame.f_code.co_filename
    return file.startswith(str(PACKAGE)) and file != CALLING


@contextmanager
def _profile(watcher: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        yield
    finally:
        sys.setprofile(before)


class _Sink(io.TextIOBase):
    """Swallows what an answer prints, however much."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing that an answer prints or warns about reaches the page."""
    with warnings.catch_warnings(), redirect_stdout(_Sink()), redirect_stderr(_Sink()):
        warnings.simplefilter("ignore")
        with torch.enable_grad():  # whatever an earlier cell has switched off
            yield


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt a call that does not come back; signals reach the main thread only."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTime(f"it did not return within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _copy(value: Plain, requires_grad: bool) -> Plain:
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(requires_grad)
    if isinstance(value, list | tuple):  # a list that an answer sorts or empties is its own
        return type(value)(_copy(part, requires_grad) for part in value)
    return value


def _detach(value: Plain) -> Plain:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, list | tuple):
        return type(value)(_detach(part) for part in value)
    return value


def _gradients(
    output: Plain, upstream: Tensor | None, given: Inputs, wrt: tuple[str, ...]
) -> dict[str, Tensor | None]:
    if not wrt or upstream is None or not isinstance(output, Tensor):
        return {}
    if output.shape != upstream.shape or not output.requires_grad:
        return dict.fromkeys(wrt)
    loss = (output * upstream).sum()
    found = torch.autograd.grad(loss, [given[name] for name in wrt], allow_unused=True)
    return dict(zip(wrt, found, strict=True))


def _describe(error: BaseException) -> tuple[str, str]:
    first_line = (str(error).strip() or "no message").splitlines()[0]
    return type(error).__name__, first_line[:300]
