import math

import torch
from torch import Tensor


def wrong_quotient_as_printed(bias_ih, bias_hh, share, distance):
    """It reads 1 - f off f itself, which loses its digits where f is nearly 1."""
    f = share ** (1 / distance)
    b = math.log(f / max(1 - f, 1e-300))
    first, second = bias_ih.clone(), bias_hh.clone()
    first.chunk(4)[1].fill_(0)
    second.chunk(4)[1].fill_(b)
    return first, second


def wrong_third_quarter(bias_ih, bias_hh, share, distance):
    """It fills the third quarter, which is the cell's."""
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
    """The bias has the other sign, so the gate shuts."""
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


def wrong_formula_as_printed(bias_ih, bias_hh, share, distance):
    """Computes f first and then 1 - f, which loses its digits (and is 0) at large distances."""
    f = share ** (1 / distance)
    b = math.log(f / (1 - f))
    d = bias_ih.shape[0] // 4
    new_ih, new_hh = bias_ih.detach().clone(), bias_hh.detach().clone()
    new_ih[d : 2 * d] = 0
    new_hh[d : 2 * d] = b
    return new_ih, new_hh


def wrong_b_in_both(bias_ih, bias_hh, share, distance):
    """Writes b into both vectors, so that their sum is 2 b."""
    log_f = math.log(share) / distance
    b = log_f - math.log(-math.expm1(log_f))
    hidden = len(bias_ih) // 4
    result = []
    for vector in (bias_ih, bias_hh):
        new = vector.detach().clone()
        new[hidden : 2 * hidden] = b
        result.append(new)
    return result[0], result[1]


def wrong_in_place_and_exp(bias_ih, bias_hh, share, distance):
    """Two mistakes: writes into the vectors of the caller, and 1 - exp(log f) loses the digits that
    expm1 would keep."""
    log_f = math.log(share) / distance
    b = log_f - math.log(1 - math.exp(log_f))
    with torch.no_grad():
        bias_ih.chunk(4)[1].fill_(0)
        bias_hh.chunk(4)[1].fill_(b)
    return bias_ih, bias_hh


def right_cat_of_quarters(bias_ih, bias_hh, share, distance):
    """Puts new vectors together from quarters, and takes log(1 - f) with expm1."""
    log_gate = math.log(share) / distance
    log_rest = math.log(-math.expm1(log_gate))

    def with_forget(vector, number):
        enter, forget, propose, leave = vector.split(len(vector) // 4)
        filled = torch.full_like(forget, number)
        return torch.cat([enter, filled, propose, leave])

    return (
        with_forget(bias_ih, 0.0),
        with_forget(bias_hh, log_gate - log_rest),
    )


def _open(bias_ih, bias_hh, logit, quarter=1, both=False):
    n = len(bias_ih) // 4
    part = slice(quarter * n, (quarter + 1) * n)
    first, second = bias_ih.clone(), bias_hh.clone()
    first[part] = logit if both else 0
    second[part] = logit
    return first, second


def _logit(share, distance):
    power = math.log(share) / distance
    return power - math.log(-math.expm1(power))


def wrong_bias_in_both(bias_ih, bias_hh, share, distance):
    """It puts the bias into both vectors, and PyTorch adds them."""
    return _open(bias_ih, bias_hh, _logit(share, distance), both=True)


def wrong_input_gate(bias_ih, bias_hh, share, distance):
    """It opens the input gate, the first quarter."""
    return _open(bias_ih, bias_hh, _logit(share, distance), quarter=0)


def wrong_loses_digits(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Computes 1 - f from f, which loses its digits, and all of them at large distances."""
    f = share ** (1 / distance)
    b = math.log(f / (1 - f))
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    bias_ih[d_hidden : 2 * d_hidden] = 0
    bias_hh[d_hidden : 2 * d_hidden] = b
    return bias_ih, bias_hh


def wrong_third_quarter_sixth(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Takes the proposal's quarter for the forget gate's: 2 counted from 0 is the third."""
    log_f = math.log(share) / distance
    b = log_f - math.log(-math.expm1(log_f))
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    bias_ih[2 * d_hidden : 3 * d_hidden] = 0
    bias_hh[2 * d_hidden : 3 * d_hidden] = b
    return bias_ih, bias_hh


def wrong_adds_to_the_first(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Leaves the first vector's forget gate as it was, so the sum is not b."""
    log_f = math.log(share) / distance
    b = log_f - math.log(-math.expm1(log_f))
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_hh) // 4
    bias_hh[d_hidden : 2 * d_hidden] = b
    return bias_ih, bias_hh


def right_of_one_over_f(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Writes b as -log(1/f - 1), by expm1 of minus log f, and joins new vectors."""
    b = -math.log(math.expm1(-math.log(share) / distance))
    new = []
    for bias, number in ((bias_ih, 0.0), (bias_hh, b)):
        write, forget, propose, read = bias.chunk(4)
        new.append(torch.cat([write, torch.full_like(forget, number), propose, read]))
    return tuple(new)


def wrong_gate_rounds_to_one(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Computes 1 - f from f, which loses its digits, and then is 0, at large distances."""
    f = share ** (1 / distance)
    new_ih, new_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    new_ih[d_hidden : 2 * d_hidden] = 0
    new_hh[d_hidden : 2 * d_hidden] = math.log(f / (1 - f))
    return new_ih, new_hh


def wrong_b_in_both_seventh(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Writes b into both vectors, which PyTorch adds, so that the gate gets 2b."""
    log_f = math.log(share) / distance
    b = log_f - math.log(-math.expm1(log_f))
    new_ih, new_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    new_ih[d_hidden : 2 * d_hidden] = b
    new_hh[d_hidden : 2 * d_hidden] = b
    return new_ih, new_hh


def wrong_third_quarter_seventh(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """Writes into the third quarter, the proposal's, where the forget gate has the second."""
    log_f = math.log(share) / distance
    b = log_f - math.log(-math.expm1(log_f))
    new_ih, new_hh = bias_ih.clone(), bias_hh.clone()
    d_hidden = len(bias_ih) // 4
    new_ih[2 * d_hidden : 3 * d_hidden] = 0
    new_hh[2 * d_hidden : 3 * d_hidden] = b
    return new_ih, new_hh


def right_odds_against(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> tuple[Tensor, Tensor]:
    """(1 - f) / f is expm1(-log f), and b is minus its log; the quarters are joined anew."""
    b = -math.log(math.expm1(-math.log(share) / distance))

    def renewed(bias, number):
        in_gate, forget, proposal, out_gate = bias.chunk(4)
        return torch.cat([in_gate, torch.full_like(forget, number), proposal, out_gate])

    return renewed(bias_ih, 0.0), renewed(bias_hh, b)
