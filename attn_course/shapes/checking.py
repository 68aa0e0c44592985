"""The decorator `checked`, and the classes with which it reads a signature."""

import inspect
import types
import typing
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar, overload

import torch
from jaxtyping import AbstractArray, jaxtyped
from torch import Tensor

from attn_course.shapes.explained import explained
from attn_course.shapes.switch import is_traced, shapes_are_checked
from attn_course.shapes.tensors import Sizes, autocast_dtypes, check_tensor, check_together
from attn_course.shapes.values import holds_nan, may_hold_nan, refuse_nan

P = ParamSpec("P")
R = TypeVar("R")
# A check without values depends on this: a tensor's shape, dtype and device, else the type.
Look = tuple[torch.Size, torch.dtype, torch.device] | type
type_of_tensor = type(AbstractArray)
inside_a_checked_call: ContextVar[bool] = ContextVar("inside_a_checked_call", default=False)

LOOKS_REMEMBERED = 1000  # for each function


@overload
def checked(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def checked(*, nan_propagates: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def checked(
    function: Callable[P, R] | None = None, *, nan_propagates: bool = False
) -> Callable[..., Any]:
    """Hold every call of `function` to the shapes in its signature.

    Arguments and the returned tensor are compared with their jaxtyping annotations; an axis name
    means one size throughout the call. Floating-point arguments must share a dtype, and all tensors
    a device; tensors without axes, such as a learned width, are exempt from both, and under
    autocast every dtype but double precision counts as the one to which it is cast. No argument may
    hold NaN. Only the outermost call searches for NaN, because the search reads every number. While
    `torch.compile` traces the function nothing is checked, and under `torch.vmap` nothing searches
    for NaN: neither allows a branch on values. `unchecked` switches checks off.

    Args:
        function: The function whose calls are checked.
        nan_propagates: True if NaN in an argument that counts leads to NaN in the result. Then only
            the result is read, and the arguments only if the result holds NaN.

    Raises:
        TypeError: An argument is not a tensor, its dtype is of the wrong kind, or it differs from
            the dtype of another argument.
        ValueError: A shape or a device does not fit, an argument holds NaN, or, with
            `nan_propagates`, the result does.
    """
    if function is None:
        return partial(checked, nan_propagates=nan_propagates)
    promise = _Promise(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_traced() or not shapes_are_checked.get():
            return function(*args, **kwargs)
        fitting = promise.hold(args, kwargs)
        if inside_a_checked_call.get():
            result: Any = function(*args, **kwargs)
            promise.hold_result(fitting, result, args, kwargs)
            return result
        if not nan_propagates and may_hold_nan(*args, *kwargs.values()):
            refuse_nan(promise.name, promise.tensors(args, kwargs).items())
        token = inside_a_checked_call.set(True)
        try:
            result = function(*args, **kwargs)
        except (RuntimeError, IndexError) as error:
            if (plain := explained(promise.name, error)) is not None:
                raise plain from error
            raise
        finally:
            inside_a_checked_call.reset(token)
        promise.hold_result(fitting, result, args, kwargs)
        if nan_propagates and holds_nan(result):
            refuse_nan(promise.name, promise.tensors(args, kwargs).items())
            raise ValueError(
                f"{promise.name}: the result holds {int(result.isnan().sum())} NaN, though no "
                "argument does: on the way a number became NaN or plus infinity"
            )
        return result

    return call


@dataclass(frozen=True)
class _Demand:
    """The types that a signature allows in one place: a tensor, and perhaps other types."""

    tensor: type[AbstractArray]
    others: tuple[type, ...]

    @classmethod
    def of(cls, annotation: object) -> "_Demand | None":
        """Read an annotation; None if it has nothing to do with tensors."""
        is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
        members = typing.get_args(annotation) if is_union else (annotation,)
        tensors = [member for member in members if isinstance(member, type_of_tensor)]
        others = (typing.get_origin(m) or m for m in members if m not in tensors)
        numbers_too = tuple(Real if other is float else other for other in others)
        return cls(tensors[0], numbers_too) if tensors else None


class _Promise:
    """The part of a function's signature that is about tensors.

    A check of shapes, dtypes and devices depends on nothing else. A combination that has passed
    once is remembered with the results that fitted it, and checking it again costs only the lookup.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.name = function.__qualname__.rpartition("<locals>.")[2]
        self.arguments = tuple(inspect.signature(function).parameters)
        self.passed: dict[tuple[object, ...], set[Look]] = {}

    @cached_property
    def demands(self) -> dict[str, _Demand]:
        """The tensors in the signature; read at the first call, when every class is defined."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        demands = {name: _Demand.of(hint) for name, hint in hints.items()}
        return {name: demand for name, demand in demands.items() if demand is not None}

    def tensors(self, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, Any]:
        """Return the arguments that must be tensors, without those of another allowed type.

        Arguments that the function does not take are left for Python to refuse.
        """
        given = dict(zip(self.arguments, args, strict=False)) | kwargs
        demands = self.demands
        return {
            name: value
            for name, value in given.items()
            if name in demands
            and (isinstance(value, Tensor) or not isinstance(value, demands[name].others))
        }

    def hold(self, args: tuple[object, ...], kwargs: dict[str, object]) -> set[Look]:
        """Raise if the arguments do not fit; return the results that are known to fit them."""
        looks: tuple[object, ...] = tuple(map(_look, args))
        if kwargs:
            looks += (*kwargs, *map(_look, kwargs.values()))
        if autocasting := autocast_dtypes():
            looks += (*autocasting.items(),)
        fitting = self.passed.get(looks)
        if fitting is None:
            self._check(self.tensors(args, kwargs))
            if len(self.passed) >= LOOKS_REMEMBERED:
                self.passed.clear()
            fitting = self.passed[looks] = set()
        return fitting

    def hold_result(
        self,
        fitting: set[Look],
        result: object,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        """Raise if the result does not fit the arguments."""
        look = _look(result)
        if look in fitting:
            return
        demand = self.demands.get("return")
        if demand is not None and not isinstance(result, demand.others):
            self._check(self.tensors(args, kwargs), result)
        fitting.add(look)

    def _check(self, tensors: dict[str, Any], *result: object) -> None:
        with jaxtyped("context"):
            sizes: Sizes = {}
            for name, value in tensors.items():
                check_tensor(self.name, name, value, self.demands[name].tensor, sizes)
            check_together(self.name, tensors)
            for value in result:
                expected = self.demands["return"].tensor
                check_tensor(self.name, "the result", value, expected, sizes)


def _look(value: object) -> Look:
    if isinstance(value, Tensor):
        return value.shape, value.dtype, value.device
    return type(value)
