"""The gradient of attention in tiles: weights are made again, one tile at a time.

Beside it stands the gradient by the table, whose weights have been kept.
"""

import torch
from torch import Tensor

from attn_course.layer.blocks import blocks
from attn_course.long_context import SlowMemory
from attn_course.scaled_dot_product import causal, positions, scaled_dot_scores


def logarithm_of_sum(query: Tensor, key: Tensor, is_causal: bool = False) -> Tensor:
    """The logarithm of the sum of `exp(score)` of each query, all that the gradient needs to keep.

    Args:
        query: Queries, `(*batch, length, d_key)`.
        key: Keys, `(*batch, length, d_key)`.
        is_causal: If True, a query does not attend to later keys.
    """
    scores = scaled_dot_scores(query, key)
    if is_causal:
        allowed = causal(*positions(query.shape[-2], key.shape[-2], query.device))
        scores = scores.masked_fill(~allowed, -torch.inf)
    return scores.logsumexp(-1, keepdim=True)


def gradients_by_table(
    query: Tensor, key: Tensor, value: Tensor, weights: Tensor, slope: Tensor, memory: SlowMemory
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for queries, keys and values, from weights that were kept.

    It takes five steps, each of which reads what it needs and writes what it made.

    Args:
        query: Queries, `(*batch, length, d_key)`.
        key: Keys, `(*batch, length, d_key)`.
        value: Values, `(*batch, length, d_value)`.
        weights: The weights of the forward pass, `(*batch, length, length)`.
        slope: The gradient for the output, `(*batch, length, d_value)`.
        memory: Counts what passes.
    """
    of_value = memory.write(memory.read(weights).mT @ memory.read(slope))
    of_weights = memory.write(memory.read(slope) @ memory.read(value).mT)
    kept, rises = memory.read(weights), memory.read(of_weights)
    of_scores = kept * (rises - (kept * rises).sum(-1, keepdim=True))
    of_scores = memory.write(of_scores / query.shape[-1] ** 0.5)
    of_query = memory.write(memory.read(of_scores) @ memory.read(key))
    of_key = memory.write(memory.read(of_scores).mT @ memory.read(query))
    return of_query, of_key, of_value


def gradients_in_tiles(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sum: Tensor,
    slope: Tensor,
    memory: SlowMemory,
    *,
    tile_len: int = 64,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for queries, keys and values.

    Args:
        query: Queries, `(*batch, length, d_key)`.
        key: Keys, `(*batch, length, d_key)`.
        value: Values, `(*batch, length, d_value)`.
        output: What the attention returned.
        log_sum: What `logarithm_of_sum` returned, `(*batch, length, 1)`.
        slope: The gradient for the output.
        memory: Counts what passes.
        tile_len: Number of queries, and of keys, of a tile.
        is_causal: If True, a query does not attend to later keys.

    Source: Dao et al. 2022, algorithm 4.
    """
    found = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    # the mean slope of a query's weights, since weights that sum to 1 cannot all rise
    mean = (memory.read(slope) * memory.read(output)).sum(-1, keepdim=True)
    at_query, at_key = positions(query.shape[-2], key.shape[-2], query.device)
    for columns in blocks(key.shape[-2], tile_len):
        some = memory.read(key[..., columns, :]), memory.read(value[..., columns, :])
        for rows in blocks(query.shape[-2], tile_len):
            allowed = causal(at_query[rows], at_key[columns]) if is_causal else None
            if allowed is not None and not allowed.any():
                continue
            parts = (memory.read(part[..., rows, :]) for part in (query, slope, log_sum, mean))
            of_query, of_key, of_value = _gradients_of_tile(tuple(parts), *some, allowed)
            found[0][..., rows, :] += memory.write(of_query)
            found[1][..., columns, :] += of_key
            found[2][..., columns, :] += of_value
        for part in found[1:]:
            memory.write(part[..., columns, :])
    return found


def _gradients_of_tile(
    of_rows: tuple[Tensor, ...], key: Tensor, value: Tensor, allowed: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The part of one tile in the gradients for its queries, its keys and its values."""
    query, slope, log_sum, mean = of_rows
    weights = torch.exp(scaled_dot_scores(query, key) - log_sum)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0)
    of_scores = weights * (slope @ value.mT - mean) / query.shape[-1] ** 0.5
    return of_scores @ key, of_scores.mT @ query, weights.mT @ slope
