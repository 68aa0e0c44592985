"""The reference, altered in ways that need no knowledge of the exercise, into wrong and right ones.

Each is a `Variant`. A wrong one that can be made of a reference is forbidden, unless the exercise
exempts it with a reason; see `hintgrader.exercise.contract`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from hintgrader.exercise.definition import Contract
from hintgrader.exercise.mutation.answer import (
    Fill,
    Reversed,
    after,
    can_change,
    change,
    has,
    inside,
    is_array,
    is_float32,
    is_floating,
    is_tensor,
    is_whole,
    listed,
    repeat_first,
    scatter,
    under,
)
from hintgrader.exercise.wrong_answers import (
    Answer,
    cut_off,
    given,
    in_dtype,
    leafwise,
    squeezed,
    then,
)
from hintgrader.worker.plain import Inputs, Plain, map_leaves

# What is seen of an answer that changes an input, or marks it for gradients: this, and its name.
CHANGED, MARKED = "changed: ", "marked: "
CUTS_OFF = "cuts off"
FILLS = (-1e3, -1e9)
WRONG = {
    "casts to float32": "you compute in float32 and return it: the output has the dtype of the"
    " inputs, which may be float64",
    "rounds to float32": "your output has the right dtype, but on the way its numbers are held in"
    " float32, which loses digits of float64 inputs",
    "casts to float64": "you return float64, whatever comes in: the output has the dtype of the"
    " inputs",
    CUTS_OFF: "no gradient reaches `{}`: either what you return does not use it, or `detach`,"
    " `no_grad`, `data`, `item` or a new `torch.tensor` cuts the output off from it",
    "changes": "you change `{}`, which belongs to the caller: `+=`, `x[...] =` and methods whose"
    " names end in `_` write into the original; make a new one",
    "marks": "you mark the caller's `{0}` for gradients: take `{0}.detach().requires_grad_()`,"
    " which is a tensor of your own",
    "squeezes": "`squeeze` without an axis removes every axis of length 1, even a batch of one;"
    " leave it out, or name the axis that you mean",
    "repeats the first": None,
    "fills with": None,
    "is off by a millionth": "not all the digits that float64 holds are right: something small,"
    " such as `1e-6`, is added on the way, or float32 holds the numbers there",
    "returns a list": None,
    "returns the shape": None,
    "returns floats": "whole numbers are asked for, and you return floats: `//` of two whole"
    " numbers is a whole number, and `/` never is",
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
        """The evidence of an answer that errs like this, where that does not depend on numbers."""
        about = {"changes": CHANGED, "marks": MARKED}.get(self.kind)
        return about and f"{about}{self.of}"

    @property
    def shows(self) -> Callable[[Plain], bool] | None:
        """A test of what its hint says of the numbers, where rounding hides that; else None."""
        return is_float32 if self.kind == "rounds to float32" else None

    @property
    def hint(self) -> str | None:
        """The hint that a student who erred like this reads."""
        hint = WRONG.get(self.kind)
        return hint and hint.format(self.of)


def wrong_variants(
    reference: Answer, contract: Contract, inputs: Inputs, output: Plain
) -> Iterator[Variant]:
    """The wrong answers that can be made of a reference which turns these inputs into this."""
    floats = [name for name, value in inputs.items() if has(is_floating, value)]
    tensors = [name for name in floats if isinstance(inputs[name], Tensor)]
    if has(is_floating, output):
        if floats:
            yield Variant("casts to float32", in_dtype(reference, torch.float32))
            yield Variant("rounds to float32", inside(reference, torch.float32))
        yield Variant("casts to float64", in_dtype(reference, torch.float64))
    if isinstance(output, Tensor) and output.is_floating_point():
        for name in tensors:
            yield Variant(CUTS_OFF, cut_off(reference, name), name)
    for name, value in inputs.items():
        if can_change(value):
            yield Variant("changes", after(change, reference, name), name)
    for name in tensors:
        yield Variant("marks", after(Tensor.requires_grad_, reference, name), name)
    if has(lambda leaf: isinstance(leaf, Tensor) and leaf.ndim > 0, output):
        yield Variant("squeezes", squeezed(reference))
        if contract.batch:
            yield Variant("repeats the first", leafwise(reference, repeat_first))
    for low in FILLS:
        if Fill.is_used(reference, inputs):
            yield Variant("fills with", under(partial(Fill, low), reference), f"{low:g}")
    if has(is_floating, output):
        shift = leafwise(reference, lambda leaf: leaf * (1 + 1e-6) if is_floating(leaf) else leaf)
        yield Variant("is off by a millionth", shift)
    yield Variant("returns a list", leafwise(reference, listed))
    if has(is_array, output):
        shape = leafwise(reference, lambda leaf: list(leaf.shape) if is_array(leaf) else leaf)
        yield Variant("returns the shape", shape)
    if has(is_whole, output):
        real = leafwise(reference, lambda leaf: leaf * 1.0 if is_whole(leaf) else leaf)
        yield Variant("returns floats", real)


def right_variants(
    reference: Answer, contract: Contract, inputs: Inputs, output: Plain
) -> Iterator[Variant]:
    """The right answers that can be made of such a reference."""
    arrays = [name for name, value in inputs.items() if has(is_array, value)]
    if has(is_floating, output) and any(has(is_floating, inputs[name]) for name in arrays):
        yield Variant("computes in float64", inside(reference, torch.float64))
    if arrays:
        scattered = dict.fromkeys(arrays, partial(map_leaves, scatter))
        yield Variant("takes scattered numbers", given(reference, **scattered))
    if contract.any_axes:
        in_front = given(reference, **dict.fromkeys(contract.batch, lambda value: value[None]))
        made = in_front(**inputs)
        both = isinstance(output, Tensor) and isinstance(made, Tensor) and made.ndim > output.ndim
        taken = then(in_front, lambda made: made[0]) if both else in_front
        yield Variant("adds an axis in front", taken)
    if has(is_floating, output):
        yield Variant("sums in another order", under(Reversed, reference))
        real = leafwise(reference, lambda leaf: leaf.nan_to_num() if is_tensor(leaf) else leaf)
        yield Variant("replaces nan", real)
