import torch


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
