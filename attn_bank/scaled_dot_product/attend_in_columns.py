"""Part E of problem set 07, second snippet: vectors in columns, and an axis that stayed behind."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, transposed
from torch import Generator, Tensor

from attn_bank.scaled_dot_product import as_columns, draw_vectors
from attn_bank.softmaxes import twice, whole_table
from attn_course import scaled_dot_product


def reference(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product.attention(query.mT, key.mT, value.mT).mT


def draw_columns(generator: Generator, **sizes: int) -> Inputs:
    return as_columns(draw_vectors(generator, **sizes))


def _attend(
    query: Tensor, key: Tensor, value: Tensor, *, width: float | None = None, dim: int = -2
) -> Tensor:
    """Scores with a row for each key; `width` is that whose root they are divided by."""
    width = query.shape[-2] if width is None else width
    return value @ torch.softmax(key.mT @ query / math.sqrt(width), dim)


mistake = Mistakes()


@mistake
def changes_nothing(query, key, value):
    """both bugs are still there: over which axis of the scores does the softmax run, and what does
    the last axis of `query` count?"""
    return _attend(query, key, value, width=query.shape[-1], dim=-1)


@mistake(right="the root is right", slip=0.5)
def mends_the_scale_only(query, key, value):
    """the softmax still runs along the last axis, where the queries lie now: the keys are the rows
    of `key.mT @ query`"""
    return _attend(query, key, value, dim=-1)


@mistake(right="the axis is right", slip=0.5)
def mends_the_axis_only(query, key, value):
    """you still take the root of the number of queries, which are the columns now; the features are
    on axis -2"""
    return _attend(query, key, value, width=query.shape[-1])


@mistake
def takes_the_number_of_keys(query, key, value):
    """you divide by the root of the number of keys, which are the columns of `key`; the features
    are on axis -2"""
    return _attend(query, key, value, width=key.shape[-1])


@mistake
def takes_the_width_of_the_values(query, key, value):
    """you divide by the root of the width of the values; the scores are made of queries and keys:
    `query.shape[-2]`"""
    return _attend(query, key, value, width=value.shape[-2])


@mistake(slip=True, points=0.5)
def takes_the_width_of_the_first_axis(query, key, value):
    """you take the number of features from axis 0, where they are only without a batch; count from
    the back, `query.shape[-2]`"""
    return _attend(query, key, value, width=query.shape[0])


@mistake
def leaves_the_scale_out(query, key, value):
    """the root is gone; divide the scores by the root of the number of features,
    `query.shape[-2]`"""
    return _attend(query, key, value, width=1)


@mistake
def divides_by_the_width(query, key, value):
    """you divide by the number of features; it is the root of that number"""
    return _attend(query, key, value, width=query.shape[-2] ** 2)


@mistake(slip=True, points=0.5)
def takes_axis_zero(query, key, value):
    """you took axis 0, which is the keys' only where there is nothing in front; count from the
    back, `dim=-2`"""
    return _attend(query, key, value, dim=0)


@mistake(slip=True)
def takes_axis_one(query, key, value):
    """you took axis 1, which is the keys' only where there is one axis in front; count from the
    back, `dim=-2`"""
    return _attend(query, key, value, dim=1)


@mistake
def halves_the_quotient(query, key, value):
    """`d ** 1/2` is `(d ** 1) / 2`, so that you divide by the width, and then by 2: write `d **
    (1/2)` or `d ** 0.5`"""
    return _attend(query, key, value, width=4 * query.shape[-2] ** 2)


@mistake(slip=True, points=1)
def knows_one_batch_axis_only(query, key, value):
    """your answer is right for two axes and for three, and not for four; count from the back, `.mT`
    and `dim=-2`, and no cases are needed"""
    return _attend(query, key, value, dim=query.ndim // 3)


@mistake(points=1)
def needs_a_batch(query, key, value):
    """your answer needs a batch; matrices without one should do as well: `@` and `.mT` take both"""
    _batch, *_, _d_key, _query_len = query.shape
    scores = key.transpose(-2, -1) @ query / math.sqrt(query.shape[-2])
    return value @ torch.softmax(scores, query.ndim - 2 if query.ndim > 2 else 1)


@mistake(computes=transposed(reference), right="your numbers are right")
def returns_rows():
    """your output is transposed: columns come in, so columns go out, `(*batch, d_value,
    query_len)`"""


@mistake
def takes_columns_for_rows(query, key, value):
    """you use the formula for rows as it is; here a feature is a row and a token a column"""
    return scaled_dot_product.attention(query, key, value)


@mistake
def lets_the_keys_ask(query, key, value):
    """where your weights meet the values, a row of them belongs to a query and a column to a key; a
    column of the output belongs to a query, and so must a column of weights. Transpose them, or
    begin with `key.mT @ query`"""
    return value @ torch.softmax(query.mT @ key / math.sqrt(query.shape[-2]), -1)


@mistake
def returns_the_weights(query, key, value):
    """you return the weights; multiply the values with them, from the left"""
    return torch.softmax(key.mT @ query / math.sqrt(query.shape[-2]), -2)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake
def multiplies_by_the_root(query, key, value):
    """you multiply by the root of the width; divide by it"""
    return reference(query * query.shape[-2], key, value)


@mistake
def scales_the_output(query, key, value):
    """you divide the output by the root, or the weights, which no longer sum to 1; divide the
    scores, before the softmax"""
    return leaves_the_scale_out(query, key, value) / query.shape[-2] ** 0.5


@mistake(slip=True, points=0.5)
def counts_both_axes_from_the_front(query, key, value):
    """you count from the front, and axis 0 is the first of a batch where there is one: from the
    back, width and keys are axis -2"""
    return value @ torch.softmax(key.mT @ query / query.shape[0] ** 0.5, 0)


@mistake(slip=False)  # fits where the width is 4
def divides_by_two(query, key, value):
    """you divide by 2, which is right for the width 4 of the example and for no other: take the
    width from the shape, `query.shape[-2]`"""
    return _attend(query, key, value, width=4)


@mistake
def transposes_the_values(query, key, value):
    """you transpose the values; they are columns, and the output has columns too: `value @ weights`
    as they are"""
    return value.mT @ torch.softmax(key.mT @ query / math.sqrt(query.shape[-2]), -2)


EXERCISE = Exercise(
    function="attend_in_columns",
    reference=reference,
    minutes=10,
    axes={"batch": 17, "query_len": 43, "key_len": 97, "d_key": 31, "d_value": 31},
    avoid=("attention",),
    contract=Contract(
        batch=("query", "key", "value"),
        any_axes=True,
        exempts={"cuts off": "gradients are asked in part A, whose formula this is"},
    ),
    checks=(
        Check(
            "one column of the output for each column of queries",
            0.5,
            draw_columns,
            sizes=(
                {"query_len": 3, "key_len": 3, "d_key": 5, "d_value": 3},
                {"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},
            ),
            hidden_sizes=({"query_len": 7, "key_len": 2, "d_key": 3, "d_value": 11},),
        ),
        Check(
            "the same with any number of axes in front",
            1,
            draw_columns,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_key": 7, "d_value": 11},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 5, "key_len": 11, "d_key": 4},
                    "d_value": 7,
                },
            ),
            hidden_sizes=(
                {"batch": 5, "query_len": 2, "key_len": 7, "d_key": 11, "d_value": 3},
                {
                    **{"batch": 3, "num_heads": 2, "query_len": 7, "key_len": 5, "d_key": 4},
                    "d_value": 11,
                },
            ),
        ),
    ),
    mistakes=mistake.collected,
)
