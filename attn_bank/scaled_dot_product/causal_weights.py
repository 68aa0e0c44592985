"""Part B of problem set 07: weights under two rules at once, nothing later and no padding."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.softmaxes import logarithms, lowest, shares_of_scores, twice, whole_table
from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import causal_mask, padding_mask


def reference(scores: Tensor, length: Tensor) -> Tensor:
    return masked_softmax(scores, _seen(scores, length))


def _seen(scores: Tensor, length: Tensor) -> Tensor:
    return _earlier(scores) & padding_mask(length, scores.shape[-1])


def _earlier(scores: Tensor) -> Tensor:
    return causal_mask(*scores.shape[-2:], scores.device)


def _real(scores: Tensor, length: Tensor) -> Tensor:
    """The keys that are words; a wrong answer may pass a length beyond the last."""
    return torch.arange(scores.shape[-1], device=scores.device) < length[..., None, None]


def _by_both(scores: Tensor, length: Tensor) -> Tensor:
    return _masked(scores, _earlier(scores) & _real(scores, length))


def draw_scores(
    generator: Generator,
    query_len: int,
    key_len: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """Sequences of different lengths, the last with two words of padding or more."""
    before = in_front(batch, num_heads)
    length = torch.randint(1, key_len + 1, before, generator=generator)
    if before:
        length[0] = key_len
        length[-1] = torch.randint(1, key_len - 1, (), generator=generator)
    return {"scores": draw_normal(generator, *before, query_len, key_len), "length": length}


def draw_far_scores(
    generator: Generator, query_len: int, key_len: int, batch: int, low: int
) -> Inputs:
    """Every forbidden score lies 200 above those allowed, or those allowed lie below -20000."""
    inputs = draw_scores(generator, query_len, key_len, batch)
    scores, seen = inputs["scores"], _seen(**inputs)
    scores = torch.where(seen, scores - 2e4, scores) if low else scores + 200.0 * ~seen
    return inputs | {"scores": scores}


def draw_empty_rows(generator: Generator, query_len: int, key_len: int, batch: int) -> Inputs:
    """More queries than keys, a sequence with one word of padding, and one without a word."""
    inputs = draw_scores(generator, query_len, key_len, batch)
    inputs["length"][:2] = torch.tensor([key_len - 1, 0])
    return inputs


def _masked(scores: Tensor, seen: Tensor) -> Tensor:
    return masked_softmax(scores, seen)


_TRIANGLE = "; query i stands at the position `key_len - query_len + i`, and sees keys up to it"

mistake = Mistakes()


@mistake(ending=_TRIANGLE)
def counts_queries_from_the_first_key(scores, length):
    """you put the first query beside the first key, which is right only where there are as many
    queries as keys: the triangle has to be moved by `key_len - query_len`"""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril()
    return _masked(scores, earlier & _real(scores, length))


@mistake(ending=_TRIANGLE)
def moves_the_triangle_the_wrong_way(scores, length):
    """you move the triangle by `query_len - key_len`, to the wrong side where there are fewer
    queries than keys: it is `key_len - query_len`"""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(query_len - key_len)
    return _masked(scores, earlier & _real(scores, length))


@mistake(points=2)
def never_moves_the_triangle_back(scores, length):
    """your triangle is right as long as there are no more queries than keys. If there are, the
    first queries stand before the first key, and see nothing: `key_len - query_len` may be
    negative, and `tril` takes it as it is"""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(max(key_len - query_len, 0))
    return _masked(scores, earlier & _real(scores, length))


@mistake(points=2)
def moves_the_triangle_without_a_sign(scores, length):
    """your triangle is right as long as there are no more queries than keys. If there are, it moves
    the other way: `key_len - query_len` is negative then, and `tril` takes it as it is"""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(abs(key_len - query_len))
    return _masked(scores, earlier & _real(scores, length))


@mistake(ending=_TRIANGLE)
def swaps_the_triangles(scores, length):
    """your queries see what comes later and not what came before: you kept the upper triangle, and
    it is the lower one"""
    query_len, key_len = scores.shape[-2:]
    later = torch.ones_like(scores, dtype=torch.bool).triu(key_len - query_len)
    return _masked(scores, later & _real(scores, length))


@mistake(ending=_TRIANGLE)
def swaps_the_triangles_of_a_square(scores, length):
    """you kept the upper triangle, and it is the lower one; moreover it has to be moved where there
    are not as many queries as keys"""
    later = torch.ones_like(scores, dtype=torch.bool).triu()
    return _masked(scores, later & _real(scores, length))


@mistake(ending=_TRIANGLE)
def leaves_out_the_diagonal(scores, length):
    """your triangle ends before its diagonal, and is not moved where there are not as many queries
    as keys"""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(-1)
    return _masked(scores, earlier & _real(scores, length))


@mistake(slip=True)
def forbids_itself(scores, length):
    """your queries do not see their own position; a query sees what came before, and itself"""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(key_len - query_len - 1)
    return _masked(scores, earlier & _real(scores, length))


@mistake(ending=_TRIANGLE)
def sees_one_key_ahead(scores, length):
    """your queries see one key that comes after them"""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(key_len - query_len + 1)
    return _masked(scores, earlier & _real(scores, length))


@mistake
def sees_the_future(scores, length):
    """the padding is forbidden, but what comes later is not: a second mask is needed, and a key has
    to pass both"""
    return _masked(scores, _real(scores, length))


@mistake
def sees_padding(scores, length):
    """what comes later is forbidden, but the padding is not: only the first `length` keys of a
    sequence are words"""
    return _masked(scores, _earlier(scores))


@mistake
def knows_one_triangle_only(scores, length):
    """a lower triangle is right where there are as many queries as keys, and no padding; here it
    has to be moved by `key_len - query_len`, and only the first `length` keys are words"""
    return _masked(scores, torch.ones_like(scores, dtype=torch.bool).tril())


@mistake
def asks_for_either_rule(scores, length):
    """a key passes if it satisfies one of your masks; it has to pass both: `&`, not `|`"""
    return _masked(scores, _earlier(scores) | _real(scores, length))


@mistake
def turns_the_mask_round(scores, length):
    """you allow what is forbidden and forbid the rest; in this course True means that the query may
    attend, and `masked_fill` fills where its mask is True"""
    return _masked(scores, ~_seen(scores, length))


@mistake(slip=True, computes=given(_by_both, length=lambda length: length + 1))
def counts_one_word_too_many():
    """one position of padding is seen: the words are the first `length` keys, `position < length`
    if you count from 0, and `<=` if you count from 1"""


@mistake(slip=True, computes=given(reference, length=lambda length: (length - 1).clamp_min(0)))
def counts_one_word_too_few():
    """the last word of each sequence is forbidden: the words are the first `length` keys,
    `position < length` if you count from 0, and `<=` if you count from 1"""


@mistake
def pads_in_front(scores, length):
    """you take the last `length` keys for the words; here the words come first and the padding
    behind them"""
    padding = scores.shape[-1] - length
    in_front = torch.arange(scores.shape[-1], device=scores.device) < padding[..., None, None]
    return _masked(scores, _earlier(scores) & ~in_front)


@mistake(ending=_TRIANGLE)
def ends_the_queries_with_the_words(scores, length):
    """you let the last query stand at the last word of its sequence; it stands at the last key,
    padding or not"""
    query_len, key_len = scores.shape[-2:]
    query = torch.arange(-query_len, 0, device=scores.device) + length.unsqueeze(-1)
    earlier = torch.arange(key_len, device=scores.device) <= query.unsqueeze(-1)
    return _masked(scores, earlier)


@mistake
def silences_queries_in_the_padding(scores, length):
    """you take the weights from queries that stand in the padding; they see the words like any
    other query"""
    query_len, key_len = scores.shape[-2:]
    query = torch.arange(key_len - query_len, key_len, device=scores.device)
    return reference(scores, length) * (query < length.unsqueeze(-1)).unsqueeze(-1)


@mistake
def forbids_rows_for_padding(scores, length):
    """your padding forbids queries, the rows after the first `length`; it forbids keys, in every
    row: `length` is compared with numbers that count along the last axis"""
    words = torch.arange(scores.shape[-2], device=scores.device) < length.unsqueeze(-1)
    return _masked(scores, _earlier(scores) & words.unsqueeze(-1))


@mistake
def masks_after_the_softmax(scores, length):
    """you mask after the softmax, so that the weights of a row sum to less than 1: fill the scores
    with minus infinity before it"""
    return torch.softmax(scores, -1) * _seen(scores, length)


@mistake(points=3.5)
def shares_out_again_after_the_softmax(scores, length):
    """your softmax runs over everything, and you divide again afterwards: a high forbidden score
    leaves nothing to divide; mask the scores before the softmax"""
    weights = masks_after_the_softmax(scores, length)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1)


@mistake
def multiplies_the_scores_by_the_mask(scores, length):
    """forbidden scores are about 0, and `exp(0)` is 1: they still take weight. The score that
    takes none is minus infinity"""
    return torch.softmax(scores * _seen(scores, length), -1)


@mistake(points=3.5)
def fills_with_minus_ten_thousand(scores, length):
    """you give what is forbidden a low score, -1e4 for example, which is low only as long as no
    word scores lower; minus infinity is lower than everything"""
    seen = _seen(scores, length)
    return torch.softmax(scores.masked_fill(~seen, -1e4), -1) * seen


@mistake(points=3)
def spreads_an_empty_row(scores, length):
    """a row without a key gets equal weights from you, padding and future included: where all
    scores are the same large negative number, it cancels. Set the weights of what is forbidden to
    0, after the softmax"""
    return torch.softmax(scores.masked_fill(~_seen(scores, length), -1e9), -1)


@mistake(points=3)
def divides_nothing_by_nothing(scores, length):
    """a row without a key holds only minus infinity, of which softmax makes NaN: set the weights of
    what is forbidden to 0, after the softmax"""
    return torch.softmax(scores.masked_fill(~_seen(scores, length), -math.inf), -1)


@mistake(points=3)
def silences_empty_sequences_only(scores, length):
    """you take the weights from a sequence without words, but a query that stands before the first
    key sees nothing either: set all weights of what is forbidden to 0, after the softmax"""
    return spreads_an_empty_row(scores, length) * (length > 0)[..., None, None]


@mistake(points=3.5)
def raises_without_a_maximum(scores, length):
    """`exp` of a score above 88 is infinite in float32, and infinity times a mask of 0 is NaN;
    torch's `softmax` subtracts the largest score first: mask the scores before it"""
    raised = torch.exp(scores) * _seen(scores, length)
    return raised / raised.sum(-1, keepdim=True).clamp_min(1e-30)


@mistake(points=3)
def lets_an_empty_row_see_the_first_key(scores, length):
    """you let a query without keys see the first one, which is forbidden; its weights are 0"""
    seen = _seen(scores, length).expand(scores.shape).clone()
    seen[..., 0] |= ~seen.any(-1)
    return _masked(scores, seen)


@mistake(points=3, right="your weights are right")
def adds_a_wall_of_minus_infinity(scores, length):
    """you add minus infinity: the NaN of a row without a key goes back through the sum into its
    gradient. `masked_fill` lets no gradient through where it has filled"""
    seen = _seen(scores, length)
    wall = torch.zeros_like(scores).masked_fill(~seen, -math.inf)
    return torch.softmax(scores + wall, -1).nan_to_num(0)


@mistake
def normalises_over_the_queries(scores, length):
    """your weights sum to 1 over the queries, down each column; they should sum to 1 over the keys,
    along the last axis"""
    scores = scores.masked_fill(~_seen(scores, length), -math.inf)
    return torch.softmax(scores, -2).nan_to_num(0)


@mistake(slip=True, points=2.5)
def knows_one_batch_axis_only(scores, length):
    """you count axes from the front, which fits one batch axis only; count them from the back:
    `length[..., None, None]`, `scores.shape[-2:]`"""
    _batch, _query_len, key_len = scores.shape
    real = torch.arange(key_len, device=scores.device) < length[:, None, None]
    return _masked(scores, _earlier(scores) & real)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**logarithms(reference))
def takes_the_logarithms(): ...


@mistake(**shares_of_scores(reference))
def divides_scores_by_their_sum(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake(points=2)
def subtracts_a_wall(scores, length):
    """you take a large number off forbidden scores; in a row without a key it cancels, and the row
    still gets weights that sum to 1. Set the weights of what is forbidden to 0, after the
    softmax"""
    return torch.softmax(scores - 1e9 * ~_seen(scores, length), -1)


def _fill_and_clear(scores: Tensor, length: Tensor) -> Tensor:
    return torch.softmax(scores * _seen(scores, length), -1) * _seen(scores, length)


def _only_later_before(scores: Tensor, length: Tensor) -> Tensor:
    return _masked(scores, _real(scores, length)) * _earlier(scores)


@mistake(also=(_only_later_before,))
def masks_padding_after_the_softmax(scores, length):
    """only one of the two masks comes before your softmax; what the other forbids takes weight
    first, and the rest sums to less than 1. Join them, and fill the scores before the softmax"""
    return _masked(scores, _earlier(scores)) * _real(scores, length)


@mistake(computes=_fill_and_clear)
def fills_with_zero_and_clears():
    """forbidden keys take weight with the score 0 before you clear their weights, so that the
    others sum to less than 1; fill their scores with minus infinity"""


@mistake
def takes_one_softmax_for_each_mask(scores, length):
    """you take one softmax for each mask, so that the second takes weights for scores; join the
    masks, and take one softmax"""
    return _masked(_masked(scores, _earlier(scores)), _real(scores, length))


@mistake(points=3.5)
def shares_out_again_after_the_padding(scores, length):
    """padding takes part in your softmax, and you divide again afterwards: a high score there
    leaves nothing to divide; mask all that is forbidden before the softmax"""
    weights = _masked(scores, _earlier(scores)) * _real(scores, length)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1)


@mistake(points=1.5)
def divides_by_what_is_left(scores, length):
    """you mask after the softmax and divide by what is left, which may be 0; fill the scores before
    the softmax, and set the weights of what is forbidden to 0 after it"""
    weights = masks_after_the_softmax(scores, length)
    return weights / weights.sum(-1, keepdim=True)


@mistake
def keeps_the_padding_and_drops_the_words(scores, length):
    """you see the padding and not the words: the first `length` keys are words"""
    return _masked(scores, _earlier(scores) & ~_real(scores, length))


@mistake(slip=False)  # fits where no sentence is shorter than another
def takes_the_greatest_length(scores, length):
    """you take the greatest length for all sequences; each has its own:
    `length[..., None, None]`"""
    return reference(scores, length.max().expand_as(length))


EXERCISE = Exercise(
    function="causal_weights",
    reference=reference,
    title="two masks at once, and the row that they leave empty",
    minutes=25,
    axes={"batch": 17, "query_len": 43, "key_len": 97},
    avoid=("attention",),
    contract=Contract(batch=("scores", "length"), any_axes=True),
    checks=(
        Check(
            "in each row the weights are the softmax over the words that do not come later than the"
            " query; the queries are the last positions; any number of axes may come before",
            1,
            draw_scores,
            sizes=(
                {"query_len": 5, "key_len": 5},
                {"batch": 2, "query_len": 3, "key_len": 7},
                {"batch": 2, "query_len": 1, "key_len": 5},
                {"batch": 3, "num_heads": 2, "query_len": 2, "key_len": 5},
            ),
            hidden_sizes=(
                {"query_len": 1, "key_len": 7},
                {"batch": 2, "num_heads": 3, "query_len": 2, "key_len": 5},
                {"batch": 3, "query_len": 5, "key_len": 11},
            ),
        ),
        Check(
            "what is forbidden takes nothing, however high its score and however low the others",
            0.5,
            draw_far_scores,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 5, "low": 0},
                {"batch": 2, "query_len": 3, "key_len": 5, "low": 1},
            ),
            hidden_sizes=(
                {"batch": 3, "query_len": 5, "key_len": 7, "low": 0},
                {"batch": 3, "query_len": 2, "key_len": 7, "low": 1},
            ),
        ),
        Check(
            "a query that may attend to no key has zero weights",
            1,
            draw_empty_rows,
            sizes=({"batch": 3, "query_len": 7, "key_len": 5},),
            hidden_sizes=({"batch": 2, "query_len": 5, "key_len": 3},),
            dtype=torch.float64,
        ),
        Check(
            "the right gradient reaches the scores, and is finite for such a query too",
            1,
            draw_empty_rows,
            sizes=({"batch": 3, "query_len": 5, "key_len": 3},),
            hidden_sizes=({"batch": 5, "query_len": 7, "key_len": 5},),
            gradient=("scores",),
        ),
    ),
    mistakes=mistake.collected,
)
