"""Plain data: what crosses between grader and submission, and nothing that could carry code."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._C import TensorBase
from torch.nn import Parameter

NONE = "None (is there a `return`?)"
MAX_KEPT = 2**28  # bytes; what is larger is a view, or is refused where it is packed
MAX_BITS = 1000  # of an integer; more would not fit a float
# Of arrays that torch has, too: numbers, never objects, words or records.
ARRAY_DTYPES = {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32"}
ARRAY_DTYPES |= {"float64", "complex64", "complex128"}


@dataclass(frozen=True)
class Foreign:
    """Stands for something that an answer returned and that is no plain data.

    Args:
        kind: What it was, for a student to read, such as "a set".
    """

    kind: str


#: What crosses between the grader and a submission, which is a tensor, an array, a number, a
#: string, a truth value, None, or a list, tuple or dict of these. Nothing that could carry code.
Plain = (
    Tensor
    | np.ndarray
    | bool
    | int
    | float
    | str
    | None
    | Foreign
    | list["Plain"]
    | tuple["Plain", ...]
    | dict[str, "Plain"]
)
# An answer may be given a callable as well: one of the grader's own, which crosses by its name.
Input = Plain | Callable[..., Plain]
Inputs = Mapping[str, Input]


def as_plain(output: object) -> Plain:
    """Turn an answer's output into plain data; anything else in it becomes a `Foreign`.

    Raises:
        RecursionError: A list or a dictionary holds itself.
    """
    if isinstance(output, Tensor) and not oddity(output):
        return TensorBase.detach(output)
    if isinstance(output, np.ndarray) and not array_oddity(output):
        return output
    if isinstance(output, dict) and all(isinstance(key, str) for key in output):
        return {str.__str__(key): as_plain(value) for key, value in output.items()}
    if isinstance(output, list | tuple):
        return (list if isinstance(output, list) else tuple)(map(as_plain, output))
    if isinstance(output, np.generic):  # numpy's numbers are numbers
        output = output.item()
    if isinstance(output, int) and output.bit_length() > MAX_BITS:
        return Foreign("a huge int")
    for kind in (bool, int, float, str):
        if isinstance(output, kind):
            return str.__str__(output) if kind is str else kind(output)  # of no class of its own
    return None if output is None else Foreign(name_kind(output))


def keep(value: Plain) -> Plain:
    """A copy of plain data of which the answer that made them has none, with all that it changes.

    Here as elsewhere, tensors are asked through their base: no cell can exchange its methods, as it
    can those of `torch.Tensor`.
    """

    def copy(leaf: Input) -> Input:
        if isinstance(leaf, np.ndarray):
            return np.ndarray.copy(leaf) if leaf.nbytes <= MAX_KEPT else leaf
        if not isinstance(leaf, Tensor) or type(leaf) is not Tensor:
            return Foreign(name_kind(leaf)) if isinstance(leaf, Tensor) else leaf
        size = TensorBase.numel(leaf) * TensorBase.element_size(leaf)
        return TensorBase.clone(leaf) if size <= MAX_KEPT else leaf

    with without_modes():
        return map_leaves(copy, value)  # type: ignore[return-value]  # plain data have no callables


def ask(tensor: Tensor, attribute: str) -> Any:
    """An attribute of a tensor."""
    return getattr(TensorBase, attribute).__get__(tensor)


@contextmanager
def without_modes() -> Iterator[None]:
    """Call torch's own functions inside the `with` block, whatever modes an answer has left on."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        yield


def plain_kind(output: object) -> str | None:
    """None for plain data; otherwise what it is, for a student to read."""
    plain = as_plain(output)
    if isinstance(plain, list | tuple | dict):
        return name_kind(output) if any(map(plain_kind, parts_of(plain))) else None
    return plain.kind if isinstance(plain, Foreign) else None


def name_kind(output: object) -> str:
    """The kind of an output, in words for a student."""
    if output is None:
        return NONE
    if isinstance(output, Foreign):
        return output.kind
    if isinstance(output, Tensor):
        odd = oddity(output)
        return f"a {odd} tensor" if odd else f"a tensor of shape {tuple(output.shape)}"
    if isinstance(output, np.ndarray):
        return f"a numpy array of {array_oddity(output) or f'shape {output.shape}'}"
    if isinstance(output, dict) and not all(isinstance(key, str) for key in output):
        return "a dict whose keys are not all strings"
    if isinstance(output, list | tuple | dict):
        return f"a {type(output).__name__} of {len(output)}"
    return f"a {type(output).__module__}.{type(output).__name__}".replace("builtins.", "")


def oddity(tensor: Tensor) -> str | None:
    """The reason why a tensor cannot be compared, or None."""
    for name, word in (("is_nested", "nested"), ("is_quantized", "quantised")):
        if ask(tensor, name):
            return word
    if (layout := ask(tensor, "layout")) != torch.strided:
        return str(layout)
    return None if type(tensor) in (Tensor, Parameter) else type(tensor).__name__


def array_oddity(array: np.ndarray) -> str | None:
    """The reason why an array cannot be compared, or None: no numbers, or a class of its own."""
    if type(array) is not np.ndarray:
        return f"the class {type(array).__name__}"
    if not array.dtype.isnative:
        return "numbers whose bytes are swapped"
    return None if array.dtype.name in ARRAY_DTYPES else f"dtype {array.dtype.name}"


def parts_of(value: object) -> list[Plain]:
    """The items of a list, a tuple or a dictionary; none for anything else."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def holds_more_than(most: int, value: object) -> bool:
    """True if there are more things in lists, tuples and dictionaries, numbers and words aside.

    A list that holds itself has no end.
    """
    left, number = [value], 0
    while left and number <= most:
        one = left.pop()
        number += not isinstance(one, int | float | str)
        left += parts_of(one)
    return number > most


def map_leaves(change: Callable[[Input], Input], value: Input) -> Input:
    """The value with each of its leaves changed: what is no list, tuple or dictionary."""
    return _map_leaves(change, value)


def cast_floats(value: Input, dtype: torch.dtype) -> Any:
    """The value with its floating-point tensors and arrays in another dtype."""

    def cast(leaf: Input) -> Input:
        if isinstance(leaf, Tensor) and leaf.is_floating_point():
            return leaf.to(dtype)
        if isinstance(leaf, np.ndarray) and np.issubdtype(leaf.dtype, np.floating):
            return leaf.astype(str(dtype).removeprefix("torch."))
        return leaf

    return map_leaves(cast, value)


def _map_leaves(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map_leaves(change, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_map_leaves(change, part) for part in value)
    return change(value)
