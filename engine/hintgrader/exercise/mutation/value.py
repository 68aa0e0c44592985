"""Changes of a value by a slip, with the words for each."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from hintgrader.exercise.mutation.answer import is_floating, is_whole

Change = Callable[[Any], Any]
AXES = {-1: "the last axis", -2: "the last axis but one", -3: "the last axis but two"}
_FLOATS: dict[str, Change] = {
    "with the sign reversed": lambda x: -x,
    "after a `tanh`": torch.tanh,
    "after a `sigmoid`": torch.sigmoid,
    "after a `relu`": torch.relu,
    "without its sign": torch.abs,
    "after an `exp`": torch.exp,
    "after a `log`": torch.log,
    "squared": torch.square,
    "under a square root": torch.sqrt,
    "doubled": lambda x: 2 * x,
    "halved": lambda x: x / 2,
    "multiplied by the root of 2": lambda x: x * 2**0.5,
    "divided by the root of 2": lambda x: x / 2**0.5,
    "rounded": torch.round,
    "rounded down": torch.floor,
    "cut to the range from 0 to 1": lambda x: x.clamp(0, 1),
    "subtracted from 1": lambda x: 1 - x,
    "turned into 1 divided by it": lambda x: 1 / x,
    "with 1 in its place": torch.ones_like,
    "as a number of Python": lambda x: x.item(),
}
_WHOLE: dict[str, Change] = {
    "made 1 larger": lambda x: x + 1,
    "made 1 smaller": lambda x: x - 1,
    "doubled": lambda x: 2 * x,
}
_TRUTHS: dict[str, Change] = {
    "turned round, True for False": torch.logical_not,
    "with True in every place": torch.ones_like,
    "with False in every place": torch.zeros_like,
    "False at the last True of each row as well": lambda x: x & _next(x, -1),
    "True one place further in each row": lambda x: x | _next(x, 1),
}
_ANY: dict[str, Change] = {
    "with 0 in every place": torch.zeros_like,
    "with 1 in every place": torch.ones_like,
    "with its largest number in every place": lambda x: x.amax().expand_as(x),
    "with its first entry in every place": lambda x: x[:1].expand_as(x),
    "with its last entry in every place": lambda x: x[-1:].expand_as(x),
    "transposed where it is square": lambda x: x.mT if x.shape[-1] == x.shape[-2] else x,
    "reshaped where its last two axes should change places": lambda x: x.reshape(x.mT.shape).mT,
    "reshaped after its last two axes have changed places": lambda x: x.mT.reshape(x.shape),
}
_ROWS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "after a softmax over {}": torch.softmax,
    "after a `log_softmax` over {}": torch.log_softmax,
    "less its mean over {}": lambda x, axis: x - x.mean(axis, keepdim=True),
    "less its maximum over {}": lambda x, axis: x - x.amax(axis, keepdim=True),
    "divided by its sum over {}": lambda x, axis: x / x.sum(axis, keepdim=True),
    "divided by its length along {}": lambda x, axis: x / x.norm(dim=axis, keepdim=True),
    "added up along {}": torch.cumsum,
}
_MOVED: dict[str, Callable[[Tensor, int], Tensor]] = {
    "in reverse order along {}": lambda x, axis: x.flip(axis),
    "moved on by one place along {}": lambda x, axis: x.roll(1, axis),
    "moved back by one place along {}": lambda x, axis: x.roll(-1, axis),
}


# A reference takes long to call with each: what of this is done to a tensor that is given.
_OF_GIVEN = {
    "with the sign reversed",
    "after a `tanh`",
    "without its sign",
    "squared",
    "doubled",
    "halved",
    "rounded",
    "rounded down",
    "subtracted from 1",
    "after a softmax over {}",
    "less its mean over {}",
    "divided by its length along {}",
}


def changes(value: object, made: bool = True) -> Iterator[tuple[str, Change]]:
    """All changes of a value of this kind, with the words for each; fewer for a given tensor."""
    if isinstance(value, float):
        yield from ((words, _of_number(change)) for words, change in _FLOATS.items())
    elif is_floating(value):
        yield from (item for item in _FLOATS.items() if made or item[0] in _OF_GIVEN)
    elif is_whole(value):
        yield from _WHOLE.items()
    if not isinstance(value, Tensor) or not value.ndim:
        return
    if value.dtype == torch.bool:
        yield from _TRUTHS.items()
    yield from _ANY.items()
    for axis, name in list(AXES.items())[: min(value.ndim, 3 if made else 2)]:
        for words, change in (_ROWS | _MOVED if value.is_floating_point() else _MOVED).items():
            if made or words in _OF_GIVEN or words in _MOVED:
                yield words.format(name), _along(change, axis)


def _next(x: Tensor, step: int) -> Tensor:
    """A table of truths, moved by a place along its rows; what comes in is False."""
    moved = x.roll(step, -1)
    moved[..., 0 if step > 0 else -1] = False
    return moved


def _of_number(change: Change) -> Change:
    return lambda x: change(torch.tensor(x, dtype=torch.float64)).item()


def _along(change: Callable[[Tensor, int], Tensor], axis: int) -> Change:
    return lambda x: change(x, axis)
