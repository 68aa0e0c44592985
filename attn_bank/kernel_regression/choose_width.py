"""Part E of problem set 02: the width that predicts best what was left out, and how well it does.

The draws leave no doubt: in double precision the best width wins by two per cent or more, so that
rounding never changes the choice.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import (
    Altered,
    Answer,
    Check,
    Contract,
    Draw,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    name_kind,
    then,
)
from torch import Tensor

from attn_bank.draws import draw_normal, draw_uniform
from attn_bank.kernel_regression import squared_distances
from attn_course import kernel_regression

Choice = tuple[float, float]
# One income lies alone: at the first four of these widths all its kernel values underflow.
ENGEL_WIDTHS = [15.0, 30.0, 60.0, 120.0, 240.0, 480.0]
CLEAR_WIN = 1.02


def reference(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - min(errors) / float(_variance(value))


def _variance(value: Tensor) -> Tensor:
    return value.var(correction=0)


def _errors(key: Tensor, value: Tensor, widths: list[float]) -> list[float]:
    """The leave-one-out errors, of all widths at once: dozens of mistakes are held against them."""
    each = torch.tensor(widths, dtype=key.dtype, device=key.device).view(-1, 1, 1)
    itself = torch.eye(len(key), dtype=torch.bool, device=key.device)
    scores = -squared_distances(key, key) / (2 * each.square())
    estimates = torch.softmax(scores.masked_fill(itself, -math.inf), -1) @ value
    return (estimates - value).square().mean((-2, -1)).tolist()


def draw_engel(generator: torch.Generator) -> Inputs:
    """Income and food expenditure of 235 households, in francs a year; nothing is random here."""
    from statsmodels.datasets import engel

    table = torch.tensor(engel.load_pandas().data[["income", "foodexp"]].to_numpy())
    return {"key": table[:, :1], "value": table[:, 1:], "widths": ENGEL_WIDTHS}


def draw_wave(
    generator: torch.Generator, key_len: int, num_widths: int, d_key: int = 1, wave: int = 1
) -> Inputs:
    """A noisy wave with some outliers, and widths in no order; draws until the choice is clear.

    The absolute error chooses alike: that it is another one, the incomes of Engel show. Without
    the wave there is noise alone, which no width predicts: the best R² is below 0.
    """
    while True:
        key = 4 / d_key * draw_uniform(generator, key_len, d_key)
        noise = 0.3 * draw_normal(generator, key_len, 1)
        noise[:: key_len // 5] *= 4
        value = 5 + wave * torch.sin(2.5 * key).sum(-1, keepdim=True) + noise
        order = torch.randperm(num_widths, generator=generator).tolist()
        widths = [round(0.05 * (1.8 if wave else 1.2) ** i, 3) for i in order]
        errors = _errors(key, value, widths)
        best, second = (error / float(_variance(value)) for error in sorted(errors)[:2])
        alike = _least(errors, widths) == _least(_absolute_errors(key, value, widths), widths)
        predicts = best < 0.8 if wave else best > 1.1
        if alike and second > CLEAR_WIN * best and predicts:
            return {"key": key, "value": value, "widths": widths}


def _absolute_errors(key: Tensor, value: Tensor, widths: list[float]) -> list[float]:
    return [(_estimate(key, value, w) - value).abs().mean().item() for w in widths]


def _estimate(key: Tensor, value: Tensor, width: float) -> Tensor:
    return kernel_regression.leave_one_out(key, value, width)


def _least(errors: list[float], widths: list[float]) -> float:
    return widths[errors.index(min(errors))]


def _with(width: float, error: Tensor | float, value: Tensor) -> Choice:
    return width, 1 - float(error) / float(_variance(value))


def _with_best(draw: Draw) -> Draw:
    """A draw with the right width, which takes as long to find as all else at a trial."""

    def draw_with_best(generator: torch.Generator, **sizes: int) -> Inputs:
        inputs = draw(generator, **sizes)
        return inputs | {"best": reference(**inputs)[0]}

    return draw_with_best


def chooses_well(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
    """The law that the width is right, whatever R² is."""
    output, wanted = call(inputs), inputs["best"]
    if not isinstance(output, list | tuple) or len(output) != 2:
        kind = name_kind(output)
        return f"it is {kind}; expected two numbers, the width and R²", kind
    width = float(output[0])
    if abs(width - wanted) <= 1e-6 * wanted:
        return None
    return f"the width is {width:.4g} and should be {wanted:.4g}", [width]


mistake = Mistakes()


@mistake
def leaves_nothing_out(key, value, widths):
    """your error counts each key's own value, so it prefers the smallest width, which repeats what
    it has seen; leave each key out of its own estimate"""

    def error(width):
        estimate = kernel_regression.nadaraya_watson(key, key, value, width)
        return (estimate - value).square().mean().item()

    width = min(widths, key=error)
    return _with(width, error(width), value)


@mistake
def leaves_nothing_out_and_divides_by_one_less(key, value, widths):
    """your error counts each key's own value, so it prefers the smallest width; leave each key out
    of its own estimate (and `var` divides by the number of values less 1, where the text says n)"""
    width, score = leaves_nothing_out(key, value, widths)
    return width, 1 - (1 - score) * (len(key) - 1) / len(key)


@mistake(points=2, right="you choose the width well", slip=False)
def measures_with_the_key_itself(key, value, widths):
    """you take R² from estimates that have seen the value they estimate; use the leave-one-out
    error for both"""
    width = _least(_errors(key, value, widths), widths)
    estimate = kernel_regression.nadaraya_watson(key, key, value, width)
    return _with(width, (estimate - value).square().mean(), value)


def _measure(which: Callable[[list[float]], float]) -> Answer:
    def answer(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
        errors = _errors(key, value, widths)
        return _with(_least(errors, widths), which(errors), value)

    return answer


@mistake(
    points=2,
    right="you choose the width well",
    computes=_measure(lambda errors: errors[-1]),
    also=(_measure(lambda errors: errors[0]), _measure(max)),
)
def measures_the_last_width():
    """you take R² from the error of another width, such as the last in the list or the worst; take
    it from the smallest error"""


def _take(which: Callable[[list[float]], float]) -> Answer:
    def answer(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
        return _with(which(widths), _errors(key, value, [which(widths)])[0], value)

    return answer


@mistake(
    computes=_take(lambda widths: widths[0]),
    also=(_take(lambda widths: widths[-1]), _take(min), _take(max)),
)
def takes_a_width_without_a_choice():
    """you take a width by its place or its size, whatever its error; compare the errors of all"""


@mistake(points=2)
def looks_up_in_another_order(key, value, widths):
    """you try the widths in another order than the list, and look the best one up by its place in
    the list"""
    errors = _errors(key, value, sorted(widths))
    return _with(_least(errors, widths), min(errors), value)


@mistake
def takes_the_largest_error(key, value, widths):
    """you choose the width with the largest error; the smallest is wanted"""
    errors = _errors(key, value, widths)
    return _with(widths[errors.index(max(errors))], max(errors), value)


@mistake(points=2, right="you choose the width well")
def returns_the_error(key, value, widths):
    """your second number is the error, in squared units; R² is 1 minus the error divided by the
    variance of the values"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), min(errors)


@mistake(points=2, right="you choose the width well")
def returns_the_unexplained_share(key, value, widths):
    """your second number is the share that stays unexplained; R² is 1 minus that"""
    width, score = reference(key, value, widths)
    return width, 1 - score


def _place(kind: type) -> Altered:
    """The place of the width, of this type, in any answer."""

    def how(answer: Answer, **inputs: Any) -> Any:
        width, score = answer(**inputs)
        return kind(inputs["widths"].index(width)), score

    return Altered(reference, how)


@mistake(computes=_place(float), also=(_place(int),))
def returns_the_place_in_the_list():
    """your first number is the place of the width in the list; return the width itself"""


@mistake(computes=then(reference, lambda pair: pair[::-1]))
def returns_the_score_first():
    """you return R² first; the width comes first, then R²"""


@mistake(points=2, right="you choose the width well")
def divides_by_one_less(key, value, widths):
    """`var` divides by the number of values less 1, and your error is a mean over all of them;
    divide both by the same number, as in `value.var(correction=0)`"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - min(errors) / value.var().item()


@mistake(points=2, right="you choose the width well")
def divides_by_the_variance_of_the_keys(key, value, widths):
    """you divide by the variance of the keys; R² compares the error with the variance of the
    values"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - min(errors) / _variance(key).item()


@mistake(points=2, right="you choose the width well")
def divides_by_the_mean_square(key, value, widths):
    """you divide by the mean of the squared values; the variance first takes their mean off"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - min(errors) / value.square().mean().item()


@mistake(points=2, right="you choose the width well")
def compares_roots(key, value, widths):
    """you compare the root of the error with the standard deviation; R² compares their squares"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - math.sqrt(min(errors) / _variance(value).item())


@mistake(points=2)
def leaves_one_out_of_the_mean_too(key, value, widths):
    """you compare with the error of a mean that leaves one out too, a fair choice, but the text
    asks for the plain variance around the mean of all values"""
    errors = _errors(key, value, widths)
    inflated = _variance(value).item() * (len(key) / (len(key) - 1)) ** 2
    return _least(errors, widths), 1 - min(errors) / inflated


@mistake(points=2)
def squares_the_correlation(key, value, widths):
    """your R² is the squared correlation of estimate and value, which forgives every estimate that
    is too flat or too high; take 1 minus error divided by variance"""
    width = _least(_errors(key, value, widths), widths)
    both = torch.cat([_estimate(key, value, width), value], -1)
    return width, torch.corrcoef(both.mT)[0, 1].square().item()


@mistake(points=3)
def compares_absolute_errors(key, value, widths):
    """you choose by the mean absolute error, which counts outliers less; square the errors"""
    width = _least(_absolute_errors(key, value, widths), widths)
    return _with(width, _errors(key, value, [width])[0], value)


def _square_the_mean(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
    errors = [(_estimate(key, value, w) - value).mean().square().item() for w in widths]
    return _with(_least(errors, widths), min(errors), value)


@mistake(also=(_square_the_mean,))
def compares_signed_errors(key, value, widths):
    """your errors can cancel, too high here and too low there; square them before the mean"""
    errors = [(_estimate(key, value, w) - value).mean().abs().item() for w in widths]
    width = _least(errors, widths)
    return _with(width, _errors(key, value, [width])[0], value)


@mistake(points=2)
def stops_at_the_first_rise(key, value, widths):
    """you stop at the first width that is worse than the one before; the list is in no order, so
    try all of them"""
    errors = _errors(key, value, widths)
    last = 0
    while last + 1 < len(errors) and errors[last + 1] < errors[last]:
        last += 1
    return _with(widths[last], errors[last], value)


@mistake(points=3)
def divides_nothing_by_nothing(key, value, widths):
    """for a household whose income lies alone all kernel values underflow, and 0/0 is NaN; one NaN
    spoils the whole error, so let softmax divide"""
    errors = []
    for width in widths:
        kernel = torch.exp(-squared_distances(key, key) / (2 * width**2)).fill_diagonal_(0)
        estimate = kernel @ value / kernel.sum(-1, keepdim=True)
        errors.append((estimate - value).square().mean())
    best = int(torch.stack(errors).argmin())
    return _with(widths[best], errors[best], value)


def _start_from(least: float) -> Answer:
    def answer(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
        errors = _errors(key, value, widths)
        best = _least(errors, widths) if min(errors) < least else widths[0]
        return _with(best, min(least, *errors), value)

    return answer


@mistake(
    points=3,
    computes=_start_from(1.0),
    also=tuple(map(_start_from, (10.0, 100.0, 1000.0, 10_000.0))),
)
def begins_with_a_small_error():
    """where errors are large, as in squared francs, no width beats the error that your search
    begins with, and what it begins with stays; begin with infinity, `math.inf`"""


@mistake(points=2)
def divides_a_sum_by_the_variance(key, value, widths):
    """your error is a sum over the households and the variance a mean, so that R² is far below 0;
    take the mean of both"""
    errors = _errors(key, value, widths)
    return _with(_least(errors, widths), len(key) * min(errors), value)


@mistake(points=2, right="you choose the width well")
def divides_by_the_standard_deviation(key, value, widths):
    """you divide a squared error by a standard deviation; divide by the variance"""
    errors = _errors(key, value, widths)
    return _least(errors, widths), 1 - min(errors) / _variance(value).item() ** 0.5


def _divide_them(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
    width = _least(_errors(key, value, widths), widths)
    return width, float(_variance(_estimate(key, value, width)) / _variance(value))


@mistake(points=2, also=(_divide_them,))
def takes_the_variance_of_the_estimates(key, value, widths):
    """you take the variance of the estimates; R² divides the error by the variance of the values"""
    errors = _errors(key, value, widths)
    width = _least(errors, widths)
    return width, 1 - min(errors) / _variance(_estimate(key, value, width)).item()


@mistake(points=1)
def scores_absolute_errors(key, value, widths):
    """you take the mean of absolute errors; both the choice and R² want the squares"""
    errors = _absolute_errors(key, value, widths)
    return _with(_least(errors, widths), min(errors), value)


@mistake(points=2)
def divides_a_root_by_the_variance(key, value, widths):
    """you take the root of the mean squared error and divide it by the variance, which is a square;
    take no root"""
    errors = _errors(key, value, widths)
    return _with(_least(errors, widths), min(errors) ** 0.5, value)


@mistake(points=2)
def sorts_the_widths_alone(key, value, widths):
    """you sort the widths, but the errors are in the order of the list as it was given"""
    errors = _errors(key, value, widths)
    return _with(sorted(widths)[errors.index(min(errors))], min(errors), value)


@mistake(points=2)
def measures_the_mean_over_all_widths(key, value, widths):
    """your R² is made of the mean error of all widths; take the error of the width chosen"""
    errors = _errors(key, value, widths)
    return _with(_least(errors, widths), sum(errors) / len(errors), value)


@mistake
def forgets_the_column(key, value, widths):
    """estimates and values are no longer in pairs: one of them has lost its axis of length 1, so
    that each is subtracted from all"""

    def error(width):
        return (_estimate(key, value, width).squeeze() - value).square().mean().item()

    errors = [error(width) for width in widths]
    return _with(_least(errors, widths), min(errors), value)


@mistake(points=2)
def divides_the_error_by_one_less(key, value, widths):
    """you divide the sum of squared errors by one less than their number; the formula has `n` there
    and in the variance"""
    errors = _errors(key, value, widths)
    return _with(_least(errors, widths), min(errors) * len(key) / (len(key) - 1), value)


def _leave_nan_out(key: Tensor, value: Tensor, width: float, instead: float) -> float:
    kernel = torch.exp(-squared_distances(key, key) / (2 * width**2)).fill_diagonal_(0)
    estimate = (kernel @ value / kernel.sum(-1, keepdim=True)).nan_to_num(instead)
    return (estimate - value).square().nanmean().item()


def _take_zero_for_nan(key: Tensor, value: Tensor, widths: list[float]) -> Choice:
    errors = [_leave_nan_out(key, value, width, 0.0) for width in widths]
    return _with(_least(errors, widths), min(errors), value)


@mistake(points=3, also=(_take_zero_for_nan,))
def hides_what_underflows(key, value, widths):
    """where all kernel values of a point underflow you leave it out or take 0 for its estimate; the
    nearest of the others decides there"""
    errors = [_leave_nan_out(key, value, width, math.nan) for width in widths]
    return _with(_least(errors, widths), min(errors), value)


@mistake(
    right="you choose the width well",
    computes=then(reference, lambda pair: (pair[0], max(0.0, pair[1]))),
    also=(then(reference, lambda pair: (pair[0], abs(pair[1]))),),
    points=3,
)
def lifts_the_score_to_zero():
    """your R² is never below 0; where all widths predict worse than the mean of the values, it is
    negative, and says so"""


def _look_at(key: Tensor) -> Tensor:
    return key[:, :1]


@mistake(points=3, computes=given(reference, key=_look_at))
def looks_at_the_first_number():
    """you measure the distance by one number of each key; it goes over all that a key has"""


EXERCISE = Exercise(
    function="choose_width",
    reference=reference,
    title="choose a width from the data alone",
    minutes=25,
    axes={"key_len": 97},
    avoid=("estimators", "leave_one_out_error"),
    may_use=("attn_course.kernel_regression.leave_one_out",),
    contract=Contract(
        like=1,
        exempts={"fills with": "`leave_one_out` of part C, or of the package, does the hiding"},
    ),
    checks=(
        Check(
            "on a noisy wave, the width with the smallest leave-one-out error, from a list in any"
            " order, be R² what it may",
            1,
            _with_best(draw_wave),
            sizes=({"key_len": 41, "num_widths": 7}, {"key_len": 59, "num_widths": 5}),
            hidden_sizes=({"key_len": 37, "num_widths": 8}, {"key_len": 67, "num_widths": 6}),
            invariant=chooses_well,
            withheld=("best",),
            easier=True,
        ),
        Check(
            "on a noisy wave, the width and its R², which is below 0 where there is nothing but"
            " noise; a key may have several numbers",
            1.5,
            draw_wave,
            sizes=(
                {"key_len": 41, "num_widths": 7},
                {"key_len": 59, "num_widths": 5, "d_key": 2},
                {"key_len": 31, "num_widths": 4, "wave": 0},
            ),
            hidden_sizes=(
                {"key_len": 37, "num_widths": 8},
                {"key_len": 67, "num_widths": 6, "d_key": 3},
                {"key_len": 29, "num_widths": 5, "wave": 0},
            ),
            tolerance=4096,
        ),
        Check(
            "on the households of Engel, where one income lies alone: the width in francs",
            1,
            _with_best(draw_engel),
            hidden_sizes=(),
            invariant=chooses_well,
            withheld=("best",),
            easier=True,
        ),
        Check(
            "on the households of Engel, the width and its R²",
            1,
            draw_engel,
            hidden_sizes=(),
            tolerance=4096,
            easier=True,
        ),
    ),
    mistakes=mistake.collected,
)
