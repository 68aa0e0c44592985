"""Right answers to the second half of part A: each earns every point."""

import torch


def by_flatten(heads):
    return heads.transpose(-3, -2).flatten(-2)


def by_reshape(heads):
    *batch, num_heads, length, d_head = heads.shape
    return heads.transpose(-3, -2).reshape(*batch, length, num_heads * d_head)


def by_unbind(heads):
    return torch.cat(heads.unbind(-3), -1)


def by_columns(heads):
    return heads.mT.flatten(-3, -2).mT


def by_filling(heads):
    *batch, num_heads, length, d_head = heads.shape
    merged = heads.new_empty(*batch, length, num_heads * d_head)
    for head in range(num_heads):
        merged[..., head * d_head : (head + 1) * d_head] = heads[..., head, :, :]
    return merged
