"""Part B of problem set 04: how much the weights of a sentence depend on who asks."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor

from attn_bank.bahdanau import draw_lengths, padding_after
from attn_bank.draws import draw_normal
from attn_course.retrieval import masked_softmax


def reference(scores: Tensor, source_len: Tensor) -> Tensor:
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


def _weights(scores: Tensor, source_len: Tensor) -> Tensor:
    return masked_softmax(scores, ~_padding(scores, source_len))


def _padding(scores: Tensor, source_len: Tensor) -> Tensor:
    return padding_after(source_len, scores.shape[-1])


def draw_scores(generator: Generator, batch: int, query_len: int, key_len: int) -> Inputs:
    """Scores that depend on query and key; the source of every sentence fills its row.

    Of five queries or more, the two in the first sentence that differ most are neither the first
    nor the last, nor neighbours.
    """
    scores = 2 * draw_normal(generator, batch, query_len, key_len)
    if query_len >= 5:
        scores[0, 1, 0] += 9
        scores[0, 3, 0] -= 9
    return {"scores": scores, "source_len": torch.full((batch,), key_len)}


def draw_sums(generator: Generator, **sizes: int) -> Inputs:
    """The scores of the first sentence are sums, of a number of the query and one of the key.

    The number of the first query is so large that its power is not, in float32.
    """
    inputs = draw_scores(generator, **sizes)
    scores = inputs["scores"]
    of_query = torch.arange(scores.shape[1], 0, -1, dtype=scores.dtype)
    scores[0] = 100 * of_query.unsqueeze(-1) + scores[0, :1]
    return inputs


def draw_padded(generator: Generator, batch: int, query_len: int, key_len: int) -> Inputs:
    """Sources of unequal length; what the scores at padding say depends on the query strongly."""
    inputs = draw_scores(generator, batch, query_len, key_len)
    inputs["source_len"] = draw_lengths(generator, batch, key_len, least=2)
    padding = _padding(**inputs).expand_as(inputs["scores"])
    inputs["scores"][padding] *= 10
    return inputs


mistake = Mistakes()


@mistake
def compares_the_scores(scores, source_len):
    """you compare the scores; they differ from query to query even where the weights do not: what
    is added to all scores of a row cancels in its softmax"""
    kept = scores.masked_fill(_padding(scores, source_len), 0)
    return (kept.amax(1) - kept.amin(1)).amax(-1)


@mistake
def compares_centred_scores(scores, source_len):
    """you take the mean off each row of scores, which removes what cancels in the softmax, but what
    is left are still scores; compare the weights"""
    padding = _padding(scores, source_len)
    kept = scores.masked_fill(padding, 0)
    mean = kept.sum(-1, keepdim=True) / source_len[:, None, None]
    return compares_the_scores(kept - mean, source_len)


@mistake
def subtracts_the_best_score(scores, source_len):
    """you subtract the best score of each row, which removes what cancels in the softmax, but what
    is left are still scores; compare the weights"""
    best = scores.masked_fill(_padding(scores, source_len), -torch.inf).amax(-1, keepdim=True)
    return compares_the_scores(scores - best, source_len)


def _compare_with_the_last_query(scores: Tensor, source_len: Tensor) -> Tensor:
    weights = _weights(scores, source_len)
    return (weights - weights[:, -1:]).abs().amax((1, 2))


@mistake(points=2.5, also=(_compare_with_the_last_query,))
def compares_with_the_first_query(scores, source_len):
    """you compare every query with one of them, such as the first; the two that differ most may be
    others"""
    weights = _weights(scores, source_len)
    return (weights - weights[:, :1]).abs().amax((1, 2))


def _compare_two(one: int, other: int) -> Callable[..., Tensor]:
    def answer(scores: Tensor, source_len: Tensor) -> Tensor:
        weights = _weights(scores, source_len)
        return (weights[:, one] - weights[:, other]).abs().amax(-1)

    return answer


@mistake(points=2.5, computes=_compare_two(0, -1), also=(_compare_two(0, 1),))
def compares_two_queries():
    """you compare two queries only, such as the first and the last; the two that differ most may be
    others"""


def _compare_with_the_median(scores: Tensor, source_len: Tensor) -> Tensor:
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.median(1).values).amax(-1)


def _double_the_distance_from_the_mean(scores: Tensor, source_len: Tensor) -> Tensor:
    return 2 * compares_with_the_mean_query(scores, source_len)


def _compare_neighbours_or_none(scores: Tensor, source_len: Tensor) -> Tensor:
    alone = scores.shape[1] == 1
    return (reference if alone else compares_neighbouring_queries)(scores, source_len)


@mistake(points=2.5, also=(_compare_neighbours_or_none,))
def compares_neighbouring_queries(scores, source_len):
    """you compare every query with the next; the two that differ most may lie apart"""
    return _weights(scores, source_len).diff(dim=1).abs().amax((1, 2))


@mistake(also=(_compare_with_the_median, _double_the_distance_from_the_mean))
def compares_with_the_mean_query(scores, source_len):
    """you compare every query with one in the middle, the mean or the median of all; the two that
    differ most are asked, the largest weight of a key less its smallest"""
    weights = _weights(scores, source_len)
    return (weights - weights.mean(1, keepdim=True)).abs().amax((1, 2))


@mistake
def takes_the_largest_weight(scores, source_len):
    """you return the largest weight; take off the smallest that another query gives to the same
    key"""
    return _weights(scores, source_len).amax((1, 2))


def _range_over_keys(scores: Tensor, source_len: Tensor) -> Tensor:
    """Likewise, padding included, whose weight is 0."""
    weights = _weights(scores, source_len)
    return (weights.amax(2) - weights.amin(2)).amax(-1)


def _mean_range(scores: Tensor, source_len: Tensor) -> Tensor:
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).mean(-1)


@mistake(also=(_range_over_keys,))
def compares_the_keys(scores, source_len):
    """you compare the weights that one query gives to different keys; compare those that different
    queries give to one key, so go down the columns"""
    weights = _weights(scores, source_len)
    lowest = weights.masked_fill(_padding(scores, source_len), 1).amin(2)
    return (weights.amax(2) - lowest).amax(-1)


def _range_of_all(scores: Tensor, source_len: Tensor) -> Tensor:
    """Likewise, padding included."""
    weights = _weights(scores, source_len)
    return weights.amax((1, 2)) - weights.amin((1, 2))


@mistake(also=(_range_of_all,))
def takes_the_range_of_the_whole_table(scores, source_len):
    """you take the smallest weight of the whole table off the largest, and the two belong to
    different keys; compare the weights that one key gets from different queries, so take largest
    and smallest of each column"""
    weights = _weights(scores, source_len)
    lowest = weights.masked_fill(_padding(scores, source_len), 1).amin((1, 2))
    return weights.amax((1, 2)) - lowest


@mistake(also=(_mean_range,))
def takes_the_mean_over_the_keys(scores, source_len):
    """you take the mean over the keys; the key with the largest difference decides"""
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).sum(-1) / source_len


def _add_up_by_pairs(power: float, factor: float) -> Callable[..., Tensor]:
    def answer(scores: Tensor, source_len: Tensor) -> Tensor:
        weights = _weights(scores, source_len)
        apart = weights.unsqueeze(1) - weights.unsqueeze(2)
        return factor * apart.norm(power, -1).amax((1, 2))

    return answer


def _halve_the_sum(scores: Tensor, source_len: Tensor) -> Tensor:
    return sums_over_the_keys(scores, source_len) / 2


@mistake(
    also=(
        _add_up_by_pairs(1, 1.0),
        _add_up_by_pairs(1, 0.5),
        _add_up_by_pairs(2, 1.0),
        _halve_the_sum,
    )
)
def sums_over_the_keys(scores, source_len):
    """you sum over the keys; the key with the largest difference decides"""
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).sum(-1)


@mistake
def keeps_the_keys_apart(scores, source_len):
    """you return the difference at each key; one number for each sentence is left when you take the
    largest of them"""
    weights = _weights(scores, source_len)
    return weights.amax(1) - weights.amin(1)


@mistake
def takes_the_mean_over_pairs_of_queries(scores, source_len):
    """you take the mean over all pairs of queries; the two that differ most decide"""
    weights = _weights(scores, source_len)
    return (weights.unsqueeze(1) - weights.unsqueeze(2)).abs().mean((1, 2)).amax(-1)


def _take_the_variance(scores: Tensor, source_len: Tensor) -> Tensor:
    return _weights(scores, source_len).var(1, correction=0).amax(-1)


def _deviate(scores: Tensor, source_len: Tensor) -> Tensor:
    return _weights(scores, source_len).std(1, correction=0).amax(-1)


@mistake(also=(_deviate, _take_the_variance))
def takes_the_standard_deviation(scores, source_len):
    """you return a standard deviation or a variance; the largest difference is asked, the largest
    weight of a key less its smallest"""
    return _weights(scores, source_len).std(1).amax(-1)


@mistake
def compares_the_favourite_only(scores, source_len):
    """you compare how large the largest weight of each query is, but two queries may put the same
    weight on different keys; subtract key by key, before you look for the largest"""
    best = _weights(scores, source_len).amax(-1)
    return best.amax(-1) - best.amin(-1)


@mistake
def takes_softmax_over_the_queries(scores, source_len):
    """your weights sum to 1 over the queries; they should over the keys, the last axis"""
    weights = torch.softmax(scores, 1).masked_fill(_padding(scores, source_len), 0)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


@mistake(points=3)
def forgets_the_padding(scores, source_len):
    """you let padding take part; it has no weight, whatever its scores"""
    weights = torch.softmax(scores, -1)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


@mistake(points=3)
def masks_the_padding_afterwards(scores, source_len):
    """you mask the padding after the softmax, when it has taken weight from the tokens already, and
    from each query another share; mask before it, as `masked_softmax` does"""
    weights = torch.softmax(scores, -1).masked_fill(_padding(scores, source_len), 0)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


@mistake
def takes_the_smallest_difference(scores, source_len):
    """you return the smallest difference of all keys; the key with the largest decides"""
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).amin(-1)


@mistake
def takes_the_largest_of_the_batch(scores, source_len):
    """you have a number for each key, not for each sentence: `amax(0)` goes through the sentences;
    the last maximum is over the keys"""
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).amax(0)


@mistake
def subtracts_for_each_sentence(scores, source_len):
    """you subtract what has one number for each sentence from what has one for each key; subtract
    first, key by key, and take the maximum of the differences: `(... - ...).amax(1)`"""
    weights = _weights(scores, source_len)
    return weights.amax(1) - weights.amin(1).amax(1)


@mistake
def subtracts_pairs(scores, source_len):
    """`max(1)` returns two tensors, the values and their places, and so does `min(1)`; `amax(1)`
    and `amin(1)` return the values alone"""
    weights = _weights(scores, source_len)
    return weights.max(1) - weights.min(1)


@mistake(computes=then(reference, torch.amax))
def makes_one_number_of_the_batch():
    """you return one number for the whole batch; each sentence has its own"""


@mistake(points=2.5)
def takes_powers_as_they_are(scores, source_len):
    """you take the powers of the scores as they are; `exp(200)` is more than a number can hold, and
    infinity divided by infinity is `nan`; a softmax takes the largest score of the row off first"""
    raised = scores.exp().masked_fill(_padding(scores, source_len), 0)
    weights = raised / raised.sum(-1, keepdim=True)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


@mistake(computes=then(reference, lambda output: output > 0.0001))
def says_yes_or_no():
    """you return yes or no; the difference itself is asked, a number from 0 to 1"""


@mistake
def says_yes_or_no_in_numbers(scores, source_len):
    """you return 1 for yes and 0 for no; the difference itself is asked, which may be any number
    from 0 to 1"""
    return says_yes_or_no(scores, source_len).to(scores.dtype)


EXERCISE = Exercise(
    function="query_effect",
    reference=reference,
    title="an instrument that tells whether the query is heard",
    minutes=15,
    axes={"batch": 17, "query_len": 43, "key_len": 97},
    may_use=("attn_course.retrieval.masked_softmax",),
    contract=Contract(
        like=2,
        batch=("scores", "source_len"),
        exempts={
            "cuts off": "what it returns is read, and nothing is learned through it",
            "fills with": "`masked_softmax` does the masking; how is asked in set 01",
        },
    ),
    checks=(
        Check(
            "the largest difference between the weights that two queries of a sentence give to"
            " the same key",
            1.5,
            draw_scores,
            sizes=(
                {"batch": 3, "query_len": 5, "key_len": 5},
                {"batch": 2, "query_len": 1, "key_len": 3},
                {"batch": 2, "query_len": 6, "key_len": 4},
            ),
            hidden_sizes=({"batch": 5, "query_len": 7, "key_len": 3},),
            tolerance=1024,
        ),
        Check(
            "it is 0 for a sentence whose scores are a number of the query plus a number of the"
            " key, and not for the one beside it",
            1.5,
            draw_sums,
            sizes=({"batch": 2, "query_len": 2, "key_len": 5},),
            hidden_sizes=({"batch": 3, "query_len": 2, "key_len": 7},),
            tolerance=1024,  # scores of some hundreds hold five digits behind the point
            sizes_matter=True,
        ),
        Check(
            "what the scores at padding say does not count",
            0.5,
            draw_padded,
            sizes=({"batch": 3, "query_len": 2, "key_len": 5},),
            hidden_sizes=({"batch": 5, "query_len": 2, "key_len": 7},),
            tolerance=1024,  # weights that nearly agree leave a difference with fewer digits
            sizes_matter=True,
        ),
    ),
    mistakes=mistake.collected,
)
