"""Checks of one tensor against its annotation, and of several against one another, in words."""

from collections.abc import Iterator, Mapping

import torch
from jaxtyping import AbstractArray
from torch import Tensor

from attn_course.shapes.values import describe

# The size that an axis has in this call, and the argument that gave it.
Sizes = dict[str, tuple[int | tuple[int, ...], str]]

AUTOCASTING = tuple(filter(torch.amp.is_autocast_available, ("cpu", "cuda", "mps", "xpu")))
KINDS_OF_DTYPE = {
    "float32": "a floating-point dtype",
    "int64": "an integer dtype",
    "bool": "torch.bool",
}


def check_tensor(
    function: str, name: str, value: object, expected: type[AbstractArray], sizes: Sizes
) -> None:
    """Raise unless `value` is a tensor as expected; else note the sizes of its axes in `sizes`.

    The surrounding jaxtyping context knows the sizes that earlier arguments gave the axes; `sizes`
    repeats them for the messages of errors.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{function}: {name} is {describe(value)}; expected a torch.Tensor "
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


def check_together(function: str, tensors: Mapping[str, Tensor]) -> None:
    """Raise unless all tensors share a device, and all floating-point ones a dtype.

    Scalars are exempt, since they adapt to both.
    """
    with_axes = {name: tensor for name, tensor in tensors.items() if tensor.ndim}
    devices = {name: tensor.device for name, tensor in with_axes.items()}
    if len(set(devices.values())) > 1:
        raise ValueError(f"{function}: all tensors must share one device, {_listed(devices)}")
    floating = {name: tensor for name, tensor in with_axes.items() if tensor.is_floating_point()}
    if len({_cast_dtype(tensor) for tensor in floating.values()}) > 1:
        dtypes = {name: tensor.dtype for name, tensor in floating.items()}
        raise TypeError(f"{function}: all tensors must share one dtype, {_listed(dtypes)}")


def _cast_dtype(tensor: Tensor) -> torch.dtype:
    """The dtype of a tensor, or the dtype to which autocast casts it: all but double precision.

    On a GPU a recurrent network returns float16 even where autocast casts to bfloat16.
    """
    if tensor.dtype == torch.float64:
        return tensor.dtype
    return autocast_dtypes().get(tensor.device.type, tensor.dtype)


def _listed(kinds: Mapping[str, object]) -> str:
    return f"but these are: {', '.join(f'{name} {kind}' for name, kind in kinds.items())}"


def autocast_dtypes() -> dict[str, torch.dtype]:
    """The dtype to which float32 is cast on each device where autocast is enabled."""
    if not torch._C._is_any_autocast_enabled():  # one question instead of one for each device
        return {}
    enabled = filter(torch.is_autocast_enabled, AUTOCASTING)
    return {device: torch.get_autocast_dtype(device) for device in enabled}


def _kind_of_dtype(expected: type[AbstractArray], value: Tensor) -> str | None:
    """The kind of dtype that was expected, or None if the dtype is right."""
    any_dtype = not isinstance(expected.dtypes, tuple)
    if any_dtype or str(value.dtype).removeprefix("torch.") in expected.dtypes:
        return None
    kinds = (kind for dtype, kind in KINDS_OF_DTYPE.items() if dtype in expected.dtypes)
    return next(kinds, f"one of {', '.join(expected.dtypes)}")


def _axes(expected: type[AbstractArray]) -> str:
    return ", ".join(expected.dim_str.replace("#", "").split())


def _named_sizes(
    expected: type[AbstractArray], value: Tensor
) -> Iterator[tuple[str, int | tuple[int, ...]]]:
    """Yield the axis names of an annotation and their sizes in `value`; `*batch` has a tuple."""
    names: list[str] = expected.dim_str.split()
    shape: tuple[int, ...] = tuple(value.shape)
    sizes: tuple[int | tuple[int, ...], ...] = shape
    first = expected.index_variadic
    if first is not None:
        behind = first + 1 + len(shape) - len(names)
        sizes = (*shape[:first], shape[first:behind], *shape[behind:])
    for name, size in zip(names, sizes, strict=True):
        is_named = name.strip("*#").isidentifier() and not name.startswith("_")
        if is_named and not (name.startswith("#") and size == 1):
            yield name.replace("#", ""), size


def _conflict(expected: type[AbstractArray], value: Tensor, sizes: Sizes) -> str:
    """Name the axes whose size differs from the one that an earlier argument gave them."""
    at_least = expected.index_variadic is not None
    needed = len(expected.dims) - at_least
    if value.ndim < needed or (value.ndim > needed and not at_least):
        return f", {'at least ' * at_least}{needed} axes, but it has {value.ndim}"
    clashes = {
        axis: f"{axis.removeprefix('*')}={sizes[axis][0]} in {sizes[axis][1]} but {size} here"
        for axis, size in _named_sizes(expected, value)
        if axis in sizes and sizes[axis][0] != size
    }
    # batches that differ may be broadcast, so they are to blame only if nothing else is
    batch = [clashes.pop(axis) for axis in list(clashes) if axis.startswith("*")]
    listed = list(clashes.values()) or batch
    return f": {'; '.join(listed)}" if listed else ""
