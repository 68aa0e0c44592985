"""Right answers to part A: each earns every point."""

import torch
from torch.nn import functional


def by_slices(query, key, value, state, total, chunk_len):
    query, key = functional.elu(query) + 1, functional.elu(key) + 1
    output = torch.empty_like(value)
    for begin in range(0, query.shape[-2], chunk_len):
        chunk = slice(begin, begin + chunk_len)
        q, k, v = query[..., chunk, :], key[..., chunk, :], value[..., chunk, :]
        weights = torch.tril(torch.einsum("...id,...jd->...ij", q, k))
        blend = torch.einsum("...ij,...jv->...iv", weights, v)
        blend = blend + torch.einsum("...id,...dv->...iv", q, state)
        weight = weights.sum(-1) + torch.einsum("...id,...d->...i", q, total)
        output[..., chunk, :] = blend / weight[..., None]
        state = state + torch.einsum("...id,...iv->...dv", k, v)
        total = total + k.sum(-2)
    return output, state, total


def with_a_value_of_ones(query, key, value, state, total, chunk_len):
    """The total is the state of one more value, which is always 1."""

    def features(vectors):
        return torch.where(vectors > 0, vectors + 1, vectors.clamp_max(0).exp())

    value = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    both = torch.cat([state, total.unsqueeze(-1)], -1)
    made = []
    for q, k, v in zip(
        features(query).split(chunk_len, -2),
        features(key).split(chunk_len, -2),
        value.split(chunk_len, -2),
        strict=True,
    ):
        seen = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
        made.append((q @ k.mT).masked_fill(~seen, 0) @ v + q @ both)
        both = both + k.mT @ v
    blend = torch.cat(made, -2)
    return blend[..., :-1] / blend[..., -1:], both[..., :-1], both[..., -1]


def by_sums_so_far(query, key, value, state, total, chunk_len):
    """Divide by sums of keys so far, which hold no table."""
    query, key = functional.elu(query).add(1), functional.elu(key).add(1)
    so_far = key.cumsum(-2) + total.unsqueeze(-2)
    outputs, begin = [], 0
    while begin < query.shape[-2]:
        q, k, v = (t[..., begin : begin + chunk_len, :] for t in (query, key, value))
        outputs.append(q @ state + (q @ k.transpose(-1, -2)).tril() @ v)
        state = k.transpose(-1, -2).matmul(v).add(state)
        begin += chunk_len
    output = torch.cat(outputs, dim=-2) / (query * so_far).sum(-1, keepdim=True)
    return output, state, so_far[..., -1, :]


def by_calling_itself(query, key, value, state, total, chunk_len):
    if query.shape[-2] > chunk_len:
        pairs = [(t[..., :chunk_len, :], t[..., chunk_len:, :]) for t in (query, key, value)]
        firsts, others = zip(*pairs, strict=True)
        output, state, total = by_calling_itself(*firsts, state, total, chunk_len)
        rest, state, total = by_calling_itself(*others, state, total, chunk_len)
        return torch.cat([output, rest], -2), state, total
    query, key = 1 + functional.elu(query), 1 + functional.elu(key)
    table = torch.tril(query @ key.mT)
    weight = table.sum(-1, keepdim=True) + query @ total[..., None]
    return (table @ value + query @ state) / weight, state + key.mT @ value, total + key.sum(-2)
