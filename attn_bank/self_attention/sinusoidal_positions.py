"""Part C of problem set 08: a vector for every place in a sentence."""

import math
from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, then, transposed
from torch import Generator, Tensor

from attn_course import self_attention

ALLOWED = 1e-5  # half a digit more than float32 rounds in a sum of two products
ROUNDED = 0.02  # what float32 makes of angles of ten thousand, several times over


def reference(length: int, d_model: int) -> Tensor:
    return self_attention.sinusoidal_positions(length, d_model)


def give_size(_: Generator, length: int, d_model: int) -> Inputs:
    return {"length": length, "d_model": d_model}


def stays_exact(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | str | None:
    """Its numbers are right far along if they are near the start.

    If they are wrong there, the other check has said so; here they only have to turn evenly.
    """
    exact = reference(**inputs)
    output = call(inputs).to(exact)
    if len(output) < len(exact) and output.shape[1:] == exact.shape[1:]:
        return f"it has {len(output)} rows; {len(exact)} are asked, one for each place", "few rows"
    if torch.isclose(output[:9], exact[:9], rtol=0, atol=ALLOWED).all():
        return _compare(output, exact)
    return _turns_evenly(output)


def _compare(output: Tensor, exact: Tensor) -> tuple[str, Plain] | None:
    error = (output - exact).abs()
    if error.max() <= ALLOWED:
        return None
    place = tuple((error > ALLOWED).nonzero()[0].tolist())
    said = f"at {[*place]} it is {output[place].item():.5f} and should be {exact[place].item():.5f}"
    # float32 rounds the angles in many ways, all of which err by little, and more with the place
    return said, "rounded" if error.max() < ROUNDED else output[-1]


def _turns_evenly(output: Tensor) -> tuple[str, Plain] | None:
    """Places apart by `step` differ by the same turn everywhere, the one from place 0 to `step`.

    The first pair turns by 1 from each place to the next.
    """
    sine, cosine = output.double().unflatten(-1, (-1, 2)).unbind(-1)
    error = max(_uneven(sine, cosine, step) for step in (1, len(output) // 3))
    first = (sine[1, 0] * cosine[0, 0] - cosine[1, 0] * sine[0, 0]).item()
    if error <= ALLOWED and abs(first - math.sin(1)) <= ALLOWED:
        return None
    if error <= ALLOWED:
        return "it is wrong near the start already, and its first pair does not turn by 1", output[
            -1
        ]
    return "it is wrong near the start already, and its pairs do not turn evenly", output[-1]


def _uneven(sine: Tensor, cosine: Tensor, step: int) -> float:
    """The largest error of the sines that the turn of the first `step` places foretells."""
    turn_sine = sine[step] * cosine[0] - cosine[step] * sine[0]
    turn_cosine = cosine[step] * cosine[0] + sine[step] * sine[0]
    ahead = sine[:-step] * turn_cosine + cosine[:-step] * turn_sine
    return (sine[step:] - ahead).abs().max().item()


def _angle(length: int, d_model: int, base: float = 10_000.0, first: int = 0) -> Tensor:
    position = torch.arange(first, first + length, dtype=torch.float64).unsqueeze(-1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    return position / base ** (even / d_model)


def _interleave(angle: Tensor) -> Tensor:
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


mistake = Mistakes()


def _join_in_single_precision(length: int, d_model: int, last: bool = False) -> Tensor:
    exponent = torch.arange(d_model // 2) / max(1, d_model // 2 - last)
    angle = torch.arange(length).unsqueeze(-1) / 10_000**exponent
    return torch.cat([angle.sin(), angle.cos()], -1)


@mistake(also=(_join_in_single_precision, partial(_join_in_single_precision, last=True)))
def puts_sines_before_cosines(length, d_model):
    """all sines come first and then all cosines; they take turns: feature `2i` is the sine, feature
    `2i + 1` the cosine of the same angle"""
    angle = _angle(length, d_model)
    return torch.cat([angle.sin(), angle.cos()], -1).float()


@mistake(computes=then(reference, lambda table: table.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)))
def begins_with_the_cosine():
    """sine and cosine have changed places: the even features, 0 first, are sines"""


@mistake(points=1)
def counts_pairs_in_the_exponent(length, d_model):
    """your exponent is `i / d_model`, where `i` counts the pairs; it is `2i / d_model`, so that the
    last pairs are almost 10 000 times slower than the first"""
    return _interleave(_angle(length, d_model, 100.0))


@mistake(points=1)
def doubles_the_even_features(length, d_model):
    """your exponent is twice too large: `2i` is the even feature itself, 0, 2, 4 ..., and needs no
    other 2"""
    return _interleave(_angle(length, d_model, 1e8))


def _with_an_angle_each(length: int, d_model: int, base: float) -> Tensor:
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    feature = torch.arange(d_model, dtype=torch.float64)
    angle = position / base ** (feature / d_model)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos()).float()


@mistake
def gives_each_feature_its_own_angle(length, d_model):
    """every feature has an angle of its own; a sine and the cosine behind it share the angle of the
    even feature. Without that no step is a turn"""
    return _with_an_angle_each(length, d_model, 10_000)


@mistake
def takes_each_feature_for_a_pair(length, d_model):
    """your `2i` is twice the number of a feature, from 0 to `2 * d_model`; there `i` counts the
    pairs, so that `2i` is the even feature itself, and a sine and the cosine behind it share one"""
    return _with_an_angle_each(length, d_model, 1e8)


@mistake(slip=True, points=1)
def begins_at_one(length, d_model):
    """your first row belongs to position 1; the first position is 0, where all sines are 0 and all
    cosines 1"""
    return _interleave(_angle(length, d_model, first=1))


@mistake
def takes_degrees(length, d_model):
    """you take the angles for degrees; `torch.sin` takes radians, and so does the formula"""
    return _interleave(torch.deg2rad(_angle(length, d_model)))


@mistake
def takes_whole_turns(length, d_model):
    """you multiply by two pi, so that the first pair is back at its start with each step; there is
    no such factor"""
    return _interleave(2 * torch.pi * _angle(length, d_model))


@mistake(points=1)
def mistakes_the_base(length, d_model):
    """your base is 1000; it is 10 000"""
    return _interleave(_angle(length, d_model, 1000.0))


@mistake(points=1)
def takes_the_natural_base(length, d_model):
    """you take powers of e; they are powers of 10 000, or, with `exp`, the exponent is multiplied
    by the logarithm of 10 000"""
    return _interleave(_angle(length, d_model, math.e))


@mistake(points=1)
def multiplies_by_the_power(length, d_model):
    """you multiply by the power, so later pairs turn faster; divide, and they turn slower"""
    return _interleave(_angle(length, d_model, 1e-4))


def _divide_by_two_less(length: int, d_model: int) -> Tensor:
    """With 0 / 0 where there is one pair."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    return _interleave(position / 10_000 ** (even / (d_model - 2)))


@mistake(points=1, also=(_divide_by_two_less,))
def reaches_the_base_at_the_last_pair(length, d_model):
    """your last pair is exactly 10 000 times slower than the first, as in some programs; with an
    exponent of `2i / d_model` it is not quite"""
    stretched = 10_000 ** (d_model / max(d_model - 2, 1))
    return _interleave(_angle(length, d_model, stretched))


@mistake
def alternates_by_position(length, d_model):
    """sine and cosine take turns with the positions; they do so with the features, along the last
    axis"""
    angle = _angle(length, d_model).repeat_interleave(2, -1)
    even = torch.arange(length).unsqueeze(-1) % 2 == 0
    return torch.where(even, angle.sin(), angle.cos()).float()


@mistake
def forgets_the_cosine(length, d_model):
    """every sine comes twice; the second of each pair is a cosine"""
    return _angle(length, d_model).sin().repeat_interleave(2, -1).float()


@mistake
def returns_the_angles(length, d_model):
    """you return the angles; their sines and cosines are asked"""
    return _angle(length, d_model).repeat_interleave(2, -1).float()


@mistake
def returns_one_of_each_pair(length, d_model):
    """there are `d_model / 2` features in your rows, the sines; each has a cosine behind it"""
    return _angle(length, d_model).sin().float()


@mistake(computes=transposed(reference))
def puts_positions_on_the_last_axis():
    """your table is transposed: one row for each position"""


@mistake
def divides_the_power_by_the_width(length, d_model):
    """you divide by `d_model` after the power; it belongs into the exponent, in brackets: `10_000
    ** (even / d_model)`"""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    return _interleave(position / 10_000**even / d_model)


def _take_powers_in_single_precision(length: int, d_model: int) -> Tensor:
    frequency = 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(length, dtype=torch.float64).unsqueeze(-1) / frequency.double()
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


@mistake(points=2, also=(_take_powers_in_single_precision,))
def computes_angles_in_single_precision(length, d_model):
    """the angles, or the powers of 10000 in them, are computed in float32, which keeps seven digits
    of them: at thousands of radians few are left after the decimal point, and the sine needs those.
    Compute powers, angles, sines and cosines in float64, and turn to float32 at the end"""
    position = torch.arange(length, dtype=torch.float32).unsqueeze(-1)
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    return _interleave(position / 10_000 ** (even / d_model))


@mistake(slip=True, points=1)
def casts_to_float64(length, d_model):
    """you return float64; compute in it, and return float32"""
    angle = _angle(length, d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


@mistake
def leaves_the_first_row_empty(length, d_model):
    """your first row is all zeros; the cosine of 0 is 1, so every second number of row 0 is 1"""
    table = reference(length, d_model).clone()
    table[0] = 0
    return table


@mistake
def leaves_the_first_row_empty_and_counts_pairs(length, d_model):
    """your first row is all zeros, and the cosine of 0 is 1; and your exponent is `i / d_model`
    where `i` counts the pairs, and should be `2i / d_model`"""
    table = counts_pairs_in_the_exponent(length, d_model).clone()
    table[0] = 0
    return table


@mistake(slip=True)
def makes_one_place_more(length, d_model):
    """you make one place too many: they go from 0 to `length - 1`"""
    return reference(length + 1, d_model)


@mistake
def scales_the_vectors(length, d_model):
    """you multiply the vectors by a factor; sines and cosines stand as they are"""
    return reference(length, d_model) * d_model**-0.5


@mistake
def begins_with_the_second_hand(length, d_model):
    """your first pair turns by less than 1: the exponents begin with 0 and go on with 2, 4, ...,
    divided by `d_model`"""
    place = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    angle = place / 10_000 ** (torch.arange(2, d_model + 2, 2, dtype=torch.float64) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


@mistake
def keeps_the_axis_of_a_pair(length, d_model):
    """your sines and cosines lie on an axis of their own; make one of the last two:
    `flatten(-2)`"""
    return reference(length, d_model).unflatten(-1, (-1, 2))


@mistake(points=2)
def has_a_table_of_fixed_length(length, d_model):
    """your table has a fixed number of rows, and a longer text gets too few; make as many as
    `length` says"""
    return reference(5000, d_model)[:length]


EXERCISE = Exercise(
    function="sinusoidal_positions",
    reference=reference,
    title="a vector for every place",
    minutes=20,
    axes={"length": 97},
    equivalent_mutants={
        "-1 -> 1": "the new axis behind the only one is axis 1 counted from the left as well",
    },
    contract=Contract(
        points=0, exempts={"is off by a millionth": "an error of 0.00001 is allowed"}
    ),
    checks=(
        Check(
            "row `p` holds the vector of position `p`, from 0 on: sine and cosine in turns, each"
            " pair slower than the one before, in float32",
            2,
            give_size,
            sizes=({"length": 7, "d_model": 6}, {"length": 1, "d_model": 2}),
            hidden_sizes=({"length": 11, "d_model": 4}, {"length": 5, "d_model": 14}),
        ),
        Check(
            "thousands of places along, its numbers are as exact as near the start, with an error"
            " of at most 0.00001",
            1,
            give_size,
            sizes=({"length": 8_009, "d_model": 6},),
            hidden_sizes=({"length": 9_001, "d_model": 8},),
            invariant=stays_exact,
        ),
    ),
    mistakes=mistake.collected,
)
