"""Work cut into blocks, so that intermediate results are never all in memory at once."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils import checkpoint as checkpoints
from torch.utils.checkpoint import checkpoint

from attn_course.layer.references import tensors_of
from attn_course.shapes import is_traced

R = TypeVar("R")

# A block is chosen so that query-key pairs times features stay below this. In single precision that
# is 36 MB a tensor. Above 32 MB the C library maps memory for each tensor and returns it; below, it
# keeps the pieces, and for 20,000 x 20,000 pairs we saw them pile up to 4 GB.
NUMBERS_IN_A_BLOCK = 9 * 2**20
# The pile is at most as large as one tensor of all pairs. If that is small, blocks can be small too
# and stay in the processor's cache from one operation to the next.
SMALL_NUMBERS = 2**24
NUMBERS_IN_A_SMALL_BLOCK = 2**20
# A square block of a large table: small enough for the pieces to be kept, and few of them are.
NUMBERS_IN_A_SQUARE = 2**22
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
        RuntimeError: At the backward pass, if a tensor among the arguments, or one that the
            function refers to, has been changed in place: recomputed results would differ.
            `tensors_of` says which it finds.
    """
    if not torch.is_grad_enabled() or not _can_recompute():
        return function(*arguments)
    if not is_traced():
        given = [argument for argument in arguments if isinstance(argument, Tensor)]
        hidden = tensors_of(function, *(each for each in arguments if not isinstance(each, Tensor)))
        if not any(tensor.requires_grad for tensor in (*given, *hidden)):
            return function(*arguments)
        # autograd keeps no tensor from inference mode, such as a block of a mask
        arguments = tuple(
            each.clone() if isinstance(each, Tensor) and each.is_inference() else each
            for each in arguments
        )
        function = _unless_changed(function, hidden)
    return checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=random)


def _unless_changed(function: Callable[..., R], tensors: list[Tensor]) -> Callable[..., R]:
    """Call `function` only as long as none of the tensors that it refers to has been changed.

    PyTorch watches tensors that are arguments themselves; a reference here would keep them alive.
    """
    versions = _versions(tensors)
    # what is switched on or off at the call; a GPU's gradients are taken in a thread of their own
    context = copy_context()

    def call(*arguments: object) -> R:
        if versions != _versions(tensors):
            raise RuntimeError("a tensor has been changed in place before its gradient was taken")
        return context.copy().run(function, *arguments)

    return call


def _versions(tensors: list[Tensor]) -> list[int]:
    """Count the changes in place of each; PyTorch does not count those of inference tensors."""
    return [0 if tensor.is_inference() else tensor._version for tensor in tensors]


def _can_recompute() -> bool:
    """True if a call can be repeated for its gradient; within `torch.func.grad` it cannot.

    Nor can it within `torch.vmap` of older versions of PyTorch.
    """
    if is_traced():
        return True
    if torch._C._functorch.peek_interpreter_stack() and hasattr(checkpoints, "_NoopSaveInputs"):
        return False
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return True
    except RuntimeError:
        return False
