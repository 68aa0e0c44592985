"""Part D of problem set 08: a test, tried on layers that should pass it and layers that should not.

The layers come from `attn_bank.layers`.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from hintgrader.checking.invariant import Failed
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    name_kind,
    then,
)
from torch import Generator, Tensor

from attn_bank.layers import Layer
from attn_bank.self_attention import draw_projection

ALLOWED = 1e-4  # of the largest number of the output
MISFITS = ("IndexError", "RuntimeError", "ValueError")  # where rows are missing
# If one of these is refused, and accepted in float64, too little is allowed for rounding.
ROUNDED = ("attends_to_all", "treats_each_token_alone", "gives_all_the_same_mean")
SIZES = {"d_model": 5, "max_len": 6, "trials": 100}
OTHERS = {"d_model": 8, "max_len": 5, "trials": 100}


def reference(layer: Layer, d_model: int, max_len: int, trials: int) -> bool:
    return all(_agree(layer, _draw(d_model, max_len)) for _ in range(trials))


def _draw(d_model: int, max_len: int, least: int = 2) -> Tensor:
    length = int(torch.randint(least, max_len + 1, ()))
    return torch.randn(length, d_model)


def _agree(layer: Layer, tokens: Tensor, order: Tensor | None = None) -> bool:
    order = torch.randperm(len(tokens)) if order is None else order
    output, turned = layer(tokens), layer(tokens[order])
    return len(output) == len(tokens) and _close(turned, output[order])


def _close(one: Tensor, other: Tensor, allowed: float = ALLOWED) -> bool:
    return bool((one - other).abs().max() <= allowed * other.abs().max())


def give_layer(generator: Generator, layer: str, d_model: int, max_len: int, trials: int) -> Inputs:
    weights = [draw_projection(generator, d_model, d_model) for _ in range(3)]
    return {
        "layer": Layer(layer, tuple(weights), max_len),
        "d_model": d_model,
        "max_len": max_len,
        "trials": trials,
    }


def is_judged_right(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    return _judged(call, inputs, replace(inputs["layer"], calls=[]))


def _judged(
    call: Callable[[Inputs], Plain], inputs: Inputs, layer: Layer
) -> tuple[str, Plain] | str | None:
    """The same, of a layer that notes its calls."""
    try:
        verdict = call(inputs | {"layer": layer})
    except Failed as failed:
        if layer.keeps_rows or failed.wrong.raised not in MISFITS:
            raise
        said = f"{failed.wrong.reason}. That is with `{layer.name}`, a layer that {layer.what}"
        return said, [f"raised with {layer.name}"]
    if isinstance(verdict, Tensor) and verdict.numel() == 1:
        verdict = verdict.item()
    if not isinstance(verdict, bool):
        kind = name_kind(verdict)
        return f"it returns {kind}; expected True or False", kind
    if verdict == layer.is_equivariant:
        return None
    if verdict and len(layer.calls) == 2 and _always_calls_twice(call, inputs):
        said = f"it lets `{layer.name}` through after a single trial of {inputs['trials']}"
        return said, "one trial"
    if verdict:
        said = f"it lets `{layer.name}` through, a layer that {layer.what}"
    else:
        said = f"it refuses `{layer.name}`, a layer that {layer.what}: that is equivariant"
        exact = replace(layer, calls=[], exact=True)
        if layer.name in ROUNDED and call(inputs | {"layer": exact}) is True:
            return said, "rounded"
    return said, [layer.name]  # in a list: a mistake may be told from its first row alone


def _always_calls_twice(call: Callable[[Inputs, int], Plain], inputs: Inputs) -> bool:
    """True if it is done after one trial whatever is drawn, not because one trial decides it."""
    for seed in range(1, 17):
        layer = replace(inputs["layer"], calls=[])
        call(inputs | {"layer": layer}, seed)
        if len(layer.calls) != 2:
            return False
    return True


def tries_often_enough(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """It judges rightly, and half as many trials give the layer half as much to do."""
    layer, half = (replace(inputs["layer"], calls=[]) for _ in range(2))
    if (wrong := _judged(call, inputs, layer)) or not layer.is_equivariant:
        return wrong
    call(inputs | {"layer": half, "trials": inputs["trials"] // 2})
    if layer.numbers > 1.5 * half.numbers:
        return None
    if len(layer.calls) == 2:
        return f"it is done after a single trial of {inputs['trials']}", "one trial"
    return f"{inputs['trials']} `trials` are hardly more work than half of them", "other trials"


def layers(sizes: dict[str, int], *names: str) -> tuple[dict[str, int | str], ...]:
    return tuple({"layer": name, **sizes} for name in names)


def _test(judge: Callable[[Layer, Tensor], bool], least: int = 2) -> Callable[..., bool]:
    """A test that tries tokens of all lengths, and returns what `judge` says of all."""

    def answer(layer: Layer, d_model: int, max_len: int, trials: int) -> bool:
        return all(judge(layer, _draw(d_model, max_len, least)) for _ in range(trials))

    return answer


mistake = Mistakes()


@mistake
def accepts_everything(layer, d_model, max_len, trials):
    """your test accepts every layer; is there a path on which it returns False?"""
    return True


@mistake(computes=then(reference, lambda output: not output))
def says_the_opposite():
    """your test is right the other way round: True is for layers that pass"""


@mistake
def returns_the_error(layer, d_model, max_len, trials):
    """your test returns numbers; it has to decide: True or False, for all trials together"""
    tokens = _draw(d_model, max_len)
    order = torch.randperm(len(tokens))
    return (layer(tokens[order]) - layer(tokens)[order]).abs().amax(-1)


@mistake
def tests_invariance(layer, d_model, max_len, trials):
    """you test whether the output stays the same; that is invariance. Equivariance lets the rows of
    the output change places as the tokens do: compare with the output in the same order"""

    def judge(layer, tokens):
        output, turned = layer(tokens), layer(tokens[torch.randperm(len(tokens))])
        return _close(turned, output)

    return _test(judge)(layer, d_model, max_len, trials)


@mistake
def undoes_the_order(layer, d_model, max_len, trials):
    """you compare two outputs that are not in the same order: if you index the tokens with `order`,
    index the output with the same `order`, not with its inverse, a new one or none at all"""

    def judge(layer, tokens):
        order = torch.randperm(len(tokens))
        output, turned = layer(tokens), layer(tokens[order])
        return len(output) == len(tokens) and _close(turned, output[order.argsort()])

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=3)
def reverses_only(layer, d_model, max_len, trials):
    """you reverse the tokens, and a layer may get that right and no other order; draw an order with
    `torch.randperm`"""

    def judge(layer, tokens):
        return _agree(layer, tokens, torch.arange(len(tokens)).flip(0))

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=2)
def reverses_the_longest_only(layer, d_model, max_len, trials):
    """you try one order of one length: `max_len` tokens reversed, and a layer may get these right
    and nothing else; draw the length from 2 to `max_len`, and an order with `torch.randperm`"""
    order = torch.arange(max_len).flip(0)
    return all(_agree(layer, torch.randn(max_len, d_model), order) for _ in range(trials))


@mistake(points=3)
def shifts_only(layer, d_model, max_len, trials):
    """you shift the tokens, and a layer may get all shifts right and no other order; draw an order
    with `torch.randperm`"""

    def judge(layer, tokens):
        return _agree(layer, tokens, torch.arange(len(tokens)).roll(1))

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=2)
def swaps_the_first_two_only(layer, d_model, max_len, trials):
    """you swap the first two tokens, so nothing is learned of the others; draw an order of all of
    them with `torch.randperm`"""

    def judge(layer, tokens):
        order = torch.arange(len(tokens))
        order[:2] = torch.tensor([1, 0])
        return _agree(layer, tokens, order)

    return _test(judge)(layer, d_model, max_len, trials)


@mistake
def reorders_the_features(layer, d_model, max_len, trials):
    """you change the order of the features; tokens are the rows, axis -2"""

    def judge(layer, tokens):
        order = torch.randperm(tokens.shape[-1])
        output, turned = layer(tokens), layer(tokens[:, order])
        return output.shape == tokens.shape and _close(turned, output[:, order])

    return _test(judge)(layer, d_model, max_len, trials)


def _compares_sums(layer: Layer, d_model: int, max_len: int, trials: int) -> bool:
    """And counts the rows."""

    def judge(layer: Layer, tokens: Tensor) -> bool:
        output, turned = layer(tokens), layer(tokens[torch.randperm(len(tokens))])
        error = (turned.sum(0) - output.sum(0)).abs().max()
        return len(output) == len(tokens) and bool(error <= ALLOWED * output.abs().max())

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(also=(_compares_sums,))
def compares_the_means(layer, d_model, max_len, trials):
    """you compare sums or means over the tokens, in which the errors of two tokens can cancel;
    compare row by row"""

    def judge(layer, tokens):
        output, turned = layer(tokens), layer(tokens[torch.randperm(len(tokens))])
        return _close(turned.mean(0), output.mean(0), 10 * ALLOWED)

    return _test(judge)(layer, d_model, max_len, trials)


def _draws_equal_tokens(layer: Layer, d_model: int, max_len: int, trials: int) -> bool:
    def judge(layer: Layer, tokens: Tensor) -> bool:
        return _agree(layer, tokens[:1].expand_as(tokens))

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=1, also=(_draws_equal_tokens,))
def takes_equal_tokens(layer, d_model, max_len, trials):
    """all tokens of a sentence are equal with you, so that no order can be told from another; draw
    each of them with `torch.randn`"""

    def judge(layer, tokens):
        return _agree(layer, torch.ones_like(tokens))

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=3)
def wants_rows_for_granted(layer, d_model, max_len, trials):
    """your test crashes on a layer that has not a row for each token; look at the number of rows
    first, and return False"""

    def judge(layer, tokens):
        order = torch.randperm(len(tokens))
        return _close(layer(tokens[order]), layer(tokens)[order])

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=3)
def lets_a_single_row_through(layer, d_model, max_len, trials):
    """a layer that has not a row for each token gets through: a single row stays the same in any
    order, and broadcasts. Look at the number of rows first, and return False"""

    def judge(layer, tokens):
        order = torch.randperm(len(tokens))
        output, turned = layer(tokens), layer(tokens[order])
        return _close(turned, output[order % len(output)])

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=3)
def wants_the_width_of_the_tokens(layer, d_model, max_len, trials):
    """you want as many features back as went in; a layer may return any number of them"""

    def judge(layer, tokens):
        return layer(tokens).shape == tokens.shape and _agree(layer, tokens)

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=4, evidence="one trial")
def tries_once(layer, d_model, max_len, trials):
    """you are done after a single trial, so that a layer that errs now and then gets through. Is
    your `return True` inside the loop?"""
    return _agree(layer, torch.randn(max_len, d_model))


@mistake(points=5)
def draws_tokens_once(layer, d_model, max_len, trials):
    """you draw the tokens once for all trials, so that a layer which errs with other tokens gets
    through; draw new ones in every trial, and set no seed there"""
    tokens = torch.randn(max_len, d_model)
    lengths = torch.randint(2, max_len + 1, (trials,)).tolist()
    return all(_agree(layer, tokens[:length]) for length in lengths)


@mistake
def is_content_with_one_agreement(layer, d_model, max_len, trials):
    """one agreement is enough for your test, or your orders change nothing; a single trial that
    disagrees has to refuse the layer. Is `return True` inside the loop?"""
    return any(_agree(layer, _draw(d_model, max_len)) for _ in range(trials))


@mistake(points=5, computes=given(reference, max_len=lambda max_len: max_len - 1))
def never_draws_the_longest():
    """your sentences never have `max_len` tokens; `torch.randint(low, high, ())` stops one below
    `high`"""


@mistake
def goes_beyond_the_longest(layer, d_model, max_len, trials):
    """your sentences may have more than `max_len` tokens, which the layers do not take;
    `torch.randint(low, high, ())` stops one below `high`"""
    return all(_agree(layer, _draw(d_model, 2 * max_len, 2)) for _ in range(trials))


@mistake(points=5)
def begins_with_three_tokens(layer, d_model, max_len, trials):
    """your sentences never have two tokens, and a layer may err there alone. Have they all one
    length, or three tokens at least? Draw lengths from 2 to `max_len`"""
    return all(_agree(layer, _draw(d_model, max_len, 3)) for _ in range(trials))


def _within(error: Callable[[Tensor, Tensor], bool]) -> Callable[..., bool]:
    def judge(layer: Layer, tokens: Tensor) -> bool:
        order = torch.randperm(len(tokens))
        output, turned = layer(tokens), layer(tokens[order])
        return len(output) == len(tokens) and error(turned, output[order])

    return _test(judge)


@mistake(points=2, computes=given(reference, max_len=2))
def stays_at_two_tokens():
    """your sentences have two tokens, of which there are two orders; draw lengths up to
    `max_len`"""


@mistake(points=2)
def stays_at_three_tokens(layer, d_model, max_len, trials):
    """your sentences have three tokens, and every order of three is a shift, or a reversal of one;
    draw lengths up to `max_len`"""
    return all(_agree(layer, _draw(d_model, 3, 3)) for _ in range(trials))


@mistake
def allows_no_rounding(layer, d_model, max_len, trials):
    """you want the numbers to be equal to the last digit; sums in another order are rounded
    differently. Allow for that. (Or is your order none? `torch.randint` draws some places twice,
    `torch.randperm` each of them once)"""
    return _within(torch.equal)(layer, d_model, max_len, trials)


@mistake(points=1, evidence="rounded")
def allows_too_little_rounding(layer, d_model, max_len, trials):
    """you allow less than float32 rounds. `torch.allclose` with `rtol` measures each error by its
    own number, and one near zero is then allowed next to nothing; measure by the largest number of
    the output, and allow a ten-thousandth of it"""

    def error(one, other):
        return bool(((one - other).abs() <= 1e-6 * other.abs()).all())

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def allows_the_same_at_any_size(layer, d_model, max_len, trials):
    """you allow the same error whatever the size of the output; large numbers have larger errors,
    and small ones no such errors. Allow a ten-thousandth of the largest number"""

    def error(one, other):
        return bool((one - other).abs().max() <= ALLOWED)

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def allows_small_numbers_anything(layer, d_model, max_len, trials):
    """an error below some fixed number always passes with you, so a layer with small outputs may do
    what it likes; allow a ten-thousandth of the largest number and no more"""

    def error(one, other):
        return bool(((one - other).abs() <= 1e-5 + 1e-4 * other.abs().max()).all())

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def allows_a_tenth(layer, d_model, max_len, trials):
    """you allow too much: an error of some thousandths of the largest number is none of rounding.
    Allow a ten-thousandth"""

    def error(one, other):
        return _close(one, other, 0.1)

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def averages_the_errors(layer, d_model, max_len, trials):
    """a single wrong number gets past you, off by two ten-thousandths of the largest. Do you allow
    more than one ten-thousandth, average the errors, or look at some of the features only? The
    largest error of all numbers counts"""

    def error(one, other):
        return bool((one - other).abs().mean() <= ALLOWED * other.abs().mean())

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=1)
def forgets_the_sign_of_the_largest(layer, d_model, max_len, trials):
    """you allow a part of `output.max()`, which is below zero where all numbers are, and then
    nothing is small enough; the sign of the largest number is left out: `output.abs().max()`"""

    def error(one, other):
        return bool((one - other).abs().max() <= ALLOWED * other.max())

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def lets_nan_through(layer, d_model, max_len, trials):
    """your test lets `nan` through: `error > allowed` is False for it, as every comparison is. Ask
    the other way round: refuse unless `error <= allowed`"""

    def error(one, other):
        return not (one - other).abs().max() > ALLOWED * other.abs().max()

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def takes_nan_for_a_tolerance(layer, d_model, max_len, trials):
    """where an output holds `nan`, its largest number is `nan` too, and torch takes that for no
    tolerance; compare with `<=`, which is False then, or look for `nan` first"""

    def error(one, other):
        return torch.isclose(one, other, 0, ALLOWED * other.abs().max().item()).all().item()

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=3)
def compares_as_sets(layer, d_model, max_len, trials):
    """you sort both outputs before you compare them, so a layer that brings rows to wrong places
    gets through; compare row by row, in the order that the tokens have"""

    def error(one, other):
        return _close(one.sort(0).values, other.sort(0).values)

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def draws_tokens_above_zero(layer, d_model, max_len, trials):
    """your tokens have no number below zero, and a layer may err there alone; `torch.randn` draws
    numbers of both signs"""

    def judge(layer, tokens):
        return _agree(layer, tokens.abs())

    return _test(judge)(layer, d_model, max_len, trials)


@mistake(points=5)
def divides_by_zero(layer, d_model, max_len, trials):
    """your test refuses a layer that returns zeros: 0 is not `<` 0, and 0 / 0 is `nan`, which is
    below no number. Ask whether the error is `<=` the largest number times 0.0001"""

    def error(one, other):
        return bool((one - other).abs().max() / other.abs().max() <= ALLOWED)

    return _within(error)(layer, d_model, max_len, trials)


@mistake(points=5)
def ignores_trials(layer, d_model, max_len, trials):
    """you make as many trials whatever `trials` says; it is how many the caller asks for"""
    return reference(layer, d_model, max_len, 100)


@mistake(points=1)
def takes_a_majority(layer, d_model, max_len, trials):
    """you are content if most trials agree; one that does not is enough for False"""
    agreed = [_agree(layer, _draw(d_model, max_len)) for _ in range(trials)]
    return sum(agreed) > trials / 2


EXERCISE = Exercise(
    function="is_permutation_equivariant",
    reference=reference,
    title="a test that no wrong layer passes",
    minutes=35,
    axes={"d_model": 19, "max_len": 17},
    may_use=None,
    equivalent_mutants={
        "2 -> 1": "a sentence of one token has one order, and tells nothing; many others are tried",
        "(turned - output[order]).abs() -> turned - output[order]": (
            "the two outputs change sides with the order, so that among many trials the larger is"
            " now on one side and now on the other"
        ),
    },
    contract=Contract(points=0),
    checks=(
        Check(
            "it tells equivariant layers from those that know places, whatever they do with them",
            3,
            give_layer,
            sizes=layers(
                SIZES,
                "attends_to_all",
                "treats_each_token_alone",
                "gives_all_the_same_mean",
                "returns_fewer_features",
                "adds_positions",
                "looks_back_only",
                "returns_one_mean",
                "prefers_its_neighbours",
                "passes_on_in_a_ring",
                "mixes_both_sides_in_a_ring",
                "hands_the_rows_back_in_reverse",
                "marks_the_third",
            ),
            hidden_sizes=layers(
                OTHERS,
                "attends_to_all",
                "looks_back_only",
                "mixes_both_sides_in_a_ring",
                "hands_the_rows_back_in_reverse",
                "marks_the_third",
            ),
            invariant=is_judged_right,
        ),
        Check(
            "it refuses a layer that errs with some tokens only, in as many `trials` as are asked",
            1,
            give_layer,
            sizes=layers(
                SIZES, "attends_to_all", "marks_the_first_if_low", "marks_the_first_if_high"
            ),
            hidden_sizes=layers(OTHERS, "marks_the_first_if_low"),
            invariant=tries_often_enough,
        ),
        Check(
            "it refuses a layer that errs with the longest sentences only, or with the shortest",
            1,
            give_layer,
            sizes=layers(
                SIZES,
                "attends_to_all",
                "overlooks_the_last_place",
                "marks_the_first_of_many",
                "marks_the_first_of_two",
            ),
            hidden_sizes=layers(OTHERS, "overlooks_the_last_place", "marks_the_first_of_two"),
            invariant=is_judged_right,
        ),
        Check(
            "outputs may be large, small or zero: rounding is accepted, and a small fault is not,"
            " nor is `nan`",
            1,
            give_layer,
            sizes=layers(
                SIZES,
                "has_large_outputs",
                "returns_zeros",
                "whispers_positions",
                "hints_at_positions",
                "errs_in_one_number",
                "loses_the_first",
            ),
            hidden_sizes=layers(
                OTHERS, "has_large_outputs", "hints_at_positions", "errs_in_one_number"
            ),
            invariant=is_judged_right,
        ),
    ),
    mistakes=mistake.collected,
)
