"""Callables of the grader's that an answer is handed: they stay with the grader, and are asked."""

from itertools import count
from socket import socket

import torch
from torch import Tensor

from attn_course.grading.outside.wire import Message, receive, send

ERRORS = {kind.__name__: kind for kind in (IndexError, KeyError, TypeError, ValueError)}


class CalledBack:
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

    def __call__(self, *arguments: object, **named: object) -> object:
        if named or not torch.is_grad_enabled():
            return self._ask({"arguments": list(arguments), "named": named})["output"]
        return _Through.apply(self, self._weights, *arguments)

    def __repr__(self) -> str:
        return f"layer {self.number}"

    def has_gradient(self) -> bool:
        """Whether gradients have piled up in its weights."""
        return self._weights.grad is not None

    def _ask(self, question: Message) -> Message:
        send(self._connection, {"callback": self.number, **question})
        answer = receive(self._connection)
        if "error" in answer:
            kind, said = answer["error"]
            raise ERRORS.get(kind, RuntimeError)(said)
        return answer


class _Through(torch.autograd.Function):
    """A call that is made at the grader's, and its gradient, which is computed there."""

    @staticmethod
    def forward(ctx, back: CalledBack, weights: Tensor, *arguments: object) -> object:
        ctx.back, ctx.call = back, next(CalledBack._calls)
        ctx.tensors = [isinstance(argument, Tensor) for argument in arguments]
        plain = [a.detach() if isinstance(a, Tensor) else a for a in arguments]
        return back._ask({"arguments": plain, "named": {}, "keep": ctx.call})["output"]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream: Tensor) -> tuple[Tensor | None, ...]:
        answer = ctx.back._ask({"gradient": ctx.call, "upstream": upstream})
        found = iter(answer["gradients"])
        gradients = [next(found) if is_tensor else None for is_tensor in ctx.tensors]
        return None, torch.zeros(()), *gradients
