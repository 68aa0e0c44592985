"""Plain data: what crosses between grader and submission, and nothing that could carry code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

MAX_BITS = 1000  # of an integer; more would not fit a float


@dataclass(frozen=True)
class Foreign:
    """Stands for something that an answer returned and that is no plain data.

    Args:
        kind: What it was, for a student to read, such as "a dict".
    """

    kind: str


Plain = Tensor | bool | int | float | str | None | Foreign | list["Plain"] | tuple["Plain", ...]
# An answer may be given a callable as well: one of the grader's own, which crosses by its name.
Input = Plain | Callable[..., Plain]
Inputs = Mapping[str, Input]


def as_plain(output: object) -> Plain:
    """What an answer returned as plain data; what is none becomes `Foreign`, wherever it stands.

    Raises:
        RecursionError: A list holds itself.
    """
    if isinstance(output, Tensor) and not oddity(output):
        return output.detach()
    if isinstance(output, list | tuple):
        return (list if isinstance(output, list) else tuple)(map(as_plain, output))
    if isinstance(output, np.generic):  # numpy's numbers are numbers
        output = output.item()
    if isinstance(output, int) and output.bit_length() > MAX_BITS:
        return Foreign("a huge int")
    for kind in (bool, int, float, str):
        if isinstance(output, kind):
            return kind(output)
    return None if output is None else Foreign(name_kind(output))


def plain_kind(output: object) -> str | None:
    """None for plain data; otherwise what it is, for a student to read."""
    plain = as_plain(output)
    if isinstance(plain, list | tuple):
        return name_kind(output) if any(map(plain_kind, plain)) else None
    return plain.kind if isinstance(plain, Foreign) else None


def name_kind(output: object) -> str:
    """What an output is, for a student to read."""
    if output is None:
        return "None (is there a `return`?)"
    if isinstance(output, Foreign):
        return output.kind
    if isinstance(output, Tensor):
        odd = oddity(output)
        return f"a {odd} tensor" if odd else f"a tensor of shape {tuple(output.shape)}"
    if isinstance(output, list | tuple):
        return f"a {type(output).__name__} of {len(output)}"
    return f"a {type(output).__module__}.{type(output).__name__}".replace("builtins.", "")


def oddity(tensor: Tensor) -> str | None:
    """Why a tensor cannot be compared, if it cannot."""
    if tensor.is_nested or tensor.is_quantized:
        return "nested" if tensor.is_nested else "quantised"
    if tensor.layout != torch.strided:
        return str(tensor.layout)
    return None if type(tensor) in (Tensor, Parameter) else type(tensor).__name__
