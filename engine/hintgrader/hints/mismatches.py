"""Lengths, axes, dtypes and names that do not fit, in sentences for a student.

Each function says what one kind of message means, from the inputs and from what the message quotes.
"""

from collections.abc import Iterator

from torch import Tensor

from hintgrader.worker.plain import Inputs

Said = str | None
MOST_NAMED = 3  # axes of one length, and numbers
_BITS = {"float": "32", "double": "64", "half": "16"}


def say_product(inputs: Inputs, rows: str, inner: str, other: str, columns: str) -> Said:
    """Say that two tables do not fit, whose inner lengths are not equal."""
    said = f"`@` wants the last axis of the left, here {inner}, as long as the last axis but one of"
    said += f" the right, here {other}"
    tables = _named(inputs, (int(other), int(columns)))
    if inner == columns and (stacks := _stacks(inputs, int(rows), int(inner), int(other))):
        return (
            f"{said}. `{stacks[0]}` has {other} matrices: does the right hold a vector for each of"
            " them? Then `.unsqueeze(-1)` makes them columns"
        )
    if inner == columns and tables:
        names = " and of ".join(f"`{name}`" for name in tables)
        return (
            f"{said}. The last axis of {names}, of shape ({other}, {columns}), is as long: is it to"
            f" be transposed, `@ {tables[0]}.mT`?"
        )
    turned = "; its last one is as long: is one of the two turned round, or no longer what came in?"
    return f"{said}{turned}" if inner == columns else said


def say_batched_product(inputs: Inputs, wanted: str, got: str) -> Said:
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


def say_lengths(inputs: Inputs, one: str, other: str, axis: str) -> Said:
    named = [_axes_as_long(inputs, int(length)) for length in (one, other)]
    what = " and ".join(
        f"{length}{f' ({names})' if names else ''}"
        for length, names in zip((one, other), named, strict=True)
    )
    return (
        f"two tensors meet whose axis {axis} has different lengths, {what}; they have to be equal,"
        " or one of them 1. Is an axis missing (`unsqueeze`), or one too many?"
    )


def say_place(inputs: Inputs, index: str, axis: str, size: str) -> Said:
    last = int(size) - 1
    last_one = f"the last is {last}" if last >= 0 else "there is none"
    said = f"place {index} is asked for along axis {axis}, which has {size}: {last_one}"
    if axis != "0":
        return f"{said}. Is it a place of that axis? `argmax(dim)` counts along `dim`"
    if any(isinstance(value, Tensor) and value.ndim > 1 for value in inputs.values()):
        return f"{said}. `x[places]` counts along the first axis; along another one, `gather` does"
    return said


def say_axis(inputs: Inputs, low: str, high: str, got: str) -> Said:
    number = int(high) + 1
    return (
        f"axis {got} is asked for, of a tensor with {_count(number, 'axis', 'axes')}; if any number"
        " of axes may come before, count from the back, as in `dim=-1`"
    )


def say_local(inputs: Inputs, name: str) -> Said:
    argument = " It is also the name of an argument." if name in inputs else ""
    return (
        f"`{name}` is read before it has a value. A function that gives it a value anywhere, as in"
        f" `{name} = ...` or `for {name} in ...`, never looks outside for it.{argument}"
    )


def say_name(inputs: Inputs, name: str) -> Said:
    return (
        f"there is nothing called `{name}` when your function is called: has the cell that defines"
        " it been run, and does it stand above? If so, look at how it is spelled"
    )


def say_indices(inputs: Inputs, axes: str) -> Said:
    return (
        f"a tensor with {_count(int(axes), 'axis', 'axes')} is indexed along more: there may be"
        " fewer axes in front than you think. Write `x[..., i]` to count from the back"
    )


def say_joined(inputs: Inputs, axis: str, one: str, other: str) -> Said:
    said = (
        f"`cat` along axis {axis} wants all other axes alike, and finds lengths {one} and {other}"
    )
    first = ". It takes the first axis where none is named; the last one is `torch.cat(..., -1)`"
    return f"{said}{first if axis == '0' else ''}"


def say_axes_joined(inputs: Inputs, one: str, other: str) -> Said:
    return (
        f"what is joined has {one} axes here and {other} there; all have to have as many. Is an"
        " axis of length 1 left (`squeeze`), or missing (`unsqueeze`)?"
    )


def say_no_tensor(inputs: Inputs, kind: str) -> Said:
    return f"among the tensors that are joined there is something of type `{kind}`, which is none"


def say_reshape(inputs: Inputs, shape: str, size: str) -> Said:
    return (
        f"a tensor of {size} numbers cannot take the shape ({shape}): a length in it is not what"
        " you took it for. Take lengths from `shape`, and let one of them be -1"
    )


def say_unpack(inputs: Inputs, wanted: str, got: str | None = None) -> Said:
    there = f"there are {got}" if got else "there are more"
    return (
        f"{_count(int(wanted), 'name', 'names')} on the left of `=`, and {there} on the right; the"
        " number of axes is not the same each time: `shape[-1]`, `shape[-2]`"
    )


def say_dtypes(inputs: Inputs, *dtypes: str) -> Said:
    both = " and ".join(sorted({f"float{_BITS.get(one.lower(), one)}" for one in dtypes}))
    return (
        f"{both} meet in one product: what you make yourself takes its dtype from the inputs, as in"
        " `torch.zeros(..., dtype=x.dtype)` or `x.new_zeros(...)`"
    )


def say_axes_of_bmm(inputs: Inputs) -> Said:
    return "`bmm` takes three axes, no more and no fewer; `@` takes any number"


def say_rounded_down(inputs: Inputs) -> Said:
    return "`//` rounds down, and no gradient comes through it; `/` divides"


def say_truth(inputs: Inputs) -> Said:
    return (
        "`if`, `and`, `or` and `not` want one True or False, and get a whole tensor of them: use"
        " `&`, `|`, `~` or `torch.where`"
    )


def say_no_loop(inputs: Inputs, kind: str) -> Said:
    return (
        f"something that you take for a list is of type `{kind}` here: does a `for` or a `=` give"
        f" the name of an argument ({_listed(inputs)}) to something else?"
    )


def say_missing(inputs: Inputs, called: str, name: str) -> Said:
    said = f"`{called}` is called without its `{name}`"
    return said if name in inputs else f"{said}; {_called_with(inputs)}"


def say_unexpected(inputs: Inputs, name: str) -> Said:
    if name in inputs:
        return _called_with(inputs)
    return f"a function that you call has no argument named `{name}`"


def say_too_many(inputs: Inputs, called: str, most: str, given: str) -> Said:
    """Say it of a function that an answer calls; the answer itself is called by names."""
    owner, _, name = called.rpartition(".")
    own = int(bool(owner) and not owner.endswith("<locals>"))  # `self`
    shown = owner if own and name in ("__call__", "forward") else called
    values = _count(int(given) - own, "value", "values")
    return f"a call in your answer gives {values} to `{shown}`, which takes {int(most) - own}"


def say_classes(inputs: Inputs, wanted: str, got: str) -> Said:
    return (
        "`cross_entropy` looks for the classes on the second axis of the logits, so that answers"
        f" of the shape ({wanted}) would fit; yours have ({got}). Flatten all axes but the last,"
        " or bring the classes to the second axis"
    )


def say_rows_of_answers(inputs: Inputs, logits: str, answers: str) -> Said:
    return f"`cross_entropy` gets {logits} rows of logits, and {answers} answers"


def say_no_numbers(inputs: Inputs) -> Said:
    return (
        "a maximum, a minimum or the like is asked of a tensor without numbers: an axis of it has"
        " the length 0, as that of `x[:0]`"
    )


def say_laws(inputs: Inputs) -> Said:
    return (
        "`multinomial` takes probabilities with one axis, or with two, a row for each draw; yours"
        " have another number of axes: is one place to be chosen first, such as `[:, -1]`?"
    )


def say_no_law(inputs: Inputs) -> Said:
    return (
        "`multinomial` gets a number that is no probability: `nan`, an infinite one or one below 0."
        " Look at what makes them; are its arguments in their places?"
    )


def say_device(inputs: Inputs) -> Said:
    return (
        "a number stands where torch takes a device: `torch.Generator(...)` takes one, and the seed"
        " goes to `torch.Generator().manual_seed(...)`"
    )


def say_not_returned(inputs: Inputs) -> Said:
    return (
        "there is a None where a value should be: does a function of yours end without `return`, or"
        " has a tensor no gradient?"
    )


def _called_with(inputs: Inputs) -> str:
    return f"your function is called with {_listed(inputs)}, by these names"


def _stacks(inputs: Inputs, rows: int, inner: int, number: int) -> list[str]:
    """The inputs that hold so many matrices, with so many rows together."""
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    return [
        name
        for name, value in tensors.items()
        if value.ndim == 3
        and value.shape[::2] == (number, inner)
        and number * value.shape[1] == rows
    ]


def _named(inputs: Inputs, shape: tuple[int, ...]) -> list[str]:
    """The inputs of this shape that a product may take: a mask is none of them."""
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    return [n for n, v in tensors.items() if v.is_floating_point() and tuple(v.shape) == shape]


def _axes_as_long(inputs: Inputs, length: int) -> str:
    """All of the inputs that it may come from, as nobody knows which; nothing if there are many."""
    named = [*_of_this_length(inputs, length)]
    return " or ".join(named) if length != 1 and len(named) <= MOST_NAMED else ""


def _of_this_length(inputs: Inputs, length: int) -> Iterator[str]:
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            for axis, size in enumerate(value.shape, start=-value.ndim):
                if size == length:
                    yield f"`{name}.shape[{axis}]`"
        elif type(value) is int and value == length:
            yield f"`{name}`"


def _listed(inputs: Inputs) -> str:
    return ", ".join(f"`{name}`" for name in inputs)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
