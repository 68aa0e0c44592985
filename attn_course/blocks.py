"""Work cut into blocks, so that what it needs in between never has to be held all at once."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch.utils.checkpoint import checkpoint

R = TypeVar("R")


def blocks(length: int, block_len: int) -> Iterator[slice]:
    """Slices that cover `length` positions, each at most `block_len` long; one if it is 0."""
    for start in range(0, max(1, length), block_len):
        yield slice(start, min(start + block_len, length))


def recomputed(function: Callable[..., R], *arguments: object, random: bool = False) -> R:
    """Call `function`, and have its intermediate results made anew for the backward pass.

    Keeping those of every block would undo the blocks. `random` says that the function draws
    random numbers, which have to be the same ones the second time.
    """
    if not torch.is_grad_enabled() or not _can_recompute():
        return function(*arguments)
    return checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=random)


def _can_recompute() -> bool:
    """Whether a call can be repeated for its gradient: within `torch.func.grad` it cannot."""
    if torch.compiler.is_compiling():
        return True
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return True
    except RuntimeError:
        return False
