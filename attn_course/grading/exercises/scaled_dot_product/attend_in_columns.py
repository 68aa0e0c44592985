"""Part E of problem set 07, second snippet: vectors in columns, and an axis that stayed behind."""

import math

import torch
from torch import Generator, Tensor

from attn_course import scaled_dot_product
from attn_course.grading.exercises.scaled_dot_product import as_columns, draw_vectors
from attn_course.grading.spec import Check, Exercise, Inputs, Mistake


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


def changes_nothing(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=query.shape[-1], dim=-1)


def mends_the_scale_only(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, dim=-1)


def mends_the_axis_only(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=query.shape[-1])


def takes_the_number_of_keys(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=key.shape[-1])


def takes_the_width_of_the_values(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=value.shape[-2])


def leaves_the_scale_out(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=1)


def divides_by_the_width(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=query.shape[-2] ** 2)


def halves_the_quotient(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, width=4 * query.shape[-2] ** 2)


def knows_one_batch_axis_only(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, dim=query.ndim // 3)


def needs_a_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    _batch, *_, _d_key, _query_len = query.shape
    scores = key.transpose(-2, -1) @ query / math.sqrt(query.shape[-2])
    return value @ torch.softmax(scores, query.ndim - 2 if query.ndim > 2 else 1)


def drops_axes_of_length_one(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return reference(query, key, value).squeeze()


def writes_into_the_queries(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    query /= math.sqrt(query.shape[-2])
    return value @ torch.softmax(key.mT @ query, -2)


def works_in_single_precision(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return reference(query.float(), key.float(), value.float())


def takes_axis_zero(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, dim=0)


def takes_axis_one(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return _attend(query, key, value, dim=1)


def returns_rows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return reference(query, key, value).mT


def takes_columns_for_rows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product.attention(query, key, value)


def lets_the_keys_ask(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return value @ torch.softmax(query.mT @ key / math.sqrt(query.shape[-2]), -1)


def returns_the_weights(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(key.mT @ query / math.sqrt(query.shape[-2]), -2)


def works_in_double_precision(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return reference(query.double(), key.double(), value.double())


EXERCISE = Exercise(
    function="attend_in_columns",
    reference=reference,
    avoid=("scaled_dot_product_attention", "multi_head_attention_forward"),
    checks=(
        Check(
            "one column of the output for each column of queries",
            1,
            draw_columns,
            sizes=(
                {"query_len": 3, "key_len": 3, "d_key": 5, "d_value": 3},
                {"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},
            ),
            hidden_sizes=({"query_len": 7, "key_len": 2, "d_key": 3, "d_value": 11},),
        ),
        Check(
            "the same with any number of axes in front; what comes in stays as it is",
            1,
            draw_columns,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_key": 7, "d_value": 11},
                {"batch": 1, "query_len": 1, "key_len": 2, "d_key": 3, "d_value": 7},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 5, "key_len": 2, "d_key": 3},
                    "d_value": 7,
                },
            ),
            hidden_sizes=(
                {"batch": 5, "query_len": 2, "key_len": 7, "d_key": 11, "d_value": 3},
                {
                    **{"batch": 3, "num_heads": 2, "query_len": 7, "key_len": 5, "d_key": 2},
                    "d_value": 3,
                },
            ),
            dtype=torch.float64,
            untouched=True,
        ),
    ),
    mistakes=(
        Mistake(
            changes_nothing,
            "both bugs are still there: over which axis of the scores does the softmax run, and"
            " what does the last axis of `query` count?",
            score=0,
        ),
        Mistake(
            mends_the_scale_only,
            "the scale is right. The softmax still runs along the last axis, which is now that of"
            " the queries: the keys are the rows of `key.mT @ query`",
            score=0,
        ),
        Mistake(
            mends_the_axis_only,
            "the axis is right. The scale is still the root of the number of queries, which are the"
            " columns now; the features are on axis -2",
            score=0,
        ),
        Mistake(
            takes_the_number_of_keys,
            "you scale by the root of the number of keys, which are the columns of `key`; the"
            " features are on axis -2",
            score=0,
        ),
        Mistake(
            takes_the_width_of_the_values,
            "you scale by the width of the values; the scores are made of queries and keys:"
            " `query.shape[-2]`",
            score=0,
        ),
        Mistake(
            leaves_the_scale_out,
            "the scale is gone; divide the scores by the root of the number of features,"
            " `query.shape[-2]`",
            score=0,
        ),
        Mistake(
            divides_by_the_width,
            "you divide by the number of features; it is the root of that number",
            score=0,
        ),
        Mistake(
            takes_axis_zero,
            "you took axis 0, which is the keys' only where there is nothing in front; count from"
            " the back, `dim=-2`",
            score=1,
        ),
        Mistake(
            takes_axis_one,
            "you took axis 1, which is the keys' only where there is one axis in front; count from"
            " the back, `dim=-2`",
            score=0,
        ),
        Mistake(
            halves_the_quotient,
            "`d ** 1/2` is `(d ** 1) / 2`, so that you divide by the width, and then by 2: write"
            " `d ** (1/2)` or `d ** 0.5`",
            score=0,
        ),
        Mistake(
            knows_one_batch_axis_only,
            "your answer is right for two axes and for three, and not for four; count from the"
            " back, `.mT` and `dim=-2`, and no cases are needed",
            score=1,
        ),
        Mistake(
            needs_a_batch,
            "your answer needs a batch; matrices without one should do as well: `@` and `.mT` take"
            " both",
            score=1,
        ),
        Mistake(
            drops_axes_of_length_one,
            "`squeeze()` takes away every axis of length 1, also a batch of one and a single query;"
            " leave it out",
            score=1,
        ),
        Mistake(
            writes_into_the_queries,
            "your output is right, but `query /= ...` writes into the tensor of the caller, whose"
            " queries become shorter at each call: write `query = query / ...`",
            score=1,
        ),
        Mistake(
            works_in_single_precision,
            "you compute in float32 and return it; the output has the dtype of the inputs, which"
            " may be float64",
            score=1,
        ),
        Mistake(
            returns_rows,
            "your numbers are right and your output is transposed: columns come in, so columns go"
            " out, `(*batch, d_value, query_len)`",
            score=0,
        ),
        Mistake(
            takes_columns_for_rows,
            "you use the formula for rows as it is; here a feature is a row and a token a column",
            score=0,
        ),
        Mistake(
            lets_the_keys_ask,
            "queries and keys have changed places: for each key you average over the queries",
            score=0,
        ),
        Mistake(
            returns_the_weights,
            "you return the weights; multiply the values with them, from the left",
            score=0,
        ),
        Mistake(
            works_in_double_precision,
            "you compute in float64 and return it; the output has the dtype of the inputs",
            score=1,
        ),
    ),
)
