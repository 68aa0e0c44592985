"""The one place where checks are switched off."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

values_are_checked: ContextVar[bool] = ContextVar("values_are_checked", default=True)
shapes_are_checked: ContextVar[bool] = ContextVar("shapes_are_checked", default=True)


@contextmanager
def unchecked(*, shapes_too: bool = False) -> Iterator[None]:
    """Within it, nothing looks into the values of a tensor.

    On a GPU every such look makes the program wait for the device, and a CUDA graph cannot be
    captured around one. Results stay the same, but a NaN goes through unnoticed. Two looks remain,
    because the work itself takes them: `Encoder` reads the lengths of its sentences,
    which PyTorch's recurrent networks want on the CPU; decoding asks after each word whether all
    have ended.

    Args:
        shapes_too: If True, calls are not held to the shapes in signatures either. That is for
            small tensors, where a look at a shape takes as long as the arithmetic.
    """
    values = values_are_checked.set(False)
    shapes = shapes_are_checked.set(shapes_are_checked.get() and not shapes_too)
    try:
        yield
    finally:
        values_are_checked.reset(values)
        shapes_are_checked.reset(shapes)
