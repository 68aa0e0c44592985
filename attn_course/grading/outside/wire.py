"""Messages between the grader and a confined process: JSON for the form, plain bytes for tensors.

Nothing that arrives is ever run. What is not a number, a word, a list, a tuple or a tensor of a
plain dtype crosses as a description of itself; a message that is broken, too large or too deep is
refused.
"""

import json
import struct
from collections.abc import Callable
from socket import socket

import torch
from torch import Tensor

from attn_course.grading.compare import plain_kind
from attn_course.grading.spec import Foreign, Plain

FORK, KILL, END = b"f", b"k", b"e"  # orders to a worker
HEAD = struct.Struct("!IQ")  # bytes of the JSON, bytes of the tensors
MOST_JSON, MOST_BYTES, DEEPEST, MOST_DESCRIBED = 2**23, 2**28, 32, 100
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex64, torch.complex128),
    )
}
Message = dict[str, Plain]
NameOf = Callable[[Callable], int]


class BrokenMessage(Exception):
    """What arrived is no message, or there is nobody any more to send one."""


def send(connection: socket, message: Message, name_of: NameOf | None = None) -> None:
    """Send a message.

    Args:
        connection: Where to.
        message: Values by name.
        name_of: Gives the number by which a callable is called back; None describes callables.

    Raises:
        BrokenMessage: Nobody is there to read it, or it is too large.
        TimeoutError: Nobody reads it in time.
    """
    bodies: list[bytes] = []
    form = json.dumps(_pack(message, bodies, name_of)).encode()
    body = b"".join(bodies)
    if len(form) > MOST_JSON or len(body) > MOST_BYTES:
        raise BrokenMessage(f"{len(form) + len(body):,} bytes: too large to send")
    try:
        connection.sendall(HEAD.pack(len(form), len(body)) + form + body)
    except TimeoutError:
        raise
    except OSError as error:
        raise BrokenMessage(f"nobody reads: {error}") from None


def receive(connection: socket, call: Callable[[int], Callable] | None = None) -> Message:
    """Wait for a message.

    Args:
        connection: Where from; its timeout holds for each part that arrives.
        call: Gives the callable of a number; None refuses callables.

    Raises:
        BrokenMessage: What arrives is no message, is too large, or ends too soon.
        TimeoutError: Nothing arrives in time.
    """
    form_len, body_len = HEAD.unpack(_read(connection, HEAD.size))
    if form_len > MOST_JSON or body_len > MOST_BYTES:
        raise BrokenMessage(f"{form_len + body_len:,} bytes: too large")
    form, body = _read(connection, form_len), _Body(_read(connection, body_len))
    try:
        message = _unpack(json.loads(form), body, call)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise BrokenMessage(f"no message: {type(error).__name__}") from None
    if body.left or type(message) is not dict:
        raise BrokenMessage("the parts of a message do not fit together")
    return message


def _pack(value: object, bodies: list[bytes], name_of: NameOf | None, depth: int = 0) -> object:
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return plain(value)  # of a subclass only what is plain
    if value is None:
        return None
    if type(value) is dict and depth <= DEEPEST and all(isinstance(key, str) for key in value):
        packed = {key: _pack(part, bodies, name_of, depth + 1) for key, part in value.items()}
        return {"dict": packed}
    if isinstance(value, list | tuple) and depth <= DEEPEST:
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_pack(part, bodies, name_of, depth + 1) for part in value]}
    if callable(value) and name_of is not None:
        return {"callable": name_of(value)}
    if isinstance(value, Tensor) and plain_kind(value) is None:
        return _pack_tensor(value, bodies)
    return {"foreign": (plain_kind(value) or "nested too deep")[:MOST_DESCRIBED]}


def _pack_tensor(tensor: Tensor, bodies: list[bytes]) -> object:
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    bodies.append(plain.flatten().view(torch.uint8).numpy().tobytes())
    dtype = str(plain.dtype).removeprefix("torch.")
    return {"tensor": [dtype, list(plain.shape), len(bodies[-1])]}


def _read(connection: socket, number: int) -> bytes:
    parts = bytearray()
    while len(parts) < number:
        try:
            part = connection.recv(min(number - len(parts), 2**20))
        except TimeoutError:
            raise
        except OSError as error:
            raise BrokenMessage(f"it ended: {error}") from None
        if not part:
            raise BrokenMessage("it ended")
        parts += part
    return bytes(parts)


class _Body:
    """The bytes of the tensors, handed out in order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, number: int) -> bytearray:
        if not 0 <= number <= self.left:
            raise ValueError(f"{number} bytes of {self.left}")
        self.at += number
        return bytearray(self.data[self.at - number : self.at])


def _unpack(form: object, body: _Body, call: Callable | None, depth: int = 0) -> Plain:
    if form is None or type(form) in (bool, int, float, str):
        return form
    if depth > DEEPEST + 1 or not isinstance(form, dict):
        raise ValueError("too deep, or a bare list")
    ((kind, value),) = form.items()
    if kind == "tensor":
        return _unpack_tensor(value, body)
    if kind == "dict":
        return {str(k): _unpack(v, body, call, depth + 1) for k, v in value.items()}
    if kind in ("list", "tuple"):
        parts = [_unpack(part, body, call, depth + 1) for part in value]
        return parts if kind == "list" else tuple(parts)
    if kind == "foreign":
        return Foreign(str(value)[:MOST_DESCRIBED])
    if kind == "callable" and call is not None and type(value) is int:
        return call(value)
    raise ValueError("no such kind")


def _unpack_tensor(value: object, body: _Body) -> Tensor:
    name, shape, number = value
    dtype, sizes = DTYPES[name], [int(size) for size in shape]
    if any(size < 0 for size in sizes) or len(sizes) > DEEPEST:
        raise ValueError("a shape that cannot be")
    data = body.take(int(number))
    if not data:
        empty = torch.empty(0, dtype=dtype)
        return empty.reshape(sizes)  # refuses what would have to hold something
    return torch.frombuffer(data, dtype=dtype).reshape(sizes)
