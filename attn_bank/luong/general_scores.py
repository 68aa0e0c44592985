"""Part A of problem set 05: the dot product that has learned what to compare."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight, in_front
from attn_course import luong


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


mistake = Mistakes()


def _multiply_by_the_transpose(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return query @ weight.mT @ key.mT  # where widths differ, torch says other words than we do


@mistake(
    computes=given(reference, weight=lambda weight: weight.mT), also=(_multiply_by_the_transpose,)
)
def transposes_the_weight():
    """you use the transpose of `weight`: its rows meet the query and its columns the key, so it is
    `query @ weight`; with a square matrix no error says so"""


@mistake
def puts_queries_on_the_last_axis(query, key, weight):
    """your table is transposed: one row for each query, one column for each key"""
    return key @ (query @ weight).mT


@mistake
def leaves_the_weight_out(query, key, weight):
    """you take the plain dot product of query and key, which is the score called dot; `weight`
    comes between the two"""
    return query @ key.mT


@mistake
def weighs_both_sides(query, key, weight):
    """you multiply both the query and the key by `weight`; it stands between them once"""
    return (query @ weight) @ (key @ weight).mT


@mistake(computes=given(reference, key=lambda key: key / key.shape[-1] ** 0.5))
def scales_by_the_width_of_the_keys():
    """you divide by the root of the width, as a later chapter will; this score is `q W k` as it
    is"""


@mistake(computes=given(reference, query=lambda query: query / query.shape[-1] ** 0.5))
def scales_by_the_width_of_the_queries():
    """you divide by the root of the width of the queries; this score is `q W k` as it is"""


@mistake
def squashes_the_query(query, key, weight):
    """there is a `tanh` in your score; that belongs to the additive one, and this one is linear in
    the query"""
    return torch.tanh(query @ weight) @ key.mT


@mistake
def squashes_the_score(query, key, weight):
    """you take the `tanh` of the score; it should be free to be large"""
    return torch.tanh(query @ weight @ key.mT)


@mistake
def returns_weights(query, key, weight):
    """you return weights; the scores are wanted, from before the softmax"""
    return torch.softmax(query @ weight @ key.mT, -1)


@mistake
def compares_words_in_the_same_place(query, key, weight):
    """you score each query against the key in the same place; every query meets every key, as in
    the matrix product with `key.mT`"""
    return (query @ weight * key).sum(-1)


@mistake(slip=False)  # fits where there is no batch to be added up
def mixes_the_batch(query, key, weight):
    """you sum the keys of all sentences of the batch; each sentence keeps to its own"""
    key = key.flatten(0, -3).sum(0) if key.ndim > 2 else key
    return query @ weight @ key.mT


@mistake(slip=True, points=1)
def knows_one_batch_axis_only(query, key, weight):
    """your answer is right for three axes and for no other number: let `@` broadcast, or write
    `...` for the axes before in `einsum`"""
    return torch.einsum("bqd,de,bke->bqk", query, weight, key)


@mistake(slip=True)
def counts_axes_from_the_front(query, key, weight):
    """you swap the first two axes of the keys; swap the last two, `key.mT`"""
    return query @ weight @ key.transpose(0, 1)


@mistake(slip=True)
def turns_all_axes_round(query, key, weight):
    """you turn the order of all axes round, as `.T` does; only the last two should swap, which is
    `.mT`"""
    return query @ weight @ key.permute(*reversed(range(key.ndim)))


def _of_length_one(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors, dim=-1)


def _normalise_the_moved_query(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return _of_length_one(query @ weight) @ _of_length_one(key).mT


@mistake(
    computes=given(reference, query=_of_length_one, key=_of_length_one),
    also=(_normalise_the_moved_query,),
)
def compares_directions():
    """you bring the vectors to length 1 first, so that the score is a cosine; this score is `q W k`
    as it is"""


@mistake
def cuts_to_the_common_width(query, key, weight):
    """your scores do not depend on `weight`: they are dot products of as many numbers as query and
    key both have; `weight` comes between the two, `q W k`"""
    width = min(weight.shape)
    return query[..., :width] @ key[..., :width].mT


EXERCISE = Exercise(
    function="general_scores",
    reference=reference,
    title="a dot product that has learned what to compare",
    minutes=10,
    axes={"query_len": 19, "key_len": 31, "d_query": 31, "d_key": 31},
    contract=Contract(batch=("query", "key"), any_axes=True),
    checks=(
        Check(
            "every query is scored against every key, `q W k`, even where queries and keys differ"
            " in width; any number of axes may come before",
            1.5,
            draw_states,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_query": 7, "d_key": 7},
                {"batch": 3, "query_len": 5, "key_len": 7, "d_query": 2, "d_key": 11},
                {"query_len": 2, "key_len": 3, "d_query": 7, "d_key": 5},
                {"batch": 2, "beams": 3, "query_len": 2, "key_len": 5, "d_query": 3, "d_key": 4},
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
    mistakes=mistake.collected,
)
