"""Work cut into blocks, so that intermediate results are never all in memory at once."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

R = TypeVar("R")

# A block is chosen so that query-key pairs times features stay below this. In single precision that
# is 36 MB a tensor. Above 32 MB the C library maps memory for each tensor and returns it; below, it
# keeps the pieces, and for 20,000 x 20,000 pairs we saw them pile up to 4 GB.
NUMBERS_IN_A_BLOCK = 9 * 2**20
# The pile is at most as large as one tensor of all pairs. If that is small, blocks can be small too
# and stay in the processor's cache from one operation to the next.
SMALL_NUMBERS = 2**24
NUMBERS_IN_A_SMALL_BLOCK = 2**20
# On a GPU an operation should take longer than the start of the next one. With 9 * 2**20 an H100
# took seven times as long for 16,384 x 16,384 pairs; 2**27 would save another 40 percent.
NUMBERS_ON_A_GPU = 2**26
# At first the C library returns even small pieces after each operation, and the next operation
# spends most of its time getting them again. Once 31 MB have been freed, it keeps that much.
torch.empty(31 * 2**20, dtype=torch.uint8)


def numbers_in_a_block(all_numbers: int, device: torch.device) -> int:
    """The most numbers that a block may have, if all blocks together have `all_numbers`."""
    if device.type != "cpu":
        return NUMBERS_ON_A_GPU
    return NUMBERS_IN_A_SMALL_BLOCK if all_numbers <= SMALL_NUMBERS else NUMBERS_IN_A_BLOCK


def blocks(length: int, block_len: int | None) -> Iterator[slice]:
    """Yield slices of at most `block_len` that cover `length` positions; an empty one for 0.

    Without `block_len` it is one slice, and a compiler need not know the length.
    """
    if block_len is None:
        yield slice(None)
        return
    for start in range(0, max(1, length), block_len):
        yield slice(start, min(start + block_len, length))


def recomputed(function: Callable[..., R], *arguments: object, random: bool = False) -> R:
    """Call `function`, and recompute its intermediate results for the backward pass.

    Keeping the results of every block would defeat the purpose of blocks. Set `random` if the
    function draws random numbers, which must be the same when it is recomputed.

    Raises:
        RuntimeError: At the backward pass, if a tensor among the arguments, or in a `partial`, has
            been changed in place: recomputed results would differ.
    """
    if not torch.is_grad_enabled() or not _can_recompute():
        return function(*arguments)
    again = function if torch.compiler.is_compiling() else _unless_changed(function, arguments)
    return checkpoint(again, *arguments, use_reentrant=False, preserve_rng_state=random)


def _unless_changed(function: Callable[..., R], arguments: tuple[object, ...]) -> Callable[..., R]:
    """Call `function` only as long as no tensor in a tuple or partial has been changed in place.

    PyTorch watches tensors that are arguments themselves; a reference here would keep them alive.
    """
    hidden = [argument for argument in arguments if not isinstance(argument, Tensor)]
    tensors = list(_tensors((function, *hidden)))
    versions = [tensor._version for tensor in tensors]
    # what is switched on or off at the call; a GPU's gradients are taken in a thread of their own
    context = copy_context()

    def call(*arguments: object) -> R:
        if versions != [tensor._version for tensor in tensors]:
            raise RuntimeError("a tensor has been changed in place before its gradient was taken")
        return context.copy().run(function, *arguments)

    return call


def _tensors(thing: object) -> Iterator[Tensor]:
    """Yield all tensors in tuples, dictionaries and partials."""
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, partial):
        yield from _tensors((thing.args, thing.keywords))
    elif isinstance(thing, tuple | dict):
        for part in thing.values() if isinstance(thing, dict) else thing:
            yield from _tensors(part)


def _can_recompute() -> bool:
    """True if a call can be repeated for its gradient; within `torch.func.grad` it cannot."""
    if torch.compiler.is_compiling():
        return True
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return True
    except RuntimeError:
        return False
