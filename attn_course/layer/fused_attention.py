"""Scaled dot-product attention with PyTorch's fused kernel, which has blocks of its own."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.layer.block_inputs import AttentionInputs
from attn_course.layer.blocks import blocks, recomputed
from attn_course.scaled_dot_product import causal
from attn_course.shapes import is_traced, is_true_of_any, reaches

# With fewer queries, a call of the kernel costs more than the work that blocks spare. A rule spares
# more, but a GPU wants long calls.
QUERIES_AT_ONCE, QUERIES_WITH_A_RULE = 512, 192
# Of a mask with at most so many numbers, the kernel's copy is kept for the gradient: 128 MB.
KEPT_NUMBERS = 2**25


def dot_products_overflow(inputs: AttentionInputs) -> bool:
    """True if a dot product of a query and a key may be infinite or NaN."""
    largest = torch.finfo(torch.promote_types(inputs.query.dtype, torch.float32)).max
    return reaches(largest / max(1.0, abs(inputs.scale or 1)), inputs.query, inputs.key)


def fused(inputs: AttentionInputs, dropout: float) -> Tensor:
    """Call the kernel once, or for blocks of queries where a mask would be too large.

    Raises:
        ValueError: Queries and keys differ in width.
    """
    query, key, _, mask, rule, position_bias, block_len, *_ = inputs
    *batch, query_len, d_query = query.shape
    key_len, d_key = key.shape[-2:]
    if d_query != d_key:
        raise ValueError(
            f"a dot product needs queries and keys of equal width, but {d_query=} and {d_key=}"
        )
    if 0 in batch:  # no sentence at all, which the kernel may not survive
        whole = inputs.for_all_heads()
        return query @ whole.key.mT @ whole.value
    if block_len is None and not is_traced():
        long = query.is_cuda or rule is None
        block_len = QUERIES_AT_ONCE if long else QUERIES_WITH_A_RULE
    if position_bias is None:
        if rule is None and (mask is None or block_len is None or mask.shape[-2] <= block_len):
            return _kernel(inputs, dropout)
        # a constant is passed, because a compiler may know the lengths only by name
        if rule == causal and mask is None and query_len == key_len:
            return _kernel(inputs, dropout, is_causal=True)
    parts = list(blocks(query_len, block_len))
    way: Callable[..., Tensor] = partial(_rows, dropout)
    # the kernel turns its part of the mask into numbers, and keeps them for the gradient
    if len(parts) > 1 and not _is_small(inputs, parts[-1]):
        way = partial(recomputed, way, random=dropout > 0)
    inputs = inputs._replace(block_len=block_len)
    rows = [way(inputs, part) for part in parts]
    return torch.cat(rows, -2) if len(rows) > 1 else rows[0]


def _is_small(inputs: AttentionInputs, last: slice) -> bool:
    """True if the parts of the mask that blocks of queries need have few numbers in all.

    A given length of blocks says that memory matters.
    """
    if is_traced() or inputs.block_len is not None or inputs.position_bias is not None:
        return False
    reach = inputs.reach_of_rule(last)
    masks = 1 if inputs.mask is None else math.prod(inputs.mask.shape[:-2])
    return masks * inputs.query.shape[-2] * (reach.stop - reach.start) <= KEPT_NUMBERS


def _rows(dropout: float, inputs: AttentionInputs, rows: slice) -> Tensor:
    """The output for one block of queries, from all the keys that they reach."""
    reach, allowed = inputs.reached(rows)
    added = inputs.added(rows, reach)
    if added is not None:
        if is_true_of_any(~(added.detach() < torch.inf)):  # which the kernel would take for no key
            raise ValueError(
                f"the position bias of shape {tuple(added.shape)} holds NaN or infinity"
            )
        allowed = added if allowed is None else added.masked_fill(~allowed, -torch.inf)
    query = inputs.query[..., rows, :]
    key, value = inputs.key[..., reach, :], inputs.value[..., reach, :]
    return _kernel(inputs._replace(query=query, key=key, value=value, mask=allowed), dropout)


def _kernel(inputs: AttentionInputs, dropout: float, *, is_causal: bool = False) -> Tensor:
    """Call the fused kernel, which expects four axes and equal widths.

    Args:
        inputs: Their mask may hold True and False, or numbers to add to the scores.
        dropout: Share of the weights that are set to 0.
        is_causal: If True, a query may not attend to later positions.
    """
    query, key, value, mask, *_ = inputs
    *batch, query_len, d_key = query.shape
    d_value, scale, group = value.shape[-1], inputs.scale, inputs.group
    if d_key < d_value:  # zeros change no dot product
        query, key = (functional.pad(part, (0, d_value - d_key)) for part in (query, key))
    elif d_value < d_key:
        value = functional.pad(value, (0, d_key - d_value))
    query, key, value = _four_axes(query), _four_axes(key), _four_axes(value)
    mask = None if mask is None else _broadcast_to_four_axes(mask, batch)
    if group > 1 and query_len == 1 and not is_traced():
        query, mask = _as_queries(query, mask, group)
        group = 1
    output = functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        dropout_p=dropout,
        is_causal=is_causal,
        scale=max(1, d_key) ** -0.5 if scale is None else scale,
        enable_gqa=group > 1,
    )
    if d_value < d_key:
        output = output[..., :d_value]
    if len(batch) == 2 and group == inputs.group:
        return output
    return output.reshape(*batch, query_len, d_value)


def _as_queries(query: Tensor, mask: Tensor | None, group: int) -> tuple[Tensor, Tensor | None]:
    """One query of all the heads that share a head of keys, as if they were queries of one head."""
    query = query.reshape(query.shape[0], -1, group, query.shape[-1])
    if mask is not None and mask.shape[1] > 1:
        mask = mask.reshape(mask.shape[0], -1, group, mask.shape[-1])
    return query, mask


def _four_axes(tensor: Tensor) -> Tensor:
    if tensor.stride(-1) != 1:
        # otherwise PyTorch would choose the kernel without blocks, which holds the whole table
        tensor = tensor.clone(memory_format=torch.contiguous_format)
    if tensor.ndim == 4:
        return tensor
    if tensor.ndim > 4:
        return tensor.flatten(0, -4)
    return tensor[(None,) * (4 - tensor.ndim)]


def _broadcast_to_four_axes(mask: Tensor, batch: list[int]) -> Tensor:
    """The mask as a view, unless it differs between sequences and not between all of them."""
    leading = mask.shape[:-3]
    if len(batch) > 2 and any(length > 1 for length in leading):
        mask = mask.expand(*batch[:-1], *mask.shape[-3:])
    elif mask.ndim > 4:
        mask = mask[(0,) * (mask.ndim - 4)]
    return _four_axes(mask)
