import math

import torch
from torch import Tensor

from attn_course.retrieval import masked_softmax


def _split(tokens, heads):
    return tokens.unflatten(-1, (heads, -1)).transpose(-2, -3)


def _masked(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return weights.masked_fill(~mask, 0)


def wrong_whole_row_of_heads(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """It repeats the whole row of key heads, not each key head for its neighbours."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    times = num_heads // shared
    keys = torch.cat([_split(key @ w_key.mT, shared)] * times, -3)
    values = torch.cat([_split(value @ w_value.mT, shared)] * times, -3)
    scores = queries @ keys.mT / d_head**0.5
    heads = _masked(scores, mask.unsqueeze(-3)) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_width_of_the_layer(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """It divides by the root of the width of all heads together."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    scores = queries @ keys.mT / len(w_query) ** 0.5
    heads = _masked(scores, mask.unsqueeze(-3)) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_width_from_the_tokens(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """The scale rests on d_query / num_heads, which need not be the width of a head."""
    shared = len(w_key) // (len(w_query) // num_heads)
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    scores = queries @ keys.mT / (query.shape[-1] / num_heads) ** 0.5
    heads = _masked(scores, mask.unsqueeze(-3)) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_mask_without_heads(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """The mask has no axis for the heads, so its axis of the batch lines up with them."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    heads = _masked(queries @ keys.mT / d_head**0.5, mask) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_output_not_transposed(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """The output matrix is not transposed."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    heads = _masked(queries @ keys.mT / d_head**0.5, mask.unsqueeze(-3)) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output


def wrong_mean_where_nothing_is_seen(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """It fills with -1e9, so a query that may look nowhere gets the mean of all values."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    scores = queries @ keys.mT / d_head**0.5
    scores = scores.masked_fill(mask.unsqueeze(-3) == 0, -1e9)
    heads = torch.softmax(scores, -1) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_merged_without_a_swap(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """The heads are joined by a plain reshape, which mixes tokens."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    heads = _masked(queries @ keys.mT / d_head**0.5, mask.unsqueeze(-3)) @ values
    joined = heads.reshape(*query.shape[:-1], -1)
    return joined @ w_output.mT


def wrong_not_scaled(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """The root of the width is forgotten."""
    d_head = len(w_query) // num_heads
    shared = len(w_key) // d_head
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    heads = _masked(queries @ keys.mT, mask.unsqueeze(-3)) @ values
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def right_head_by_head(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """A loop over the heads, each with its rows of the matrices, added up through its columns."""
    d_head = w_query.shape[0] // num_heads
    shared = w_key.shape[0] // d_head
    width = w_value.shape[0] // shared
    output = 0
    for j in range(num_heads):
        g = j // (num_heads // shared)
        asked = query @ w_query[j * d_head : (j + 1) * d_head].mT
        keys = key @ w_key[g * d_head : (g + 1) * d_head].mT
        values = value @ w_value[g * width : (g + 1) * width].mT
        scores = torch.einsum("...qd,...kd->...qk", asked, keys) * d_head**-0.5
        some = mask.any(-1, keepdim=True)
        scores = scores.masked_fill(some & ~mask, -torch.inf)
        weights = torch.where(some, scores.softmax(-1), torch.zeros_like(scores))
        output = output + weights @ values @ w_output[:, j * width : (j + 1) * width].mT
    return output


def wrong_scores_times_mask(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """Forbidden scores become 0, and a query that sees nobody gets zeros afterwards."""
    width = w_query.shape[0] // num_heads
    shared = w_key.shape[0] // width
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    seen = mask.unsqueeze(-3)
    weights = torch.softmax(queries @ keys.mT / width**0.5 * seen, -1)
    heads = weights @ values * seen.any(-1, keepdim=True)
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_layer_width_and_a_billion(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """The scale comes from the width of all heads together, and forbidden scores are -1e9."""
    shared = w_key.shape[0] // (w_query.shape[0] // num_heads)
    queries = _split(query @ w_query.mT, num_heads)
    keys = _split(key @ w_key.mT, shared).repeat_interleave(num_heads // shared, -3)
    values = _split(value @ w_value.mT, shared).repeat_interleave(num_heads // shared, -3)
    scores = queries @ keys.mT / w_query.shape[0] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask.unsqueeze(-3), -1e9), -1)
    return (weights @ values).transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_root_of_all_heads(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """Divides by the root of the width of all heads together."""

    def split(x, heads):
        return x.unflatten(-1, (heads, -1)).transpose(-3, -2)

    width = w_query.shape[0]
    d_head = width // num_heads
    num_key_heads = w_key.shape[0] // d_head
    group = num_heads // num_key_heads
    q = split(query @ w_query.mT, num_heads)
    k = split(key @ w_key.mT, num_key_heads).repeat_interleave(group, -3)
    v = split(value @ w_value.mT, num_key_heads).repeat_interleave(group, -3)
    scores = q @ k.mT / math.sqrt(width)
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    heads = weights @ v
    return heads.transpose(-3, -2).flatten(-2) @ w_output.mT


def wrong_key_heads_in_turn(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """Repeats the row of key heads as a whole, 0 1 2 0 1 2, instead of each in place."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = w_key.shape[0] // d_head
    times = num_heads // num_key_heads
    queries = (query @ w_query.T).unflatten(-1, (num_heads, d_head))
    keys = (key @ w_key.T).unflatten(-1, (num_key_heads, d_head))
    values = (value @ w_value.T).unflatten(-1, (num_key_heads, -1))
    queries, keys, values = (x.transpose(-2, -3) for x in (queries, keys, values))
    keys = torch.cat([keys] * times, dim=-3)
    values = torch.cat([values] * times, dim=-3)
    scores = queries @ keys.transpose(-1, -2) / d_head**0.5
    hidden = ~mask.unsqueeze(-3)
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    weights = weights.masked_fill(hidden, 0.0)
    merged = (weights @ values).transpose(-2, -3).flatten(-2)
    return merged @ w_output.T


def wrong_mask_without_heads_and_query_width(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """Two mistakes: the mask gets no axis for the heads, and the scale uses d_query / num_heads
    instead of d_head."""
    d_head = w_query.shape[0] // num_heads
    kv_heads = w_key.shape[0] // d_head
    q = (query @ w_query.mT).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    k = (key @ w_key.mT).unflatten(-1, (kv_heads, -1)).transpose(-3, -2)
    v = (value @ w_value.mT).unflatten(-1, (kv_heads, -1)).transpose(-3, -2)
    k = k.repeat_interleave(num_heads // kv_heads, dim=-3)
    v = v.repeat_interleave(num_heads // kv_heads, dim=-3)
    scale = math.sqrt(query.shape[-1] / num_heads)
    scores = torch.einsum("...qd,...kd->...qk", q, k) / scale
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0)
    out = torch.einsum("...qk,...kd->...qd", weights, v)
    return out.transpose(-3, -2).flatten(-2) @ w_output.mT


def right_head_by_head_again(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads):
    """Loops over the query heads with slices of the matrices, and adds up their shares of the
    output."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = w_key.shape[0] // d_head
    of_query = w_query.chunk(num_heads, 0)
    of_key = w_key.chunk(num_key_heads, 0)
    of_value = w_value.chunk(num_key_heads, 0)
    of_output = w_output.chunk(num_heads, 1)
    total = 0
    for head in range(num_heads):
        shared = head * num_key_heads // num_heads
        q = query @ of_query[head].mT / math.sqrt(d_head)
        k = key @ of_key[shared].mT
        v = value @ of_value[shared].mT
        scores = torch.where(mask, q @ k.mT, -torch.inf)
        weights = torch.where(mask, torch.softmax(scores, -1), 0.0)
        total = total + weights @ v @ of_output[head].mT
    return total


def _attend(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads, **how):
    d_head = w_query.shape[0] // num_heads
    key_heads = w_key.shape[0] // d_head
    q = (query @ w_query.mT).unflatten(-1, (num_heads, d_head)).transpose(-2, -3)
    k = (key @ w_key.mT).unflatten(-1, (key_heads, d_head)).transpose(-2, -3)
    v = (value @ w_value.mT).unflatten(-1, (key_heads, -1)).transpose(-2, -3)
    if how.get("tile"):
        k = torch.cat([k] * (num_heads // key_heads), -3)
        v = torch.cat([v] * (num_heads // key_heads), -3)
    else:
        k = k.repeat_interleave(num_heads // key_heads, -3)
        v = v.repeat_interleave(num_heads // key_heads, -3)
    seen = mask.unsqueeze(-3)
    none = ~seen.any(-1, keepdim=True)
    width = query.shape[-1] if how.get("model") else d_head
    scores = q @ k.mT / width**0.5
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    heads = weights.masked_fill(~seen, 0) @ v
    return heads.transpose(-2, -3).flatten(-2) @ w_output.mT


def wrong_key_heads_in_turn_fifth(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """It repeats the key heads in turn, 0 1 0 1, where neighbours should share one, 0 0 1 1."""
    return _attend(query, key, value, mask, w_query, w_key, w_value, w_output, num_heads, tile=True)


def wrong_scale_of_the_query_tokens(
    query, key, value, mask, w_query, w_key, w_value, w_output, num_heads
):
    """It divides by the root of the query tokens' width."""
    return _attend(
        query, key, value, mask, w_query, w_key, w_value, w_output, num_heads, model=True
    )


def split(tokens: Tensor, num_heads: int) -> Tensor:
    """(*batch, length, features) to (*batch, num_heads, length, d_head)."""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def wrong_heads_in_turn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Gives the query heads the key heads 0, 1, 0, 1 instead of 0, 0, 1, 1."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = w_key.shape[0] // d_head
    times = num_heads // num_key_heads
    queries = split(query @ w_query.mT, num_heads)
    keys = torch.cat([split(key @ w_key.mT, num_key_heads)] * times, -3)
    values = torch.cat([split(value @ w_value.mT, num_key_heads)] * times, -3)
    scores = queries @ keys.mT / d_head**0.5
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    return (weights @ values).transpose(-3, -2).flatten(-2) @ w_output.mT


def wrong_root_of_all_heads_sixth(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Divides by the root of the width of all heads' queries together."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = w_key.shape[0] // d_head
    times = num_heads // num_key_heads
    queries = split(query @ w_query.mT, num_heads)
    keys = split(key @ w_key.mT, num_key_heads).repeat_interleave(times, -3)
    values = split(value @ w_value.mT, num_key_heads).repeat_interleave(times, -3)
    scores = queries @ keys.mT / w_query.shape[0] ** 0.5
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    return (weights @ values).transpose(-3, -2).flatten(-2) @ w_output.mT


def wrong_equal_weights_in_empty_row(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Forbids by a large negative score, so a query without any key gets a mean of all."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = w_key.shape[0] // d_head
    times = num_heads // num_key_heads
    queries = split(query @ w_query.mT, num_heads)
    keys = split(key @ w_key.mT, num_key_heads).repeat_interleave(times, -3)
    values = split(value @ w_value.mT, num_key_heads).repeat_interleave(times, -3)
    scores = queries @ keys.mT / d_head**0.5
    scores = scores.masked_fill(~mask.unsqueeze(-3), -1e9)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ values).transpose(-3, -2).flatten(-2) @ w_output.mT


def right_grouped_einsum(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Cuts the queries into key heads k and groups g, so nothing has to be repeated."""
    d_head = len(w_query) // num_heads
    num_key_heads = len(w_key) // d_head
    group = num_heads // num_key_heads
    queries = (query @ w_query.mT).unflatten(-1, (num_key_heads, group, d_head))
    keys = (key @ w_key.mT).unflatten(-1, (num_key_heads, d_head))
    values = (value @ w_value.mT).unflatten(-1, (num_key_heads, -1))
    scores = torch.einsum("...ikgd,...jkd->...kgij", queries / d_head**0.5, keys)
    weights = masked_softmax(scores, mask[..., None, None, :, :])
    heads = torch.einsum("...kgij,...jkv->...ikgv", weights, values)
    return heads.flatten(-3) @ w_output.mT


def split_seventh(tokens: Tensor, num_heads: int) -> Tensor:
    """Tokens (*batch, length, width) to heads (*batch, num_heads, length, d_head)."""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def wrong_root_of_all_heads_seventh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Divides by the root of the width of all heads together, not of one head's query."""
    num_key_heads = len(w_key) // (len(w_query) // num_heads)
    times = num_heads // num_key_heads
    queries = split_seventh(query @ w_query.mT, num_heads)
    keys = split_seventh(key @ w_key.mT, num_key_heads).repeat_interleave(times, -3)
    values = split_seventh(value @ w_value.mT, num_key_heads).repeat_interleave(times, -3)
    scores = queries @ keys.mT / math.sqrt(len(w_query))
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    return (weights @ values).transpose(-3, -2).flatten(-2) @ w_output.mT


def wrong_key_heads_in_turn_seventh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Repeats the whole row of key heads (0, 1, 0, 1), so neighbours do not share a head."""
    d_head = len(w_query) // num_heads
    num_key_heads = len(w_key) // d_head
    times = num_heads // num_key_heads
    queries = split_seventh(query @ w_query.mT, num_heads)
    keys = split_seventh(key @ w_key.mT, num_key_heads).repeat(*[1] * (key.ndim - 2), times, 1, 1)
    values = split_seventh(value @ w_value.mT, num_key_heads)
    values = values.repeat(*[1] * (key.ndim - 2), times, 1, 1)
    scores = queries @ keys.mT / math.sqrt(d_head)
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    return (weights @ values).transpose(-3, -2).flatten(-2) @ w_output.mT


def wrong_heads_joined_unswapped(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Joins the heads by a reshape, without swapping the axes of heads and queries first."""
    d_head = len(w_query) // num_heads
    num_key_heads = len(w_key) // d_head
    times = num_heads // num_key_heads
    queries = split_seventh(query @ w_query.mT, num_heads)
    keys = split_seventh(key @ w_key.mT, num_key_heads).repeat_interleave(times, -3)
    values = split_seventh(value @ w_value.mT, num_key_heads).repeat_interleave(times, -3)
    scores = queries @ keys.mT / math.sqrt(d_head)
    weights = masked_softmax(scores, mask.unsqueeze(-3))
    heads = weights @ values
    return heads.reshape(*query.shape[:-1], -1) @ w_output.mT


def right_head_by_head_seventh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> Tensor:
    """Takes each head's rows of the matrices, and adds up what its columns of w_output make."""
    of_query = w_query.chunk(num_heads)
    num_key_heads = len(w_key) // len(of_query[0])
    of_key, of_value = w_key.chunk(num_key_heads), w_value.chunk(num_key_heads)
    of_output = w_output.chunk(num_heads, 1)
    total = 0
    for head in range(num_heads):
        shared = head * num_key_heads // num_heads
        queries = query @ of_query[head].mT / math.sqrt(len(of_query[head]))
        scores = queries @ (key @ of_key[shared].mT).mT
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        weights = weights.masked_fill(~mask, 0)
        total = total + weights @ (value @ of_value[shared].mT) @ of_output[head].mT
    return total
