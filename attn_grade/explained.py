"""Exceptions that an answer raised, in a student's terms: which axis, which length, which name."""

import re
from collections.abc import Callable, Iterator

from torch import Tensor

from attn_grade.inside.plain import Inputs

Said = str | None
MOST_NAMED = 3  # axes of one length


def explain(kind: str, message: str, inputs: Inputs) -> str:
    """What an exception means; nothing if its own words are all that is known.

    Args:
        kind: Of the exception, such as IndexError.
        message: What it says.
        inputs: What the answer was given.
    """
    for pattern, say in _MESSAGES.items():
        if found := re.search(pattern, message):
            return say(inputs, *found.groups()) or ""
    return _KINDS.get(kind, "")


def _product(inputs: Inputs, rows: str, inner: str, other: str, columns: str) -> Said:
    """Of two tables whose inner lengths are not equal."""
    said = f"`@` wants the last axis of the left, here {inner}, as long as the last axis but one of"
    said += f" the right, here {other}"
    tables = _named(inputs, (int(other), int(columns)))
    if inner == columns and tables:
        names = " and ".join(f"`{name}`" for name in tables)
        return (
            f"{said}. {names} of shape ({other}, {columns}) hold a row for each number that comes"
            f" out, so transpose: `@ {tables[0]}.mT`"
        )
    return f"{said}; with the right one transposed they fit" if inner == columns else said


def _batched_product(inputs: Inputs, wanted: str, got: str) -> Said:
    left, right = ([part.strip() for part in one.split(",")] for one in (wanted, got))
    if left[0] != right[0]:
        return (
            "two products in one: the axes in front are not the same,"
            f" {left[0]} and {right[0]} of them; does a batch meet the heads?"
        )
    return (
        f"`@` or `bmm` wants the last axis of the left, here {left[1]}, as long as the last axis"
        f" but one of the right, here {right[1]}"
    )


def _lengths(inputs: Inputs, one: str, other: str, axis: str) -> Said:
    named = [_axes_as_long(inputs, int(length)) for length in (one, other)]
    what = " and ".join(
        f"{length}{f' ({names})' if names else ''}"
        for length, names in zip((one, other), named, strict=True)
    )
    return (
        f"two tensors meet whose axis {axis} has other lengths, {what}; they have to be equal, or"
        " one of them 1. Is an axis missing (`unsqueeze`), or one too many?"
    )


def _place(inputs: Inputs, index: str, axis: str, size: str) -> Said:
    last = int(size) - 1
    last_one = f"the last is {last}" if last >= 0 else "there is none"
    return f"place {index} is asked for along axis {axis}, which has {size}: {last_one}"


def _axis(inputs: Inputs, low: str, high: str, got: str) -> Said:
    number = int(high) + 1
    return (
        f"axis {got} is asked for, of a tensor with {_count(number, 'axis', 'axes')}; if any number"
        " of axes may come before, count from the back, as in `dim=-1`"
    )


def _local(inputs: Inputs, name: str) -> Said:
    argument = " It is also the name of an argument." if name in inputs else ""
    return (
        f"`{name}` is read before it has a value. A function that gives it a value anywhere, as in"
        f" `{name} = ...` or `for {name} in ...`, never looks outside for it.{argument}"
    )


def _name(inputs: Inputs, name: str) -> Said:
    return (
        f"there is nothing called `{name}` when your function is called: look at how it is"
        " spelled, and whether the cell that defines it stands above"
    )


def _indices(inputs: Inputs, axes: str) -> Said:
    return (
        f"a tensor with {_count(int(axes), 'axis', 'axes')} is indexed along more: there may be"
        " fewer axes in front than you think. Write `x[..., i]` to count from the back"
    )


def _joined(inputs: Inputs, axis: str, one: str, other: str) -> Said:
    return (
        f"`cat` along axis {axis} wants all other axes alike, and finds lengths {one} and {other}"
    )


def _reshape(inputs: Inputs, shape: str, size: str) -> Said:
    return (
        f"a tensor of {size} numbers cannot take the shape ({shape}): a length in it is not what"
        " you took it for. Take lengths from `shape`, and let one of them be -1"
    )


def _unpack(inputs: Inputs, wanted: str, got: str | None = None) -> Said:
    there = f"there are {got}" if got else "there are more"
    return (
        f"{_count(int(wanted), 'name', 'names')} on the left of `=`, and {there} on the right; the"
        " number of axes is not the same each time: `shape[-1]`, `shape[-2]`"
    )


def _dtypes(inputs: Inputs, *dtypes: str) -> Said:
    both = " and ".join(sorted({f"float{_BITS.get(one.lower(), one)}" for one in dtypes}))
    return (
        f"{both} meet in one product: what you make yourself takes its dtype from the inputs, as in"
        " `torch.zeros(..., dtype=x.dtype)` or `x.new_zeros(...)`"
    )


def _axes_of_bmm(inputs: Inputs) -> Said:
    return "`bmm` takes three axes, no more and no fewer; `@` takes any number"


def _truth(inputs: Inputs) -> Said:
    return (
        "`if`, `and`, `or` and `not` want one True or False, and get a whole tensor of them: use"
        " `&`, `|`, `~` or `torch.where`"
    )


def _no_loop(inputs: Inputs, kind: str) -> Said:
    return (
        f"something that you take for a list is of type `{kind}` here: does a `for` or a `=` give"
        f" the name of an argument ({_listed(inputs)}) to something else?"
    )


def _argument(inputs: Inputs) -> Said:
    return f"your function is called with {_listed(inputs)}, by these names"


def _not_returned(inputs: Inputs) -> Said:
    return "there is a None where a value should be: does a function of yours end without `return`?"


_MESSAGES: dict[str, Callable[..., Said]] = {
    r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)": _product,
    r"size mismatch, got input \((\d+)\), mat \(\d+x(\d+)\), vec \((\d+)\)": (
        lambda inputs, rows, inner, other: _product(inputs, rows, inner, other, "1")
    ),
    r"for first two dimensions of batch2 tensor to be: \[([\d, ]+)\] but got: \[([\d, ]+)\]": (
        _batched_product
    ),
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton"
    r" dimension (\d+)": _lengths,
    r"index (-?\d+) is out of bounds for (?:dimension|axis) (\d+) with size (\d+)": _place,
    r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)": (
        _axis
    ),
    r"too many indices for tensor of dimension (\d+)": _indices,
    r"must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+)": _joined,
    r"local variable '(\w+)'": _local,
    r"name '(\w+)' is not defined": _name,
    r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)": _reshape,
    r"not enough values to unpack \(expected (\d+), got (\d+)\)": _unpack,
    r"too many values to unpack \(expected (\d+)": _unpack,
    r"same dtype, but got: (\w+) != (\w+)": _dtypes,
    r"expected scalar type (\w+) but found (\w+)": _dtypes,
    r"batch[12] must be a 3D tensor": _axes_of_bmm,
    r"Boolean value of Tensor with more than one value": _truth,
    r"'NoneType' object|and 'NoneType'|'NoneType' and": _not_returned,
    r"'(int|float|bool)' object is not (?:iterable|subscriptable)": _no_loop,
    r"object of type '(int|float|bool)' has no len": _no_loop,
    r"argument of type '(int|float|bool)' is not iterable": _no_loop,
    r"takes \d+ positional arguments?|required positional arg|unexpected keyword arg": _argument,
}
_KINDS = {
    "KeyError": "a dictionary is asked for a key that it does not have",
    "IndexError": "a place is asked for that is not there: places are counted from 0, so the last"
    " of n is n - 1; and a list or a shape may be shorter than you think",
    "ZeroDivisionError": "something is divided by 0: is a list empty, or a count 0?",
    "RecursionError": "your function calls itself without an end",
}
_BITS = {"float": "32", "double": "64", "half": "16"}


def _named(inputs: Inputs, shape: tuple[int, ...]) -> list[str]:
    """The inputs of this shape."""
    return [n for n, v in inputs.items() if isinstance(v, Tensor) and tuple(v.shape) == shape]


def _axes_as_long(inputs: Inputs, length: int) -> str:
    """The axes of inputs that are so long, in words; none if there are many."""
    named = [*_of_this_length(inputs, length)]
    return ", ".join(named) if length != 1 and len(named) <= MOST_NAMED else ""


def _of_this_length(inputs: Inputs, length: int) -> Iterator[str]:
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            for axis, size in enumerate(value.shape, start=-value.ndim):
                if size == length:
                    yield f"`{name}.shape[{axis}]`"


def _listed(inputs: Inputs) -> str:
    return ", ".join(f"`{name}`" for name in inputs)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
