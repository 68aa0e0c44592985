"""Right answers to part B: each earns every point."""

import torch


def by_einsum(query, key, value, rate, state):
    outputs = []
    for place in range(query.shape[-2]):
        k, v = key[..., place, :], value[..., place, :]
        held = torch.einsum("...k,...kv->...v", k, state)
        difference = rate[..., place, None] * (v - held)
        state = state + torch.einsum("...k,...v->...kv", k, difference)
        outputs.append(torch.einsum("...k,...kv->...v", query[..., place, :], state))
    return torch.stack(outputs, -2), state


def by_turning_the_state(query, key, value, rate, state):
    """Multiply the state by a matrix that takes the key's direction off, then write the value."""
    one = torch.eye(key.shape[-1], dtype=key.dtype, device=key.device)
    output = torch.zeros_like(value)
    for place in range(key.shape[-2]):
        k = key[..., place, :].unsqueeze(-1)
        share = rate[..., place, None, None]
        state = (one - share * k @ k.mT) @ state + share * k @ value[..., place, None, :]
        output[..., place, :] = (query[..., place, None, :] @ state)[..., 0, :]
    return output, state


def by_solving(query, key, value, rate, state):
    """The writing of each token, by one triangular system for the whole text."""
    share = rate.unsqueeze(-1)
    system = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    system = system + (share * key @ key.mT).tril(-1)
    rows = share * (value - key @ state)
    written = torch.linalg.solve_triangular(system, rows, upper=False, unitriangular=True)
    output = query @ state + (query @ key.mT).tril() @ written
    return output, state + key.mT @ written


def over_unbound_tokens(query, key, value, rate, state):
    outputs = []
    tokens = (t.split(1, -2) for t in (query, key, value, rate.unsqueeze(-1)))
    for q, k, v, share in zip(*tokens, strict=True):
        state = state + k.transpose(-1, -2) @ ((v - k @ state) * share)
        outputs.append(q @ state)
    return torch.cat(outputs, dim=-2), state
