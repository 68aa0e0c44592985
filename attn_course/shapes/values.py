"""Checks of values, not only of shapes; skipped where no branch may depend on a value."""

import math
from numbers import Real

import torch
from torch import Tensor


def require_positive(name: str, number: float | Tensor) -> None:
    """Raise unless `number` is positive and finite; under `torch.vmap` its value is not checked.

    Args:
        name: The name of the number in the message.
        number: A number, or a tensor of one number.

    Raises:
        TypeError: `number` is neither.
        ValueError: It is zero, negative, infinite or NaN.
    """
    if torch.compiler.is_compiling():
        return
    if not isinstance(number, Real) and not (isinstance(number, Tensor) and number.numel() == 1):
        raise TypeError(f"{name} must be one number, not {describe(number)}")
    fits = torch.as_tensor((number > 0) & (number < math.inf))
    if is_true_of_any(~fits):
        raise ValueError(f"{name}={float(number):g} must be positive and finite")


def is_true_of_any(condition: Tensor) -> bool:
    """True if any value of `condition` is True; False where no branch may depend on a value."""
    if torch.compiler.is_compiling():
        return False
    try:
        return bool(condition.any() if condition.ndim else condition)
    except RuntimeError:  # torch.vmap
        return False


def refuse_nan(function: str, tensors: dict[str, Tensor]) -> None:
    """Raise if an argument holds NaN; the message says how many it holds, and where."""
    for name, value in tensors.items():
        if holds_nan(value):
            nan = value.detach().isnan()
            raise ValueError(
                f"{function}: {name} holds {int(nan.sum())} NaN among {value.numel()} numbers, "
                f"the first at index {tuple(nan.nonzero()[0].tolist())}"
            )


def holds_nan(value: Tensor) -> bool:
    """True if a tensor holds NaN; False where no branch may depend on a value."""
    # a sum that is NaN says that the tensor may hold one; summing is quick and needs no memory
    if not value.is_floating_point() or not is_true_of_any(value.detach().sum().isnan()):
        return False
    return is_true_of_any(value.detach().isnan())


def describe(value: object) -> str:
    """Describe, for an error, the thing that was given instead of a tensor or a number."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"{value!r:.40} ({type(value).__name__})"
