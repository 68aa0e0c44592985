"""Makers of wrong answers: another answer, usually the reference, in which one thing is changed::

    @mistake(points=2, computes=given(reference, mask=torch.logical_not))
    def turns_the_mask_round():
        \"""you allow what is forbidden; True means that the query may attend\"""

What is made is called as the answer is, with its inputs in order or by name.
"""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import torch
from torch import Tensor

from hintgrader.worker.plain import Plain, cast_floats, map_leaves

Answer = Callable[..., Plain]


class Altered:
    """An answer in which one thing is changed; the change can be made in any other as well.

    Args:
        answer: What is changed.
        how: Called with an answer and with inputs by name.
    """

    def __init__(self, answer: Answer, how: Answer) -> None:
        update_wrapper(self, answer)
        self.answer, self.how = answer, how

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        inputs |= dict(zip(inspect.signature(self.answer).parameters, args, strict=False))
        return self.how(self.answer, **inputs)

    def of(self, other: Answer) -> "Altered":
        """The other answer, changed in the same way."""
        return Altered(other, self.how)


def given(answer: Answer, **changes: Any) -> Altered:
    """The answer given other inputs: by name, what becomes of each, or what stands for it."""

    def how(answer: Answer, **inputs: Any) -> Any:
        for name, change in changes.items():
            inputs[name] = change(inputs[name]) if callable(change) else change
        return answer(**inputs)

    return Altered(answer, how)


def mistaking(answer: Answer, **others: str) -> Altered:
    """The answer that takes one input for another: by name, the name of that which it uses."""

    def how(answer: Answer, **inputs: Any) -> Any:
        return answer(**inputs | {name: inputs[other] for name, other in others.items()})

    return Altered(answer, how)


def then(answer: Answer, change: Callable[[Any], Any]) -> Altered:
    """The answer, and in the end something more."""

    def how(answer: Answer, **inputs: Any) -> Any:
        return change(answer(**inputs))

    return Altered(answer, how)


def leafwise(answer: Answer, change: Callable[[Any], Any]) -> Altered:
    """The answer, and in the end something more with each leaf of its output."""
    return then(answer, lambda output: map_leaves(change, output))


def in_dtype(answer: Answer, dtype: torch.dtype) -> Altered:
    """The answer in another precision, from the inputs to the output."""

    def how(answer: Answer, **inputs: Any) -> Any:
        cast = {name: cast_floats(value, dtype) for name, value in inputs.items()}
        return cast_floats(answer(**cast), dtype)

    return Altered(answer, how)


def cut_off(answer: Answer, *names: str) -> Altered:
    """The answer, through which no gradient reaches these inputs."""
    return given(answer, **dict.fromkeys(names, Tensor.detach))


def squeezed(answer: Answer) -> Altered:
    """The answer without its axes of length one."""
    return leafwise(answer, lambda leaf: leaf.squeeze() if isinstance(leaf, Tensor) else leaf)


def transposed(answer: Answer) -> Altered:
    """The answer with its last two axes exchanged."""
    return then(answer, lambda output: output.mT)
