"""Sparse attention: each query reads a few blocks of keys, chosen by a score."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_course.shapes import checked, require_positive


@checked
def chosen_blocks(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    block_len: int,
    number: int,
) -> Bool[Tensor, "*batch length length"]:
    """The causal mask that allows each query its own block and the others that score best.

    A block's score is that of the mean of its keys.

    Args:
        query: Queries.
        key: Keys.
        block_len: Number of keys of a block; it divides the length.
        number: Number of blocks that a query reads, its own included.

    Raises:
        ValueError: The length is no multiple of `block_len`, or a number is not positive.

    Source: after Yuan et al. 2025, section 3.3.2, who learn what stands for a block.
    """
    require_positive("block_len", block_len)
    require_positive("number", number)
    length = query.shape[-2]
    if length % block_len:
        raise ValueError(f"{length=} is no multiple of {block_len=}")
    scores = query @ key.unflatten(-2, (-1, block_len)).mean(-2).mT
    position = torch.arange(length, device=query.device)
    own, block = position[:, None] // block_len, torch.arange(length // block_len)
    scores = scores.masked_fill(block > own, -torch.inf).masked_fill(block == own, torch.inf)
    best = scores.topk(min(number, len(block)), -1).indices
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return chosen.repeat_interleave(block_len, -1) & (position[:, None] >= position)
