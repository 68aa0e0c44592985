"""Right answers to part D: each earns every point."""

import torch


def by_axes(weight, bias, num_heads, by_head):
    if by_head:
        weight, bias = (
            packed.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
            for packed in (weight, bias)
        )
    return (*weight.chunk(3), *bias.chunk(3))


def by_numbers_of_rows(weight, bias, num_heads, by_head):
    rows = torch.arange(len(weight), device=weight.device)
    if by_head:
        d_head = len(weight) // (3 * num_heads)
        head, part, feature = rows // (3 * d_head), rows // d_head % 3, rows % d_head
        rows = torch.argsort(part * num_heads * d_head + head * d_head + feature)
    return [packed[third] for packed in (weight, bias) for third in rows.chunk(3)]


def by_loops(weight, bias, num_heads, by_head):
    parts = []
    for packed in (weight, bias):
        if by_head:
            blocks = packed.chunk(3 * num_heads)
            parts += [torch.cat(blocks[start::3]) for start in range(3)]
        else:
            d_model = len(packed) // 3
            parts += [packed[:d_model], packed[d_model : 2 * d_model], packed[2 * d_model :]]
    return tuple(parts)


def by_einsum(weight, bias, num_heads, by_head):
    both = torch.cat([weight, bias.unsqueeze(-1)], -1)
    shape = (num_heads, 3, -1) if by_head else (3, num_heads, -1)
    letters = "hprc->phrc" if by_head else "phrc->phrc"
    query, key, value = torch.einsum(letters, both.unflatten(0, shape)).flatten(1, 2)
    return tuple(t[:, :-1] for t in (query, key, value)) + tuple(
        t[:, -1] for t in (query, key, value)
    )
