"""Plain data as JSON and bytes, and back; what is none crosses as a description of itself.

Nothing that is unpacked is ever run, and nothing is made that is larger than the bytes it comes
from.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._C import TensorBase

from hintgrader.worker.plain import Foreign, ask, plain_kind, without_modes

MAX_JSON, MAX_BYTES, MAX_TENSORS = 2**23, 2**28, 10_000
MAX_DEPTH, MAX_DESCRIBED = 32, 100
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex64, torch.complex128),
    )
}
TO_NUMBERS: tuple[Callable[[Tensor], Tensor], ...] = (
    *(TensorBase.detach, TensorBase.resolve_conj, TensorBase.resolve_neg),
    *(TensorBase.cpu, TensorBase.contiguous),
)
# what json, torch and unpacking raise for bytes that are no message
MALFORMED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
Message = dict[str, Any]  # from a process that may send anything; its reader checks it
Callback = Callable[..., Any]  # one of the grader's, which an answer is handed
NameOf = Callable[[Callback], int]


class BrokenMessage(Exception):
    """The bytes that arrived are no message, or the other side has ended."""


class TooLarge(BrokenMessage):
    """The data are too large for a message; nothing has been sent."""


def pack(message: Message, name_of: NameOf | None) -> tuple[bytes, bytes]:
    """A message as JSON, and the bytes of its tensors and arrays.

    Args:
        message: Values by name.
        name_of: Gives the number by which a callable is called back; None describes callables.

    Raises:
        TooLarge: It has too many bytes or tensors.
    """
    bodies = _Bodies()
    with without_modes():
        form = json.dumps(_pack(message, bodies, name_of)).encode()
    if len(form) > MAX_JSON:
        raise TooLarge(f"{len(form):,} bytes of numbers and words, above {MAX_JSON:,}")
    return form, b"".join(bodies)


def unpack(form: bytes, body: bytes, call: Callable[[int], Callback] | None) -> Message:
    """The message that `pack` gave, or somebody who wishes no good.

    Args:
        form: JSON.
        body: The bytes of its tensors.
        call: Gives the callable of a number; None refuses callables.

    Raises:
        BrokenMessage: It is no message.
    """
    left = _Body(body)
    try:
        message = _unpack(json.loads(form), left, call)
    except MALFORMED as error:
        raise BrokenMessage(f"no message: {type(error).__name__}") from None
    if left.left or type(message) is not dict:
        raise BrokenMessage("the parts of a message do not fit together")
    return message


class _Bodies(list[bytes]):
    """The bytes of the tensors of a message, in order."""

    size = 0

    def make_room(self, number: int) -> None:
        self.size += number
        if self.size > MAX_BYTES:
            raise TooLarge(f"{self.size:,} bytes of tensors, above {MAX_BYTES:,}")
        if len(self) >= MAX_TENSORS:
            raise TooLarge(f"more than {MAX_TENSORS:,} tensors")


def _pack(value: object, bodies: _Bodies, name_of: NameOf | None, depth: int = 0) -> object:
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return plain(value)  # of a subclass only what is plain
    if value is None:
        return None
    if type(value) is dict and depth <= MAX_DEPTH and all(isinstance(key, str) for key in value):
        packed = {key: _pack(part, bodies, name_of, depth + 1) for key, part in value.items()}
        return {"dict": packed}
    if isinstance(value, list | tuple) and depth <= MAX_DEPTH:
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_pack(part, bodies, name_of, depth + 1) for part in value]}
    if callable(value) and name_of is not None:
        return {"callable": name_of(value)}
    if isinstance(value, np.ndarray) and plain_kind(value) is None:
        return {"array": _pack_array(value, bodies)}
    if isinstance(value, Tensor) and plain_kind(value) is None:
        dtype, is_empty = str(ask(value, "dtype")).removeprefix("torch."), ask(value, "is_meta")
        if is_empty or dtype not in DTYPES:
            return {"foreign": "a tensor without numbers" if is_empty else f"a {dtype} tensor"}
        return {"tensor": _pack_tensor(value, dtype, bodies)}
    return {"foreign": (plain_kind(value) or "nested too deep")[:MAX_DESCRIBED]}


def _pack_tensor(tensor: Tensor, dtype: str, bodies: _Bodies) -> list[object]:
    # before it is copied: a view may stand for terabytes
    bodies.make_room(TensorBase.numel(tensor) * TensorBase.element_size(tensor))
    for step in TO_NUMBERS:
        tensor = step(tensor)
    shape = list(TensorBase.size(tensor))
    flat = TensorBase.view(TensorBase.flatten(tensor), torch.uint8)
    bodies.append(TensorBase.numpy(flat).tobytes())
    return [dtype, shape, len(bodies[-1])]


def _pack_array(array: np.ndarray, bodies: _Bodies) -> list[object]:
    bodies.make_room(array.nbytes)  # likewise
    bodies.append(array.tobytes())  # in the order of its axes, however it lies in memory
    return [array.dtype.name, list(array.shape), len(bodies[-1])]


class _Body:
    """The bytes of the tensors, handed out in order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.tensors = data, 0, 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, number: int) -> bytearray:
        self.tensors += 1
        if not 0 <= number <= self.left or self.tensors > MAX_TENSORS:
            raise ValueError(f"{number} bytes of {self.left}")
        self.at += number
        return bytearray(self.data[self.at - number : self.at])


def _unpack(form: Any, body: _Body, call: Callable[[int], Callback] | None, depth: int = 0) -> Any:
    if type(form) is str:
        return _sound(form)
    if form is None or type(form) in (bool, int, float):
        return form
    if depth > MAX_DEPTH + 1 or not isinstance(form, dict):
        raise ValueError("too deep, or a bare list")
    ((kind, value),) = form.items()
    if kind in ("tensor", "array"):
        tensor = _unpack_tensor(value, body)
        return tensor if kind == "tensor" else tensor.numpy()  # which refuses dtypes of torch alone
    if kind == "dict":
        return {_sound(k): _unpack(v, body, call, depth + 1) for k, v in value.items()}
    if kind in ("list", "tuple"):
        parts = [_unpack(part, body, call, depth + 1) for part in value]
        return parts if kind == "list" else tuple(parts)
    if kind == "foreign":
        return Foreign(_sound(str(value)[:MAX_DESCRIBED]))
    if kind == "callable" and call is not None and type(value) is int:
        return call(value)
    raise ValueError("no such kind")


def _unpack_tensor(value: Any, body: _Body) -> Tensor:
    name, shape, number = value
    dtype, sizes = DTYPES[name], [int(size) for size in shape]
    if any(size < 0 for size in sizes) or len(sizes) > MAX_DEPTH:
        raise ValueError("a shape that cannot be")
    data = body.take(int(number))
    if not data:
        empty = torch.empty(0, dtype=dtype)
        return empty.reshape(sizes)  # refuses what would have to hold something
    if dtype == torch.bool:  # of which torch expects nothing but 0 and 1
        return (torch.frombuffer(data, dtype=torch.uint8) != 0).reshape(sizes)
    return torch.frombuffer(data, dtype=dtype).reshape(sizes)


def _sound(text: str) -> str:
    """Without halves of characters, which JSON holds and no file takes."""
    return text.encode("utf-8", "replace").decode()
