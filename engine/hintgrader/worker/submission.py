"""Calling a student's function with plain inputs, and what came of it, as plain data.

Everything that the grader knows of an answer it knows from an `Outcome`. A submission that runs in
another process only has to turn the same requests into the same outcomes.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hintgrader.worker.call_context import OutOfTime, Stalled, seeded, silenced, time_limited
from hintgrader.worker.forbidden_calls import AUTOGRAD
from hintgrader.worker.overwritten import Overwritten, overwritten
from hintgrader.worker.plain import (
    Foreign,
    Input,
    Inputs,
    Plain,
    as_plain,
    holds_more_than,
    keep,
    map_leaves,
)
from hintgrader.worker.process_switches import course_values
from hintgrader.worker.student_packages import NO_PACKAGES, StudentPackages
from hintgrader.worker.time_limits import CALL_SECONDS
from hintgrader.worker.watching import UNWATCHED_CALLS, Watch, watched

NO_MESSAGE = "no message"
MAX_THINGS = 10_000  # that an answer may return, numbers and words aside


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call.

    Args:
        output: What was returned; None together with an error. What is no plain data is `Foreign`.
        error: Name of the exception's type and its message, if one was raised; no name if there
            was none, but the message all the same.
        gradients: For each requested input the gradient of the sum of output times `upstream`;
            None if no gradient reaches it.
        inputs_after: The inputs as the call left them.
        borrowed: Functions it called that it should have written itself.
    """

    output: Plain = None
    error: tuple[str, str] | None = None
    gradients: Mapping[str, Plain] = field(default_factory=dict)
    inputs_after: Mapping[str, Plain] = field(default_factory=dict)
    borrowed: tuple[str, ...] = ()

    @property
    def late(self) -> bool:
        """True if the call did not come back in time."""
        return self.error is not None and self.error[0] in (OutOfTime.__name__, Stalled.__name__)

    @property
    def stalled(self) -> bool:
        """True if that was because it waited for something."""
        return self.error is not None and self.error[0] == Stalled.__name__

    @property
    def unwritten(self) -> bool:
        """True if there is no answer yet; torch raises the same error, but says why."""
        return self.error == (NotImplementedError.__name__, NO_MESSAGE)


class LocalSubmission:
    """A function of this process, watched while it runs.

    Args:
        function: The answer.
        avoid: Families and names of library functions whose use is noticed.
        may_use: Functions of `packages` whose use is not noticed; None watches nothing.
        packages: Those whose functions are noticed.
    """

    def __init__(
        self,
        function: Callable[..., Plain],
        avoid: tuple[str, ...] = (),
        may_use: tuple[str, ...] | None = None,
        packages: StudentPackages = NO_PACKAGES,
    ) -> None:
        self.function, self.avoid, self.may_use = function, avoid, may_use
        self.packages = packages
        self._unwatched: list[str] = []
        self._stalled: Outcome | None = None

    def call(
        self,
        inputs: Inputs,
        upstream: Tensor | None = None,
        wrt: tuple[str, ...] = (),
        seconds: float | None = None,
        seed: int = 0,
    ) -> Outcome:
        """Call the function on copies of the inputs.

        Args:
            inputs: The arguments, by name.
            upstream: What the output is weighted with for the gradient.
            wrt: Names of the inputs whose gradients are asked for.
            seconds: How long it may take; None is the usual limit.
            seed: Of torch's random numbers; another seed shows who sets one inside.
        """
        if self._stalled:  # nobody waits for each of its calls
            return self._stalled
        borrowed = list(self._unwatched)
        try:
            with (
                self._guarded(seed),
                time_limited(seconds or CALL_SECONDS),
                self._watched(borrowed) as watch,
            ):
                outcome = self._ask(inputs, upstream, wrt, watch)
        except (OutOfTime, Stalled) as error:
            late = Outcome(error=_describe(error))
            self._stalled = late if late.stalled else None
            return late
        finally:  # a thread that it has started may work for later calls
            self._unwatched = [name for name in borrowed if name in UNWATCHED_CALLS]
        return replace(outcome, borrowed=tuple(borrowed))

    def _ask(
        self,
        inputs: Inputs,
        upstream: Tensor | None,
        wrt: tuple[str, ...],
        watch: Watch | None,
    ) -> Outcome:
        """Call the function and take what came of it, all of which may run code of the answer's."""
        leaves = {name: copy_of(inputs[name], requires_grad=True) for name in wrt}
        given: dict[str, Any] = {name: copy_of(value) for name, value in inputs.items()}
        # torch forbids to write into a leaf; that is asked in a row of its own, and said there
        given |= {name: leaf.clone() for name, leaf in leaves.items()}
        try:
            output = self.function(**given)
            if holds_more_than(MAX_THINGS, output):  # of which no copies are made
                return Outcome(error=("TooLarge", f"it returns more than {MAX_THINGS:,} things"))
            kept = keep(as_plain(output))
            after = {name: keep(_left(value, name in wrt)) for name, value in given.items()}
            if watch and leaves:
                watch.ignore(AUTOGRAD)  # which the grader itself calls now
            found = _gradients(output, upstream, leaves)
            gradients = {name: keep(as_plain(one)) for name, one in found.items()}
        except (KeyboardInterrupt, OutOfTime, Stalled):
            raise
        except BaseException as error:  # an answer may well call exit()
            return Outcome(error=_describe(error))
        return Outcome(kept, None, gradients, after)

    def supports(self, device: str) -> bool:
        """Return True: the function is in this process."""
        return True

    def overwritten(self) -> Overwritten:
        """The arguments that its own loops overwrite, as its source shows."""
        return overwritten(self.function)

    def _guarded(self, seed: int) -> AbstractContextManager[Any]:
        return guarded(seed)

    def _watched(self, borrowed: list[str]) -> AbstractContextManager[Watch | None]:
        if self.may_use is None:
            return nullcontext()
        return watched(self.avoid, self.may_use, self.packages, borrowed)


@contextmanager
def guarded(seed: int = 0) -> Iterator[None]:
    """Inside the `with` block all switches and seeds are the grader's, and nothing is printed."""
    with course_values(), silenced(), seeded(seed):
        yield


def copy_of(value: Input, requires_grad: bool = False) -> Any:
    """A copy of a value, which its receiver may change unnoticed."""

    def copy(leaf: Input) -> Input:
        if isinstance(leaf, Tensor):
            return leaf.detach().clone().requires_grad_(requires_grad)
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf

    return map_leaves(copy, value)  # a list that an answer sorts or empties is its own


def _left(value: Input, asked: bool) -> Plain:
    """An argument after a call: one that the call has marked for gradients is not what it was."""

    def leave(leaf: Input) -> Input:
        marked = isinstance(leaf, Tensor) and leaf.requires_grad and not asked
        return Foreign("a tensor that requires a gradient") if marked else leaf

    return as_plain(map_leaves(leave, value))


def _gradients(
    output: Plain, upstream: Tensor | None, leaves: Mapping[str, Tensor]
) -> dict[str, Tensor | None]:
    if not leaves or upstream is None or not isinstance(output, Tensor):
        return {}
    if output.shape != upstream.shape or not output.requires_grad:
        return dict.fromkeys(leaves)
    loss = (output * upstream).sum()
    found = torch.autograd.grad(loss, [*leaves.values()], allow_unused=True)
    return dict(zip(leaves, found, strict=True))


def _describe(error: BaseException) -> tuple[str, str]:
    message = message_of(error) or NO_MESSAGE
    return type(error).__name__, message.splitlines()[0][:300]


def message_of(error: BaseException) -> str:
    """The message of an exception, which may be of the answer's own making."""
    try:
        return str(error).strip()
    except Exception:
        return "its message cannot be read"
