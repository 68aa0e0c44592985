"""Part A of problem set 04: from scores to weights, where sources of unequal length are padded."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Generator, Tensor

from attn_bank.bahdanau import draw_lengths, padding_after
from attn_bank.draws import draw_normal
from attn_course.retrieval import masked_softmax


def reference(scores: Tensor, source_len: Tensor) -> Tensor:
    return masked_softmax(scores, ~_padding(scores, source_len))


def _padding(scores: Tensor, source_len: Tensor) -> Tensor:
    return padding_after(source_len, scores.shape[-1])


def draw_scores(
    generator: Generator, batch: int, query_len: int, key_len: int, least: int = 1, spare: int = 0
) -> Inputs:
    """One of the sources fills its row but for the last `spare` places."""
    scores = 2 * draw_normal(generator, batch, query_len, key_len)
    return {"scores": scores, "source_len": draw_lengths(generator, batch, key_len - spare, least)}


def draw_high_padding(generator: Generator, bits: int, **sizes: int) -> Inputs:
    """The scores at padding are 2 to the power `bits` above the others.

    With 10 bits no token keeps a weight beside them; with 34, not even once 10⁹ is taken off.
    """
    inputs = draw_scores(generator, **sizes)
    inputs["scores"][_padding(**inputs).expand_as(inputs["scores"])] += 2.0**bits
    return inputs


def draw_low_tokens(generator: Generator, **sizes: int) -> Inputs:
    """The scores are below -8 * 10⁹; two levels of them, so that keys tie. Padding is low.

    They are short in base 2, so that float32 holds them exactly.
    """
    inputs = draw_scores(generator, **sizes)
    level = torch.randint(2, inputs["scores"].shape, generator=generator)
    level = level.masked_fill(_padding(**inputs), 0)
    return inputs | {"scores": 1024.0 * level.double() - 2.0**33}


def _softmax(scores: Tensor, padding: Tensor) -> Tensor:
    return masked_softmax(scores, ~padding.expand_as(scores))


mistake = Mistakes()


@mistake
def ignores_the_lengths(scores, source_len):
    """your padding gets weight like any token; let it have none"""
    return torch.softmax(scores, -1)


def _multiplied_by_the_mask(scores: Tensor, source_len: Tensor) -> Tensor:
    weights = multiplies_scores_by_the_mask(scores, source_len)
    return weights * (source_len > 0)[:, None, None]


def _zero_and_clear(scores: Tensor, source_len: Tensor) -> Tensor:
    padding = _padding(scores, source_len)
    return torch.softmax(scores.masked_fill(padding, 0), -1).masked_fill(padding, 0)


@mistake(also=(_multiplied_by_the_mask, _zero_and_clear))
def multiplies_scores_by_the_mask(scores, source_len):
    """the scores of padding are 0 in yours, or nearly, but a score of 0 has the power 1, a good
    deal more than nothing; the score whose power is 0 is minus infinity"""
    return torch.softmax(scores * ~_padding(scores, source_len), -1)


@mistake
def drops_padding_from_the_weights(scores, source_len):
    """you set the weights of padding to 0 after the softmax, so what they had is missing: the rows
    no longer sum to 1; mask the scores, before the softmax"""
    return torch.softmax(scores, -1).masked_fill(_padding(scores, source_len), 0)


@mistake(points=3.5)
def shares_out_again_what_padding_had(scores, source_len):
    """you mask after the softmax and divide by what is left; where padding scores high, nothing is
    left; mask the scores, before the softmax"""
    weights = drops_padding_from_the_weights(scores, source_len)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1)


NOTHING_LEFT = """you take the weights of padding away after the powers, be it `exp` or the softmax,
    and divide by what is left; where padding scores high, or a source has no token, nothing is
    left, or infinity, and the quotient is `nan`; mask the scores before"""


@mistake(points=3, hint=NOTHING_LEFT)
def divides_nothing_by_nothing(scores, source_len):
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    raised = raised.masked_fill(_padding(scores, source_len), 0)
    return raised / raised.sum(-1, keepdim=True)


@mistake(points=2.5, hint=NOTHING_LEFT)
def shares_out_nothing(scores, source_len):
    weights = torch.softmax(scores, -1) * ~_padding(scores, source_len)
    return weights / weights.sum(-1, keepdim=True)


def _powers_and(number: float) -> Callable[..., Tensor]:
    def answer(scores: Tensor, source_len: Tensor) -> Tensor:
        powers = scores.exp() * ~_padding(scores, source_len)
        return powers / (powers.sum(-1, keepdim=True) + number)

    return answer


@mistake(points=2, also=tuple(map(_powers_and, (1e-5, 1e-8, 1e-9, 1e-10, 1e-12))))
def takes_powers_as_they_are(scores, source_len):
    """you take the powers of the scores as they are, which overflow where a score is high and are
    all 0 where all are low, and then the quotient is `nan`; mask the scores, and let
    `torch.softmax` take the highest off"""
    powers = scores.exp() * ~_padding(scores, source_len)
    return powers / powers.sum(-1, keepdim=True)


@mistake(points=3)
def fills_with_minus_a_billion(scores, source_len):
    """you fill the padding with a large negative number, which is low only as long as no token
    scores lower, and gives a source without tokens weights after all; minus infinity is lower than
    everything"""
    return torch.softmax(scores.masked_fill(_padding(scores, source_len), -1e9), -1)


@mistake(points=3.5)
def fills_with_minus_a_billion_and_clears(scores, source_len):
    """you fill the padding with a large negative number, which is low only as long as no token
    scores lower; where one does, padding takes the weight and takes it along when you set it to 0;
    minus infinity is lower than everything"""
    weights = fills_with_minus_a_billion(scores, source_len)
    return weights.masked_fill(_padding(scores, source_len), 0)


def _add_minus_a_billion(scores: Tensor, source_len: Tensor) -> Tensor:
    bias = -1e9 * _padding(scores, source_len).to(scores.dtype)
    return torch.softmax(scores + bias, -1)


@mistake(points=2.5, also=(_add_minus_a_billion,))
def adds_minus_ten_thousand(scores, source_len):
    """you lower the padding by 10,000 or another number, which leaves a source without tokens its
    weights, as all its scores go down together; minus infinity is lower than everything"""
    bias = -10000.0 * _padding(scores, source_len).to(scores.dtype)
    return torch.softmax(scores + bias, -1)


@mistake(points=3.5)
def adds_minus_a_billion_and_clears(scores, source_len):
    """you lower the padding by 1e9, which is enough only as long as it does not score 1e9 above the
    tokens; where it does, it takes the weight and takes it along when you set it to 0; put minus
    infinity in the place of its scores"""
    padding = _padding(scores, source_len)
    weights = torch.softmax(scores - 1e9 * padding.to(scores.dtype), -1)
    return weights.masked_fill(padding, 0)


@mistake(points=3.5)
def fills_with_the_smallest_number(scores, source_len):
    """where a source has no token its keys share the weight, as they do where the smallest finite
    number stands in the place of every score; such a row has to be 0"""
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(_padding(scores, source_len), lowest), -1)


@mistake(points=3.5)
def leaves_nan_without_tokens(scores, source_len):
    """where a source has no token your softmax sees nothing but minus infinity, and 0/0 is `nan`;
    overwrite the weights of padding with 0"""
    return torch.softmax(scores.masked_fill(_padding(scores, source_len), -torch.inf), -1)


@mistake(points=3.5)
def replaces_nan_afterwards(scores, source_len):
    """you replace the `nan` after the softmax, and the gradient that comes back through the softmax
    is `nan` still; the `masked_fill` of the scores would stop it, an addition does not"""
    allowed = torch.zeros_like(scores).masked_fill(_padding(scores, source_len), -torch.inf)
    return torch.softmax(scores + allowed, -1).nan_to_num(0)


@mistake
def takes_softmax_over_the_queries(scores, source_len):
    """your weights sum to 1 over the queries; they should over the keys, the last axis"""
    weights = torch.softmax(scores, -2)
    return weights.masked_fill(_padding(scores, source_len), 0)


@mistake
def takes_softmax_over_the_batch(scores, source_len):
    """your weights sum to 1 over the sentences of the batch, which have nothing to do with each
    other; they should over the keys, the last axis"""
    filled = scores.masked_fill(_padding(scores, source_len), -torch.inf)
    return torch.softmax(filled, 0).nan_to_num(0)


@mistake(points=2)
def takes_softmax_over_all_pairs(scores, source_len):
    """you flatten queries and keys into one row before the softmax, so all queries of a sentence
    share a weight of 1; each has its own, over the last axis. It does not show as long as there is
    one query"""
    rows = scores.flatten(1).unsqueeze(1)
    padding = _padding(scores, source_len).expand_as(scores).flatten(1).unsqueeze(1)
    return _softmax(rows, padding).reshape(scores.shape)


@mistake
def takes_softmax_over_everything(scores, source_len):
    """you flatten the scores before the softmax, so the whole batch shares a weight of 1; each
    query has its own, over the last axis"""
    padding = _padding(scores, source_len).expand_as(scores).reshape(1, -1)
    return _softmax(scores.reshape(1, -1), padding).reshape(scores.shape)


def _keep_one_more_of_some(scores: Tensor, source_len: Tensor) -> Tensor:
    return reference(scores, source_len + source_len.sign())


@mistake(
    slip=True,
    computes=given(reference, source_len=lambda source_len: source_len + 1),
    also=(_keep_one_more_of_some,),
)
def keeps_one_place_too_many():
    """the first place of padding still counts: a source of 3 tokens has them at the places 0, 1 and
    2, and its padding begins at 3"""


@mistake(slip=True, computes=given(reference, source_len=lambda source_len: source_len - 1))
def drops_the_last_token():
    """the last token of each source is masked with the padding: a source of 3 tokens has them at
    the places 0, 1 and 2, and its padding begins at 3"""


@mistake
def keeps_the_padding(scores, source_len):
    """your mask is the wrong way round: padding gets all the weight, and tokens none"""
    return _softmax(scores, ~_padding(scores, source_len))


@mistake(
    computes=given(reference, source_len=lambda length: length[:1].expand_as(length)),
    also=(
        given(reference, source_len=lambda length: length.min().expand_as(length)),
        given(reference, source_len=lambda length: length.max().expand_as(length)),
    ),
)
def takes_the_first_length_for_all():
    """you mask all sources at one length, the first, the shortest or the longest; each has its
    own"""


@mistake(points=3)
def looks_at_padding_where_nothing_else_is(scores, source_len):
    """a source without tokens gets the softmax of its padding in yours; all its weights are 0"""
    padding = _padding(scores, source_len) & (source_len > 0)[:, None, None]
    return torch.softmax(scores.masked_fill(padding, -torch.inf), -1)


@mistake(computes=given(reference, source_len=lambda length: length.clamp_min(1)), points=3.5)
def leaves_an_empty_source_one_token():
    """a source without tokens has one in yours: do not raise its length to 1, its weights are 0"""


@mistake
def takes_the_end_for_the_beginning(scores, source_len):
    """your padding comes first in each row; the tokens come first, and padding is behind them"""
    return _softmax(scores, _padding(scores, source_len).flip(-1))


def _multiply_and_leave_it(scores: Tensor, source_len: Tensor) -> Tensor:
    return torch.softmax(scores + _padding(scores, source_len) * -torch.inf, -1)


@mistake(also=(_multiply_and_leave_it,))
def multiplies_by_infinity(scores, source_len):
    """`nan` is what 0 times infinity gives, so a mask times minus infinity spoils the scores of the
    tokens; `masked_fill` puts minus infinity at padding and leaves them alone"""
    padding = _padding(scores, source_len)
    return torch.softmax(scores + padding * -torch.inf, -1).masked_fill(padding, 0)


@mistake
def lets_the_lengths_meet_the_queries(scores, source_len):
    """your mask has no axis for the queries, so the axis of the batch takes its place; the lengths
    need two axes of size 1 behind theirs, `source_len[:, None, None]`"""
    padding = _padding(scores, source_len).squeeze(1)
    return torch.softmax(scores.masked_fill(padding, -torch.inf), -1).masked_fill(padding, 0)


def _logarithms_without_padding(scores: Tensor, source_len: Tensor) -> Tensor:
    padding = _padding(scores, source_len)
    return takes_logarithms(scores, source_len).masked_fill(padding, 0)


@mistake(also=(_logarithms_without_padding,))
def takes_logarithms(scores, source_len):
    """you return logarithms of the weights, as `log_softmax` does; the weights are asked, which are
    never below 0"""
    filled = scores.masked_fill(_padding(scores, source_len), -torch.inf)
    return torch.log_softmax(filled, -1)


@mistake
def returns_the_scores(scores, source_len):
    """you return the masked scores; the weights are their softmax"""
    return scores.masked_fill(_padding(scores, source_len), -torch.inf)


@mistake(points=3.5)
def leaves_out_columns(scores, source_len):
    """you leave out the places that are padding in all sources; the weights have the shape of the
    scores"""
    longest = int(source_len.max()) if len(source_len) > 1 else scores.shape[-1]
    return reference(scores[..., :longest], source_len)


@mistake(points=3.5)
def changes_scores(scores, source_len):
    """you write minus infinity into the `scores` of the caller; `masked_fill` makes a new tensor,
    `masked_fill_` changes the old one"""
    padding = _padding(scores, source_len)
    scores.detach().masked_fill_(padding, -torch.inf)
    return _softmax(scores, padding)


@mistake
def forbids_queries(scores, source_len):
    """you hold the lengths against the numbers of the queries, and forbid whole rows; padding is
    among the keys, which are the columns"""
    padding = _padding(scores.mT, source_len).mT
    return _softmax(scores, padding)


@mistake(points=3.5)
def fills_with_minus_a_billion_and_clears_empty_sources(scores, source_len):
    """you fill the padding with a large negative number, which is low only as long as no token
    scores lower; where all do, the padding takes their weight; minus infinity is lower than
    everything"""
    weights = fills_with_minus_a_billion(scores, source_len)
    return weights * (source_len > 0)[:, None, None]


def _take_the_largest_of_the_batch_off(scores: Tensor, source_len: Tensor) -> Tensor:
    padding = _padding(scores, source_len)
    raised = (scores - scores.amax(0, keepdim=True)).exp().masked_fill(padding, 0)
    total = raised.sum(-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1)


@mistake(also=(_take_the_largest_of_the_batch_off,))
def takes_the_largest_of_another_axis_off(scores, source_len):
    """before the powers you take another number off each key, as a maximum over the batch does, and
    that changes their proportions; take one number off each row, its own largest score:
    `amax(-1, keepdim=True)`"""
    masked = scores.masked_fill(_padding(scores, source_len), -torch.inf)
    top = masked.amax(0, keepdim=True)
    raised = (masked - top.masked_fill(top == -torch.inf, 0)).exp()
    total = raised.sum(-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1)


EXERCISE = Exercise(
    function="attention_weights",
    reference=reference,
    title="weights that know where a sentence ends",
    minutes=20,
    axes={"batch": 17, "query_len": 43, "key_len": 97},
    contract=Contract(batch=("scores", "source_len")),
    checks=(
        Check(
            "the weights of each query sum to 1 over the tokens of its own source, and padding has"
            " none; for one query or several",
            1.5,
            draw_scores,
            sizes=(
                {"batch": 3, "query_len": 1, "key_len": 5},
                {"batch": 2, "query_len": 3, "key_len": 7},
            ),
            hidden_sizes=(
                {"batch": 5, "query_len": 3, "key_len": 2},
                {"batch": 3, "query_len": 5, "key_len": 11},
            ),
        ),
        Check(
            "a score at padding changes nothing, however high it is",
            0.5,
            draw_high_padding,
            sizes=(
                {"batch": 3, "query_len": 1, "key_len": 5, "bits": 10},
                {"batch": 2, "query_len": 1, "key_len": 3, "bits": 34},
            ),
            hidden_sizes=(
                {"batch": 2, "query_len": 1, "key_len": 7, "bits": 10},
                {"batch": 5, "query_len": 1, "key_len": 5, "bits": 34},
            ),
        ),
        Check(
            "the scores of tokens may be as low as they like, -8,589,934,592 for example",
            0.5,
            draw_low_tokens,
            sizes=({"batch": 3, "query_len": 1, "key_len": 5},),
            hidden_sizes=({"batch": 5, "query_len": 1, "key_len": 7},),
        ),
        Check(
            "where a source has no token, all weights are 0",
            0.5,
            draw_scores,
            sizes=(
                {"batch": 3, "query_len": 1, "key_len": 5, "least": 0},
                {"batch": 2, "query_len": 1, "key_len": 3, "least": 0, "spare": 1},
            ),
            hidden_sizes=(
                {"batch": 2, "query_len": 1, "key_len": 3, "least": 0},
                {"batch": 3, "query_len": 1, "key_len": 7, "least": 0, "spare": 2},
            ),
        ),
        Check(
            "the right gradient reaches `scores`; it is 0, not `nan`, where a source has no token",
            0.5,
            draw_scores,
            sizes=({"batch": 3, "query_len": 1, "key_len": 5, "least": 0},),
            hidden_sizes=({"batch": 5, "query_len": 1, "key_len": 7, "least": 0},),
            gradient=("scores",),
        ),
    ),
    mistakes=mistake.collected,
)
