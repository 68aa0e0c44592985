"""Right answers to part C: each earns every point."""

import math

import torch
from torch.nn.functional import linear, pad


def by_slices(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads):
    shared, end = keys.shape[-3], length + tokens.shape[-2]
    keys, values = keys.clone(), values.clone()
    keys[..., length:end, :] = (tokens @ w_key.mT).unflatten(-1, (shared, -1)).transpose(-3, -2)
    values[..., length:end, :] = (tokens @ w_value.mT).unflatten(-1, (shared, -1)).transpose(-3, -2)
    queries = (tokens @ w_query.mT).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    ours = [t[..., :end, :].repeat_interleave(num_heads // shared, -3) for t in (keys, values)]
    scores = queries @ ours[0].mT / keys.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril(length)
    weights = torch.where(seen, scores, -torch.inf).softmax(-1)
    return (weights @ ours[1]).transpose(-3, -2).flatten(-2) @ w_output.mT, keys, values


def by_a_mask_of_places(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads):
    def write(memory, weight):
        rows = linear(tokens, weight).unflatten(-1, (memory.shape[1], -1)).transpose(1, 2)
        rows = pad(rows, (0, 0, length, memory.shape[2] - length - rows.shape[2]))
        return torch.where(new[:, None], rows, memory)

    group = num_heads // keys.shape[1]
    place = torch.arange(keys.shape[2], device=tokens.device)
    new = (place >= length) & (place < length + tokens.shape[1])
    keys, values = write(keys, w_key), write(values, w_value)
    queries = linear(tokens, w_query).unflatten(-1, (-1, group, keys.shape[-1]))
    scores = torch.einsum("bqhgd,bhkd->bhgqk", queries, keys) / math.sqrt(keys.shape[-1])
    seen = place <= place[new].unsqueeze(-1)
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    heads = torch.einsum("bhgqk,bhkd->bqhgd", weights, values)
    return linear(heads.flatten(2), w_output), keys, values


def by_one_token_after_another(
    tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads
):
    keys, values, outputs = keys.clone(), values.clone(), []
    batch, shared, _, d_head = keys.shape
    for token in tokens.unbind(1):
        keys[:, :, length] = (token @ w_key.T).view(batch, shared, d_head)
        values[:, :, length] = (token @ w_value.T).view(batch, shared, d_head)
        length += 1
        query = (token @ w_query.T).view(batch, shared, num_heads // shared, d_head)
        scores = query @ keys[:, :, :length].mT / d_head**0.5
        seen = scores.softmax(-1) @ values[:, :, :length]
        outputs.append(seen.flatten(1) @ w_output.T)
    return torch.stack(outputs, 1), keys, values


def by_heads_in_a_list(tokens, keys, values, length, w_query, w_key, w_value, w_output, num_heads):
    shared, d_head, new_len = keys.shape[1], keys.shape[-1], tokens.shape[1]
    end = length + new_len
    new_keys = torch.stack((tokens @ w_key.mT).split(d_head, -1), 1)
    new_values = torch.stack((tokens @ w_value.mT).split(d_head, -1), 1)
    keys = torch.cat([keys[:, :, :length], new_keys, keys[:, :, end:]], 2)
    values = torch.cat([values[:, :, :length], new_values, values[:, :, end:]], 2)
    later = torch.ones(new_len, end, device=tokens.device, dtype=torch.bool).triu(length + 1)
    heads = []
    for head, query in enumerate((tokens @ w_query.mT).split(d_head, -1)):
        key, value = (t[:, head * shared // num_heads, :end] for t in (keys, values))
        scores = (query @ key.mT / d_head**0.5).masked_fill(later, -1e9)
        heads.append(scores.softmax(-1) @ value)
    return torch.cat(heads, -1) @ w_output.mT, keys, values
