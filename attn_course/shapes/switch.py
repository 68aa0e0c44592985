"""The one place where checks are switched off."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

values_are_checked: ContextVar[bool] = ContextVar("values_are_checked", default=True)
MAKES_A_GRAPH = torch._C._TorchDispatchModeKey.PROXY
shapes_are_checked: ContextVar[bool] = ContextVar("shapes_are_checked", default=True)
scores_are_trusted: ContextVar[bool] = ContextVar("scores_are_trusted", default=False)


@contextmanager
def unchecked(*, shapes_too: bool = False) -> Iterator[None]:
    """Within it, nothing looks into the values of a tensor.

    On a GPU every such look makes the program wait for the device; while a CUDA graph is captured
    nothing looks anyway. Results stay the same, but a NaN goes through unnoticed. Two looks remain,
    because the work itself takes them: `Encoder` reads the lengths of its sentences,
    which PyTorch's recurrent networks want on the CPU; decoding asks after each word whether all
    have ended.

    Args:
        shapes_too: If True, calls are not held to the shapes in signatures either, and scores
            without a mask are taken to be finite: if all scores of a query are minus infinity, its
            weights are NaN instead of 0. That is for small tensors, where a look at a shape, or the
            care for such a query, takes as long as the arithmetic.
    """
    values = values_are_checked.set(False)
    trusted = scores_are_trusted.set(scores_are_trusted.get() or shapes_too)
    try:
        with shapes_known(shapes_too):
            yield
    finally:
        values_are_checked.reset(values)
        scores_are_trusted.reset(trusted)


@contextmanager
def shapes_known(known: bool) -> Iterator[None]:
    """Within it, if they are known, calls are not held to the shapes in signatures, only to values.

    That is for a loop from its third round on: the second has taken what the first one gave.
    """
    shapes = shapes_are_checked.set(shapes_are_checked.get() and not known)
    try:
        yield
    finally:
        shapes_are_checked.reset(shapes)


def trusts_scores() -> bool:
    """True within `unchecked(shapes_too=True)`: scores without a mask are taken to be finite."""
    return not is_traced() and scores_are_trusted.get()


def is_traced() -> bool:
    """True while a program is recorded, so that no branch may depend on a value or on a length.

    That is within `torch.compile`, `torch.export`, `make_fx` and `torch.jit.trace`.
    """
    # asked at every call, so without a detour; a compiler stops at the first question
    return (
        torch.compiler.is_compiling()
        or torch._C._is_tracing()
        or torch._C._get_dispatch_mode(MAKES_A_GRAPH) is not None
    )
