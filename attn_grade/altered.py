"""The reference, altered in ways that need no knowledge of the exercise, into wrong and right ones.

Each is a `Variant`. A wrong one that can be made of a reference is forbidden, unless the exercise
waives it with a reason; see `attn_grade.promises`.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attn_grade.exercise import Promises
from attn_grade.inside.plain import Inputs, Plain, cast_floats, map_leaves, parts_of
from attn_grade.wrong_answers import Answer, cut_off, given, in_dtype, leafwise, squeezed, then

CUTS_OFF = "cuts off"
FILLS = (-1e3, -1e9)
WRONG = {
    "casts to float32": "you compute in float32 and return it: the output has the dtype of the"
    " inputs, which may be float64",
    "rounds to float32": "your output has the right dtype, but on the way its numbers are held in"
    " float32, and the digits that float64 inputs have are lost",
    "casts to float64": "you return float64, whatever comes in: the output has the dtype of the"
    " inputs",
    CUTS_OFF: "no gradient reaches `{}`: either it does not occur in what you return, or `detach`,"
    " `no_grad`, `data`, `item` or a new `torch.tensor` cuts that off from it",
    "changes": "you change `{}`, which belongs to the caller: `+=`, `x[...] =` and methods whose"
    " names end in `_` write into what they are given; make a new one",
    "marks": "you mark `{0}` of the caller for gradients: take `{0}.detach().requires_grad_()`,"
    " which is a tensor of your own",
    "squeezes": "`squeeze` without an axis takes away every axis of length 1, that of a batch of"
    " one too; leave it out, or name the axis that you mean",
    "repeats the first": None,
    "fills with": None,
    "is off by a millionth": None,
    "returns a list": None,
    "returns the shape": None,
    "returns floats": "whole numbers are asked, and you return floats: `//` divides whole numbers"
    " into whole numbers, and `/` never does",
}
RIGHT = (
    "computes in float64",
    "takes scattered numbers",
    "adds an axis in front",
    "sums in another order",
    "replaces nan",
)


@dataclass(frozen=True)
class Variant:
    """The reference, altered.

    Args:
        kind: How, a key of `WRONG` or one of `RIGHT`.
        answer: What can be called.
        of: The input or the number that it is about; empty if it is about none.
    """

    kind: str
    answer: Answer
    of: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind} {self.of}".rstrip()

    @property
    def sign(self) -> str | None:
        """The evidence of whoever errs like this, where that does not depend on numbers."""
        return {"changes": f"changed: {self.of}", "marks": f"marked: {self.of}"}.get(self.kind)

    @property
    def hint(self) -> str | None:
        """What a student reads who erred like this."""
        hint = WRONG.get(self.kind)
        return hint and hint.format(self.of)


def wrong_variants(
    reference: Answer, promises: Promises, inputs: Inputs, output: Plain
) -> Iterator[Variant]:
    """The wrong answers that can be made of a reference which turns these inputs into this."""
    floats = [name for name, value in inputs.items() if _has(_is_floating, value)]
    tensors = [name for name in floats if isinstance(inputs[name], Tensor)]
    if _has(_is_floating, output):
        if floats:
            yield Variant("casts to float32", in_dtype(reference, torch.float32))
            yield Variant("rounds to float32", _inside(reference, torch.float32))
        yield Variant("casts to float64", in_dtype(reference, torch.float64))
    if isinstance(output, Tensor) and output.is_floating_point():
        for name in tensors:
            yield Variant(CUTS_OFF, cut_off(reference, name), name)
    for name, value in inputs.items():
        if 0 not in value.shape if _is_array(value) else isinstance(value, list | dict) and value:
            yield Variant("changes", _after(_change, reference, name), name)
    for name in tensors:
        yield Variant("marks", _after(Tensor.requires_grad_, reference, name), name)
    if _has(lambda leaf: isinstance(leaf, Tensor) and leaf.ndim > 0, output):
        yield Variant("squeezes", squeezed(reference))
        if promises.batch:
            yield Variant("repeats the first", leafwise(reference, _repeat))
    for low in FILLS:
        if _Fill.is_used(reference, inputs):
            yield Variant("fills with", _under(partial(_Fill, low), reference), f"{low:g}")
    if _has(_is_floating, output):
        shift = leafwise(reference, lambda leaf: leaf * (1 + 1e-6) if _is_floating(leaf) else leaf)
        yield Variant("is off by a millionth", shift)
    yield Variant("returns a list", leafwise(reference, _listed))
    if _has(_is_array, output):
        shape = leafwise(reference, lambda leaf: list(leaf.shape) if _is_array(leaf) else leaf)
        yield Variant("returns the shape", shape)
    if _has(_is_whole, output):
        real = leafwise(reference, lambda leaf: leaf * 1.0 if _is_whole(leaf) else leaf)
        yield Variant("returns floats", real)


def right_variants(
    reference: Answer, promises: Promises, inputs: Inputs, output: Plain
) -> Iterator[Variant]:
    """The right answers that can be made of such a reference."""
    arrays = [name for name, value in inputs.items() if _has(_is_array, value)]
    if _has(_is_floating, output) and any(_has(_is_floating, inputs[name]) for name in arrays):
        yield Variant("computes in float64", _inside(reference, torch.float64))
    if arrays:
        scatter = dict.fromkeys(arrays, partial(map_leaves, _scatter))
        yield Variant("takes scattered numbers", given(reference, **scatter))
    if promises.any_axes:
        in_front = given(reference, **dict.fromkeys(promises.batch, lambda value: value[None]))
        has_it = isinstance(output, Tensor) and in_front(**inputs).ndim > output.ndim
        taken = then(in_front, lambda made: made[0]) if has_it else in_front
        yield Variant("adds an axis in front", taken)
    if _has(_is_real, output):
        yield Variant("sums in another order", _under(_Reversed, reference))
        real = leafwise(reference, lambda leaf: leaf.nan_to_num() if _is_tensor(leaf) else leaf)
        yield Variant("replaces nan", real)


def _has(kind: Callable[[Any], bool], value: Any) -> bool:
    if isinstance(value, list | tuple | dict):
        return any(_has(kind, part) for part in parts_of(value))
    return kind(value)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | np.ndarray)


def _is_floating(leaf: Any) -> bool:
    return _is_array(leaf) and "float" in str(leaf.dtype)


def _is_real(leaf: Any) -> bool:
    return isinstance(leaf, float) or _is_floating(leaf)


def _is_whole(leaf: Any) -> bool:
    whole = not isinstance(leaf, bool) and isinstance(leaf, int)
    return whole or (_is_array(leaf) and "int" in str(leaf.dtype))


def _inside(answer: Answer, dtype: torch.dtype) -> Answer:
    """The answer in another precision inside, and in the dtype of its inputs outside."""

    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        seen: list[Any] = []
        map_leaves(lambda leaf: seen.append(leaf) or leaf, list(inputs.values()))
        names = [str(leaf.dtype).removeprefix("torch.") for leaf in seen if _is_floating(leaf)]
        own = getattr(torch, names[0]) if names else dtype
        return cast_floats(in_dtype(answer, dtype)(**inputs), own)

    return changed


def _after(act: Callable[[Any], object], answer: Answer, name: str) -> Answer:
    """The answer, after something has been done to the input that it was given."""

    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        kept = inputs[name].clone() if _is_tensor(inputs[name]) else deepcopy(inputs[name])
        act(inputs[name])
        return answer(**inputs | {name: kept})

    return changed


def _change(value: Any) -> None:
    if isinstance(value, list | dict):
        value.clear()
    elif _is_floating(value):
        value /= 2
        value += 1
    else:
        value[...] = ~value if "bool" in str(value.dtype) else value + 1


def _repeat(leaf: Any) -> Any:
    return leaf[:1].expand_as(leaf) if _is_tensor(leaf) and leaf.ndim else leaf


def _listed(leaf: Any) -> Any:
    return leaf.tolist() if _is_array(leaf) else [leaf]


def _scatter(leaf: Any) -> Any:
    """The same numbers, between which others lie in memory."""
    if not _is_tensor(leaf):
        return leaf.repeat(2, -1)[..., ::2] if _is_array(leaf) and leaf.ndim else leaf
    return torch.stack((leaf, leaf), -1)[..., 0]


def _under(mode: Callable[[], TorchFunctionMode], answer: Answer) -> Answer:
    @wraps(answer)
    def changed(**inputs: Any) -> Any:
        with mode():
            return answer(**inputs)

    return changed


class _Fill(TorchFunctionMode):
    """Writes another number wherever minus infinity is to be written."""

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


class _Reversed(TorchFunctionMode):
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
