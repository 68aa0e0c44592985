"""Checks of values, not only of shapes; skipped where no branch may depend on a value."""

import math
from collections.abc import Callable, Iterable
from numbers import Real

import torch
from torch import Tensor

from attn_course.shapes.switch import is_traced, values_are_checked


def require_positive(name: str, number: float | Tensor) -> None:
    """Raise unless `number` is positive and finite; under `torch.vmap` its value is not checked.

    Args:
        name: The name of the number in the message.
        number: A number, or a tensor of one number.

    Raises:
        TypeError: `number` is neither.
        ValueError: It is zero, negative, infinite or NaN.
    """
    if is_traced():
        return
    if isinstance(number, Tensor) and number.numel() == 1:
        wrong = is_true_of_any(~((number > 0) & (number < math.inf)))
    elif isinstance(number, Real):
        wrong = not 0 < number < math.inf
    else:
        raise TypeError(f"{name} must be one number, not {describe(number)}")
    if wrong:
        raise ValueError(f"{name}={float(number):g} must be positive and finite")


def is_true_of_any(condition: Tensor) -> bool:
    """True if any value of `condition` is True; False where no branch may depend on a value."""
    return _look(lambda: bool(condition.any() if condition.ndim else condition))


def known_finite(value: Tensor) -> bool:
    """True if the sum of all numbers is finite; False where no branch may depend on a value."""
    return _look(lambda: math.isfinite(value.sum().item()))


def known_nonzero(value: Tensor) -> bool:
    """True if no vector begins with 0 or NaN; False where no branch may depend on a value."""
    norm = torch.linalg.vector_norm
    return _look(lambda: norm(value.select(-1, 0), -math.inf).item() > 0)


def reaches(limit: float, one: Tensor, other: Tensor) -> bool:
    """True if the norms of two tensors, each taken as one vector, multiply to `limit` or more.

    No dot product of parts of them is larger. NaN and infinity reach every limit; where no branch
    may depend on a value it is False.
    """

    def product() -> bool:
        norm = _norm(one)
        return not bool(norm * (norm if other is one else _norm(other)) < limit)

    return _look(product)


def _norm(tensor: Tensor) -> Tensor:
    wide = torch.promote_types(tensor.dtype, torch.float32)
    return torch.linalg.vector_norm(tensor.detach(), dtype=wide)


def _look(at: Callable[[], bool]) -> bool:
    """Return the result of a look at values; False where no branch may depend on a value."""
    if not may_branch_on_values():
        return False
    try:
        return at()
    except (RuntimeError, IndexError):  # torch.vmap, devices without values, and no vector to read
        return False


def may_branch_on_values() -> bool:
    """True where a branch may depend on a value: in no compiler, and with checks switched on.

    Nor may it while a CUDA graph is captured, because the graph holds no numbers yet.
    """
    if is_traced() or not values_are_checked.get():
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def refuse_nan(function: str, tensors: Iterable[tuple[str, Tensor]]) -> None:
    """Raise if an argument holds NaN; the message says how many it holds, and where."""
    floating = [(name, value) for name, value in tensors if value.is_floating_point()]
    if not may_hold_nan(*(value for _, value in floating)):
        return
    for name, value in floating:
        nan = value.detach().isnan()
        if is_true_of_any(nan):
            raise ValueError(
                f"{function}: {name} holds {int(nan.sum())} NaN among {value.numel()} numbers, "
                f"the first at index {tuple(nan.nonzero()[0].tolist())}"
            )


def holds_nan(value: Tensor) -> bool:
    """True if a tensor holds NaN; False where no branch may depend on a value."""
    found = _look(lambda: math.isnan(value.sum().item()))
    return found and is_true_of_any(value.detach().isnan())


def may_hold_nan(*values: object) -> bool:
    """False if no tensor among the values holds NaN; True if one does, or if their sum is NaN.

    Summing is quick and needs no memory, and one look at the sum serves all tensors. In
    self-attention they are the same one, which is summed once.
    """
    floating = {
        value for value in values if isinstance(value, Tensor) and value.is_floating_point()
    }

    def total() -> Tensor:
        first, *others = (value.sum() for value in floating)
        return sum(others, first)

    return bool(floating) and _look(lambda: math.isnan(total().item()))


def describe(value: object) -> str:
    """Describe, for an error, the thing that was given instead of a tensor or a number."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"{value!r:.40} ({type(value).__name__})"
