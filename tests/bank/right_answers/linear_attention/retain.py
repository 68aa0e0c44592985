"""Right answers to part D: each earns every point."""

import torch


def as_printed_and_mended(query, key, value, decay, chunk_len):
    state, outputs = key.new_zeros(key.shape[-1], value.shape[-1]), []
    chunks = (t.split(chunk_len, -2) for t in (query, key, value))
    for q, k, v in zip(*chunks, strict=True):
        length = q.shape[-2]
        place = torch.arange(length).to(q)
        table = q @ k.mT * (decay ** (place[:, None] - place)).tril()
        cross = decay ** (place[:, None] + 1) * (q @ state)
        outputs.append(table @ v + cross)
        left = decay ** (length - 1 - place)[:, None]
        state = decay**length * state + (left * k).mT @ v
    return torch.cat(outputs, -2)


def with_the_decay_in_the_state(query, key, value, decay, chunk_len):
    """The state fades by one step before it is read, and the rest as it is printed."""
    outputs, state = [], None
    for begin in range(0, key.shape[-2], chunk_len):
        q, k, v = (t[..., begin : begin + chunk_len, :] for t in (query, key, value))
        place = torch.arange(k.shape[-2], dtype=q.dtype, device=q.device).unsqueeze(-1)
        powers = decay ** (place - place.mT).clamp_min(0)
        output = (torch.tril(powers) * (q @ k.transpose(-1, -2))) @ v
        if state is not None:
            output = output + decay**place * (q @ (decay * state))
        outputs.append(output)
        new = (k * decay ** (k.shape[-2] - 1 - place)).transpose(-1, -2) @ v
        state = new if state is None else decay ** k.shape[-2] * state + new
    return torch.cat(outputs, dim=-2)


def by_einsum(query, key, value, decay, chunk_len):
    """The state is counted in the time of the chunk's beginning, and fades as it moves on."""
    output = torch.zeros_like(value)
    state = torch.zeros_like(torch.einsum("...ik,...iv->...kv", key[..., :1, :], value[..., :1, :]))
    for begin in range(0, key.shape[-2], chunk_len):
        chunk = slice(begin, begin + chunk_len)
        q, k, v = query[..., chunk, :], key[..., chunk, :], value[..., chunk, :]
        steps = torch.arange(1, q.shape[-2] + 1, dtype=torch.float64)
        ages = steps[:, None] - steps
        factor = torch.where(ages >= 0, float(decay) ** ages.clamp_min(0), 0).to(q.dtype)
        scores = torch.einsum("...ik,...jk,ij->...ij", q, k, factor)
        fading = (float(decay) ** steps).to(q.dtype)
        read = torch.einsum("...ik,...kv,i->...iv", q, state, fading)
        output[..., chunk, :] = scores @ v + read
        rest = (float(decay) ** (len(steps) - steps)).to(q.dtype)
        state = state * float(decay) ** len(steps)
        state = state + torch.einsum("...ik,...iv,i->...kv", k, v, rest)
    return output


def by_what_the_last_row_says(query, key, value, decay, chunk_len):
    """The last row of the table has the powers by which a chunk is written."""
    state = torch.zeros(key.shape[-1], value.shape[-1], dtype=key.dtype)
    outputs = []
    for q, k, v in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        place = torch.arange(q.shape[-2]).to(q)
        powers = torch.tril(decay ** (place[:, None] - place))
        first = powers[:, :1] * decay
        outputs.append(((q @ k.mT) * powers) @ v + (q * first) @ state)
        state = state * first[-1] + (k * powers[-1][:, None]).mT @ v
    return torch.cat(outputs, -2)


def mended_where_it_is_written(query, key, value, decay, chunk_len):
    """The missing step lies between the last token of a chunk and the next one."""
    state, outputs = key.new_zeros(key.shape[-1], value.shape[-1]), []
    chunks = (t.split(chunk_len, -2) for t in (query, key, value))
    for q, k, v in zip(*chunks, strict=True):
        length = q.shape[-2]
        place = torch.arange(length).to(q)
        table = q @ k.mT * (decay ** (place[:, None] - place)).tril()
        outputs.append(table @ v + decay ** place[:, None] * (q @ state))
        left = decay ** (length - place)[:, None]
        state = decay**length * state + (left * k).mT @ v
    return torch.cat(outputs, -2)
