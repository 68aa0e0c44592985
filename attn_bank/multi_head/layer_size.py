"""Part E of problem set 09, second half: how many layers, and how many numbers to learn."""

from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import (
    Altered,
    Answer,
    Check,
    Contract,
    Exercise,
    Inputs,
    Invariant,
    Mistakes,
    Plain,
    given,
    mistaking,
    then,
)
from torch import Generator


def reference(d_model: int, num_heads: int, num_key_heads: int, bias: bool) -> tuple[int, int]:
    return _layers(num_heads, num_key_heads), _numbers(d_model, num_heads, num_key_heads, bias)


def _layers(num_heads: int, num_key_heads: int) -> int:
    return num_heads + 2 * num_key_heads + 1


def _numbers(d_model: int, num_heads: int, num_key_heads: int, bias: bool) -> int:
    d_shared = d_model // num_heads * num_key_heads
    return 2 * (d_model + d_shared) * (d_model + bias)


def draw_widths(
    generator: Generator, d_head: int, num_heads: int, num_key_heads: int, bias: bool
) -> Inputs:
    # heads of another width than last time
    d_head += 2 * int(torch.randint(5, (), generator=generator))
    return {
        "d_model": num_heads * d_head,
        "num_heads": num_heads,
        "num_key_heads": num_key_heads,
        "bias": bias,
    }


def gives(index: int) -> Invariant:
    """The law that this one of the two numbers is right, by which mistakes are told apart."""

    def judge(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
        output = call(inputs)
        if not isinstance(output, list | tuple) or len(output) != 2:
            return "two numbers are asked, `layers, numbers`", "not two"
        found, wanted = output[index], reference(**inputs)[index]
        if isinstance(found, float) and found == wanted:
            return f"it is {found!r:.20}; expected a whole number, an int", [found]
        return None if found == wanted else (f"it is {found!r:.20}, not {wanted}", found)

    return judge


Size = tuple[int, int]


mistake = Mistakes()


@mistake
def counts_one_layer_a_head(d_model, num_heads, num_key_heads, bias):
    """you count one small layer for each head, as the tutorial does; a head has three, for its
    queries, its keys and its values, and behind all heads stands `W^O`"""
    return num_heads, num_heads * (d_model * (d_model // num_heads) + bias * d_model // num_heads)


@mistake(points=1.5, right="your numbers to learn are right")
def counts_one_layer_a_head_rightly_large(d_model, num_heads, num_key_heads, bias):
    """you count `num_heads` layers; a head has three, for its queries, its keys and its values
    (fewer, where key heads are shared), and behind all heads stands `W^O`"""
    return num_heads, _numbers(d_model, num_heads, num_key_heads, bias)


@mistake(points=1.5)
def counts_packed_matrices(d_model, num_heads, num_key_heads, bias):
    """you count the four large matrices in which a program keeps them; in the picture each head has
    layers of its own: `num_heads` for queries, `num_key_heads` for keys, as many for values, and
    one behind"""
    return 4, _numbers(d_model, num_heads, num_key_heads, bias)


@mistake(points=1.5)
def counts_one_output_layer_a_head(d_model, num_heads, num_key_heads, bias):
    """you count an output layer for each head; cut by heads `W^O` would be a sum of `num_heads`
    products, but the picture has one layer behind all heads"""
    layers = 2 * (num_heads + num_key_heads)
    return layers, _numbers(d_model, num_heads, num_key_heads, bias)


@mistake
def leaves_the_output_layer_out(d_model, num_heads, num_key_heads, bias):
    """you leave `W^O` out, the layer behind the heads"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, bias)
    return layers - 1, numbers - d_model * (d_model + bias)


@mistake(points=1.5, right="your numbers to learn are right")
def counts_the_small_layers_without_the_output(d_model, num_heads, num_key_heads, bias):
    """one layer is missing: `W^O` behind the heads"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, bias)
    return layers - 1, numbers


@mistake
def counts_three_a_head_and_no_more(d_model, num_heads, num_key_heads, bias):
    """three layers for each head are right where nothing is shared; with fewer key heads there are
    `num_key_heads` of keys and as many of values, and behind all heads stands one more, `W^O`"""
    return 3 * num_heads, 3 * d_model * (d_model + bias)


@mistake(points=1.5)
def shares_no_key_heads_in_the_picture(d_model, num_heads, num_key_heads, bias):
    """your small layers are three for each head, which is right where nothing is shared; with fewer
    key heads there are `num_key_heads` of keys and as many of values"""
    return 3 * num_heads + 1, _numbers(d_model, num_heads, num_key_heads, bias)


def _widen_keys_and_values(d_model, num_heads, num_key_heads, bias):
    numbers = 2 * (1 + num_key_heads) * d_model * (d_model + bias)
    return _layers(num_heads, num_key_heads), numbers


@mistake(points=0.5, also=(_widen_keys_and_values,))
def makes_every_head_as_wide_as_the_layer(d_model, num_heads, num_key_heads, bias):
    """you take `d_model` for the width of a head; the heads share the width of the layer, `d_head =
    d_model // num_heads`, so that more heads do not cost more"""
    wide = (num_heads + 2 * num_key_heads) * d_model * (d_model + bias)
    output = d_model * (num_heads * d_model + bias)
    return _layers(num_heads, num_key_heads), wide + output


@mistake(points=0.5)
def widens_shared_keys_and_values(d_model, num_heads, num_key_heads, bias):
    """you divide the width of the layer by the number of key heads for the keys and values; all
    heads are alike, `d_head = d_model // num_heads`, so fewer key heads make fewer numbers"""
    d_key_head = d_model // num_key_heads
    outputs = 2 * d_model + 2 * num_key_heads * d_key_head
    return _layers(num_heads, num_key_heads), outputs * (d_model + bias)


@mistake(points=0.5)
def makes_wide_heads_and_a_narrow_output(d_model, num_heads, num_key_heads, bias):
    """you count `d_model * d_model` for each small layer; the layers of a head are only `d_head =
    d_model // num_heads` wide"""
    layers = _layers(num_heads, num_key_heads)
    return layers, layers * d_model * (d_model + bias)


@mistake(computes=mistaking(reference, num_key_heads="num_heads"))
def gives_every_head_keys_of_its_own():
    """you count keys and values for every head; there are only `num_key_heads` of each, shared by
    the others"""


@mistake
def shares_keys_but_not_values(d_model, num_heads, num_key_heads, bias):
    """you count `num_key_heads` layers of keys, but values for every head; the values are shared as
    the keys are"""
    layers = 2 * num_heads + num_key_heads + 1
    shared = _numbers(d_model, num_heads, num_key_heads, bias)
    return layers, (shared + _numbers(d_model, num_heads, num_heads, bias)) // 2


@mistake(points=1.5, computes=given(reference, bias=False))
def counts_no_biases():
    """you count no biases; with `bias` each layer has one number more for each of its outputs"""


@mistake(points=1, computes=given(reference, bias=True))
def counts_biases_always():
    """you count biases whether or not `bias` says so"""


@mistake(points=1.5)
def counts_one_bias_a_layer(d_model, num_heads, num_key_heads, bias):
    """you count one number of bias for each layer; a bias has one number for each output of its
    layer, `d_head` or, behind the heads, `d_model`"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, False)
    return layers, numbers + bias * layers


@mistake(points=1.5)
def gives_four_full_biases(d_model, num_heads, num_key_heads, bias):
    """you count `4 * d_model` numbers of bias; the biases of keys and values are only
    `num_key_heads * d_head` long"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, False)
    return layers, numbers + bias * 4 * d_model


@mistake(points=1.5)
def gives_the_output_no_bias(d_model, num_heads, num_key_heads, bias):
    """the layer behind the heads has a bias as well, of `d_model` numbers"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, bias)
    return layers, numbers - bias * d_model


@mistake
def returns_the_numbers_only(d_model, num_heads, num_key_heads, bias):
    """you return one number; two are asked: the layers, and the numbers to learn, as in `return
    layers, numbers`"""
    return _numbers(d_model, num_heads, num_key_heads, bias)


@mistake(
    points=0.5,
    computes=then(reference, lambda sizes: (sizes[0], float(sizes[1]))),
    right="your numbers are right",
)
def counts_in_floats():
    """one is a float: `/` makes a float of whole numbers, and `//` divides them into a whole one"""


@mistake(points=1.5)
def counts_a_bias_for_each_input(d_model, num_heads, num_key_heads, bias):
    """you count a number of bias for each input of a layer; it has one for each output, `d_head`
    or, behind the heads, `d_model`"""
    layers, numbers = reference(d_model, num_heads, num_key_heads, False)
    return layers, numbers + bias * layers * d_model


@mistake(points=1.5)
def counts_three_for_each_head(d_model, num_heads, num_key_heads, bias):
    """you count three layers for each head; keys and values have a layer for each of their own
    heads, which may be fewer, and there is one behind the heads"""
    return 3 * num_heads, _numbers(d_model, num_heads, num_key_heads, bias)


def _join_keys_and_values(answer: Answer, **inputs: Any) -> Plain:
    layers, numbers = answer(**inputs)
    return layers - inputs["num_key_heads"], numbers


@mistake(points=1.5, computes=Altered(reference, _join_keys_and_values))
def counts_keys_and_values_as_one():
    """you count one layer for each key head; it takes two, one for its keys and one for its
    values"""


@mistake(points=0.5)
def makes_four_square_matrices(d_model, num_heads, num_key_heads, bias):
    """you count four matrices of `d_model` times `d_model`; keys and values have fewer rows where
    they have fewer heads, `num_key_heads` times the width of a head, which is `d_model //
    num_heads`"""
    return _layers(num_heads, num_key_heads), 4 * d_model * (d_model + bias)


@mistake(points=0.5)
def counts_no_numbers_of_the_output(d_model, num_heads, num_key_heads, bias):
    """the numbers of `W^O` are missing, `d_model` times `d_model`"""
    numbers = _numbers(d_model, num_heads, num_key_heads, bias)
    return _layers(num_heads, num_key_heads), numbers - d_model * (d_model + bias)


@mistake(computes=then(reference, lambda sizes: sizes[::-1]))
def returns_the_numbers_first():
    """you return the numbers to learn first; the layers come first"""


@mistake(points=0.5, computes=given(reference, bias=lambda bias: not bias))
def turns_the_bias_round():
    """you count biases where there are none, and none where there are: `bias` is True if each layer
    adds one"""


@mistake(points=0.5)
def makes_small_layers_square(d_model, num_heads, num_key_heads, bias):
    """your small layers lead from `d_head` features to `d_head`; each reads whole tokens, so it
    leads from `d_model` features to `d_head`"""
    d_head = d_model // num_heads
    small = (num_heads + 2 * num_key_heads) * d_head * (d_head + bias)
    return _layers(num_heads, num_key_heads), small + d_model * (d_model + bias)


@mistake(points=0.5)
def counts_keys_without_values(d_model, num_heads, num_key_heads, bias):
    """you count one matrix for keys and values together; each has its own"""
    d_shared = d_model // num_heads * num_key_heads
    numbers = (2 * d_model + d_shared) * (d_model + bias)
    return _layers(num_heads, num_key_heads), numbers


def _one_each(d_model: int, num_heads: int, num_key_heads: int, bias: bool) -> Size:
    return num_heads + 1, _numbers(d_model, num_heads, num_heads, bias)


@mistake(points=1.5, also=(_one_each,))
def counts_one_a_head_and_one_behind(d_model, num_heads, num_key_heads, bias):
    """you count one layer for each head and one behind; a head has three small layers, for its
    queries, its keys and its values (fewer, where key heads are shared)"""
    return num_heads + 1, _numbers(d_model, num_heads, num_key_heads, bias)


EXERCISE = Exercise(
    function="layer_size",
    reference=reference,
    minutes=12,
    axes={"d_head": 31, "num_heads": 17},
    contract=Contract(points=0),
    checks=(
        Check(
            "the number of layers, `W^O` included",
            0.5,
            draw_widths,
            sizes=(
                {"d_head": 4, "num_heads": 2, "num_key_heads": 2, "bias": False},
                {"d_head": 5, "num_heads": 6, "num_key_heads": 3, "bias": True},
            ),
            hidden_sizes=(
                {"d_head": 3, "num_heads": 5, "num_key_heads": 5, "bias": False},
                {"d_head": 2, "num_heads": 6, "num_key_heads": 1, "bias": False},
            ),
            invariant=gives(0),
        ),
        Check(
            "the numbers that they learn, without bias",
            1,
            draw_widths,
            sizes=(
                {"d_head": 4, "num_heads": 2, "num_key_heads": 2, "bias": False},
                {"d_head": 5, "num_heads": 6, "num_key_heads": 3, "bias": False},
            ),
            hidden_sizes=(
                {"d_head": 7, "num_heads": 8, "num_key_heads": 2, "bias": False},
                {"d_head": 3, "num_heads": 5, "num_key_heads": 5, "bias": False},
            ),
            invariant=gives(1),
        ),
        Check(
            "the numbers that they learn, with a bias in every layer",
            0.5,
            draw_widths,
            sizes=(
                {"d_head": 3, "num_heads": 4, "num_key_heads": 4, "bias": True},
                {"d_head": 7, "num_heads": 6, "num_key_heads": 2, "bias": True},
            ),
            hidden_sizes=(
                {"d_head": 5, "num_heads": 8, "num_key_heads": 4, "bias": True},
                {"d_head": 2, "num_heads": 3, "num_key_heads": 1, "bias": True},
            ),
            invariant=gives(1),
        ),
    ),
    mistakes=mistake.collected,
)
