"""Equality of plain data: up to rounding, or to the last bit."""

import math

import numpy as np
import torch
from torch import Tensor

from hintgrader.worker.plain import Input, Plain, array_oddity, oddity, parts_of, plain_kind


def same(one: Plain, other: Plain, tolerance: float = 1e-5) -> bool:
    """True if two outputs are the same up to rounding, NaN and infinities included.

    Args:
        one: Of a tensor, the dtype too.
        other: Likewise.
        tolerance: Allowed difference of tensors, as a share of the largest number, and of numbers.
    """
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if oddity(one) or oddity(other) or one.device != other.device:
            return False
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if not other.is_floating_point():
            return torch.equal(one, other)
        finite = other[other.isfinite()].abs()
        scale = finite.max().item() if finite.numel() else 1.0
        close = torch.isclose(one, other, rtol=0, atol=tolerance * scale, equal_nan=True)
        return bool(close.all())
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        odd = array_oddity(one) or array_oddity(other)
        return not odd and same(as_tensor(one), as_tensor(other), tolerance)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same(one[key], other[key], tolerance) for key in other
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(
            same(*pair, tolerance) for pair in zip(one, other, strict=True)
        )
    one, other = as_number(one), as_number(other)
    if isinstance(one, float) and isinstance(other, float):
        if not math.isfinite(other):  # from which every number is infinitely far, or nan
            return one == other or (one != one and other != other)
        return abs(one - other) <= tolerance * abs(other)
    return type(one) is type(other) and one == other


def identical(one: Plain, other: Input) -> bool:
    """True if two values are the same to the last bit, dtypes included; NaN is the same as NaN.

    What is no plain data in the second cannot be compared, and passes.
    """
    if isinstance(other, Tensor):
        if not isinstance(one, Tensor) or (one.dtype, one.device) != (other.dtype, other.device):
            return False
        if one.shape != other.shape:
            return False
        return bool(torch.isclose(one, other, rtol=0, atol=0, equal_nan=True).all())
    if isinstance(other, np.ndarray):
        if not isinstance(one, np.ndarray) or array_oddity(one) or array_oddity(other):
            return False
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=other.dtype.kind in "fc"
        )
    if isinstance(other, dict):
        return (
            isinstance(one, dict)
            and one.keys() == other.keys()
            and all(identical(one[key], other[key]) for key in other)
        )
    if isinstance(other, list | tuple):
        return (
            type(one) is type(other) and len(one) == len(other) and all(map(identical, one, other))
        )
    return plain_kind(other) is not None or (type(one) is type(other) and one == other)


def share_of_numbers(value: Plain) -> float:
    """The share of finite numbers in what wrong answers are told apart by; 0 for words."""
    if isinstance(value, np.ndarray) and not array_oddity(value):
        value = as_tensor(value)
    if isinstance(value, Tensor):
        return value.isfinite().double().mean().item() if value.numel() and not oddity(value) else 0
    if isinstance(value, list | tuple | dict):
        return min(map(share_of_numbers, parts_of(value)), default=0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return float(math.isfinite(value))


def rounded_numbers(value: Plain) -> list[float]:
    """All numbers in a value, up to rounding."""
    if isinstance(value, Tensor):
        value = value.flatten().tolist()
    if isinstance(value, list | tuple):
        return [number for part in value for number in rounded_numbers(part)]
    return [float(f"{value:.5g}")] if isinstance(value, int | float) else []


def as_number(output: Plain) -> Plain:
    """The number in a tensor or an array of one, which passes for a number in an answer too."""
    if isinstance(output, np.ndarray) and output.size == 1 and not array_oddity(output):
        return output.item()
    if not isinstance(output, Tensor) or oddity(output) or output.is_meta:
        return output
    return output.item() if output.numel() == 1 else output


def as_tensor(array: np.ndarray) -> Tensor:
    """The numbers of an array as torch has them."""
    # a copy: torch shares no memory that runs backwards, or that must not be written to
    return torch.from_numpy(np.array(array))
