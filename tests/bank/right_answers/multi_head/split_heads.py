"""Right answers to the first half of part A: each earns every point."""

import torch


def by_unflatten(tokens, num_heads):
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def by_view(tokens, num_heads):
    *batch, length, d_model = tokens.shape
    cut = tokens.view(*batch, length, num_heads, d_model // num_heads)
    return cut.movedim(-2, -3)


def by_chunks(tokens, num_heads):
    return torch.stack(tokens.chunk(num_heads, dim=-1), dim=-3)


def by_loops(tokens, num_heads):
    width = tokens.shape[-1] // num_heads
    heads = [tokens[..., width * head : width * (head + 1)] for head in range(num_heads)]
    return torch.cat([head.unsqueeze(-3) for head in heads], -3)


def by_columns(tokens, num_heads):
    # transposed, the features are the rows, and lie in order
    return tokens.mT.unflatten(-2, (num_heads, -1)).mT.contiguous()
