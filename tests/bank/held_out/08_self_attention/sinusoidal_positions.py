import math

import torch
from torch import Tensor


def wrong_halves(length, d_model):
    """All sines come first and all cosines behind them, not side by side."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.cat([angle.sin(), angle.cos()], -1).float()


def wrong_single_precision(length, d_model):
    """The angles are computed in float32."""
    position = torch.arange(length).unsqueeze(1)
    slower = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(position * slower)
    table[:, 1::2] = torch.cos(position * slower)
    return table


def wrong_exponent_doubled(length, d_model):
    """The even numbers are doubled once more in the exponent."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (2 * even / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def wrong_counts_from_one(length, d_model):
    """The first position is 1."""
    position = torch.arange(1, length + 1, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (even / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def wrong_cosine_first(length, d_model):
    """Sine and cosine are exchanged in each pair."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (even / d_model)
    return torch.stack([angle.cos(), angle.sin()], -1).flatten(-2).float()


def wrong_angle_of_every_feature(length, d_model):
    """Each feature has an angle of its own, so sine and cosine of a pair differ in theirs."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    angle = position / 10000 ** (torch.arange(d_model, dtype=torch.float64) / d_model)
    table = torch.zeros(length, d_model, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = angle[:, 0::2].sin(), angle[:, 1::2].cos()
    return table.float()


def wrong_number_of_the_pair(length, d_model):
    """The exponent is i / d with the number of the pair, not 2i / d."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    angle = position / 10000 ** (pair / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def right_complex_numbers(length, d_model):
    """Each pair is a complex number of length 1, whose parts are read in the opposite order."""
    slower = [math.exp(-math.log(10000) * i / d_model) for i in range(0, d_model, 2)]
    slow = torch.tensor(slower, dtype=torch.float64)
    angle = torch.outer(torch.arange(length).double(), slow)
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).reshape(length, d_model).to(torch.float32)


def wrong_float32_angles(length, d_model):
    """Computes the angles in float32, which is too coarse at large positions."""
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table


def wrong_sines_then_cosines(length, d_model):
    """Puts all sines first and all cosines after them, instead of side by side."""
    t = torch.arange(length, dtype=torch.float64)[:, None]
    slowness = 10000 ** (torch.arange(0, d_model, 2).double() / d_model)
    angle = t / slowness
    return torch.cat([angle.sin(), angle.cos()], dim=-1).float()


def wrong_exponent_twice_and_from_one(length, d_model):
    """Two mistakes: arange(0, d, 2) is doubled again, so the exponent is 4i/d, and positions begin
    at 1."""
    position = torch.arange(1, length + 1, dtype=torch.float64).unsqueeze(-1)
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (2 * i / d_model)
    pairs = torch.stack([torch.sin(angle), torch.cos(angle)], -1)
    return pairs.flatten(-2).to(torch.float32)


def right_python_numbers(length, d_model):
    """Plain Python: math.sin and math.cos of Python's float64, one number after the other."""
    table = torch.empty(length, d_model, dtype=torch.float32)
    for column in range(d_model):
        wave = math.cos if column % 2 else math.sin
        slowness = 10000.0 ** ((column - column % 2) / d_model)
        numbers = [wave(t / slowness) for t in range(length)]
        table[:, column] = torch.tensor(numbers, dtype=torch.float64)
    return table


def wrong_halves_fifth(length, d_model):
    """It puts all sines first and all cosines after them."""
    rate = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * rate
    return torch.cat([angle.sin(), angle.cos()], -1).float()


def wrong_index_in_float32(length, d_model):
    """It computes the angles in single precision, which is too coarse far out."""
    rate = 10000 ** (-torch.arange(0, d_model, 2).float() / d_model)
    angle = torch.arange(length).float()[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def wrong_sines_first(length: int, d_model: int) -> Tensor:
    """Puts all sines before all cosines, instead of each sine beside its cosine."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    power = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = position / 10000**power
    return torch.cat([angle.sin(), angle.cos()], -1).float()


def wrong_angles_in_float32(length: int, d_model: int) -> Tensor:
    """Computes the angles in float32, which is too coarse at large positions."""
    position = torch.arange(length).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def wrong_half_the_exponent(length: int, d_model: int) -> Tensor:
    """Takes the number of the pair, i, for the exponent's 2i: the hands slow down late."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    angle = position / 10000 ** (pair / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def right_complex_hands(length: int, d_model: int) -> Tensor:
    """Draws each hand as a complex number: its parts are the cosine and the sine."""
    turn = torch.logspace(0, -4, d_model // 2 + 1, dtype=torch.float64)[:-1]
    angle = torch.outer(torch.arange(length, dtype=torch.float64), turn)
    hands = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(hands).flip(-1).flatten(1).float()


def wrong_sines_then_cosines_seventh(length: int, d_model: int) -> Tensor:
    """Puts all sines before all cosines, not each sine beside its cosine."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    powers = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = position / 10000**powers
    return torch.cat([angle.sin(), angle.cos()], -1).float()


def wrong_exponent_i(length: int, d_model: int) -> Tensor:
    """The exponent is i / d, not 2i / d, so the slower hands turn too fast."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    powers = torch.arange(d_model // 2, dtype=torch.float64) / d_model
    angle = position / 10000**powers
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def wrong_angles_in_float32_seventh(length: int, d_model: int) -> Tensor:
    """Computes the angles in float32, which is too coarse at large positions."""
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    powers = torch.arange(0, d_model, 2, dtype=torch.float32) / d_model
    angle = position / 10000**powers
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def right_cosine_is_a_late_sine(length: int, d_model: int) -> Tensor:
    """Every feature is a sine in float64; at odd ones the angle is a quarter turn ahead."""
    feature = torch.arange(d_model)
    odd = feature % 2
    speed = torch.exp(-math.log(10000) * (feature - odd).double() / d_model)
    angle = torch.outer(torch.arange(length).double(), speed)
    return torch.sin(angle + odd * (math.pi / 2)).to(torch.float32)


_ninth_rows = 5000


def wrong_a_table_of_five_thousand(length, d_model):
    """A table of 5000 rows, of which the first are returned."""
    position = torch.arange(_ninth_rows, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    table = torch.zeros(_ninth_rows, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position / 10000 ** (even / d_model))
    table[:, 1::2] = torch.cos(position / 10000 ** (even / d_model))
    return table[:length].float()


def wrong_a_table_of_512(length, d_model):
    """A table of 512 rows."""
    position = torch.arange(512, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (even / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[:length].float()
