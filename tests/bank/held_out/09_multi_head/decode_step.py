import math

import torch
from torch import Tensor


def _split(tokens, heads):
    return tokens.unflatten(-1, (heads, -1)).transpose(-2, -3)


def _attend(tokens, keys, values, w_query, w_output, num_heads, seen):
    queries = _split(tokens @ w_query.mT, num_heads)
    times = num_heads // keys.shape[1]
    keys, values = keys.repeat_interleave(times, 1), values.repeat_interleave(times, 1)
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~seen(scores), -torch.inf), -1)
    return (weights @ values).transpose(1, 2).flatten(-2) @ w_output.mT


def wrong_writes_into_the_memory(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """It writes the new keys and values into the caller's memory."""
    end = length + tokens.shape[1]
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])
    output = _attend(
        tokens,
        keys[:, :, :end],
        values[:, :, :end],
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool).tril(length),
    )
    return output, keys, values


def wrong_new_tokens_see_each_other(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """There is no mask among the new tokens, so a prompt looks ahead."""
    end = length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])
    output = _attend(
        tokens,
        keys[:, :, :end],
        values[:, :, :end],
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool),
    )
    return output, keys, values


def wrong_whole_room(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads):
    """A single new token sees the whole room, what an older text has left included."""
    end = length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])

    def seen(scores):
        everything = torch.ones_like(scores, dtype=torch.bool)
        return everything if tokens.shape[1] == 1 else everything.tril(length)

    return _attend(tokens, keys, values, w_query, w_output, num_heads, seen), keys, values


def wrong_triangle_not_moved(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """The triangle is not moved by the length of the text so far."""
    end = length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])
    output = _attend(
        tokens,
        keys[:, :, :end],
        values[:, :, :end],
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool).tril(),
    )
    return output, keys, values


def wrong_memory_without_its_room(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """It returns the filled places only, not a memory with all its room."""
    keys = torch.cat([keys[:, :, :length], _split(tokens @ w_key.mT, keys.shape[1])], 2)
    values = torch.cat([values[:, :, :length], _split(tokens @ w_value.mT, values.shape[1])], 2)
    output = _attend(
        tokens,
        keys,
        values,
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool).tril(length),
    )
    return output, keys, values


def wrong_written_to_the_front(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """The new keys and values are written over the first places of the memory."""
    new, end = tokens.shape[1], length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, :new] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, :new] = _split(tokens @ w_value.mT, values.shape[1])
    output = _attend(
        tokens,
        keys[:, :, :end],
        values[:, :, :end],
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool).tril(length),
    )
    return output, keys, values


def right_token_by_token(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """It goes on token by token, with a new memory joined from three pieces at each."""
    shared, d_head = keys.shape[1], keys.shape[3]
    outputs = []
    for place, token in enumerate(tokens.unbind(1), start=length):
        new_key = (token @ w_key.mT).reshape(-1, shared, 1, d_head)
        new_value = (token @ w_value.mT).reshape(-1, shared, 1, d_head)
        keys = torch.cat([keys[:, :, :place], new_key, keys[:, :, place + 1 :]], 2)
        values = torch.cat([values[:, :, :place], new_value, values[:, :, place + 1 :]], 2)
        asked = (token @ w_query.mT).reshape(-1, shared, num_heads // shared, d_head)
        scores = torch.einsum("bgtd,bgld->bgtl", asked, keys[:, :, : place + 1]) / d_head**0.5
        heard = torch.einsum("bgtl,bgld->bgtd", scores.softmax(-1), values[:, :, : place + 1])
        outputs.append(heard.flatten(1) @ w_output.mT)
    return torch.stack(outputs, 1), keys, values


def wrong_not_itself(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads):
    """A new token sees what came before it, but not itself."""
    end = length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])
    output = _attend(
        tokens,
        keys[:, :, :end],
        values[:, :, :end],
        w_query,
        w_output,
        num_heads,
        lambda scores: torch.ones_like(scores, dtype=torch.bool).tril(length - 1),
    )
    return output, keys, values


def wrong_whole_rows_and_not_scaled(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """The key heads are repeated as a whole, 0 1 0 1, and nothing is scaled."""
    end = length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = _split(tokens @ w_key.mT, keys.shape[1])
    values[:, :, length:end] = _split(tokens @ w_value.mT, values.shape[1])
    times = num_heads // keys.shape[1]
    queries = _split(tokens @ w_query.mT, num_heads)
    scores = queries @ keys[:, :, :end].repeat(1, times, 1, 1).mT
    seen = torch.ones_like(scores, dtype=torch.bool).tril(length)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    heads = weights @ values[:, :, :end].repeat(1, times, 1, 1)
    return heads.transpose(1, 2).flatten(-2) @ w_output.mT, keys, values


def wrong_triangle_not_shifted(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """Uses tril() without the shift by length, so the first new token sees only the oldest key."""
    d_head, num_key_heads = keys.shape[-1], keys.shape[1]
    end = length + tokens.shape[1]

    def split(x, heads):
        return x.unflatten(-1, (heads, d_head)).transpose(1, 2)

    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = split(tokens @ w_key.mT, num_key_heads)
    values[:, :, length:end] = split(tokens @ w_value.mT, num_key_heads)
    group = num_heads // num_key_heads
    k = keys[:, :, :end].repeat_interleave(group, 1)
    v = values[:, :, :end].repeat_interleave(group, 1)
    scores = split(tokens @ w_query.mT, num_heads) @ k.mT / d_head**0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    output = (weights @ v).transpose(1, 2).flatten(2) @ w_output.mT
    return output, keys, values


def wrong_writes_into_memory(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """Writes the new keys and values into the caller's memory, without a copy."""
    batch, new_len, _ = tokens.shape
    num_key_heads, d_head = keys.shape[1], keys.shape[3]
    end = length + new_len
    q = (tokens @ w_query.T).view(batch, new_len, num_heads, d_head)
    k = (tokens @ w_key.T).view(batch, new_len, num_key_heads, d_head)
    v = (tokens @ w_value.T).view(batch, new_len, num_key_heads, d_head)
    keys[:, :, length:end, :] = k.permute(0, 2, 1, 3)
    values[:, :, length:end, :] = v.permute(0, 2, 1, 3)
    group = num_heads // num_key_heads
    all_k = keys[:, :, :end].repeat_interleave(group, dim=1)
    all_v = values[:, :, :end].repeat_interleave(group, dim=1)
    scores = q.permute(0, 2, 1, 3) @ all_k.transpose(2, 3)
    scores = scores / math.sqrt(d_head)
    future = torch.ones(new_len, end).triu(length + 1).bool()
    scores = scores.masked_fill(future, -torch.inf)
    out = torch.softmax(scores, -1) @ all_v
    out = out.permute(0, 2, 1, 3).reshape(batch, new_len, -1)
    return out @ w_output.T, keys, values


def wrong_no_mask_and_heads_in_turn(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """Two mistakes: no mask among several new tokens, and the key heads are repeated 0 1 0 1
    instead of 0 0 1 1."""
    d_head = w_query.shape[0] // num_heads
    num_key_heads = keys.shape[1]
    end = length + tokens.shape[1]
    query = (tokens @ w_query.mT).unflatten(-1, (num_heads, -1))
    key = (tokens @ w_key.mT).unflatten(-1, (num_key_heads, -1))
    value = (tokens @ w_value.mT).unflatten(-1, (num_key_heads, -1))
    keys, values = keys.clone(), values.clone()
    keys[..., length:end, :] = key.transpose(1, 2)
    values[..., length:end, :] = value.transpose(1, 2)
    times = num_heads // num_key_heads
    seen_keys = keys[..., :end, :].repeat(1, times, 1, 1)
    seen_values = values[..., :end, :].repeat(1, times, 1, 1)
    scores = query.transpose(1, 2) @ seen_keys.mT / math.sqrt(d_head)
    heads = torch.softmax(scores, dim=-1) @ seen_values
    return heads.transpose(1, 2).flatten(2) @ w_output.mT, keys, values


def right_groups_as_an_axis(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """Builds the memories with cat, and gives the queries an axis for the groups that share a key
    head."""
    num_key_heads = keys.shape[1]
    d_head = w_query.shape[0] // num_heads
    new_len = tokens.shape[1]
    end = length + new_len

    def grown(memory, weight):
        new = (tokens @ weight.mT).unflatten(2, (num_key_heads, d_head))
        parts = memory[:, :, :length], new.movedim(2, 1), memory[:, :, end:]
        return torch.cat(parts, dim=2)

    keys, values = grown(keys, w_key), grown(values, w_value)
    queries = (tokens @ w_query.mT).unflatten(
        2, (num_key_heads, num_heads // num_key_heads, d_head)
    )
    scores = torch.einsum("bnhgd,bhkd->bhgnk", queries, keys[:, :, :end])
    place = torch.arange(end, device=tokens.device)
    later = place > place[length:].unsqueeze(1)
    scores = scores.div(math.sqrt(d_head)).masked_fill(later, -torch.inf)
    weights = scores.softmax(-1)
    heads = torch.einsum("bhgnk,bhkd->bnhgd", weights, values[:, :, :end])
    return heads.flatten(2) @ w_output.mT, keys, values


def _decode(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads, **how):
    new, d_head = tokens.shape[1], keys.shape[-1]

    def split(x):
        return x.unflatten(-1, (-1, d_head)).transpose(-2, -3)

    keys, values = keys.clone(), values.clone()
    keys[:, :, length : length + new] = split(tokens @ w_key.mT)
    values[:, :, length : length + new] = split(tokens @ w_value.mT)
    q = split(tokens @ w_query.mT)
    share = num_heads // keys.shape[1]
    k, v = keys.repeat_interleave(share, 1), values.repeat_interleave(share, 1)
    place = torch.arange(keys.shape[2])
    last = length + torch.arange(new)[:, None]
    seen = place < last if how.get("before") else place <= last
    if how.get("all_new"):
        seen = (place < length + new).expand(new, -1)
    scores = (q @ k.mT / d_head**0.5).masked_fill(~seen, -torch.inf)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(none, 0).softmax(-1).masked_fill(~seen, 0)
    v = v.masked_fill(~(place < length + new)[:, None], 0)
    out = (weights @ v).transpose(1, 2).flatten(2) @ w_output.mT
    return out, keys, values


def wrong_new_tokens_see_each_other_fifth(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """All new tokens see all new tokens, later ones too."""
    return _decode(
        tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads, all_new=True
    )


def wrong_token_does_not_see_itself(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    """A new token sees what came before it, and not itself."""
    return _decode(
        tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads, before=True
    )


def split(tokens: Tensor, num_heads: int) -> Tensor:
    """(batch, length, features) to (batch, num_heads, length, d_head)."""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def attend(queries: Tensor, keys: Tensor, values: Tensor, seen: Tensor) -> Tensor:
    """Attention of the heads, joined; key heads are shared by neighbours."""
    times = queries.shape[-3] // keys.shape[-3]
    keys = keys.repeat_interleave(times, -3)
    values = values.repeat_interleave(times, -3)
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return (weights @ values).transpose(-3, -2).flatten(-2)


def wrong_writes_into_the_memory_sixth(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Writes the new keys and values into the caller's memory, without a copy."""
    num_key_heads, new_len = keys.shape[1], tokens.shape[1]
    end = length + new_len
    keys[..., length:end, :] = split(tokens @ w_key.mT, num_key_heads)
    values[..., length:end, :] = split(tokens @ w_value.mT, num_key_heads)
    queries = split(tokens @ w_query.mT, num_heads)
    seen = torch.ones(new_len, end, dtype=torch.bool).tril(length)
    heads = attend(queries, keys[..., :end, :], values[..., :end, :], seen)
    return heads @ w_output.mT, keys, values


def wrong_prompt_looks_ahead(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Lets every new token see all new tokens, which is right only if there is one."""
    num_key_heads, new_len = keys.shape[1], tokens.shape[1]
    end = length + new_len
    keys, values = keys.clone(), values.clone()
    keys[..., length:end, :] = split(tokens @ w_key.mT, num_key_heads)
    values[..., length:end, :] = split(tokens @ w_value.mT, num_key_heads)
    queries = split(tokens @ w_query.mT, num_heads)
    seen = torch.ones(new_len, end, dtype=torch.bool)
    heads = attend(queries, keys[..., :end, :], values[..., :end, :], seen)
    return heads @ w_output.mT, keys, values


def wrong_memory_without_room(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns only the filled part of the memories: the room after it is cut off."""
    num_key_heads, new_len = keys.shape[1], tokens.shape[1]
    new_keys = split(tokens @ w_key.mT, num_key_heads)
    new_values = split(tokens @ w_value.mT, num_key_heads)
    keys = torch.cat([keys[..., :length, :], new_keys], -2)
    values = torch.cat([values[..., :length, :], new_values], -2)
    queries = split(tokens @ w_query.mT, num_heads)
    seen = torch.ones(new_len, length + new_len, dtype=torch.bool).tril(length)
    return attend(queries, keys, values, seen) @ w_output.mT, keys, values


def right_one_token_at_a_time(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Takes the new tokens one after the other: each sees all that is written by then."""
    num_key_heads, d_head = keys.shape[1], keys.shape[-1]
    keys, values, outputs = keys.clone(), values.clone(), []
    for place, token in enumerate(tokens.unbind(1), start=length):
        keys[:, :, place] = (token @ w_key.mT).unflatten(-1, (num_key_heads, d_head))
        values[:, :, place] = (token @ w_value.mT).unflatten(-1, (num_key_heads, d_head))
        query = (token @ w_query.mT).unflatten(-1, (num_key_heads, -1, d_head))
        so_far = keys[:, :, : place + 1].clone()  # the memory changes again
        scores = query @ so_far.mT / d_head**0.5
        heads = torch.softmax(scores, -1) @ values[:, :, : place + 1].clone()
        outputs.append(heads.flatten(1) @ w_output.mT)
    return torch.stack(outputs, 1), keys, values


def split_seventh(tokens: Tensor, d_head: int) -> Tensor:
    """Tokens (batch, length, width) to heads (batch, num_heads, length, d_head)."""
    return tokens.unflatten(-1, (-1, d_head)).transpose(-3, -2)


def wrong_new_tokens_see_each_other_seventh(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """There is no mask, so the new tokens of a prompt see those after them."""
    d_head, end = keys.shape[-1], length + tokens.shape[1]
    keys, values = keys.clone(), values.clone()
    keys[:, :, length:end] = split_seventh(tokens @ w_key.mT, d_head)
    values[:, :, length:end] = split_seventh(tokens @ w_value.mT, d_head)
    times = num_heads // keys.shape[1]
    queries = split_seventh(tokens @ w_query.mT, d_head)
    seen_keys = keys[:, :, :end].repeat_interleave(times, 1)
    seen_values = values[:, :, :end].repeat_interleave(times, 1)
    weights = torch.softmax(queries @ seen_keys.mT / d_head**0.5, dim=-1)
    output = (weights @ seen_values).transpose(1, 2).flatten(-2) @ w_output.mT
    return output, keys, values


def wrong_writes_into_the_old_memory(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Writes the new keys and values into the caller's memory, without a copy."""
    d_head, end = keys.shape[-1], length + tokens.shape[1]
    keys[:, :, length:end] = split_seventh(tokens @ w_key.mT, d_head)
    values[:, :, length:end] = split_seventh(tokens @ w_value.mT, d_head)
    times = num_heads // keys.shape[1]
    queries = split_seventh(tokens @ w_query.mT, d_head)
    seen_keys = keys[:, :, :end].repeat_interleave(times, 1)
    seen_values = values[:, :, :end].repeat_interleave(times, 1)
    scores = queries @ seen_keys.mT / d_head**0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril(length)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    output = (weights @ seen_values).transpose(1, 2).flatten(-2) @ w_output.mT
    return output, keys, values


def wrong_memory_without_its_room_seventh(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns only the filled places of the memories: the room behind them is gone."""
    d_head = keys.shape[-1]
    keys = torch.cat([keys[:, :, :length], split_seventh(tokens @ w_key.mT, d_head)], 2)
    values = torch.cat([values[:, :, :length], split_seventh(tokens @ w_value.mT, d_head)], 2)
    times = num_heads // keys.shape[1]
    queries = split_seventh(tokens @ w_query.mT, d_head)
    scores = queries @ keys.repeat_interleave(times, 1).mT / d_head**0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril(length)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    heads = weights @ values.repeat_interleave(times, 1)
    return heads.transpose(1, 2).flatten(-2) @ w_output.mT, keys, values


def right_groups_of_query_heads(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Joins old, new and remaining places; groups query heads, so no key head is repeated."""
    num_key_heads, d_head = keys.shape[1], keys.shape[-1]
    end = length + tokens.shape[1]

    def renewed(memory, weight):
        new = split_seventh(tokens @ weight.mT, d_head)
        return torch.cat([memory[:, :, :length], new, memory[:, :, end:]], 2)

    keys, values = renewed(keys, w_key), renewed(values, w_value)
    queries = split_seventh(tokens @ w_query.mT, d_head).unflatten(1, (num_key_heads, -1))
    scores = torch.einsum("bkgid,bkjd->bkgij", queries, keys[:, :, :end]) / d_head**0.5
    place = torch.arange(end, device=tokens.device)
    later = place > place[length:].unsqueeze(1)
    weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
    heads = torch.einsum("bkgij,bkjd->bikgd", weights, values[:, :, :end])
    return heads.flatten(2) @ w_output.mT, keys, values
