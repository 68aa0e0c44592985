"""Part C of problem set 02: each key estimated from all the others, by masking the diagonal."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, using
from torch import Tensor

from attn_bank.draws import draw_normal
from attn_bank.kernel_regression import draw_points, draw_uneven_keys, squared_distances
from attn_course import kernel_regression

Width = float | Tensor


def reference(key: Tensor, value: Tensor, width: Width) -> Tensor:
    return kernel_regression.leave_one_out(key, value, width)


def draw_table(generator: torch.Generator, **sizes: int) -> Inputs:
    """Keys so near that what a key adds to its own estimate can be taken back without much loss."""
    inputs = draw_points(generator, 1, **sizes)
    return {"key": inputs["key"] / 2, "value": inputs["value"], "width": inputs["width"]}


def draw_with_width_to_learn(generator: torch.Generator, **sizes: int) -> Inputs:
    inputs = draw_table(generator, **sizes)
    return inputs | {"width": torch.tensor(inputs["width"], dtype=torch.float64)}


def draw_lonely_keys(
    generator: torch.Generator, key_len: int, d_value: int, fraction: int
) -> Inputs:
    """The nearest other key lies `fraction` widths away, or more."""
    key = draw_uneven_keys(generator, key_len)
    key = key[torch.randperm(key_len, generator=generator)]
    value = draw_normal(generator, key_len, d_value)
    return {"key": key, "value": value, "width": 1 / fraction}


def draw_twins(generator: torch.Generator, **sizes: int) -> Inputs:
    """Two keys in one place, with values of their own."""
    inputs = draw_table(generator, **sizes)
    inputs["key"][-1] = inputs["key"][0]
    return inputs


def _scores(key: Tensor, width: Width) -> Tensor:
    return -squared_distances(key, key) / (2 * width**2)


def _myself(key: Tensor) -> Tensor:
    return torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)


def _masked(scores: Tensor, myself: Tensor, score: float = -math.inf) -> Tensor:
    """Weights where `myself` is left out; zero weights where nobody else is left."""
    return torch.softmax(scores.masked_fill(myself, score), -1).masked_fill(myself, 0)


def _left_over(key: Tensor, width: Width) -> Tensor:
    """Weights that a softmax gave, without those that the keys gave themselves."""
    return torch.softmax(_scores(key, width), -1).masked_fill(_myself(key), 0)


def _estimate(key: Tensor, value: Tensor, width: Width) -> Tensor:
    return _masked(_scores(key, width), _myself(key)) @ value


mistake = Mistakes()


@mistake(computes=using(_estimate, "masked_fill", lambda scores, *_: scores))
def leaves_nothing_out():
    """each of your estimates counts the key's own value too: forbid the diagonal by the score minus
    infinity (a score of 0 is the highest there is)"""


@mistake(points=0.5)
def does_not_normalise_again(key, value, width):
    """you set the diagonal to 0 after the softmax, so the weights of the others sum to less than 1;
    forbid it before the softmax"""
    return _left_over(key, width) @ value


def _shares_what_is_left(key: Tensor, value: Tensor, width: Width) -> Tensor:
    """Only for a lone key is no division by zero."""
    weights = _left_over(key, width)
    return (weights / weights.sum(-1, keepdim=True) if key.shape[-2] > 1 else weights) @ value


@mistake(points=3, also=(_shares_what_is_left,))
def normalises_again_after_softmax(key, value, width):
    """you take the key itself away after the powers, whether softmax or `exp` has raised them:
    where the others are far away, theirs are 0 by then, and nothing is left to divide; give the
    diagonal the score minus infinity, before the softmax"""
    weights = _left_over(key, width)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1) @ value


@mistake(points=2.5)
def divides_nothing_by_nothing(key, value, width):
    """where the other keys are far away their kernel values underflow, and 0/0 is NaN; give the
    diagonal the score minus infinity and let softmax divide"""
    kernel = torch.exp(_scores(key, width)).masked_fill(_myself(key), 0)
    return kernel @ value / kernel.sum(-1, keepdim=True)


@mistake(points=2.5)
def takes_its_own_share_back(key, value, width):
    """you estimate with the key itself and subtract its share afterwards: nothing is left where its
    share was nearly all; forbid the diagonal before the softmax"""
    kernel = torch.exp(_scores(key, width))
    return (kernel @ value - value) / (kernel.sum(-1, keepdim=True) - 1)


@mistake(points=3)
def sets_its_own_score_to_a_large_negative(key, value, width):
    """you forbid with the score -1e9, but scores of far keys are lower than that, so the key itself
    wins; only minus infinity is below every score"""
    return _masked(_scores(key, width), _myself(key), -1e9) @ value


@mistake(points=3.5)
def leaves_out_all_in_the_same_place(key, value, width):
    """you leave out every key at distance 0, so twins lose each other; leave out the key with the
    same number, the diagonal"""
    same = squared_distances(key, key) == 0
    return _masked(_scores(key, width), same) @ value


@mistake
def leaves_out_everyone_else(key, value, width):
    """each key gets its own value back, as where a mask is missing or turned round; forbid the
    diagonal, and nothing else"""
    scores = _scores(key, width).masked_fill(~_myself(key), -math.inf)
    return torch.softmax(scores, -1) @ value


@mistake(points=0.5)
def sees_only_earlier_keys(key, value, width):
    """you forbid all later keys too; only the diagonal is forbidden"""
    later = torch.ones_like(_myself(key)).triu()
    return _masked(_scores(key, width), later) @ value


@mistake(points=0.5)
def sees_only_the_neighbours(key, value, width):
    """you allow only the rows before and after; all others count, by their distance and not by
    their place in the table"""
    near = torch.ones_like(_myself(key)).triu(-1).tril(1)
    return _masked(_scores(key, width), _myself(key) | ~near) @ value


@mistake(points=3.5)
def returns_nan_for_a_lone_key(key, value, width):
    """softmax of a row that holds only minus infinity is NaN; set the weights of the diagonal to 0
    after the softmax as well"""
    scores = _scores(key, width).masked_fill(_myself(key), -math.inf)
    return torch.softmax(scores, -1) @ value


@mistake(points=1.5, computes=given(reference, width=lambda width: width / 2**0.5))
def forgets_the_half():
    """your kernel is `exp(-u²)`; the Gaussian is `exp(-u²/2)`"""


@mistake(points=1.5, computes=given(reference, width=lambda width: width**0.5))
def forgets_to_square_the_width():
    """you divide the squared distance by the width; `u` is the distance in widths, so `u²` holds
    the square of the width too"""


@mistake
def leaves_out_the_nearest_value(key, value, width):
    """you leave out the nearest other key and keep the key itself; the key itself is on the
    diagonal, and it is the only one to leave out"""
    squared = squared_distances(key, key).masked_fill(_myself(key), math.inf)
    nearest = squared == squared.amin(-1, keepdim=True)
    return torch.softmax(_scores(key, width).masked_fill(nearest, -math.inf), -1) @ value


@mistake(points=3.5)
def takes_a_root_and_squares_it_again(key, value, width):
    """you take a square root that you square again: its gradient at distance 0, on the diagonal, is
    infinite and turns to NaN; stay with the squared distance"""
    distance = squared_distances(key, key).sqrt()
    return _masked(-((distance / width) ** 2) / 2, _myself(key)) @ value


@mistake(points=3.5, computes=given(reference, width=float))
def turns_the_width_into_a_number():
    """you turn `width` into a number of its own, as `float`, `item()` and `torch.tensor` do, so no
    gradient can reach it and nobody can learn it; compute with the tensor that you were given"""


def _fill_the_diagonal(key: Tensor, value: Tensor, width: Width) -> Tensor:
    return torch.softmax(_scores(key, width).fill_diagonal_(-math.inf), -1) @ value


@mistake(slip=True, points=2.5, also=(_fill_the_diagonal,))
def fills_the_diagonal_of_two_axes(key, value, width):
    """`fill_diagonal_` takes the diagonal through all axes, not through the last two; use a mask of
    shape `(key_len, key_len)`, such as `torch.eye(key_len, dtype=torch.bool)`"""
    scores = _scores(key, width).fill_diagonal_(-math.inf)
    return torch.softmax(scores, -1).nan_to_num(0) @ value


@mistake
def multiplies_by_infinity(key, value, width):
    """all of your estimates are NaN: if you multiply a mask by infinity, 0 times infinity is NaN;
    `masked_fill` writes minus infinity where it belongs"""
    return torch.softmax(_scores(key, width) - _myself(key) * math.inf, -1) @ value


@mistake(points=3.5)
def asks_for_the_length_of_the_batch(key, value, width):
    """`len(key)` is the length of the first axis, and so of a batch, where there is one; the number
    of keys is `key.shape[-2]`"""
    return _estimate(key, value, width) if len(key) > 1 else torch.zeros_like(value)


@mistake(slip=True, points=2.5)
def turns_all_axes_of_the_keys(key, value, width):
    """you turn the order of all axes round, as `.T` does; only the last two should swap, which is
    `.mT`"""
    turned = key.permute(*reversed(range(key.ndim)))
    squares = key.square().sum(-1)
    squared = squares.unsqueeze(-1) - 2 * key @ turned + squares.unsqueeze(-2)
    return _masked(-squared / (2 * width**2), _myself(key)) @ value


@mistake(points=0.5)
def takes_the_distance_for_its_square(key, value, width):
    """your kernel falls with the distance divided by twice the squared width; the distance itself
    has to be squared as well: `-d² / 2w²`"""
    distance = squared_distances(key, key).sqrt()
    return _masked(-distance / (2 * width**2), _myself(key)) @ value


@mistake(points=3)
def fills_the_diagonal_with_minus_a_billion(key, value, width):
    """you fill the diagonal with a large negative number; 100,000 widths away the other keys score
    lower still, and a key gets its own value back: minus infinity is lower than everything"""
    scores = _scores(key, width).masked_fill(_myself(key), -1e9)
    return torch.softmax(scores, -1) @ value * (key.shape[-2] > 1)


@mistake(points=0.5)
def forgets_the_minus(key, value, width):
    """the minus is missing, so the farthest key counts most"""
    return _masked(-_scores(key, width), _myself(key)) @ value


@mistake(points=0.5)
def decays_by_the_distance(key, value, width):
    """your kernel falls with the distance and not with its square: it is `exp(-u²/2)`"""
    distance = squared_distances(key, key).clamp_min(1e-30).sqrt()
    return _masked(-distance / width, _myself(key)) @ value


@mistake(points=0.5)
def sees_only_later_keys(key, value, width):
    """every key sees only the keys after it; it should leave out itself alone, which `eye` marks"""
    earlier = torch.ones_like(_myself(key)).tril()
    return _masked(_scores(key, width), earlier) @ value


@mistake(points=0.5)
def leaves_out_one_key_for_all(key, value, width):
    """you leave the same key out for all, the first; each key leaves out itself, on the diagonal"""
    first = torch.zeros_like(_myself(key))
    first[:, 0] = True
    return _masked(_scores(key, width), first) @ value


@mistake(points=1.5)
def takes_the_nearest_other_key(key, value, width):
    """you return the value of the nearest other key; all others count, the nearer the more"""
    nearest = squared_distances(key, key).masked_fill(_myself(key), math.inf).argmin(-1)
    chosen = torch.nn.functional.one_hot(nearest, key.shape[-2]).to(value.dtype)
    return chosen @ value * (key.shape[-2] > 1)


@mistake
def returns_what_is_left_of_the_value(key, value, width):
    """you return how far each value lies from its estimate; return the estimate"""
    return value - reference(key, value, width)


def _mean_if_alone(key: Tensor, value: Tensor, width: Width) -> Tensor:
    return reference(key, value, width) if key.shape[-2] > 1 else value.clone()


@mistake(points=3.5, computes=_mean_if_alone)
def returns_its_own_value_if_alone():
    """where a table has one key you return its own value; there is no other to ask, so the estimate
    is 0"""


EXERCISE = Exercise(
    function="leave_one_out",
    reference=reference,
    title="leave each key out of its own estimate",
    minutes=20,
    axes={"key_len": 97, "d_key": 31, "d_value": 31},
    avoid=("attention", "estimators"),
    contract=Contract(batch=("key", "value"), any_axes=True),
    checks=(
        Check(
            "each key is estimated from all the others, by the Gaussian kernel; further axes may"
            " come before",
            1,
            draw_table,
            sizes=(
                {"key_len": 5, "d_key": 2, "d_value": 3},
                {"batch": 3, "key_len": 7, "d_key": 2, "d_value": 1},
                {"groups": 3, "batch": 2, "key_len": 5, "d_key": 2, "d_value": 2},
            ),
            hidden_sizes=(
                {"key_len": 2, "d_key": 1, "d_value": 3},
                {"batch": 5, "key_len": 5, "d_key": 3, "d_value": 2},
                {"groups": 2, "batch": 3, "key_len": 7, "d_key": 1, "d_value": 3},
            ),
            tolerance=1024,
        ),
        Check(
            "where every other key lies many widths away, the nearest other key decides",
            1,
            draw_lonely_keys,
            sizes=(
                {"key_len": 3, "d_value": 2, "fraction": 4},
                {"key_len": 5, "d_value": 2, "fraction": 32},
                {"key_len": 5, "d_value": 2, "fraction": 2**17},
            ),
            hidden_sizes=({"key_len": 11, "d_value": 3, "fraction": 2**18},),
        ),
        Check(
            "of two keys in one place each is estimated from the other",
            0.5,
            draw_twins,
            sizes=({"key_len": 5, "d_key": 1, "d_value": 2},),
            hidden_sizes=({"key_len": 29, "d_key": 3, "d_value": 1},),
        ),
        Check(
            "a lone key, with nothing to be estimated from, gets the estimate 0",
            0.5,
            draw_table,
            sizes=({"key_len": 1, "d_key": 2, "d_value": 3},),
            hidden_sizes=({"key_len": 1, "d_key": 1, "d_value": 1},),
        ),
        Check(
            "the right gradient reaches `key`, `value`, and a `width` that is a tensor",
            0.5,
            draw_with_width_to_learn,
            sizes=({"key_len": 5, "d_key": 2, "d_value": 2},),
            hidden_sizes=({"key_len": 7, "d_key": 1, "d_value": 3},),
            gradient=("key", "value", "width"),
            tolerance=1024,
        ),
    ),
    mistakes=mistake.collected,
)
