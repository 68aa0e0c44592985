"""Ways to alter any answer: what is done before it is called, meanwhile, or to its output."""

from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from hintgrader.exercise.wrong_answers import Answer, in_dtype
from hintgrader.values.equality import same
from hintgrader.worker.plain import Input, Inputs, cast_floats, parts_of

Array = Tensor | np.ndarray


def has(kind: Callable[[object], bool], value: object) -> bool:
    """True if a value is of this kind, or holds one that is."""
    return any(has(kind, part) for part in parts_of(value)) or kind(value)


def is_tensor(leaf: object) -> TypeGuard[Tensor]:
    """True for a tensor."""
    return isinstance(leaf, Tensor)


def is_array(leaf: object) -> TypeGuard[Array]:
    """True for a tensor or an array."""
    return isinstance(leaf, Tensor | np.ndarray)


def is_floating(leaf: object) -> TypeGuard[Array]:
    """True for a tensor or an array of floating-point numbers."""
    return is_array(leaf) and "float" in str(leaf.dtype)


def is_float32(value: object) -> bool:
    """True if float32 holds all numbers of all tensors and arrays in a value."""
    if not is_array(value):
        return all(map(is_float32, parts_of(value)))
    held = cast_floats(cast_floats(value, torch.float32), torch.float64)
    return same(held, cast_floats(value, torch.float64), 0)


def is_whole(leaf: object) -> bool:
    """True for a whole number, or a tensor or an array of them."""
    whole = not isinstance(leaf, bool) and isinstance(leaf, int)
    return whole or (is_array(leaf) and "int" in str(leaf.dtype))


def _floats(value: Any) -> list[Any]:
    parts = parts_of(value)
    return [leaf for part in parts for leaf in _floats(part)] or [value] * is_floating(value)


def inside(answer: Answer, dtype: torch.dtype) -> Answer:
    """The answer in another precision inside, and in the dtype of its inputs outside."""

    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        names = [str(leaf.dtype).removeprefix("torch.") for leaf in _floats([*inputs.values()])]
        own = getattr(torch, names[0]) if names else dtype
        return cast_floats(in_dtype(answer, dtype)(**inputs), own)

    return changed


def after(act: Callable[[Tensor], object], answer: Answer, name: str) -> Answer:
    """The answer, after something has been done to the input that it was given."""

    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        kept = inputs[name].clone() if is_tensor(inputs[name]) else deepcopy(inputs[name])
        act(inputs[name])
        return answer(**inputs | {name: kept})

    return changed


def can_change(value: object) -> bool:
    """True if an answer could write something else into a value."""
    return (
        0 not in value.shape if is_array(value) else isinstance(value, list | dict) and value != []
    )


def change(value: Input) -> None:
    """Write something else into a tensor or an array, or empty a list or a dictionary."""
    if isinstance(value, list | dict):
        value.clear()
    elif is_array(value):
        other: Any = ~value if "bool" in str(value.dtype) else value + 1
        value[...] = other / 2 if is_floating(value) else other


def repeat_first(leaf: Input) -> Input:
    """The first entry of a tensor in the place of all the others."""
    return leaf[:1].expand_as(leaf) if is_tensor(leaf) and leaf.ndim else leaf


def listed(leaf: Input) -> Any:
    """A leaf as a list, or in one."""
    return leaf.tolist() if is_array(leaf) else [leaf]


def scatter(leaf: Input) -> Input:
    """The same numbers, between which others lie in memory."""
    if isinstance(leaf, np.ndarray):
        return np.stack((leaf, leaf), -1)[..., 0]
    return torch.stack((leaf, leaf), -1)[..., 0] if isinstance(leaf, Tensor) else leaf


def under(mode: Callable[[], TorchFunctionMode], answer: Answer) -> Answer:
    """The answer under a mode of torch that changes what its functions do."""

    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        with mode():
            return answer(**inputs)

    return changed


class Fill(TorchFunctionMode):
    """Writes another number in place of minus infinity."""

    WRITE = ("masked_fill", "masked_fill_", "where", "full", "full_like", "new_full", "fill_")

    def __init__(self, low: float) -> None:
        super().__init__()
        self.low, self.times = low, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ in self.WRITE:
            infinite = [isinstance(one, float) and one == -torch.inf for one in args]
            self.times += sum(infinite)
            args = [self.low if is_it else one for one, is_it in zip(args, infinite, strict=True)]
        return func(*args, **(kwargs or {}))

    @classmethod
    def is_used(cls, answer: Answer, inputs: Inputs) -> bool:
        with cls(-torch.inf) as mode:
            answer(**inputs)
        return mode.times > 0


class Reversed(TorchFunctionMode):
    """Adds up from the last to the first, in products, sums and softmax."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func.__name__, kwargs or {}
        if name in ("matmul", "__matmul__"):
            left, right = args
            return left.flip(-1) @ right.flip(-2 if right.ndim > 1 else -1)
        if name in ("sum", "softmax") and len(args) > 1 and isinstance(args[1], int):
            made = func(args[0].flip(args[1]), *args[1:], **kwargs)
            return made if name == "sum" else made.flip(args[1])
        return func(*args, **kwargs)
