"""Shapes, dtypes, devices and NaN, checked when a function is called.

The shape of every tensor stands in the signature of the function that takes it, written with
jaxtyping. `checked` holds a call to that signature, so that a mistake is reported by the name of
the argument and of the axis, with the sizes that do not fit, and not by a message from the middle
of a matrix product.
"""

import inspect
import math
import typing
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from numbers import Real
from typing import ParamSpec, TypeVar

import torch
from jaxtyping import AbstractArray, jaxtyped
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")
# The size that an axis has in this call, and the argument that gave it.
Sizes = dict[str, tuple[int | tuple[int, ...], str]]
type_of_tensor = type(AbstractArray)
inside_a_checked_call: ContextVar[bool] = ContextVar("inside_a_checked_call", default=False)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Hold every call of `function` to the shapes in its signature.

    Arguments and the returned tensor are compared with their jaxtyping annotations; an axis name
    stands for one size throughout the call. Floating-point arguments must share a dtype, and all
    tensors a device; tensors without axes, such as a learned width, are exempt from both. No
    argument may hold NaN; that is looked for in the outermost call only, because it reads every
    number. While `torch.compile` traces the function nothing is checked, and under `torch.vmap`
    NaN is not looked for: both forbid to branch on values.

    Raises:
        TypeError: An argument is not a tensor, or its dtype is of the wrong kind or differs from
            that of another argument.
        ValueError: A shape or a device does not fit, or an argument holds NaN.
    """
    signature = inspect.signature(function)
    annotations = typing.get_type_hints(function, include_extras=True)
    returned = annotations.pop("return", None)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.compiler.is_compiling():
            return function(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        tensors = {name: given[name] for name in annotations if _is_due(name, given, annotations)}
        with jaxtyped("context"):
            sizes: Sizes = {}
            for name, value in tensors.items():
                _check_argument(function.__name__, name, value, annotations[name], sizes)
            _check_together(function.__name__, tensors)
            if not inside_a_checked_call.get():
                _refuse_nan(function.__name__, tensors)
            token = inside_a_checked_call.set(True)
            try:
                result = function(*args, **kwargs)
            finally:
                inside_a_checked_call.reset(token)
            if returned is not None:
                _check_argument(function.__name__, "the result", result, returned, sizes)
        return result

    return call


def require_positive(name: str, number: float | Tensor) -> None:
    """Raise unless `number` is positive and finite; under `torch.vmap` its value is not looked at.

    Raises:
        TypeError: It is neither a number nor a tensor of one number.
        ValueError: It is zero, negative, infinite or NaN.
    """
    if torch.compiler.is_compiling():
        return
    if not isinstance(number, Real) and not (isinstance(number, Tensor) and number.numel() == 1):
        raise TypeError(f"{name} must be one number, not {_describe(number)}")
    fits = torch.as_tensor((number > 0) & (number < math.inf))
    if is_true_of_any(~fits):
        raise ValueError(f"{name}={float(number):g} must be positive and finite")


def is_true_of_any(condition: Tensor) -> bool:
    """Whether a check of values finds a True; False where no branch may depend on a value."""
    if torch.compiler.is_compiling():
        return False
    try:
        return bool(condition.any())
    except RuntimeError:  # torch.vmap
        return False


def _is_due(name: str, given: dict[str, object], annotations: dict[str, object]) -> bool:
    """Whether an argument is to be a tensor here: numbers and None pass where they are allowed."""
    if name not in given or not list(_tensor_types(annotations[name])):
        return False
    other = [t for t in typing.get_args(annotations[name]) if not isinstance(t, type_of_tensor)]
    return not any(isinstance(given[name], Real if t is float else t) for t in other)


def _tensor_types(annotation: object) -> Iterator[type[AbstractArray]]:
    for member in typing.get_args(annotation) or (annotation,):
        if isinstance(member, type_of_tensor):
            yield member


def _check_argument(
    function: str,
    name: str,
    value: object,
    annotation: object,
    sizes: Sizes,
) -> None:
    expected = next(_tensor_types(annotation), None)
    if expected is None:
        return
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{function}: {name} is {_describe(value)}; expected a torch.Tensor "
            f"of shape ({_axes(expected)})"
        )
    if not isinstance(value, expected):
        kind = _kind_of_dtype(expected, value)
        if kind:
            raise TypeError(f"{function}: {name} has dtype {value.dtype}; expected {kind}")
        raise ValueError(
            f"{function}: {name} has shape {tuple(value.shape)}; "
            f"expected ({_axes(expected)}){_conflict(expected, value, sizes)}"
        )
    for axis, size in _named_sizes(expected, value):
        sizes.setdefault(axis, (size, name))
    if "*batch" in expected.dim_str.split():
        sizes.setdefault("*batch", (_batch(expected, value), name))


def _check_together(function: str, tensors: dict[str, Tensor]) -> None:
    """One device for all, one dtype for the floating-point ones; scalars adapt to either."""
    with_axes = {name: t for name, t in tensors.items() if t.ndim}
    floating = {name: t for name, t in with_axes.items() if t.is_floating_point()}
    for group, what in ((with_axes, "device"), (floating, "dtype")):
        kinds = {name: getattr(t, what) for name, t in group.items()}
        if len(set(kinds.values())) > 1:
            listed = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
            error = ValueError if what == "device" else TypeError
            raise error(f"{function}: all tensors must share one {what}, but these are: {listed}")


def _refuse_nan(function: str, tensors: dict[str, Tensor]) -> None:
    for name, value in tensors.items():
        if value.is_floating_point() and is_true_of_any(nan := torch.isnan(value.detach())):
            raise ValueError(
                f"{function}: {name} holds {int(nan.sum())} NaN among {value.numel()} numbers, "
                f"the first at index {tuple(nan.nonzero()[0].tolist())}"
            )


def _kind_of_dtype(expected: type[AbstractArray], value: Tensor) -> str | None:
    """What kind of dtype was wanted, or None if the dtype is not what is wrong."""
    any_dtype = not isinstance(expected.dtypes, tuple)
    if any_dtype or str(value.dtype).removeprefix("torch.") in expected.dtypes:
        return None
    return "torch.bool" if "bool" in expected.dtypes else "a floating-point dtype"


def _axes(expected: type[AbstractArray]) -> str:
    return ", ".join(expected.dim_str.replace("#", "").split())


def _named_sizes(expected: type[AbstractArray], value: Tensor) -> Iterator[tuple[str, int]]:
    """The axis names of an annotation with the sizes they have in `value`; `*batch` stays out."""
    names = _fixed_axes(expected)  # behind any `*batch`: matched from the last axis on
    pairs = list(zip(reversed(names), reversed(value.shape), strict=False))
    for name, size in reversed(pairs):
        if not (name.startswith("#") and size == 1) and not name.isdigit():
            yield name.removeprefix("#"), size


def _fixed_axes(expected: type[AbstractArray]) -> list[str]:
    return [name for name in expected.dim_str.split() if "*" not in name]


def _batch(expected: type[AbstractArray], value: Tensor) -> tuple[int, ...]:
    """The sizes that `*batch` stands for."""
    return tuple(value.shape[: value.ndim - len(_fixed_axes(expected))])


def _conflict(expected: type[AbstractArray], value: Tensor, sizes: Sizes) -> str:
    """Name the axes whose size differs from the one that an earlier argument gave them."""
    clashes = [
        f"{axis}={sizes[axis][0]} in {sizes[axis][1]} but {size} here"
        for axis, size in _named_sizes(expected, value)
        if axis in sizes and sizes[axis][0] != size
    ]
    needed = len(_fixed_axes(expected))
    if value.ndim < needed:
        return f", at least {needed} axes, but it has {value.ndim}"
    if not clashes and "*batch" in sizes:
        batch, name = sizes["*batch"]
        clashes = [f"batch={batch} in {name} but {_batch(expected, value)} here"]
    return f": {'; '.join(clashes)}" if clashes else ""


def _describe(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"{value!r:.40} ({type(value).__name__})"
