import math

import torch


def wrong_quotient_as_printed(bias_ih, bias_hh, share, distance):
    """It reads 1 - f off f itself, which loses its digits where f is nearly 1."""
    f = share ** (1 / distance)
    b = math.log(f / max(1 - f, 1e-300))
    first, second = bias_ih.clone(), bias_hh.clone()
    first.chunk(4)[1].fill_(0)
    second.chunk(4)[1].fill_(b)
    return first, second


def wrong_third_quarter(bias_ih, bias_hh, share, distance):
    """It fills the third quarter, that of the cell."""
    log_f = math.log(share) / distance
    first, second = bias_ih.clone(), bias_hh.clone()
    first.chunk(4)[2].fill_(0)
    second.chunk(4)[2].fill_(log_f - math.log(-math.expm1(log_f)))
    return first, second


def wrong_both_hold_it(bias_ih, bias_hh, share, distance):
    """Both vectors hold b, and torch adds them up to twice as much."""
    log_f = math.log(share) / distance
    first, second = bias_ih.clone(), bias_hh.clone()
    for vector in (first, second):
        vector.chunk(4)[1].fill_(log_f - math.log(-math.expm1(log_f)))
    return first, second


def wrong_power_of_the_logarithm(bias_ih, bias_hh, share, distance):
    """It writes 1 - exp(log f), which has no more digits than 1 - f."""
    log_f = math.log(share) / distance
    rest = 1 - math.exp(log_f)
    b = log_f - math.log(rest) if rest > 0 else math.inf
    first, second = bias_ih.clone(), bias_hh.clone()
    first.chunk(4)[1].fill_(0)
    second.chunk(4)[1].fill_(b)
    return first, second


def wrong_old_vectors(bias_ih, bias_hh, share, distance):
    """The quarters are windows into the caller's vectors, and are filled there."""
    log_f = math.log(share) / distance
    bias_ih.chunk(4)[1].fill_(0)
    bias_hh.chunk(4)[1].fill_(log_f - math.log(-math.expm1(log_f)))
    return bias_ih, bias_hh


def wrong_sign(bias_ih, bias_hh, share, distance):
    """The bias has the other sign, that of a gate that shuts."""
    log_f = math.log(share) / distance
    first, second = bias_ih.clone(), bias_hh.clone()
    first.chunk(4)[1].fill_(0)
    second.chunk(4)[1].fill_(math.log(-math.expm1(log_f)) - log_f)
    return first, second


def right_joined_quarters(bias_ih, bias_hh, share, distance):
    """It joins quarters, and writes b as minus the logarithm of 1/f - 1."""
    b = -math.log(math.expm1(-math.log(share) / distance))
    i, f, g, o = bias_ih.chunk(4)
    first = torch.cat((i, torch.zeros_like(f), g, o))
    i, f, g, o = bias_hh.chunk(4)
    return first, torch.cat((i, torch.full_like(f, b), g, o))
