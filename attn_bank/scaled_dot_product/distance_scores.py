"""Part C of problem set 07: minus half the squared distance, put together from dot products."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Largest,
    Mistakes,
    Plain,
    given,
    then,
    transposed,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.scaled_dot_product import UNSEEN, why_not


def reference(query: Tensor, key: Tensor) -> Tensor:
    return _scores(query, key, -_squares(query) / 2, -_squares(key) / 2)


def _scores(query: Tensor, key: Tensor, of_query: Tensor | float, of_key: Tensor | float) -> Tensor:
    """The dot products, plus one term for each query and one for each key."""
    of_query = of_query.unsqueeze(-1) if isinstance(of_query, Tensor) else of_query
    of_key = of_key.unsqueeze(-2) if isinstance(of_key, Tensor) else of_key
    return query @ key.mT + of_query + of_key


def _squares(vectors: Tensor) -> Tensor:
    return vectors.square().sum(-1)


def _lengths(vectors: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vectors, dim=-1)


def draw_vectors(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    before = in_front(batch, num_heads)
    return {
        "query": draw_normal(generator, *before, query_len, d_key),
        "key": 1.5 * draw_normal(generator, *before, key_len, d_key),
    }


def draw_with_a_zero(generator: Generator, query_len: int, key_len: int, d_key: int) -> Inputs:
    """A query and a key are the zero vector, whose length has no derivative."""
    inputs = draw_vectors(generator, query_len, key_len, d_key)
    inputs["query"][-1], inputs["key"][0] = 0, 0
    return inputs


def takes_no_differences(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, str] | str | None:
    with Largest() as largest:
        output = call(inputs)
    if reason := why_not(output, reference(**inputs), "the scores have to be right too"):
        return reason
    pairs, d_key = output.numel(), inputs["key"].shape[-1]
    if not largest.numbers:  # without a sight of its tensors, no points
        return UNSEEN
    if largest.numbers <= 2 * pairs:
        return None
    return (
        f"it makes a tensor of shape {largest.shape}, {largest.numbers} numbers; there are"
        f" {pairs} pairs of a query and a key, and each needs 2 numbers at most",
        "all differences" if largest.numbers >= pairs * d_key else "more than a few for each pair",
    )


_RIGHT = ": minus the squared distance is `-|q|² - |k|² + 2 q·k`, and here half of that is wanted"

mistake = Mistakes()


@mistake(ending=_RIGHT)
def copies_the_print(query, key):
    """this is the printed formula with both of its slips, the sign of the first term and the square
    of the second"""
    return _scores(query, key, _squares(query) / 2, -_lengths(key) / 2)


@mistake(ending=_RIGHT, right="one slip is put right, the sign", slip=0.5)
def mends_the_sign_only(query, key):
    """the length of the key still lacks its square"""
    return _scores(query, key, -_squares(query) / 2, -_lengths(key) / 2)


@mistake(ending=_RIGHT, right="one slip is put right, the square", slip=0.5)
def mends_the_square_only(query, key):
    """the term of the query still has the wrong sign, so that a query far from everything seems
    close"""
    return _scores(query, key, _squares(query) / 2, -_squares(key) / 2)


@mistake(ending=_RIGHT)
def adds_the_squares_of_the_keys(query, key):
    """the term of the key has the wrong sign, so that a key far from everything seems close"""
    return _scores(query, key, -_squares(query) / 2, _squares(key) / 2)


@mistake(ending=_RIGHT)
def squares_neither_length(query, key):
    """both lengths lack their squares: with `q = k` the three terms have to cancel"""
    return _scores(query, key, -_lengths(query) / 2, -_lengths(key) / 2)


@mistake(computes=then(reference, lambda output: 2 * output))
def forgets_the_half():
    """you return minus the squared distance; here half of it is wanted, so that the dot product
    stands there with the factor 1"""


@mistake
def halves_the_dot_product_too(query, key):
    """you took half of all three terms, but forgot that the dot product had a factor of 2: it now
    has the factor 1"""
    return reference(query, key) - query @ key.mT / 2


@mistake(ending=_RIGHT)
def forgets_to_halve_the_squares(query, key):
    """you halved the dot product, whose factor 2 is gone, and not the squares"""
    return _scores(query, key, -_squares(query), -_squares(key))


@mistake(ending=_RIGHT)
def halves_the_squares_only(query, key):
    """you halved the squares and not the dot product, which still has its factor 2"""
    return reference(query, key) + query @ key.mT


@mistake(ending=_RIGHT)
def halves_the_query_only(query, key):
    """the half belongs to the square of the key as well: mind the brackets"""
    return _scores(query, key, -_squares(query) / 2, -_squares(key))


@mistake(computes=then(reference, torch.neg))
def forgets_the_sign():
    """your score grows with the distance; the score of a key is high where it is close, so it needs
    a minus"""


@mistake(computes=given(reference, query=torch.neg))
def adds_the_vectors():
    """the dot product has the wrong sign: your score measures `q + k`. Multiply `(q - k) · (q - k)`
    out once more"""


@mistake
def leaves_the_queries_out(query, key):
    """you leave the term of the query out. In the weights it would cancel, as it is the same for
    all keys of a row, but here the scores are wanted"""
    return _scores(query, key, 0, -_squares(key) / 2)


@mistake
def leaves_the_keys_out(query, key):
    """you leave the term of the key out. It cancels nowhere: it differs from key to key"""
    return _scores(query, key, -_squares(query) / 2, 0)


@mistake(ending=_RIGHT)
def leaves_both_out(query, key):
    """you return the dot products alone: without the squares of the lengths, a long key seems close
    to everything"""
    return query @ key.mT


@mistake
def adds_the_squares_crosswise(query, key):
    """the squares of the queries are added along the columns and the squares of the keys along the
    rows; one number for each query is a column, `keepdim=True`, one for each key a row,
    `unsqueeze(-2)`"""
    return query @ key.mT - (_squares(query).unsqueeze(-2) + _squares(key).unsqueeze(-1)) / 2


@mistake(
    computes=then(reference, lambda output: -torch.sqrt(-2 * output) / 2),
    also=(then(reference, lambda output: torch.sqrt(-2 * output)),),
)
def takes_the_distance():
    """you take the distance itself; its square is wanted"""


@mistake
def takes_means_for_sums(query, key):
    """you divide by the width, as a mean over the features does; the squared distance is a sum"""
    return reference(query, key) / query.shape[-1]


@mistake
def scales_by_the_root(query, key):
    """you divide by the root of the width; that comes later, this is the distance as it is"""
    return reference(query, key) / query.shape[-1] ** 0.5


@mistake
def takes_the_distance_itself(query, key):
    """you take the root, and return minus the distance; its square is wanted, halved"""
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).norm(dim=-1)


@mistake(computes=then(reference, lambda scores: torch.softmax(scores, -1)))
def returns_weights():
    """you return weights; the scores are wanted, from before the softmax"""


@mistake(computes=transposed(reference))
def puts_queries_on_the_last_axis():
    """your table is transposed: one row for each query, one column for each key"""


@mistake(points=2, right="your scores are right")
def takes_all_differences(query, key):
    """you write the difference of every query and every key out, feature by feature: multiply the
    square out, and a matrix product does the work"""
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / 2


@mistake(slip=True, points=1.5)
def knows_no_batch(query, key):
    """your answer is right for two axes and for no other number; count axes from the back: `.mT`,
    `sum(-1)`, `unsqueeze(-2)`"""
    (_query_len, _), (_key_len, _) = query.shape, key.shape
    return reference(query, key)


@mistake(points=2.5)
def takes_a_root_and_squares_it_again(query, key):
    """you take a root that you square again: its gradient at the zero vector is infinite and turns
    to NaN; stay with the sum of squares"""
    of_query, of_key = (torch.sqrt(_squares(vectors)) ** 2 for vectors in (query, key))
    return _scores(query, key, -of_query / 2, -of_key / 2)


@mistake(points=2.5)
def takes_the_squares_for_constants(query, key):
    """you cut the squares of the lengths off from the graph; drop `detach` and `data`"""
    return _scores(query, key, -_squares(query.detach()) / 2, -_squares(key.detach()) / 2)


@mistake
def lays_the_keys_in_a_column(query, key):
    """the squares of the keys stand in a column, like the squares of the queries, and are added
    down the wrong axis, or fit nowhere; they belong in a row: `.unsqueeze(-2)`, or `.mT`"""
    squares = _squares(query).unsqueeze(-1) + _squares(key).unsqueeze(-1)
    return query @ key.mT - squares / 2


@mistake(computes=then(reference, torch.exp))
def takes_the_power():
    """you take the power of what is wanted; it is the exponent itself, before any `exp`"""


@mistake(computes=then(reference, lambda scores: scores.clamp_min(0)))
def cuts_off_what_is_negative():
    """you cut off below 0, and all is gone: minus half a square is never above 0"""


@mistake
def squares_the_sum(query, key):
    """you add up the features and then square; square each feature first"""
    of_query, of_key = query.sum(-1).square(), key.sum(-1).square()
    return _scores(query, key, -of_query / 2, -of_key / 2)


@mistake
def adds_up_the_sizes(query, key):
    """you add up the absolute values of the features; add up their squares"""
    return _scores(query, key, -query.abs().sum(-1) / 2, -key.abs().sum(-1) / 2)


@mistake
def squares_the_dot_product(query, key):
    """you square the dot product; it stands in the formula as it is"""
    return (query @ key.mT).square() + _scores(
        0 * query, key, -_squares(query) / 2, -_squares(key) / 2
    )


@mistake
def adds_up_over_the_positions(query, key):
    """you add up the squares over the positions; a length is the sum over the features, the last
    axis"""
    squares = query.square().sum(-2, keepdim=True) + key.square().sum(-2, keepdim=True)
    return query @ key.mT - squares / 2


def _give_queries_no_axis(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT - (_squares(query) + _squares(key).unsqueeze(-2)) / 2


@mistake(also=(_give_queries_no_axis,))
def gives_squares_no_axis(query, key):
    """your squares of queries and of keys lie along the same axis; give the squares of the queries
    an axis behind, `unsqueeze(-1)`, and the squares of the keys one before, `unsqueeze(-2)`"""
    return query @ key.mT - (_squares(query) + _squares(key)) / 2


def _one_for_both(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT - (_of_all(query) + _of_all(key)) / 2


def _of_everything(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT - (query.square().sum() + key.square().sum()) / 2


def _of_all(vectors: Tensor) -> Tensor:
    return vectors.square().sum((-2, -1), keepdim=True)


@mistake(also=(_one_for_both, _of_everything))
def adds_up_over_two_axes(query, key):
    """your sum of squares runs over the positions as well as over the features; each vector has a
    square of its own length, so sum over the last axis only: `sum(-1)`"""
    return query @ key.mT - (_squares(query).unsqueeze(-1) + _of_all(key)) / 2


EXERCISE = Exercise(
    function="distance_scores",
    reference=reference,
    title="find the slip: a distance made of dot products",
    minutes=15,
    axes={"query_len": 43, "key_len": 97, "d_key": 31},
    avoid=("distances",),
    contract=Contract(batch=("query", "key"), any_axes=True),
    checks=(
        Check(
            "every query is scored against every key by `-|q - k|² / 2`; any number of axes may"
            " come before",
            1,
            draw_vectors,
            sizes=(
                {"query_len": 3, "key_len": 3, "d_key": 2},
                {"batch": 2, "query_len": 3, "key_len": 5, "d_key": 7},
                {"batch": 2, "query_len": 1, "key_len": 3, "d_key": 5},
                {"batch": 3, "num_heads": 2, "query_len": 2, "key_len": 3, "d_key": 5},
            ),
            hidden_sizes=(
                {"query_len": 5, "key_len": 2, "d_key": 1},
                {"batch": 2, "num_heads": 3, "query_len": 1, "key_len": 7, "d_key": 3},
            ),
        ),
        Check(
            "no tensor is made that holds more than two numbers for each pair of a query and a key",
            1,
            draw_vectors,
            sizes=({"query_len": 23, "key_len": 29, "d_key": 19},),
            hidden_sizes=({"query_len": 37, "key_len": 31, "d_key": 11},),
            invariant=takes_no_differences,
            dtype=torch.float64,
            sizes_matter=True,
        ),
        Check(
            "the right gradient reaches `query` and `key`, even where a vector is zero",
            0.5,
            draw_with_a_zero,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_key": 7},),
            gradient=("query", "key"),
        ),
    ),
    mistakes=mistake.collected,
)
