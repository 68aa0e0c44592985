"""Right answers to part C: each earns every point."""

import math

import torch


def by_mask_before_and_after(key, value, width):
    scores = -(key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / (2 * width**2)
    myself = torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)
    weights = torch.softmax(scores.masked_fill(myself, -math.inf), dim=-1)
    return weights.masked_fill(myself, 0) @ value


def by_added_bias(key, value, width):
    difference = (key[..., :, None, :] - key[..., None, :, :]) / width
    bias = torch.where(torch.eye(key.shape[-2], device=key.device) > 0, -math.inf, 0.0)
    weights = torch.softmax(-difference.square().sum(-1) / 2 + bias, -1)
    return torch.einsum("...qk,...kv->...qv", weights.nan_to_num(0.0), value)


def by_where(key, value, width):
    number = torch.arange(key.shape[-2], device=key.device)
    other = number[:, None] != number
    scores = -torch.cdist(key, key).div(width).square() / 2
    scores = torch.where(other, scores, float("-inf"))
    if key.shape[-2] == 1:
        return value * 0
    kernel = torch.exp(scores - scores.amax(-1, keepdim=True))
    return kernel @ value / kernel.sum(-1, keepdim=True)


def by_deleting_each_in_turn(key, value, width):
    rows = []
    for i in range(key.shape[-2]):
        others = torch.cat([key[..., :i, :], key[..., i + 1 :, :]], dim=-2)
        theirs = torch.cat([value[..., :i, :], value[..., i + 1 :, :]], dim=-2)
        scores = -((key[..., i : i + 1, :] - others) / width).square().sum(-1) / 2
        rows.append((torch.softmax(scores, -1).unsqueeze(-2) @ theirs).squeeze(-2))
    return torch.stack(rows, dim=-2)


def by_diagonal_view(key, value, width):
    scores = -(key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / 2 / width / width
    scores.diagonal(dim1=-2, dim2=-1).fill_(-math.inf)
    return torch.softmax(scores, -1).nan_to_num(0) @ value


def by_double_precision_inside(key, value, width):
    wide_width = width.double() if isinstance(width, torch.Tensor) else width
    return by_mask_before_and_after(key.double(), value.double(), wide_width).to(value.dtype)
