"""A mode of torch in which one of its functions is left out, or another stands in its place."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from hintgrader.exercise.mutation.answer import Fill, has, is_floating, under
from hintgrader.exercise.wrong_answers import Altered, Answer
from hintgrader.worker.plain import Inputs

# By the name of a function those that are taken for it; an empty name leaves it out.
OTHERS = {
    "tanh": ("", "sigmoid", "relu"),
    "sigmoid": ("", "tanh", "relu"),
    "relu": ("", "abs"),
    "exp": ("",),
    "log": ("", "log2", "log1p"),
    "sqrt": ("",),
    "square": ("", "abs"),
    "abs": ("", "square"),
    "softmax": ("", "log_softmax", "sigmoid"),
    "sum": ("mean", "amax"),
    "mean": ("sum",),
    "amax": ("amin", "mean", "sum"),
    "amin": ("amax", "mean", "sum"),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "flip": ("",),
    "le": ("lt",),
    "lt": ("le",),
    "ge": ("gt",),
    "gt": ("ge",),
    "div": ("", "floor_divide"),
    "truediv": ("", "floor_divide"),
    "floor": ("", "round"),
    "round": ("", "floor"),
    "clamp_min": ("",),
    "clamp": ("",),
}
_SIGNS = {"le": "<=", "lt": "<", "ge": ">=", "gt": ">", "div": "/", "truediv": "/"}
_SIGNS["floor_divide"] = "//"
_FILLS = {"0": 0.0, "minus 1": -1.0, "a tiny number": 1e-9, "minus 1000000000": -1e9}
_MOST_CALLS = 6


class _Replacement(TorchFunctionMode):
    """Does something else where a function of torch is called with floating-point numbers.

    Args:
        name: Of the function.
        call: What is done, of the function and what it is given.
        only: Which of the calls it is, counted from 0; None if it is all.
    """

    def __init__(self, name: str, call: Callable[..., Any], only: int | None = None) -> None:
        super().__init__()
        self.name, self.call, self.only, self.times = name, call, only, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        call = _as_it_is
        if func.__name__.strip("_") == self.name and has(is_floating, args[:1]):
            call = self.call if self.only in (None, self.times) else call
            self.times += 1
        return call(func, *args, **(kwargs or {}))


def using(answer: Answer, name: str, call: Callable[..., object]) -> Altered:
    """The answer in which this is called in the place of a function of torch."""

    def how(answer: Answer, **inputs: Any) -> Any:
        with _Replacement(name, lambda _, *args, **kwargs: call(*args, **kwargs)):
            return answer(**inputs)

    return Altered(answer, how)


def with_others(answer: Answer, inputs: Inputs) -> Iterator[tuple[str, Answer]]:
    """An answer with another function in the place of each that it calls, and how to say that."""
    for name, words, call in _calls():
        with _Replacement(name, _as_it_is) as mode:
            answer(**inputs)
        if mode.times:
            yield words, under(partial(_Replacement, name, call), answer)
        for only in range(mode.times) if 1 < mode.times <= _MOST_CALLS else ():
            said = f"{words} in one of several places"
            yield said, under(partial(_Replacement, name, call, only), answer)
    if Fill.is_used(answer, inputs):
        for low, number in _FILLS.items():
            yield f"with {low} in the place of minus infinity", under(partial(Fill, number), answer)


def _calls() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    for name, others in OTHERS.items():
        one = _SIGNS.get(name, name)
        for other in others:
            words = f"with `{_SIGNS.get(other, other)}` in the place of `{one}`"
            yield name, words if other else f"without its `{one}`", partial(_other, other)
    for axis in (-2, -3):  # which one it is in an answer with other axes, nobody knows
        yield "softmax", "with a softmax along another axis", partial(_over, axis)
    yield "softmax", "with one softmax over the last two axes together", _over_two_axes
    words = "with its weights transposed, which then sum to 1 along the other axis"
    yield "softmax", words, _transposed
    words = "with 0 for the scores in the place of minus infinity, and then 0 for their weights"
    yield "softmax", words, _masked_by_zeros
    yield "cat", "with what it joins in the opposite order", _joined_backwards


def _as_it_is(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


def _other(name: str, func: Any, *args: Any, **kwargs: Any) -> Any:
    return (
        getattr(torch, name)(*args[: 1 if name == "sigmoid" else None], **kwargs)
        if name
        else args[0]
    )


def _over(axis: int, func: Any, numbers: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return torch.softmax(numbers, axis)


def _over_two_axes(func: Any, numbers: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return torch.softmax(numbers.flatten(-2), -1).reshape(numbers.shape)


def _transposed(func: Any, *args: Any, **kwargs: Any) -> Tensor:
    made: Tensor = func(*args, **kwargs)
    return made.mT if made.ndim > 1 and made.shape[-1] == made.shape[-2] else made


def _masked_by_zeros(func: Any, numbers: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    forbidden = numbers == -torch.inf
    made: Tensor = func(numbers.masked_fill(forbidden, 0), *args, **kwargs)
    return made.masked_fill(forbidden, 0)


def _joined_backwards(func: Any, parts: Any, *args: Any, **kwargs: Any) -> Tensor:
    return func([*parts][::-1], *args, **kwargs)
