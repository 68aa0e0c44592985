"""Work cut into blocks, so that what it needs in between never has to be held all at once."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

R = TypeVar("R")

# A block is chosen so that query-key pairs times features stay below this. In single
# precision that is 36 MB a tensor: above 32 MB the C library maps memory for each tensor and hands
# it back, below it keeps the pieces, and 20,000 x 20,000 pairs were seen to pile up to 4 GB.
NUMBERS_IN_A_BLOCK = 9 * 2**20
# What piles up is at most one tensor of all pairs. Where that is small, a block is, too, and stays
# in the processor's cache from one operation to the next.
SMALL_NUMBERS = 2**24
NUMBERS_IN_A_SMALL_BLOCK = 2**20
# To begin with, the C library also hands small pieces back after each operation, and the next one
# takes most of its time to get them anew; once it has seen 31 MB freed, it keeps as much at hand.
torch.empty(31 * 2**20, dtype=torch.uint8)


def numbers_in_a_block(all_numbers: int) -> int:
    """How many of so many numbers a block may have."""
    return NUMBERS_IN_A_SMALL_BLOCK if all_numbers <= SMALL_NUMBERS else NUMBERS_IN_A_BLOCK


def blocks(length: int, block_len: int) -> Iterator[slice]:
    """Slices that cover `length` positions, each at most `block_len` long; one if it is 0."""
    for start in range(0, max(1, length), block_len):
        yield slice(start, min(start + block_len, length))


def recomputed(function: Callable[..., R], *arguments: object, random: bool = False) -> R:
    """Call `function`, and have its intermediate results made anew for the backward pass.

    Keeping those of every block would undo the blocks. `random` says that the function draws
    random numbers, which have to be the same ones the second time.

    Raises:
        RuntimeError: At the backward pass, if a tensor among the arguments, or in a `partial`, has
            been changed in place: made anew, the results would be others.
    """
    if not torch.is_grad_enabled() or not _can_recompute():
        return function(*arguments)
    again = function if torch.compiler.is_compiling() else _unless_changed(function, arguments)
    return checkpoint(again, *arguments, use_reentrant=False, preserve_rng_state=random)


def _unless_changed(function: Callable[..., R], arguments: tuple[object, ...]) -> Callable[..., R]:
    """Call `function` only as long as no tensor in a tuple or partial has been changed in place.

    PyTorch watches those that are arguments themselves, and holding them here would keep them.
    """
    hidden = [argument for argument in arguments if not isinstance(argument, Tensor)]
    tensors = list(_tensors((function, *hidden)))
    versions = [tensor._version for tensor in tensors]

    def call(*arguments: object) -> R:
        if versions != [tensor._version for tensor in tensors]:
            raise RuntimeError("a tensor has been changed in place before its gradient was taken")
        return function(*arguments)

    return call


def _tensors(thing: object) -> Iterator[Tensor]:
    """All tensors in tuples, dictionaries and partials."""
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, partial):
        yield from _tensors((thing.args, thing.keywords))
    elif isinstance(thing, tuple | dict):
        for part in thing.values() if isinstance(thing, dict) else thing:
            yield from _tensors(part)


def _can_recompute() -> bool:
    """Whether a call can be repeated for its gradient: within `torch.func.grad` it cannot."""
    if torch.compiler.is_compiling():
        return True
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return True
    except RuntimeError:
        return False
