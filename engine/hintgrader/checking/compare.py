"""Comparing an output with the reference, and saying in words and numbers how it differs."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from hintgrader.exercise.definition import Check
from hintgrader.values.equality import as_number, as_tensor, same
from hintgrader.values.relations import relation, told_apart
from hintgrader.worker.plain import Plain, array_oddity, name_kind, oddity

MAX_LISTED = 16  # things in a list that is shown as it is, and characters of each
Parts = list[Plain] | tuple[Plain, ...]


def allowed_error(exact: Tensor, plain: Tensor, factor: float) -> float:
    """The largest difference from the exact output that is allowed.

    Args:
        exact: The reference's output, computed in float64.
        plain: The reference's output in the dtype of the case.
        factor: Multiple of the reference's own error that is allowed.

    Returns:
        `factor` times the largest error of `plain`, or times the rounding of the largest number of
        `exact` where that is more.
    """
    if not exact.is_floating_point() or not exact.numel():
        return 0.0
    finite = exact[exact.isfinite()]
    own = (plain.double() - exact)[exact.isfinite()].abs()
    largest = finite.abs().max().item() if finite.numel() else 0.0
    rounding = torch.finfo(plain.dtype).eps * largest
    return factor * max(rounding, own.max().item() if own.numel() else 0.0)


def difference(output: Plain, plain: Plain, exact: Plain, check: Check) -> str | None:
    """Say how an output differs from the reference; None if it is right.

    Args:
        output: The answer's output.
        plain: The reference's output in the dtype of the case.
        exact: The reference's output in float64.
        check: Whose tolerance applies.
    """
    if isinstance(exact, dict) and isinstance(plain, dict):
        return _difference_by_key(output, plain, exact, check)
    if isinstance(exact, list | tuple) and isinstance(plain, list | tuple):
        return _difference_of_parts(output, plain, exact, check)
    if isinstance(exact, np.ndarray) and isinstance(plain, np.ndarray):
        return _difference_of_arrays(output, plain, exact, check)
    if isinstance(exact, str | bool) or exact is None:
        # a tensor is compared with nothing else: it would give a truth for each of its numbers
        right = isinstance(output, type(exact)) and output == exact
        return None if right else f"it is {output!r:.60} and should be {exact!r:.60}"
    if isinstance(exact, int):
        return _difference_of_whole_numbers(output, exact)
    if isinstance(exact, float):
        return _difference_of_numbers(output, exact, check)
    if not isinstance(exact, Tensor) or not isinstance(plain, Tensor):
        raise TypeError(f"a reference returns {name_kind(plain)}, in float64 {name_kind(exact)}")
    if reason := wrong_form(output, plain):
        return reason
    return _wrong_numbers(output, plain, exact, check) if isinstance(output, Tensor) else None


def _difference_of_parts(output: Plain, plain: Parts, exact: Parts, check: Check) -> str | None:
    if not isinstance(output, list | tuple) or len(output) != len(exact):
        if _is_short(output) and _is_short(exact):
            return f"it is {output} and should be {exact}"
        expected = f"a {type(exact).__name__} of {len(exact)} values"
        return f"it is {name_kind(output)}; expected {expected}"
    for index, parts in enumerate(zip(output, plain, exact, strict=True)):
        if reason := difference(*parts, check):
            inside = ", in it " if reason.startswith("value ") else ": "
            return f"value {index + 1} of {len(exact)}{inside}{reason}"
    return None


def _is_short(value: Plain) -> bool:
    """True for a list or tuple of a few whole numbers or words, which can be read as it is."""
    if not isinstance(value, list | tuple) or len(value) > MAX_LISTED:
        return False
    return all(isinstance(part, int | str) and len(str(part)) < MAX_LISTED for part in value)


def _difference_by_key(
    output: Plain, plain: dict[str, Plain], exact: dict[str, Plain], check: Check
) -> str | None:
    if not isinstance(output, dict):
        return f"it is {name_kind(output)}; expected a dict with the keys {_list_keys(exact)}"
    if lacking := [key for key in exact if key not in output]:
        return f"its keys are {_list_keys(output)}; there is no {_list_keys(lacking)}"
    if spare := [key for key in output if key not in exact]:
        return f"its keys include {_list_keys(spare)}, which nobody asked for"
    for key in exact:
        if reason := difference(output[key], plain[key], exact[key], check):
            return f"under {key!r}: {reason}"
    return None


def _list_keys(keys: Iterable[str]) -> str:
    return ", ".join(f"{key!r:.30}" for key in list(keys)[:8]) or "none"


def _difference_of_arrays(
    output: Plain, plain: np.ndarray, exact: np.ndarray, check: Check
) -> str | None:
    if not isinstance(output, np.ndarray) or array_oddity(output):
        return f"it is {name_kind(output)}; expected a numpy array of shape {plain.shape}"
    if output.shape == plain.shape and (reason := _wrong_dtype(output, plain)):
        return reason
    return difference(as_tensor(output), as_tensor(plain), as_tensor(exact), check)


def _difference_of_whole_numbers(output: Plain, exact: int) -> str | None:
    output = as_number(output)
    if isinstance(output, bool) or not isinstance(output, int):
        said = f"{output!r:.60}" if isinstance(output, float) else name_kind(output)
        return f"it is {said}; expected a whole number, an int"
    return None if output == exact else f"it is {output}, not {exact}"


def _difference_of_numbers(output: Plain, exact: float, check: Check) -> str | None:
    output = as_number(output)
    if isinstance(output, bool) or not isinstance(output, int | float):
        return f"it is {name_kind(output)}; expected one number"
    allowed = check.tolerance * torch.finfo(check.dtype).eps * abs(exact)
    return (
        None
        if abs(output - exact) <= allowed
        else "it is {}, not {}".format(*told_apart(output, exact))
    )


def wrong_form(output: Plain, plain: Tensor) -> str | None:
    """The fault of an output apart from its numbers, or None."""
    if not isinstance(output, Tensor) or oddity(output):
        return f"it is {name_kind(output)}; expected a tensor of shape {tuple(plain.shape)}"
    if output.shape != plain.shape:
        flipped = plain.ndim >= 2 and output.shape == plain.mT.shape
        return f"its shape is {tuple(output.shape)} and should be {tuple(plain.shape)}" + (
            ": two axes are swapped" if flipped else ""
        )
    if reason := _wrong_dtype(output, plain):
        return reason
    if output.device != plain.device:
        return f"it is on {output.device} and should be on {plain.device}, like the inputs"
    return None


def _wrong_dtype(output: Tensor | np.ndarray, plain: Tensor | np.ndarray) -> str | None:
    """The fault of an output's dtype, or None."""
    if output.dtype == plain.dtype:
        return None
    return f"its dtype is {output.dtype} and should be {plain.dtype}"


def _wrong_numbers(output: Tensor, plain: Tensor, exact: Tensor, check: Check) -> str | None:
    allowed = allowed_error(exact, plain.cpu(), check.tolerance)
    got = output.cpu().to(exact.dtype)  # not the other way round: Apple's GPU has no float64
    if exact.is_floating_point():
        wrong = ~((got == exact) | ((got - exact).abs() <= allowed))
    else:
        wrong = got != exact
    if not wrong.any():
        return None
    if nan := int(got.isnan().sum()):
        return f"{nan} of its {got.numel()} numbers are NaN"
    pattern = relation(got, exact) if exact.is_floating_point() else ""
    first = tuple(wrong.nonzero()[0].tolist())
    where = f"at {list(first)} " if first else ""
    it, right = told_apart(got[first].item(), exact[first].item())
    if plain.dtype == torch.float64 and same(got, exact):
        where = f"not all digits that float64 holds are right: {where}"
    return (
        f"{where}it is {it} and should be {right}"
        f" ({int(wrong.sum())} of {wrong.numel()} differ){pattern and f': {pattern}'}"
    )
