"""Part D of problem set 09: packed weights of published layers, taken apart."""

from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight

Parts = tuple[Tensor, ...]


def reference(weight: Tensor, bias: Tensor, num_heads: int, by_head: bool) -> Parts:
    return _parts(weight, num_heads, by_head) + _parts(bias, num_heads, by_head)


def _parts(packed: Tensor, num_heads: int, by_head: bool) -> Parts:
    """Rows of the queries, of the keys and of the values, each in the order of the heads."""
    if not by_head:
        return packed.chunk(3)
    return tuple(part.flatten(0, 1) for part in packed.unflatten(0, (num_heads, 3, -1)).unbind(1))


def draw_layer(
    generator: Generator, num_heads: int, d_head: int, d_input: int, by_head: bool
) -> Inputs:
    rows = 3 * num_heads * d_head
    return {
        "weight": draw_weight(generator, rows, d_input),
        "bias": draw_normal(generator, rows),
        "num_heads": num_heads,
        "by_head": by_head,
    }


mistake = Mistakes()


@mistake(points=1, computes=given(reference, by_head=False))
def knows_pytorch_only():
    """where `by_head` is True your three parts are still the thirds of the rows, in the order in
    which they come, and the first third holds queries, keys and values of the first heads: cut into
    `(num_heads, 3, d_head)` rows, and swap the first two of these axes"""


@mistake(points=2, computes=given(reference, by_head=True))
def knows_the_tutorial_only():
    """you take the rows apart head by head whatever `by_head` says; PyTorch has all queries in the
    first third, so three equal parts are what you want: `chunk(3)`"""


@mistake(computes=given(reference, by_head=lambda by_head: not by_head))
def takes_one_layout_for_the_other():
    """you have the two layouts the wrong way round: where `by_head` is True, the rows of head 0
    come first, its queries, keys and values"""


@mistake(points=1)
def sorts_in_the_wrong_direction(weight, bias, num_heads, by_head):
    """you sort from PyTorch's layout into the other: the rows that you get lie as `(num_heads,
    3, d_head)`, so cut them so. With three heads both directions are the same, with two or five
    they are not"""
    if by_head:
        weight, bias = (
            packed.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten(0, 2)
            for packed in (weight, bias)
        )
    return *weight.chunk(3), *bias.chunk(3)


@mistake(points=1)
def takes_every_third_row(weight, bias, num_heads, by_head):
    """you take every third row, as if query, key and value took turns; within a head come `d_head`
    rows of the queries, then as many of the keys: `(num_heads, 3, d_head)`"""
    if not by_head:
        return reference(weight, bias, num_heads, by_head)
    return tuple(packed[start::3] for packed in (weight, bias) for start in range(3))


@mistake(points=1)
def sorts_within_the_heads(weight, bias, num_heads, by_head):
    """you have the right rows of queries, keys and values, but mix the heads; first all `d_head`
    rows of head 0, then all of head 1"""
    if not by_head:
        return reference(weight, bias, num_heads, by_head)
    return tuple(
        part.transpose(0, 1).flatten(0, 1)
        for packed in (weight, bias)
        for part in packed.unflatten(0, (num_heads, 3, -1)).unbind(1)
    )


@mistake(points=1, right="your weights are right")
def leaves_the_bias_packed_by_heads(weight, bias, num_heads, by_head):
    """`bias` is packed in the same way as `weight`, and you cut it into thirds; sort it too. (A new
    layer hides this: its biases are all zero)"""
    return _parts(weight, num_heads, by_head) + bias.chunk(3)


@mistake(right="your rows are right")
def leaves_the_heads_on_an_axis(weight, bias, num_heads, by_head):
    """the heads still have an axis of their own; a matrix of all heads is asked, `(d_model,
    d_input)`: `flatten(0, 1)`"""
    parts = reference(weight, bias, num_heads, by_head)
    return tuple(part.unflatten(0, (num_heads, -1)) for part in parts)


@mistake
def begins_with_the_keys(weight, bias, num_heads, by_head):
    """you take the first part for the keys; the order is query, key, value: it is
    `in_proj_weight[:d_model]` that makes the queries"""
    parts = reference(weight, bias, num_heads, by_head)
    return *parts[1:3], parts[0], *parts[4:], parts[3]


@mistake
def exchanges_keys_and_queries(weight, bias, num_heads, by_head):
    """you have exchanged queries and keys; the order is query, key, value. Without a mask and on
    the same tokens the scores would only be transposed, so 'the loss is not so bad' proves
    nothing"""
    query, key, value, *biases = reference(weight, bias, num_heads, by_head)
    return key, query, value, biases[1], biases[0], biases[2]


@mistake
def turns_the_weights(weight, bias, num_heads, by_head):
    """you transpose the weights; leave them as they are stored, one row for each output"""
    *weights, a, b, c = reference(weight, bias, num_heads, by_head)
    return *(part.mT for part in weights), a, b, c


def _cut_sorted_rows(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool, cut: Callable[[Tensor], Parts]
) -> Parts:
    """The solution, but for how the rows are cut once they are in PyTorch's order."""
    parts = reference(weight, bias, num_heads, by_head)
    return *cut(torch.cat(parts[:3])), *cut(torch.cat(parts[3:]))


def _chunk_columns(**inputs: Any) -> Parts:
    return _cut_sorted_rows(**inputs, cut=lambda packed: packed.chunk(3, -1))


@mistake(also=(_chunk_columns,))
def cuts_the_columns(weight, bias, num_heads, by_head):
    """you cut the columns of `weight`; its columns belong to the input and its rows to what is made
    of it, so cut rows"""
    return *weight.tensor_split(3, -1), *reference(weight, bias, num_heads, by_head)[3:]


@mistake
def returns_weight_and_bias_in_pairs(weight, bias, num_heads, by_head):
    """you return weight and bias in pairs; first come the three weights, then the three biases:
    `w_query, w_key, w_value, b_query, b_key, b_value`"""
    parts = reference(weight, bias, num_heads, by_head)
    return tuple(part for pair in zip(parts[:3], parts[3:], strict=True) for part in pair)


@mistake(computes=then(reference, lambda output: output[:3]))
def leaves_the_bias_out():
    """you return three weights; the three parts of `bias` come behind them"""


@mistake
def puts_values_before_keys(weight, bias, num_heads, by_head):
    """you return the values before the keys; the order is query, key, value, for weights and for
    biases"""
    query, key, value, *biases = reference(weight, bias, num_heads, by_head)
    return query, value, key, biases[0], biases[2], biases[1]


@mistake
def returns_two_triples(weight, bias, num_heads, by_head):
    """you return two things, each of three; six things side by side are asked for"""
    found = reference(weight, bias, num_heads, by_head)
    return found[:3], found[3:]


@mistake
def returns_the_biases_first(weight, bias, num_heads, by_head):
    """you return the biases first; the three weights come first"""
    found = reference(weight, bias, num_heads, by_head)
    return *found[3:], *found[:3]


@mistake(points=1)
def swaps_parts_and_features(weight, bias, num_heads, by_head):
    """you swap the wrong two axes: of heads, the three parts and the features of a head, the first
    two swap"""
    if by_head:
        weight, bias = (
            packed.unflatten(0, (num_heads, 3, -1)).transpose(1, 2).flatten(0, 2)
            for packed in (weight, bias)
        )
    return *weight.chunk(3), *bias.chunk(3)


def _split_sorted_rows(**inputs: Any) -> Parts:
    return _cut_sorted_rows(**inputs, cut=lambda packed: packed.split(3))


@mistake(also=(_split_sorted_rows,))
def takes_three_rows_at_a_time(weight, bias, num_heads, by_head):
    """`split(3)` cuts into pieces of three rows; cut into three pieces: `chunk(3)`"""
    return *weight.split(3), *bias.split(3)


def _leave_axes(weight: Tensor, bias: Tensor, num_heads: int, by_head: bool) -> Parts:
    if by_head:
        packed = (weight, bias)
        weight, bias = (t.unflatten(0, (num_heads, 3, -1)).transpose(0, 1) for t in packed)
    return *weight.chunk(3), *bias.chunk(3)


def _leave_axes_of_the_weight(weight, bias, num_heads, by_head):
    biases = reference(weight, bias, num_heads, by_head)[3:]
    return *_leave_axes(weight, bias, num_heads, by_head)[:3], *biases


@mistake(points=1, also=(_leave_axes_of_the_weight,))
def leaves_the_rows_on_three_axes(weight, bias, num_heads, by_head):
    """where `by_head` is True your rows still lie on several axes, for the three parts, the heads
    and `d_head`; make one axis of these three, `flatten(0, 2)`, before you cut it into thirds"""
    return _leave_axes(weight, bias, num_heads, by_head)


def _cut_with_slices(weight: Tensor, bias: Tensor, num_heads: int, by_head: bool) -> Parts:
    """Slices do not mind where they are too long or too short."""
    if not by_head:
        return reference(weight, bias, num_heads, by_head)
    d_head = weight.shape[1] // num_heads
    starts = [[(3 * head + part) * d_head for head in range(num_heads)] for part in range(3)]
    return tuple(
        torch.cat([packed[start : start + d_head] for start in of_part])
        for packed in (weight, bias)
        for of_part in starts
    )


@mistake(points=1, also=(_cut_with_slices,))
def takes_the_width_from_the_input(weight, bias, num_heads, by_head):
    """you take `d_head` from the columns of `weight`, which are as many as a token has features;
    the rows say how wide a head is: `len(weight) // (3 * num_heads)`, or -1 in `unflatten`"""
    if by_head:
        d_head = weight.shape[1] // num_heads
        weight = weight.view(num_heads, 3, d_head, -1).transpose(0, 1).flatten(0, 2)
        bias = bias.view(num_heads, 3, d_head).transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


EXERCISE = Exercise(
    function="separate_projections",
    reference=reference,
    title="weights of published layers, packed in two ways",
    minutes=20,
    axes={"num_heads": 17, "d_head": 31, "d_input": 31},
    contract=Contract(),
    checks=(
        Check(
            "as PyTorch packs them: all rows of the queries, then all of the keys, then all of the"
            " values",
            0.5,
            draw_layer,
            sizes=(
                {"num_heads": 2, "d_head": 5, "d_input": 10, "by_head": False},
                {"num_heads": 5, "d_head": 2, "d_input": 1, "by_head": False},
            ),
            hidden_sizes=({"num_heads": 7, "d_head": 3, "d_input": 5, "by_head": False},),
        ),
        Check(
            "packed by head: for each head its queries, its keys and its values",
            2,
            draw_layer,
            sizes=(
                {"num_heads": 2, "d_head": 5, "d_input": 10, "by_head": True},
                {"num_heads": 3, "d_head": 2, "d_input": 11, "by_head": True},
            ),
            hidden_sizes=(
                {"num_heads": 7, "d_head": 3, "d_input": 5, "by_head": True},
                {"num_heads": 5, "d_head": 11, "d_input": 2, "by_head": True},
            ),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "t.transpose(0, 1) -> t.transpose(1, 0)": "the same two axes, swapped",
    },
)
