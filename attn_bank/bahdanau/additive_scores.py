"""Part A of problem set 04: the additive score of all queries and keys at once."""

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
    given,
    same,
    then,
    transposed,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.work import multiplies_pairs


def reference(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    return torch.tanh(_hidden(query, key, w_query, w_key)) @ score_weight


def _hidden(query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return (query @ w_query.mT).unsqueeze(-2) + (key @ w_key.mT).unsqueeze(-3)


def draw_states(
    generator: Generator,
    batch: int,
    query_len: int,
    key_len: int,
    d_query: int,
    d_key: int,
    d_score: int,
) -> Inputs:
    return {
        "query": draw_normal(generator, batch, query_len, d_query),
        "key": draw_normal(generator, batch, key_len, d_key),
        "w_query": 1.5 * draw_normal(generator, d_score, d_query) / d_query**0.5,
        "w_key": 1.5 * draw_normal(generator, d_score, d_key) / d_key**0.5,
        "score_weight": draw_normal(generator, d_score),
    }


def takes_all_at_once(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, str] | str | None:
    """As many operations for more queries and keys, and no table wider than the hidden layer."""
    fewer = inputs | {"query": inputs["query"][:, :-2], "key": inputs["key"][:, :-3]}
    with Largest() as largest, Count() as for_all:
        output = call(inputs)
    with Count() as for_fewer:
        call(fewer)
    with Count() as needed:
        right = reference(**inputs)
    if not same(output, right):
        return "the scores have to be right as well"
    if for_all.number > for_fewer.number:
        return (
            f"torch is asked {for_all.number} times, and {for_fewer.number} times where there are"
            " fewer queries and keys: there is a loop",
            "two loops" if for_all.number > 2 * for_fewer.number else "one loop",
        )
    enough = output.numel() * len(inputs["score_weight"])
    if 0 < largest.numbers <= enough:  # without a sight of its tensors, no points
        return multiplies_pairs(for_all, needed)
    return (
        f"it makes a tensor of shape {largest.shape}, {largest.numbers} numbers; {enough} are"
        " enough, `d_score` for each pair of a query and a key",
        "wide table",
    )


def _pairs(query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    batch, query_len, key_len = len(query), query.shape[1], key.shape[1]
    return (
        query.unsqueeze(2).expand(batch, query_len, key_len, -1),
        key.unsqueeze(1).expand(batch, query_len, key_len, -1),
    )


mistake = Mistakes()


@mistake
def leaves_out_tanh(query, key, w_query, w_key, score_weight):
    """you leave out `tanh`, which is taken of the sum of the two parts, before `score_weight`"""
    return _hidden(query, key, w_query, w_key) @ score_weight


def _tanh_of_each_unweighed(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    weight = torch.ones_like(score_weight)
    return takes_tanh_before_the_sum(query, key, w_query, w_key, weight)


@mistake(also=(_tanh_of_each_unweighed,))
def takes_tanh_before_the_sum(query, key, w_query, w_key, score_weight):
    """you take `tanh` of each part and add afterwards, so query and key never meet inside it; add
    first, then take `tanh` of the sum"""
    for_query, for_key = torch.tanh(query @ w_query.mT), torch.tanh(key @ w_key.mT)
    return (for_query.unsqueeze(-2) + for_key.unsqueeze(-3)) @ score_weight


@mistake
def takes_tanh_of_the_score(query, key, w_query, w_key, score_weight):
    """you take `tanh` of the finished score; it belongs around the hidden layer, before
    `score_weight`"""
    return torch.tanh(_hidden(query, key, w_query, w_key) @ score_weight)


@mistake
def weighs_before_tanh(query, key, w_query, w_key, score_weight):
    """you multiply by `score_weight` inside `tanh`; it comes after, when `tanh` is taken"""
    return torch.tanh(_hidden(query, key, w_query, w_key) * score_weight).sum(-1)


@mistake
def multiplies_after_tanh(query, key, w_query, w_key, score_weight):
    """you take `tanh` of each part and multiply the two; add them first, and take one `tanh` of the
    sum"""
    for_query, for_key = torch.tanh(query @ w_query.mT), torch.tanh(key @ w_key.mT)
    return (for_query.unsqueeze(-2) * for_key.unsqueeze(-3)) @ score_weight


@mistake
def multiplies_the_two(query, key, w_query, w_key, score_weight):
    """you multiply the two parts; they are added, as the name of this score says"""
    hidden = (query @ w_query.mT).unsqueeze(-2) * (key @ w_key.mT).unsqueeze(-3)
    return torch.tanh(hidden) @ score_weight


@mistake
def takes_the_dot_product(query, key, w_query, w_key, score_weight):
    """you take the dot product of the two parts; here they are added, unit by unit, and `tanh` and
    `score_weight` make the score of the sum"""
    return (query @ w_query.mT) @ (key @ w_key.mT).mT


@mistake
def rectifies(query, key, w_query, w_key, score_weight):
    """you rectify the hidden layer; its function here is `tanh`"""
    return torch.relu(_hidden(query, key, w_query, w_key)) @ score_weight


@mistake
def takes_the_logistic_function(query, key, w_query, w_key, score_weight):
    """you take `sigmoid` of the hidden layer; its function here is `tanh`"""
    return torch.sigmoid(_hidden(query, key, w_query, w_key)) @ score_weight


@mistake
def sums_without_the_score_weight(query, key, w_query, w_key, score_weight):
    """you sum the hidden units as if all counted alike; `score_weight` says what each adds"""
    return torch.tanh(_hidden(query, key, w_query, w_key)).sum(-1)


@mistake
def takes_the_mean_over_hidden_units(query, key, w_query, w_key, score_weight):
    """you take the mean over the hidden units; the score is their sum, weighted by
    `score_weight`"""
    return (torch.tanh(_hidden(query, key, w_query, w_key)) * score_weight).mean(-1)


@mistake(computes=given(reference, score_weight=lambda weight: weight / len(weight) ** 0.5))
def divides_by_the_root_of_the_width():
    """you divide by the square root of a width; that belongs to another score, which the course
    meets later"""


def _keep_them_unweighed(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    return torch.tanh(_hidden(query, key, w_query, w_key))


@mistake(also=(_keep_them_unweighed,))
def keeps_the_hidden_units_apart(query, key, w_query, w_key, score_weight):
    """your output still has the axis of the hidden units; sum over it, as `@ score_weight` does"""
    return torch.tanh(_hidden(query, key, w_query, w_key)) * score_weight


@mistake(computes=transposed(reference))
def swaps_queries_and_keys():
    """your rows are keys and your columns queries; a row belongs to a query"""


@mistake
def scores_only_the_first_query(query, key, w_query, w_key, score_weight):
    """all queries of a sentence get the scores of the first; each has its own"""
    first = reference(query[:, :1], key, w_query, w_key, score_weight)
    return first.expand(-1, query.shape[1], -1)


@mistake(computes=then(reference, lambda scores: torch.softmax(scores, -1)))
def goes_on_to_the_weights():
    """you go on to the softmax; scores are asked here, the weights were part A"""


@mistake
def mixes_the_sentences(query, key, w_query, w_key, score_weight):
    """your queries meet the keys of other sentences; new axes belong between the batch and the
    features: `unsqueeze(2)` for the query, `unsqueeze(1)` for the key"""
    hidden = (query @ w_query.mT)[:, None, :, None] + (key @ w_key.mT)[None, :, None, :]
    return (torch.tanh(hidden) @ score_weight).mean(1)


@mistake(points=3, right="the numbers are right")
def goes_through_two_loops(query, key, w_query, w_key, score_weight):
    """there are the two loops still; let broadcasting pair every query with every key"""
    rows = [
        [
            torch.tanh(query[:, i] @ w_query.mT + key[:, j] @ w_key.mT) @ score_weight
            for j in range(key.shape[1])
        ]
        for i in range(query.shape[1])
    ]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


@mistake(points=3, right="the numbers are right, and one loop is gone")
def goes_through_the_queries(query, key, w_query, w_key, score_weight):
    """the loop through the queries can go too, by one more axis of size 1"""
    rows = [reference(q.unsqueeze(1), key, w_query, w_key, score_weight) for q in query.unbind(1)]
    return torch.cat(rows, 1)


@mistake(points=3, right="the numbers are right")
def puts_all_pairs_end_to_end(query, key, w_query, w_key, score_weight):
    """you write out a copy of both vectors for every pair, and multiply each copy by the weights;
    multiply first, once for each query and once for each key, and broadcast the small results"""
    pairs, weight = torch.cat(_pairs(query, key), -1), torch.cat([w_query, w_key], -1)
    return torch.tanh(pairs @ weight.mT) @ score_weight


@mistake(points=3)
def multiplies_every_pair(query, key, w_query, w_key, score_weight):
    """you multiply queries or keys with their weight once for every pair: `expand` costs
    nothing, but a product of what it shows does. Multiply first, and pair what comes out"""
    queries, keys = _pairs(query, key)
    return torch.tanh(queries @ w_query.mT + keys @ w_key.mT) @ score_weight


@mistake
def forgets_the_query(query, key, w_query, w_key, score_weight):
    """your scores do not depend on the query, so every query gets the same weights; add its part,
    `w_query @ q`, before `tanh`"""
    scores = torch.tanh(key @ w_key.mT) @ score_weight
    return scores.unsqueeze(-2).expand(*query.shape[:-1], -1)


@mistake
def takes_the_key_as_it_is(query, key, w_query, w_key, score_weight):
    """you add the key as it is; it goes through a matrix of its own first, `w_key`"""
    return torch.tanh((query @ w_query.mT).unsqueeze(-2) + key.unsqueeze(-3)) @ score_weight


@mistake
def adds_before_the_matrix(query, key, w_query, w_key, score_weight):
    """you add query and key as they are, and multiply the sum by one matrix; each has a matrix of
    its own, `w_query` and `w_key`, and the products are added"""
    return torch.tanh((query.unsqueeze(-2) + key.unsqueeze(-3)) @ w_key.mT) @ score_weight


def _query_without_an_axis(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    return torch.tanh(query @ w_query.mT + (key @ w_key.mT).unsqueeze(1)) @ score_weight


def _both_axes_in_one_place(axis: int) -> Callable[..., Tensor]:
    def answer(
        query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
    ) -> Tensor:
        parts = (query @ w_query.mT).unsqueeze(axis) + (key @ w_key.mT).unsqueeze(axis)
        return torch.tanh(parts) @ score_weight

    return answer


def _key_without_an_axis(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    return torch.tanh((query @ w_query.mT).unsqueeze(2) + key @ w_key.mT) @ score_weight


@mistake(
    also=(
        _query_without_an_axis,
        _key_without_an_axis,
        *map(_both_axes_in_one_place, (1, 2)),
    )
)
def makes_no_axes_for_pairs(query, key, w_query, w_key, score_weight):
    """every query meets every key, for which each of the two needs an axis for the other, in
    different places: the query before its last axis, `unsqueeze(-2)`, the key before its last two,
    `unsqueeze(-3)`"""
    return torch.tanh(query @ w_query.mT + key @ w_key.mT) @ score_weight


EXERCISE = Exercise(
    function="additive_scores",
    reference=reference,
    title="the additive score, out of its two loops",
    minutes=15,
    axes={"batch": 17, "query_len": 43, "key_len": 97},
    contract=Contract(batch=("query", "key")),
    checks=(
        Check(
            "every query of a sentence has a score for every key of the same sentence, as the two"
            " loops have it",
            1.5,
            draw_states,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_query": 7, "d_key": 11, "d_score": 4},
            ),
            hidden_sizes=(
                {"batch": 3, "query_len": 1, "key_len": 7, "d_query": 5, "d_key": 2, "d_score": 11},
                {"batch": 1, "query_len": 5, "key_len": 5, "d_query": 3, "d_key": 3, "d_score": 3},
            ),
        ),
        Check(
            "the right gradient reaches all five inputs",
            1,
            draw_states,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "d_query": 7, "d_key": 11, "d_score": 4},
            ),
            gradient=("query", "key", "w_query", "w_key", "score_weight"),
        ),
        Check(
            "there is no loop over queries or keys, and no table of pairs wider than `d_score`",
            1,
            draw_states,
            sizes=(
                {"batch": 2, "query_len": 7, "key_len": 5, "d_query": 4, "d_key": 3, "d_score": 4},
            ),
            invariant=takes_all_at_once,
        ),
    ),
    mistakes=mistake.collected,
)
