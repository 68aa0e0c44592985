"""Part A of problem set 05: the dot product that has learned what to compare."""

import torch
from torch import Generator, Tensor

from attn_course import luong
from attn_course.grading.exercises.luong import draw_normal, draw_weight, in_front
from attn_course.grading.spec import Check, Exercise, Inputs, Mistake


def reference(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return luong.general_scores(query, key, weight)


def draw_states(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_query: int,
    d_key: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    before = in_front(batch) + in_front(beams)
    return {
        "query": draw_normal(generator, *before, query_len, d_query),
        "key": draw_normal(generator, *before, key_len, d_key),
        "weight": draw_weight(generator, d_query, d_key),
    }


def transposes_the_weight(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight.mT @ key.mT


def puts_queries_on_the_last_axis(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return key @ (query @ weight).mT


def leaves_the_weight_out(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ key.mT


def weighs_both_sides(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return (query @ weight) @ (key @ weight).mT


def scales_by_the_width_of_the_keys(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight @ key.mT / key.shape[-1] ** 0.5


def scales_by_the_width_of_the_queries(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight @ key.mT / query.shape[-1] ** 0.5


def squashes_the_query(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.tanh(query @ weight) @ key.mT


def squashes_the_score(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.tanh(query @ weight @ key.mT)


def returns_weights(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(query @ weight @ key.mT, -1)


def compares_words_in_the_same_place(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return (query @ weight * key).sum(-1)


def mixes_the_batch(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    key = key.flatten(0, -3).sum(0) if key.ndim > 2 else key
    return query @ weight @ key.mT


def knows_one_batch_axis_only(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.einsum("bqd,de,bke->bqk", query, weight, key)


def counts_axes_from_the_front(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight @ key.transpose(0, 1)


def turns_all_axes_round(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight @ key.permute(*reversed(range(key.ndim)))


def takes_the_weight_for_a_constant(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight.detach() @ key.mT


def takes_the_keys_for_constants(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ (key.detach() @ weight.mT).mT


def works_in_double_precision(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query.double() @ weight.double() @ key.double().mT


EXERCISE = Exercise(
    function="general_scores",
    reference=reference,
    checks=(
        Check(
            "every query is scored against every key, `q W k`, also where queries and keys differ"
            " in width; any number of axes may come before",
            2,
            draw_states,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_query": 7, "d_key": 7},
                {"batch": 3, "query_len": 5, "key_len": 7, "d_query": 2, "d_key": 11},
                {"query_len": 2, "key_len": 3, "d_query": 7, "d_key": 5},
            ),
            hidden_sizes=(
                {"batch": 5, "query_len": 7, "key_len": 2, "d_query": 11, "d_key": 3},
                {"query_len": 3, "key_len": 3, "d_query": 3, "d_key": 3},
                {"batch": 2, "beams": 3, "query_len": 1, "key_len": 5, "d_query": 5, "d_key": 7},
            ),
        ),
        Check(
            "the right gradient reaches `query`, `key` and `weight`",
            1,
            draw_states,
            sizes=({"batch": 2, "query_len": 3, "key_len": 5, "d_query": 2, "d_key": 7},),
            hidden_sizes=({"batch": 3, "query_len": 2, "key_len": 7, "d_query": 5, "d_key": 3},),
            gradient=("query", "key", "weight"),
        ),
    ),
    mistakes=(
        Mistake(
            transposes_the_weight,
            "you use the transpose of `weight`: its rows meet the query and its columns the key, so"
            " it is `query @ weight`; with a square matrix no error says so",
            score=0,
        ),
        Mistake(
            puts_queries_on_the_last_axis,
            "your table is transposed: one row for each query, one column for each key",
            score=0,
        ),
        Mistake(
            leaves_the_weight_out,
            "you take the plain dot product of query and key, which is the score called dot;"
            " `weight` comes between the two",
            score=0,
        ),
        Mistake(
            weighs_both_sides,
            "you multiply both the query and the key by `weight`; it stands between them once",
            score=0,
        ),
        Mistake(
            scales_by_the_width_of_the_keys,
            "you divide by the root of the width, as a later chapter will; this score is `q W k`"
            " as it is",
            score=0,
        ),
        Mistake(
            scales_by_the_width_of_the_queries,
            "you divide by the root of the width of the queries; this score is `q W k` as it is",
            score=0,
        ),
        Mistake(
            squashes_the_query,
            "there is a `tanh` in your score; that belongs to the additive one, and this one is"
            " linear in the query",
            score=0,
        ),
        Mistake(
            squashes_the_score,
            "you take the `tanh` of the score; it should be free to be large",
            score=0,
        ),
        Mistake(
            returns_weights,
            "you return weights; the scores are wanted, from before the softmax",
            score=0,
        ),
        Mistake(
            compares_words_in_the_same_place,
            "you score each query against the key in the same place; every query meets every key,"
            " as in the matrix product with `key.mT`",
            score=0,
        ),
        Mistake(
            mixes_the_batch,
            "you sum the keys of all sentences of the batch; each sentence keeps to its own",
            score=0,
        ),
        Mistake(
            knows_one_batch_axis_only,
            "your answer is right for three axes and for no other number: let `@` broadcast, or"
            " write `...` for the axes before in `einsum`",
            score=1,
        ),
        Mistake(
            counts_axes_from_the_front,
            "you swap the first two axes of the keys; swap the last two, `key.mT`",
            score=0,
        ),
        Mistake(
            turns_all_axes_round,
            "you turn the order of all axes round, as `.T` does; only the last two should swap,"
            " which is `.mT`",
            score=0,
        ),
        Mistake(
            takes_the_weight_for_a_constant,
            "you cut `weight` off from the graph, so it will never learn; drop `detach` and `data`",
            score=2,
        ),
        Mistake(
            takes_the_keys_for_constants,
            "you cut the keys off from the graph, so the encoder will learn nothing from the"
            " scores; drop `detach` and `data`",
            score=2,
        ),
        Mistake(
            works_in_double_precision,
            "you compute in float64 and return it; the output has the dtype of the inputs",
            score=1,
        ),
    ),
)
