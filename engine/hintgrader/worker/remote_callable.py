"""Callables of the grader's that an answer is handed: they stay with the grader, and are asked."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from socket import socket
from types import FrameType
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.autograd import Function

from hintgrader.worker.wire import Message, receive, send

ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (IndexError, KeyError, TypeError, ValueError)
}


class RemoteCallable:
    """Stands for a callable of the grader's. Gradients flow through it, once.

    Args:
        connection: Where the grader listens.
        number: Which of its callables is meant.
    """

    _calls = count()

    def __init__(self, connection: socket, number: int) -> None:
        self.number, self._connection = number, connection
        # stands for all weights: whatever reaches its `.grad` would have reached theirs
        self._weights = torch.zeros((), requires_grad=True)
        self.slices: dict[
            int, list[int | None]
        ] = {}  # keys of the calls that a batched call is made of

    def __call__(self, *arguments: object, **named: object) -> object:
        key = self.new_key() if torch.is_grad_enabled() else None
        return _Call.apply(self, key, tuple(named), self._weights, *arguments, *named.values())

    def __repr__(self) -> str:
        return f"layer {self.number}"

    def has_gradient(self) -> bool:
        """True if gradients have accumulated in its weights."""
        return self._weights.grad is not None

    def new_key(self) -> int:
        """A key under which the grader keeps a call whose gradients may be asked for."""
        return next(RemoteCallable._calls)

    def call(self, key: int | None, names: tuple[str, ...], values: list[object]) -> object:
        """Call the grader's callable, with the last values passed by name."""
        split = len(values) - len(names)
        named = dict(zip(names, values[split:], strict=True))
        question = {"arguments": values[:split], "named": named}
        return self._ask(question if key is None else question | {"keep": key})["output"]

    def gradients(self, key: int, upstream: Tensor) -> list[Tensor | None]:
        """The gradients that reach the tensors of a call; None where none does."""
        return self._ask({"gradient": key, "upstream": upstream})["gradients"]

    def _ask(self, question: Message) -> Message:
        with _alarm_deferred():  # or the next request would be read where this answer is
            send(self._connection, {"callback": self.number, **question})
            answer = receive(self._connection)
        if "error" in answer:
            kind, message = answer["error"]
            raise ERRORS.get(kind, RuntimeError)(message)
        return answer


@contextmanager
def _alarm_deferred() -> Iterator[None]:
    """Defer the timer's interrupt to the end of the `with` block."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    late: list[tuple[int, FrameType | None]] = []
    interrupt = signal.signal(signal.SIGALRM, lambda *how: late.append(how))
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, interrupt)
    if late and callable(interrupt):
        interrupt(*late[0])


class _Call(Function):
    """A call that is made at the grader's, of one tensor or of a batch by `torch.vmap`."""

    @staticmethod
    def forward(
        back: RemoteCallable, key: int | None, names: tuple[str, ...], _: Tensor, *values: Any
    ) -> Any:
        plain = [value.detach() if isinstance(value, Tensor) else value for value in values]
        return back.call(key, names, plain)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.back, ctx.key, _, ctx.weights, *values = inputs
        ctx.tensors = [isinstance(value, Tensor) for value in values]

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Any, ...]:
        found = iter(_Gradient.apply(ctx.back, ctx.key, ctx.weights, upstream))
        gradients = [next(found) if is_tensor else None for is_tensor in ctx.tensors]
        return None, None, None, torch.zeros(()), *gradients

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[int | None, ...],
        back: RemoteCallable,
        key: int | None,
        names: tuple[str, ...],
        weights: Tensor,
        *values: Any,
    ) -> tuple[Tensor, int]:
        keys: list[int | None] = [None] * info.batch_size
        if key is not None:
            keys = [back.new_key() for _ in range(info.batch_size)]
            back.slices[key] = keys
        rows = [_slices(*both, info.batch_size) for both in zip(values, in_dims[4:], strict=True)]
        calls = zip(keys, *rows, strict=True)
        outputs = [_Call.apply(back, one, names, weights, *parts) for one, *parts in calls]
        return torch.stack(outputs), 0


class _Gradient(Function):
    """The gradients of a call: worked out at the grader's, and not to be differentiated again."""

    @staticmethod
    def forward(back: RemoteCallable, key: int, _: Tensor, upstream: Tensor) -> Any:
        return tuple(back.gradients(key, upstream.detach()))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> NoReturn:
        raise RuntimeError("trying to differentiate twice a function that was handed over")

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[int | None, ...],
        back: RemoteCallable,
        key: int,
        weights: Tensor,
        upstream: Tensor,
    ) -> tuple[Any, Any]:
        keys = back.slices.get(key) or [key] * info.batch_size
        parts = zip(keys, _slices(upstream, in_dims[3], info.batch_size), strict=True)
        rows = zip(*(_Gradient.apply(back, one, weights, part) for one, part in parts), strict=True)
        found = tuple(None if row[0] is None else torch.stack(row) for row in rows)
        return found, tuple(None if one is None else 0 for one in found)


def _slices(value: Any, axis: int | None, number: int) -> list[Any]:
    return [value] * number if axis is None else list(value.unbind(axis))
