"""Makers of wrong answers: another answer, usually the reference, in which one thing is changed.

    @mistake(points=2, computes=given(reference, mask=torch.logical_not))
    def turns_the_mask_round():
        \"""you allow what is forbidden; True means that the query may attend\"""

What is made is called as the answer is, with its inputs in order or by name.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from attn_grade.inside.plain import Plain, cast_floats, map_leaves

Answer = Callable[..., Plain]


def given(answer: Answer, **changes: Any) -> Answer:
    """The answer given other inputs: by name, what becomes of each, or what stands for it."""

    @wraps(answer)
    def changed(*args: Any, **inputs: Any) -> Any:
        inputs |= _by_name(answer, args)
        for name, change in changes.items():
            inputs[name] = change(inputs[name]) if callable(change) else change
        return answer(**inputs)

    return changed


def mistaking(answer: Answer, **others: str) -> Answer:
    """The answer that takes one input for another: by name, the name of that which it uses."""

    @wraps(answer)
    def changed(*args: Any, **inputs: Any) -> Any:
        inputs |= _by_name(answer, args)
        return answer(**inputs | {name: inputs[other] for name, other in others.items()})

    return changed


def _by_name(answer: Answer, args: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(inspect.signature(answer).parameters, args, strict=False))


def then(answer: Answer, change: Callable[[Any], Any]) -> Answer:
    """The answer, and in the end something more."""

    @wraps(answer)
    def changed(*args: Any, **inputs: Any) -> Any:
        return change(answer(*args, **inputs))

    return changed


def leafwise(answer: Answer, change: Callable[[Any], Any]) -> Answer:
    """The answer, and in the end something more with each leaf of its output."""
    return then(answer, lambda output: map_leaves(change, output))


def in_dtype(answer: Answer, dtype: torch.dtype) -> Answer:
    """The answer in another precision, from the inputs to the output."""

    @wraps(answer)
    def changed(*args: Any, **inputs: Any) -> Any:
        cast = {name: cast_floats(value, dtype) for name, value in inputs.items()}
        return cast_floats(answer(*(cast_floats(one, dtype) for one in args), **cast), dtype)

    return changed


def cut_off(answer: Answer, *names: str) -> Answer:
    """The answer, through which no gradient reaches these inputs."""
    return given(answer, **dict.fromkeys(names, Tensor.detach))


def squeezed(answer: Answer) -> Answer:
    """The answer without its axes of length one."""
    return leafwise(answer, lambda leaf: leaf.squeeze() if isinstance(leaf, Tensor) else leaf)


def transposed(answer: Answer) -> Answer:
    """The answer with its last two axes exchanged."""
    return then(answer, lambda output: output.mT)
