"""Right answers to part C: each earns every point."""

import math

import torch


def by_stacking(length, d_model):
    even = torch.arange(0, d_model, 2).double()
    angle = torch.arange(length)[:, None] / 10_000 ** (even / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(length, d_model).float()


def by_filling_columns(length, d_model):
    table = torch.empty(length, d_model)
    position = torch.arange(length, dtype=torch.float64)[:, None]
    slowness = torch.exp(-math.log(10_000) * torch.arange(0, d_model, 2).double() / d_model)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * slowness), torch.cos(position * slowness)
    return table


def by_phases(length, d_model):
    feature = torch.arange(d_model)
    slowness = 10_000.0 ** ((feature - feature % 2).double() / d_model)
    angle = torch.arange(length).double().unsqueeze(1) / slowness
    return torch.sin(angle + math.pi / 2 * (feature % 2)).float()


def by_complex_numbers(length, d_model):
    angle = torch.outer(
        torch.arange(length, dtype=torch.float64),
        1 / 10_000 ** (torch.arange(d_model // 2, dtype=torch.float64) * 2 / d_model),
    )
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).flatten(1).to(torch.float32)


def by_loops(length, d_model):
    slowness = [10_000 ** (2 * pair / d_model) for pair in range(d_model // 2)]
    rows = [
        [wave(position / slow) for slow in slowness for wave in (math.sin, math.cos)]
        for position in range(length)
    ]
    return torch.tensor(rows)
