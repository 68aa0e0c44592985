"""A drawn case: inputs of a check, and the reference's outputs for it, computed once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from hintgrader.exercise.definition import Check, Exercise
from hintgrader.worker.overwritten import Overwritten
from hintgrader.worker.plain import Input, Inputs, Plain, cast_floats, map_leaves
from hintgrader.worker.submission import LocalSubmission, Outcome

Place = tuple[int, int]  # a check and a draw of it
Axes = Mapping[Place, int]


class Submission(Protocol):
    """Whatever can be asked for outcomes: a function of this process, or one behind a wall."""

    def call(
        self,
        inputs: Inputs,
        upstream: Tensor | None = None,
        wrt: tuple[str, ...] = (),
        seconds: float | None = None,
        seed: int = 0,
    ) -> Outcome: ...

    def supports(self, device: str) -> bool:
        """True if the function can be called with tensors on this device."""

    def overwritten(self) -> Overwritten:
        """The arguments that its own loops overwrite, as far as that is known."""


@dataclass(frozen=True, eq=False)
class Case:
    """A draw of inputs that an answer is tried on.

    Args:
        check: The row of the table that it counts for.
        reference: The right answer.
        inputs: The inputs as they are drawn, floating-point ones in float64.
        hidden: Whether they are among those that a student must not see.
    """

    check: Check
    reference: Callable[..., Plain]
    inputs: Inputs
    hidden: bool

    @cached_property
    def given(self) -> Inputs:
        """The inputs in the dtype that an answer gets them in."""
        return {n: cast_floats(value, self.check.dtype) for n, value in self.inputs.items()}

    @cached_property
    def exact(self) -> Outcome:
        """The reference's outcome in float64."""
        return self._ask(self.inputs)

    @cached_property
    def plain(self) -> dict[str, Outcome]:
        """The reference's outcomes on the inputs as given, on each available device.

        A gradient is compared on the CPU alone. What is given in float64 is not rounded as what is
        given in float32 is, so it is nudged by as much: how far that takes the reference from its
        exact outcome is what the conditioning of the question allows.
        """
        return {device: self._ask(self._rounded(device)) for device in _devices(self.check)}

    @cached_property
    def upstream(self) -> Tensor:
        """The upstream gradient of an output; it is uneven, with a zero, in float64."""
        output = tensor_of(LocalSubmission(self.reference).call(self.inputs))
        return torch.linspace(-1, 2, output.numel(), dtype=torch.float64).reshape(output.shape)

    def given_on(self, device: str) -> Inputs:
        """The inputs as given, on a device."""

        def move(leaf: Input) -> Input:
            return leaf.to(device) if isinstance(leaf, Tensor) else leaf

        return {name: map_leaves(move, value) for name, value in self.given.items()}

    def _rounded(self, device: str) -> Inputs:
        there = self.given_on(device)
        if self.check.dtype != torch.float64:
            return there
        return {name: map_leaves(_nudged, value) for name, value in there.items()}

    def _ask(self, inputs: Inputs) -> Outcome:
        gradient = self.check.gradient
        upstream = self.upstream if gradient else None
        return LocalSubmission(self.reference, may_use=None).call(inputs, upstream, gradient)


def tensor_of(outcome: Outcome) -> Tensor:
    """The output of a reference that a gradient is asked of.

    Raises:
        TypeError: It is no tensor.
    """
    if not isinstance(outcome.output, Tensor):
        raise TypeError(f"a gradient is asked of a reference that returns {outcome.output!r:.60}")
    return outcome.output


def draw_cases(exercise: Exercise, check: Check, secret: str | None) -> list[Case]:
    """The public cases of a check, and with a secret the hidden ones after them.

    A slow check, which is tried once, has with a secret only the hidden ones.
    """
    rounds = [None] if secret is None else [secret] if check.slow else [None, secret]
    return [case for one in rounds for case in _draw(exercise, check, one)]


@lru_cache(maxsize=1024)  # both rounds of all checks of all exercises, for one secret
def _draw(exercise: Exercise, check: Check, secret: str | None) -> tuple[Case, ...]:
    return tuple(
        Case(check, exercise.reference, inputs, hidden=secret is not None)
        for inputs in check.inputs(exercise.name, secret, exercise.axes or {})
    )


def _nudged(leaf: Input) -> Input:
    """Numbers in float64 off by their last bit, up and down in turns."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == np.float64:
        return leaf + np.spacing(leaf) * (-1) ** np.arange(leaf.size).reshape(leaf.shape)
    if not isinstance(leaf, Tensor) or leaf.dtype != torch.float64:
        return leaf
    signs = 1 - 2 * (torch.arange(leaf.numel(), device=leaf.device) % 2).to(leaf.dtype)
    return leaf * (1 + torch.finfo(leaf.dtype).eps * signs.reshape(leaf.shape))


def _devices(check: Check) -> list[str]:
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None or check.gradient:
        return ["cpu"]
    if accelerator.type == "mps" and check.dtype == torch.float64:
        return ["cpu"]  # Apple's GPU has no float64
    return ["cpu", accelerator.type]


def axes_of(exercise: Exercise, secret: str | None) -> Axes:
    """The number of axes at each draw, if any number may come before."""
    contract = exercise.contract
    if contract is None or not contract.any_axes:
        return {}
    found = {}
    for row, check in enumerate(exercise.checks):
        for draw, case in enumerate(draw_cases(exercise, check, secret)):
            value = case.inputs[contract.batch[0]]
            if isinstance(value, Tensor):
                found[row, draw] = value.ndim
    return found
