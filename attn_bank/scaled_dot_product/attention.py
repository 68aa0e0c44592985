"""Part A of problem set 07: scaled dot-product attention, for any axes in front."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, mistaking, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.scaled_dot_product import draw_vectors
from attn_bank.scales import scaled_by
from attn_bank.softmaxes import (
    best,
    first_axis,
    instead_of_softmax,
    logarithms,
    lowest,
    shares_of_scores,
    sigmoids,
    twice,
    whole_table,
)
from attn_course import scaled_dot_product


def reference(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product.attention(query, key, value)


def draw_long_vectors(
    generator: Generator, batch: int, query_len: int, key_len: int, d_key: int, d_value: int
) -> Inputs:
    """Every query has a key that it agrees with: half precision can hold their product only scaled.

    Another key comes close: their products cannot be held either, so to cut them off does not tell
    the two apart. All scores but the best lie so far below it that rounding changes no output.
    """
    key = 20 * draw_normal(generator, batch, key_len, d_key).sign()
    key[:, -1] = key[:, 0]
    key[:, -1, :4] *= -1
    asked_for = torch.randperm(key_len, generator=generator)[:query_len]
    return {
        "query": 10 * key[:, asked_for],
        "key": key,
        "value": draw_normal(generator, batch, key_len, d_value),
    }


def _weights(query: Tensor, key: Tensor) -> Tensor:
    """The right weights; the queries are divided, so that they are right in half precision too."""
    return scaled_dot_product.attention_weights(query, key)


def _attend(query: Tensor, key: Tensor, value: Tensor, factor: float) -> Tensor:
    return torch.softmax(factor * query @ key.mT, -1) @ value


_SCALE = "; divide them by the root of the width of queries and keys, `query.shape[-1] ** 0.5`"
_BRACKETS = (
    "`d ** 1/2` is `(d ** 1) / 2`, so that you divide by 2 and not by a root: write `d ** (1/2)` or"
    " `d ** 0.5`"
)
_OVERFLOW = (
    "your formula is right, but in half precision something on the way is too large. The dot"
    " products? Divide the queries by the root first, then multiply with the keys. An `exp` of your"
    " own? Subtract the largest score of the row before it, as torch's `softmax` does"
)


mistake = Mistakes()


@mistake(ending=_SCALE, computes=scaled_by(reference, lambda width: 1))
def leaves_the_scale_out():
    """your scores are plain dot products"""


@mistake(points=0.5, computes=scaled_by(reference, lambda width: 1 / width))
def divides_by_the_width():
    """you divide the scores by the width; it is the root of the width, `** 0.5`: the spread of a
    sum of independent terms grows like the root of their number"""


@mistake(computes=scaled_by(reference, lambda width: width**0.5))
def multiplies_by_the_root():
    """you multiply by the root of the width, as some slides print it; that makes large scores
    larger. Divide by it: the exponent is -1/2"""


@mistake(computes=scaled_by(reference, lambda width: width**-0.25))
def takes_the_root_of_the_root():
    """you scale by the fourth root of the width; if you meant to scale queries and keys by it, both
    have to be: the two factors then make one square root"""


@mistake(hint=_BRACKETS, also=(scaled_by(reference, lambda width: 1 / width / 2),))
def halves_the_quotient(query, key, value):
    return torch.softmax(query @ key.mT / query.shape[-1] / 2, -1) @ value


@mistake(points=0.5, hint=_BRACKETS)
def divides_by_half_the_width(query, key, value):
    return _attend(query, key, value, 2 / query.shape[-1])


@mistake(points=0.5, computes=scaled_by(reference, lambda width: 1 / math.isqrt(width)))
def rounds_the_root():
    """you round the root down to a whole number, which is right for widths such as 4 and 64 only;
    take the root as it is, `query.shape[-1] ** 0.5`"""


@mistake(computes=scaled_by(reference, lambda width: 1 / 2))
def divides_by_two():
    """you divide by 2, which is right for the width 4 of the example and for no other: take the
    width from the shape"""


@mistake(points=0.5, computes=scaled_by(reference, lambda width: 1 / 8))
def divides_by_eight():
    """you divide by 8, which is right for the width 64 of the paper and for no other: take the
    width from the shape"""


@mistake
def takes_the_width_of_the_values(query, key, value):
    """you divide by the root of the width of the values, which has nothing to do with the scores:
    queries and keys are multiplied, so it is `query.shape[-1]`"""
    return _attend(query, key, value, value.shape[-1] ** -0.5)


@mistake
def takes_the_number_of_keys(query, key, value):
    """you divide by the root of the number of keys; the dot product is a sum over the features, so
    it is their number that counts, `query.shape[-1]`"""
    return _attend(query, key, value, key.shape[-2] ** -0.5)


@mistake
def takes_the_number_of_queries(query, key, value):
    """you divide by the root of the number of queries, axis -2; the features are on the last axis,
    `query.shape[-1]`"""
    return _attend(query, key, value, query.shape[-2] ** -0.5)


def _divided_first(query: Tensor, key: Tensor, value: Tensor, length: int) -> Tensor:
    return reference(query * (query.shape[-1] / length) ** 0.5, key, value)


@mistake(
    slip=True,
    also=(
        lambda query, key, value: _attend(query, key, value, key.shape[1] ** -0.5),
        lambda query, key, value: _divided_first(query, key, value, query.shape[1]),
        lambda query, key, value: _divided_first(query, key, value, key.shape[1]),
    ),
)
def takes_axis_one_for_the_width(query, key, value):
    """you divide by the root of the length of axis 1, which is the width only where nothing comes
    before; count from the back, `query.shape[-1]`"""
    return _attend(query, key, value, query.shape[1] ** -0.5)


@mistake
def scales_the_weights(query, key, value):
    """you divide the weights, after the softmax, so that they no longer sum to 1; divide the
    scores, before it"""
    return _attend(query, key, value, 1) / math.sqrt(query.shape[-1])


@mistake
def normalises_the_vectors(query, key, value):
    """you divide each vector by its own length, which is the cosine; here the length of a key
    counts, and all scores are divided by one number, the root of the width"""
    normalise = torch.nn.functional.normalize
    return _attend(normalise(query, dim=-1), normalise(key, dim=-1), value, 1)


@mistake(also=(instead_of_softmax(reference, lambda scores, axis: scores.softmax(-2)),))
def normalises_over_the_queries(query, key, value):
    """your weights sum to 1 over the queries, down each column; they should sum to 1 over the keys,
    along the last axis (`dim=-1`)"""
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -2) @ value


@mistake(slip=True, also=(instead_of_softmax(reference, lambda scores, axis: scores.softmax(1)),))
def counts_axes_from_the_front(query, key, value):
    """you took axis 1, which is the keys' only where there is nothing in front; with a batch it is
    the queries'. Count from the back, `dim=-1`"""
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), 1) @ value


@mistake(also=(instead_of_softmax(reference, lambda scores, axis: scores),))
def leaves_the_softmax_out(query, key, value):
    """you multiply the values by the scores themselves; turn each row of scores into weights that
    sum to 1 first, by a softmax"""
    return query @ key.mT / math.sqrt(query.shape[-1]) @ value


@mistake(also=(lambda query, key, value: _weights(query, key),))
def returns_the_weights(query, key, value):
    """you return the weights; multiply them with the values"""
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1)


@mistake(
    slip=True, computes=given(reference, key=lambda key: key.permute(*reversed(range(key.ndim))).mT)
)
def turns_all_axes_round():
    """you turn the order of all axes of the keys round, as `.T` does; only the last two should
    swap, which is `.mT`"""


@mistake(slip=True, points=1.5)
def knows_one_batch_axis_only(query, key, value):
    """your answer is right for three axes and for no other number; `@` takes any number of axes in
    front, and `bmm` does not"""
    scores = torch.bmm(query / math.sqrt(query.shape[-1]), key.mT)
    return torch.bmm(torch.softmax(scores, -1), value)


@mistake(points=2.5, hint=_OVERFLOW)
def scales_the_product(query, key, value):
    return torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1) @ value


@mistake(points=2.5, hint=_OVERFLOW)
def raises_without_a_maximum(query, key, value):
    raised = torch.exp(query / math.sqrt(query.shape[-1]) @ key.mT)
    return raised / raised.sum(-1, keepdim=True) @ value


@mistake
def mixes_keys_and_features(query, key, value):
    """you multiply the queries by the keys as they are; each score is a dot product over the
    features, so the keys are transposed: `key.mT`"""
    return torch.softmax(query @ key / math.sqrt(query.shape[-1]), -1) @ value


@mistake(also=(lambda **inputs: (scales_the_product(**inputs), returns_the_weights(**inputs)),))
def returns_two_things(query, key, value):
    """you return the weights as well; the output alone is asked"""
    return reference(query, key, value), _weights(query, key)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**logarithms(reference))
def takes_the_logarithms(): ...


@mistake(**sigmoids(reference))
def takes_sigmoids(): ...


@mistake(**shares_of_scores(reference))
def divides_scores_by_their_sum(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(**first_axis(reference))
def runs_over_the_first_axis(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake(points=0.5, **best(reference))
def gives_all_weight_to_the_best(): ...


@mistake(slip=True, points=1.5)
def changes_query_and_its_gradient(query, key, value):
    """you divide the caller's `query` in place, so that the root is missing in its gradient too;
    make a new tensor: `query / ...`"""
    query.data /= math.sqrt(query.shape[-1])
    return torch.softmax(query @ key.mT, -1) @ value


@mistake(computes=mistaking(reference, value="key"))
def returns_keys():
    """you return means of the keys; the weights belong to the values"""


@mistake(computes=mistaking(reference, key="value"))
def scores_the_values():
    """you score the values; the queries meet the keys, and the weights go to the values"""


def _causal(scores: Tensor, axis: int) -> Tensor:
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    return scores.masked_fill(~seen, -torch.inf).softmax(axis)


@mistake(also=(instead_of_softmax(reference, _causal),))
def forbids_what_comes_later(query, key, value):
    """you mask what comes later; in this part every query sees every key"""
    return _causal(query @ key.mT / math.sqrt(query.shape[-1]), -1) @ value


@mistake(computes=then(reference, lambda output: output.mean(-2)))
def averages_over_the_queries():
    """you return one row, the mean over the queries; each query has an output of its own"""


@mistake
def adds_up_the_features(query, key, value):
    """you add up the features of each value; add up the keys, feature by feature: `weights @
    value`"""
    weights = _weights(query, key)
    return weights * value.sum(-1).unsqueeze(-2)


@mistake
def returns_weights_and_output(query, key, value):
    """you return the weights as well; the output alone is asked for"""
    return _weights(query, key), reference(query, key, value)


@mistake
def scores_by_distance(query, key, value):
    """you score by the distance of queries and keys; here the score is their dot product"""
    squares = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(-squares / math.sqrt(query.shape[-1]), -1) @ value


@mistake
def transposes_the_weights(query, key, value):
    """your weights are transposed where they meet the values: a row of them belongs to a query, and
    sums to 1 over the keys, so it is `weights @ value`"""
    return _weights(query, key).mT @ value


EXERCISE = Exercise(
    function="attention",
    reference=reference,
    title="scaled dot-product attention",
    minutes=10,
    axes={"batch": 17, "query_len": 43, "key_len": 97, "d_key": 31, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "each query gets the mean of the values, weighted by the softmax of `q · k / √d` over"
            " the keys; any number of axes may come before",
            1,
            draw_vectors,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_key": 4, "d_value": 7},
                {"query_len": 5, "key_len": 3, "d_key": 11, "d_value": 2},
                {"batch": 2, "query_len": 3, "key_len": 7, "d_key": 5, "d_value": 11},
                {
                    **{"batch": 3, "num_heads": 2, "query_len": 3, "key_len": 5},
                    **{"d_key": 7, "d_value": 2},
                },
            ),
            hidden_sizes=(
                {"query_len": 7, "key_len": 2, "d_key": 13, "d_value": 3},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 5, "key_len": 7},
                    **{"d_key": 11, "d_value": 2},
                },
            ),
        ),
        Check(
            "in half precision, where nothing above 65504 can be held, long vectors give no `nan`",
            0.5,
            draw_long_vectors,
            sizes=({"batch": 2, "query_len": 3, "key_len": 5, "d_key": 64, "d_value": 7},),
            hidden_sizes=({"batch": 3, "query_len": 2, "key_len": 3, "d_key": 81, "d_value": 5},),
            dtype=torch.float16,
        ),
        Check(
            "the right gradient reaches `query`, `key` and `value`",
            1,
            draw_vectors,
            sizes=({"batch": 2, "query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},),
            hidden_sizes=({"batch": 3, "query_len": 2, "key_len": 7, "d_key": 3, "d_value": 5},),
            gradient=("query", "key", "value"),
        ),
    ),
    mistakes=mistake.collected,
)
