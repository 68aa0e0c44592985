"""Right answers to part D: each earns every point."""

import math

import numpy as np
import torch


def by_logarithms(bias_ih, bias_hh, share, distance):
    log_gate = math.log(share) / distance
    bias = log_gate - math.log(-math.expm1(log_gate))
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    bias_ih[d_hidden : 2 * d_hidden] = 0
    bias_hh[d_hidden : 2 * d_hidden] = bias
    return bias_ih, bias_hh


def by_the_odds(bias_ih, bias_hh, share, distance):
    odds_against = math.expm1(-math.log(share) / distance)  # 1 / f - 1
    parts_ih, parts_hh = list(bias_ih.chunk(4)), list(bias_hh.chunk(4))
    parts_ih[1] = torch.zeros_like(parts_ih[1])
    parts_hh[1] = torch.full_like(parts_hh[1], -math.log(odds_against))
    return torch.cat(parts_ih), torch.cat(parts_hh)


def by_masks(bias_ih, bias_hh, share, distance):
    number = torch.arange(len(bias_ih), device=bias_ih.device) * 4 // len(bias_ih)
    bias = -np.log(np.expm1(-np.log(share) / distance))
    return bias_ih.masked_fill(number == 1, 0), torch.where(number == 1, bias, bias_hh).to(bias_hh)


def in_double_precision(bias_ih, bias_hh, share, distance):
    log_gate = torch.tensor(share, dtype=torch.float64).log() / distance
    bias = log_gate - torch.log(-torch.expm1(log_gate))
    gates = torch.stack([bias_ih, bias_hh]).unflatten(1, (4, -1)).clone()
    gates[0, 1], gates[1, 1] = 0, bias
    return tuple(gates.flatten(1))
