"""Part B of problem set 05: the score of two vectors put end to end, without the table of pairs."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Count,
    Exercise,
    Inputs,
    Largest,
    Mistakes,
    Plain,
    same,
    then,
    transposed,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight, in_front
from attn_bank.work import multiplies_pairs
from attn_course import luong


def reference(query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor) -> Tensor:
    return luong.concat_scores(query, key, weight, score_weight)


def draw_states(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_query: int,
    d_key: int,
    d_score: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    before = in_front(batch) + in_front(beams)
    return {
        "query": draw_normal(generator, *before, query_len, d_query),
        "key": draw_normal(generator, *before, key_len, d_key),
        "weight": 1.5 * draw_weight(generator, d_score, d_query + d_key),
        "score_weight": draw_normal(generator, d_score),
    }


def writes_no_pairs(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, str] | str | None:
    with Largest() as largest, Count() as work:
        output = call(inputs)
    with Count() as needed:
        right = reference(**inputs)
    if not same(output, right):
        return "the scores have to be right as well"
    d_score, pairs = len(inputs["score_weight"]), output.numel()
    if 0 < largest.numbers <= pairs * d_score:  # without a sight of its tensors, no points
        return multiplies_pairs(work, needed)
    joined = largest.numbers >= pairs * inputs["weight"].shape[-1]
    return (
        f"it makes a tensor of shape {largest.shape}, {largest.numbers} numbers;"
        f" {pairs * d_score} are enough, `d_score` = {d_score} for each pair",
        "all pairs end to end" if joined else "one half for all pairs",
    )


def _split(query: Tensor, key: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    """The columns of the matrix that meet the query, and those that meet the key."""
    return weight.split([query.shape[-1], key.shape[-1]], -1)


def _parts(query: Tensor, key: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    for_query, for_key = _split(query, key, weight)
    return (query @ for_query.mT).unsqueeze(-2), (key @ for_key.mT).unsqueeze(-3)


def _hidden(query: Tensor, key: Tensor, for_query: Tensor, for_key: Tensor) -> Tensor:
    """The hidden units of all pairs, for two matrices as they are multiplied."""
    return torch.tanh((query @ for_query).unsqueeze(-2) + (key @ for_key).unsqueeze(-3))


def _pairs(query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    query, key = query.unsqueeze(-2), key.unsqueeze(-3)
    pairs = torch.broadcast_shapes(query.shape[:-1], key.shape[:-1])
    return query.expand(*pairs, -1), key.expand(*pairs, -1)


mistake = Mistakes()


@mistake(points=3, right="your scores are right")
def puts_all_pairs_end_to_end(query, key, weight, score_weight):
    """you write every query out beside every key; cut `weight` in two, multiply queries and keys
    once each, and let the sum of the two broadcast"""
    return torch.tanh(torch.cat(_pairs(query, key), -1) @ weight.mT) @ score_weight


@mistake(points=3)
def spreads_the_halves_over_all_pairs(query, key, weight, score_weight):
    """you cut `weight` in two, which is the idea, but copy queries and keys for all pairs before
    you multiply; multiply first, then let the sum broadcast"""
    queries, keys = _pairs(query, key)
    for_query, for_key = _split(query, key, weight)
    hidden = queries.contiguous() @ for_query.mT + keys.contiguous() @ for_key.mT
    return torch.tanh(hidden) @ score_weight


@mistake
def puts_the_key_first(query, key, weight, score_weight):
    """you put the key first; `[q; k]` begins with the query, so the first `d_query` columns of
    `weight` are the query's"""
    queries, keys = _pairs(query, key)
    return torch.tanh(torch.cat([keys, queries], -1) @ weight.mT) @ score_weight


def _halve(query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor) -> Tensor:
    half = weight.shape[-1] // 2
    return _hidden(query, key, weight[:, :half].mT, weight[:, half:].mT) @ score_weight


@mistake(also=(_halve,))
def splits_in_the_middle(query, key, weight, score_weight):
    """you cut `weight` in the middle; the query's part has `d_query` columns, and the key's the
    `d_key` others"""
    for_query, for_key = weight.tensor_split(2, -1)
    hidden = (query @ for_query.mT).unsqueeze(-2) + (key @ for_key.mT).unsqueeze(-3)
    return torch.tanh(hidden) @ score_weight


@mistake
def cuts_the_rows(query, key, weight, score_weight):
    """you cut the rows of `weight`; cut its columns: the query's part is `weight[:, :d_query]`"""
    d_query = query.shape[-1]
    return _hidden(query, key, weight[:d_query].mT, weight[d_query:].mT) @ score_weight


@mistake
def leaves_the_parts_untransposed(query, key, weight, score_weight):
    """you multiply by the parts of `weight` as they are, with `d_score` rows; with queries and keys
    in rows, multiply by their transposes, `.mT`"""
    for_query, for_key = _split(query, key, weight)
    return _hidden(query, key, for_query, for_key) @ score_weight


@mistake
def leaves_the_tanh_out(query, key, weight, score_weight):
    """there is no `tanh` in your score; without it the query adds the same to the score of every
    key, and the softmax takes that out again"""
    for_query, for_key = _parts(query, key, weight)
    return (for_query + for_key) @ score_weight


@mistake
def squashes_before_the_sum(query, key, weight, score_weight):
    """you take the `tanh` of each half and then add; add first: with your order the query adds the
    same to the score of every key, and the softmax takes that out again"""
    for_query, for_key = _parts(query, key, weight)
    return (torch.tanh(for_query) + torch.tanh(for_key)) @ score_weight


@mistake
def squashes_before_the_weight(query, key, weight, score_weight):
    """you take the `tanh` of query and key; it comes after `weight`, on the sum"""
    for_query, for_key = _parts(torch.tanh(query), torch.tanh(key), weight)
    return (for_query + for_key) @ score_weight


@mistake
def squashes_the_score(query, key, weight, score_weight):
    """you take the `tanh` of the score; it belongs to the hidden units, before `score_weight`"""
    return torch.tanh(leaves_the_tanh_out(query, key, weight, score_weight))


@mistake
def weighs_before_the_tanh(query, key, weight, score_weight):
    """you multiply by `score_weight` inside the `tanh`; it comes after, when the `tanh` is taken"""
    for_query, for_key = _parts(query, key, weight)
    return torch.tanh((for_query + for_key) * score_weight).sum(-1)


@mistake
def multiplies_after_the_tanh(query, key, weight, score_weight):
    """you take the `tanh` of each half and multiply the two; add them first, and take one `tanh` of
    the sum"""
    for_query, for_key = _parts(query, key, weight)
    return (torch.tanh(for_query) * torch.tanh(for_key)) @ score_weight


@mistake
def multiplies_the_halves(query, key, weight, score_weight):
    """you multiply the query's half by the key's; a matrix times `[q; k]` is the sum of the two
    halves"""
    for_query, for_key = _parts(query, key, weight)
    return torch.tanh(for_query * for_key) @ score_weight


@mistake
def sums_the_hidden_units(query, key, weight, score_weight):
    """you add up the hidden units; each of them counts by its number in `score_weight`"""
    for_query, for_key = _parts(query, key, weight)
    return torch.tanh(for_query + for_key).sum(-1)


@mistake
def returns_the_hidden_units(query, key, weight, score_weight):
    """you return the hidden units; multiply them by `score_weight`, and one number is left for each
    pair"""
    for_query, for_key = _parts(query, key, weight)
    return torch.tanh(for_query + for_key)


@mistake
def leaves_the_products_apart(query, key, weight, score_weight):
    """you multiply the hidden units by `score_weight`, but do not add up over them: one number is
    left for each pair"""
    return returns_the_hidden_units(query, key, weight, score_weight) * score_weight


@mistake(computes=then(reference, lambda scores: torch.softmax(scores, -1)))
def returns_weights():
    """you return weights; the scores are wanted, from before the softmax"""


@mistake(computes=transposed(reference))
def puts_queries_on_the_last_axis():
    """your table is transposed: one row for each query, one column for each key"""


def _add_without_new_axes(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    for_query, for_key = _split(query, key, weight)
    return torch.tanh(query @ for_query.mT + key @ for_key.mT) @ score_weight


@mistake(also=(_add_without_new_axes,))
def compares_words_in_the_same_place(query, key, weight, score_weight):
    """you put each query beside the key in the same place; every query meets every key, which takes
    an axis for the queries and another for the keys"""
    return torch.tanh(torch.cat([query, key], -1) @ weight.mT) @ score_weight


@mistake(slip=True, points=2)
def knows_no_batch(query, key, weight, score_weight):
    """your new axes are counted from the left, which fits two axes only; count from the right:
    `unsqueeze(-2)` for the queries, `unsqueeze(-3)` for the keys"""
    for_query, for_key = _split(query, key, weight)
    hidden = (query @ for_query.mT)[:, None] + (key @ for_key.mT)[None, :]
    return torch.tanh(hidden) @ score_weight


def _add_the_query_to_the_key(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    for_query, for_key = _split(query, key, weight)
    hidden = (key @ for_key.mT).unsqueeze(1) + (query @ for_query.mT).unsqueeze(2)
    return torch.tanh(hidden) @ score_weight


@mistake(slip=True, also=(_add_the_query_to_the_key,))
def knows_one_batch_axis_only(query, key, weight, score_weight):
    """your new axes are counted from the left, which fits three axes only; count from the right:
    `unsqueeze(-2)` for the queries, `unsqueeze(-3)` for the keys"""
    for_query, for_key = _split(query, key, weight)
    hidden = (query @ for_query.mT)[:, :, None] + (key @ for_key.mT)[:, None, :]
    return torch.tanh(hidden) @ score_weight


@mistake(points=3)
def multiplies_every_pair(query, key, weight, score_weight):
    """you multiply queries or keys with their weight once for every pair: `expand` costs
    nothing, but a product of what it shows does. Multiply first, and pair what comes out"""
    pairs = zip(_pairs(query, key), _split(query, key, weight), strict=True)
    return torch.tanh(sum(pair @ part.mT for pair, part in pairs)) @ score_weight


def _leave_the_query_outside(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    from_query, from_key = _parts(query, key, weight)
    return (from_query + torch.tanh(from_key)) @ score_weight


@mistake(also=(_leave_the_query_outside,))
def leaves_a_part_outside_the_tanh(query, key, weight, score_weight):
    """only one of the two parts goes through the `tanh`, the other is added behind it: mind the
    brackets, add first and take the `tanh` of the sum"""
    from_query, from_key = _parts(query, key, weight)
    return (torch.tanh(from_query) + from_key) @ score_weight


def _cut_one_column_early(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    before = query.shape[-1] - 1
    for_key = weight[:, before : before + key.shape[-1]]
    return _hidden(query[..., :-1], key, weight[:, :before].mT, for_key.mT) @ score_weight


def _leave_the_first_of_the_key_out(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    for_query, for_key = _split(query, key, weight)
    return _hidden(query, key[..., 1:], for_query.mT, for_key[:, 1:].mT) @ score_weight


def _leave_the_last_of_the_key_out(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    for_query, for_key = _split(query, key, weight)
    return _hidden(query, key[..., :-1], for_query.mT, for_key[:, :-1].mT) @ score_weight


@mistake(
    also=(
        _cut_one_column_early,
        _leave_the_first_of_the_key_out,
        _leave_the_last_of_the_key_out,
    )
)
def cuts_one_column_off(query, key, weight, score_weight):
    """your cut is off by one: a column of `weight`, and a number of the query or of the key, is
    left out. The query's columns are `weight[:, :d_query]`, the key's `weight[:, d_query:]`"""
    for_query, for_key = _split(query, key, weight)
    return _hidden(query[..., :-1], key, for_query[:, :-1].mT, for_key.mT) @ score_weight


EXERCISE = Exercise(
    function="concat_scores",
    reference=reference,
    title="two vectors end to end, without the table of pairs",
    minutes=20,
    axes={"query_len": 43, "key_len": 97, "d_query": 31, "d_key": 31, "d_score": 31},
    contract=Contract(batch=("query", "key"), any_axes=True),
    checks=(
        Check(
            "every query is scored against every key, `v · tanh(W [q; k])`; widths and lengths may"
            " differ, and any number of axes may come before",
            1.5,
            draw_states,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_query": 7, "d_key": 7, "d_score": 2},
                {"batch": 2, "query_len": 5, "key_len": 3, "d_query": 4, "d_key": 7, "d_score": 11},
                {
                    **{"batch": 2, "beams": 3, "query_len": 2, "key_len": 5},
                    **{"d_query": 3, "d_key": 4, "d_score": 7},
                },
            ),
            hidden_sizes=(
                {"query_len": 5, "key_len": 2, "d_query": 11, "d_key": 3, "d_score": 7},
                {
                    **{"batch": 3, "beams": 2, "query_len": 1, "key_len": 7},
                    **{"d_query": 11, "d_key": 5, "d_score": 13},
                },
            ),
        ),
        Check(
            "no tensor is made that holds more than `d_score` numbers for each pair of words",
            1,
            draw_states,
            sizes=({"query_len": 23, "key_len": 29, "d_query": 19, "d_key": 17, "d_score": 5},),
            hidden_sizes=(
                {"query_len": 31, "key_len": 19, "d_query": 7, "d_key": 13, "d_score": 3},
            ),
            invariant=writes_no_pairs,
        ),
        Check(
            "the right gradient reaches all four inputs",
            1,
            draw_states,
            sizes=({"query_len": 3, "key_len": 5, "d_query": 7, "d_key": 2, "d_score": 3},),
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_query": 2, "d_key": 7, "d_score": 5},),
            gradient=("query", "key", "weight", "score_weight"),
        ),
    ),
    mistakes=mistake.collected,
)
