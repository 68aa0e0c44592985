"""Part E of problem set 08: how much of what a token gets comes from itself."""

from functools import partial

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.softmaxes import lowest, twice
from attn_course.retrieval import masked_softmax


def reference(scores: Tensor, real: Tensor) -> Tensor:
    return _mean(_own(masked_softmax(scores, real.unsqueeze(-2))), real)


def _own(weights: Tensor) -> Tensor:
    return weights.diagonal(dim1=-2, dim2=-1)


def _mean(own: Tensor, real: Tensor) -> Tensor:
    """Over the real tokens of each sentence; 0 where there are none."""
    return (own * real).sum(-1) / real.sum(-1).clamp_min(1)


def draw_scores(
    generator: Generator, length: int, batch: int | None = None, beams: int | None = None
) -> Inputs:
    before = in_front(batch, beams)
    return {
        "scores": 1.5 * draw_normal(generator, *before, length, length),
        "real": torch.ones(*before, length, dtype=torch.bool),
    }


def draw_padded_scores(generator: Generator, batch: int, length: int) -> Inputs:
    """Sentences of different lengths: one fills its row, one is a word, one is all padding.

    The padding of one more stands in front.
    """
    inputs = draw_scores(generator, length, batch)
    lengths = torch.randint(2, length, (batch, 1), generator=generator)
    lengths[0], lengths[1], lengths[-1] = length, 1, 0
    inputs["real"] = torch.arange(length) < lengths
    inputs["real"][2] = inputs["real"][2].flip(0)
    return inputs


def draw_large_scores(generator: Generator, batch: int, length: int) -> Inputs:
    """From -300 to 300, whose powers float32 does not hold; the first padding has 200 more.

    They are eighths, so that float32 holds the scores themselves without rounding.
    """
    inputs = draw_scores(generator, length, batch)
    height = 150 * (torch.arange(length) - length // 2).unsqueeze(-1)
    last = torch.arange(length) == length - 1
    inputs["scores"] = (8 * inputs["scores"]).round() / 8 + height
    inputs["scores"][0] += 200 * last
    return inputs | {"real": inputs["real"] & ~last}


def _along(axis: int, least: int = 1) -> Answer:
    """The softmax along another axis, of scores in which padding is masked as a key."""

    def answer(scores: Tensor, real: Tensor) -> Tensor:
        masked = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
        own = _own(torch.softmax(masked, axis)).masked_fill(~real, 0)
        return own.sum(-1) / real.sum(-1).clamp_min(least)

    return answer


mistake = Mistakes()


@mistake(
    computes=given(reference, scores=lambda scores: scores.mT),
    also=(_along(-2), _along(-2, least=0)),
)
def takes_softmax_over_the_queries():
    """your weights sum to 1 over the queries; for each token that asks, a row, they should over the
    keys, the last axis"""


@mistake(slip=True, computes=_along(1), also=(_along(1, least=0),))
def takes_axis_one():
    """your softmax runs over axis 1, where the keys lie only without a batch; count from the back,
    `dim=-1`"""


@mistake
def returns_the_share_of_the_others(scores, real):
    """you return what a token gives to the others; what it gives to itself is asked"""
    return _mean(1 - _own(masked_softmax(scores, real.unsqueeze(-2))), real)


@mistake
def averages_the_scores(scores, real):
    """you average the scores on the diagonal; make weights of them first, a row at a time"""
    return _mean(_own(scores), real)


@mistake
def softmaxes_the_own_scores(scores, real):
    """you take the diagonal first and then the softmax, so that each token is compared with the
    other tokens' scores for themselves; take the softmax of whole rows first"""
    weights = masked_softmax(_own(scores).unsqueeze(-2), real.unsqueeze(-2))
    return _mean(weights.squeeze(-2), real)


@mistake
def sums_the_shares(scores, real):
    """you add the shares up; their mean is asked, between 0 and 1"""
    return _own(masked_softmax(scores, real.unsqueeze(-2))).mul(real).sum(-1)


@mistake
def returns_every_share(scores, real):
    """you return the share of every token; their mean is asked, one number for a sentence"""
    return _own(masked_softmax(scores, real.unsqueeze(-2))) * real


@mistake
def takes_the_largest_weight(scores, real):
    """you take the largest weight of each row, wherever it lies; take the diagonal"""
    return _mean(masked_softmax(scores, real.unsqueeze(-2)).amax(-1), real)


@mistake
def counts_how_often_it_is_largest(scores, real):
    """you count how often a token gives itself the largest weight; how much it gives itself is
    asked"""
    scores = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    itself = torch.arange(scores.shape[-1], device=scores.device)
    return _mean((scores.argmax(-1) == itself).to(scores.dtype), real)


@mistake
def averages_all_weights(scores, real):
    """you average all weights, which is 1 divided by the length whatever the scores are; average
    the diagonal"""
    return _mean(masked_softmax(scores, real.unsqueeze(-2)).mean(-1), real)


@mistake(computes=given(reference, scores=lambda scores: scores / scores.shape[-1] ** 0.5))
def scales_the_scores():
    """you divide the scores by a root; they are given as the softmax should see them"""


def _mean_of_all(scores: Tensor, real: Tensor) -> Tensor:
    own = _own(masked_softmax(scores, real.unsqueeze(-2)))
    return (own * real).sum() / real.sum().clamp_min(1)


@mistake(slip=True, computes=then(reference, torch.mean), also=(_mean_of_all,))
def makes_one_number_of_the_batch():
    """you return one number for all sentences; each has its own"""


def _take_the_first_two_axes(scores: Tensor, real: Tensor) -> Tensor:
    weights = masked_softmax(scores, real.unsqueeze(-2))
    own = torch.diagonal(weights).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


@mistake(slip=True, points=1, also=(_take_the_first_two_axes,))
def knows_one_batch_axis_only(scores, real):
    """your diagonal counts its axes from the left, as it does by itself, which fits one number of
    axes only; count from the right: `diagonal(dim1=-2, dim2=-1)`"""
    weights = masked_softmax(scores, real.unsqueeze(-2))
    return (torch.diagonal(weights, dim1=1, dim2=2) * real).sum(-1) / real.sum(-1).clamp_min(1)


@mistake(points=1.5)
def lets_padding_take_weight(scores, real):
    """padding takes weight from the words; mask it before the softmax, and as a key, which is a
    column: `real.unsqueeze(-2)`"""
    return _mean(_own(torch.softmax(scores, -1)), real)


def _count_padding_and_nothing(scores: Tensor, real: Tensor) -> Tensor:
    """And without a word the share is `nan`."""
    masked = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    return _own(torch.softmax(masked, -1)).mean(-1)


@mistake(points=1.5, also=(_count_padding_and_nothing,))
def counts_padding_as_words(scores, real):
    """you take the mean over all rows, and padding counts in it with a share of 0; divide by the
    number of words"""
    own = _own(masked_softmax(scores, real.unsqueeze(-2)))
    return (own * real).mean(-1)


def _count_padding_as_zeros(scores: Tensor, real: Tensor) -> Tensor:
    return (_own(torch.softmax(scores, -1)) * real).mean(-1)


@mistake(points=1.5, also=(_count_padding_as_zeros,))
def forgets_the_padding(scores, real):
    """padding takes weight, and counts as a word in the mean; it is none, and does neither"""
    return _own(torch.softmax(scores, -1)).mean(-1)


@mistake(points=2)
def divides_by_no_words(scores, real):
    """a sentence without a word gives you `nan`; its share is 0. A row without a key is `nan` after
    the softmax, and 0 times `nan` is still `nan`: use `masked_fill`, and divide by at least 1"""
    own = _own(masked_softmax(scores, real.unsqueeze(-2)))
    return (own * real).sum(-1) / real.sum(-1)


@mistake(points=2)
def drops_sentences_of_padding(scores, real):
    """you leave out sentences without a token; they have a place in the output too, with a 0 in
    it"""
    shares = reference(scores, real)
    return shares[real.any(-1)] if shares.ndim == 1 else shares


@mistake(points=2.5)
def masks_after_the_softmax(scores, real):
    """you mask after the softmax and divide by what is left; where padding scores high, nothing is
    left. Mask the scores, before the softmax"""
    weights = torch.softmax(scores, -1) * real.unsqueeze(-2)
    total = weights.sum(-1, keepdim=True)
    return _mean(_own(weights / total.where(total > 0, 1)), real)


@mistake(points=2.5)
def takes_the_largest_of_all_off(scores, real):
    """you take the largest of all scores off, and rows that are much lower become zeros; take the
    largest of its own row off each, or let `torch.softmax` do it"""
    powers = torch.exp(scores - scores.max()) * real.unsqueeze(-2)
    total = powers.sum(-1)
    return _mean(_own(powers) / total.where(total > 0, 1), real)


@mistake(points=1.5)
def multiplies_scores_by_the_mask(scores, real):
    """padding's scores are about 0 in yours; the softmax gives weight to a score of 0, too.
    Put minus infinity there"""
    return _mean(_own(torch.softmax(scores * real.unsqueeze(-2), -1)), real)


@mistake(points=2.5)
def changes_scores(scores, real):
    """you write into the scores that you were given, as all names do that end in `_`; `masked_fill`
    makes new ones"""
    weights = scores.masked_fill_(~real.unsqueeze(-2), -torch.inf).softmax(-1)
    return _mean(_own(weights).masked_fill(~real, 0), real)


def _mask_powers(scores: Tensor, real: Tensor) -> Tensor:
    powers = torch.exp(scores) * real.unsqueeze(-2)
    return _mean(_own(powers / powers.sum(-1, keepdim=True).clamp_min(1e-9)), real)


@mistake(points=2.5, also=(_mask_powers,))
def takes_powers_as_they_are(scores, real):
    """you take the powers of the scores as they are; `exp(100)` is more than a number can hold, and
    infinity divided by infinity is `nan`; `torch.softmax` takes the largest score of the row off
    first"""
    powers = torch.exp(scores) * real.unsqueeze(-2)
    total = powers.sum(-1).clamp_min(1e-30)
    return _mean(_own(powers) / total, real)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


def _turn_filled(scores: Tensor, real: Tensor, both: bool = False) -> Tensor:
    masked = scores.masked_fill(real.unsqueeze(-2), -torch.inf)
    own = _own(torch.softmax(masked, -1)).masked_fill(real if both else ~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def _asks_the_padding(scores: Tensor, real: Tensor) -> Tensor:
    own = _own(masked_softmax(scores, real.unsqueeze(-2)))
    return _mean(own.masked_fill(real, 0), ~real) * (~real).sum(-1) / real.sum(-1).clamp_min(1)


@mistake(also=(_asks_the_padding, _turn_filled, partial(_turn_filled, both=True)))
def turns_the_mask_round(scores, real):
    """a mask of yours is the wrong way round: `real` is True at words, and `masked_fill` fills
    where its mask is True"""
    return _mean(_own(masked_softmax(scores, ~real.unsqueeze(-2))), real)


@mistake(points=2.5)
def fills_with_minus_a_hundred(scores, real):
    """the score that you give padding is not below all others: where words score lower still,
    padding takes the weight. Fill with minus infinity"""
    return _mean(_own(torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -100), -1)), real)


@mistake
def takes_one_softmax_for_the_sentence(scores, real):
    """your softmax runs over all scores of a sentence together; each word has weights of its own,
    which sum to 1 over the keys"""
    seen = (real.unsqueeze(-2) & real.unsqueeze(-1)).flatten(-2)
    return _own(masked_softmax(scores.flatten(-2), seen).view(scores.shape)).sum(-1)


@mistake
def forbids_what_comes_later(scores, real):
    """you mask what comes later; here every word sees all words of its sentence"""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril()
    return _mean(_own(masked_softmax(scores, earlier & real.unsqueeze(-2))), real)


@mistake
def counts_one_word_more(scores, real):
    """you add 1 to the number of words, to divide by no 0; `clamp_min(1)` leaves all other numbers
    as they are"""
    own = _own(masked_softmax(scores, real.unsqueeze(-2)))
    return (own * real).sum(-1) / (real.sum(-1) + 1)


@mistake(computes=then(reference, lambda share: 1 - share))
def takes_the_rest():
    """you return what the words give to the others; what they give to themselves is asked"""


def _the_middle_one(own: Tensor, real: Tensor) -> Tensor:
    return own.masked_fill(~real, torch.nan).nanmedian(-1).values.nan_to_num(0)


def _of_weights(scores: Tensor, real: Tensor) -> Tensor:
    return _own(masked_softmax(scores, real.unsqueeze(-2)))


@mistake(also=(lambda scores, real: _the_middle_one(_of_weights(scores, real), real),))
def takes_the_largest_share(scores, real):
    """you take one of the shares of a sentence, the largest or the middle one; their mean is asked,
    over its words"""
    return (_of_weights(scores, real) * real).amax(-1)


def _divide_by_the_longest(scores: Tensor, real: Tensor) -> Tensor:
    words = real.sum(-1).amax().clamp_min(1)
    return (_of_weights(scores, real) * real).sum(-1) / words


@mistake(also=(_divide_by_the_longest,), points=2)
def divides_by_the_mean_length(scores, real):
    """you divide by one number of words for all sentences, their mean or the largest; each sentence
    has its own, `real.sum(-1)`"""
    words = real.sum(-1).to(scores.dtype)
    return (_of_weights(scores, real) * real).sum(-1) / words.mean().clamp_min(1)


@mistake(points=2)
def expects_padding_behind(scores, real):
    """you count the words and take as many places from the first on; padding may stand in front, so
    use `real` itself"""
    first = torch.arange(real.shape[-1], device=real.device) < real.sum(-1, keepdim=True)
    return reference(scores, first)


EXERCISE = Exercise(
    function="own_share",
    reference=reference,
    title="measure how much of itself a word hears",
    minutes=20,
    axes={"batch": 17, "length": 97},
    contract=Contract(
        like=1,
        batch=("scores", "real"),
        any_axes=True,
        exempts={
            "cuts off": "what it returns is read, and nothing is learned through it",
            "fills with": "scores are said to be some hundreds",
        },
    ),
    checks=(
        Check(
            "the mean over the tokens of the weight that each gives to itself, one number for each"
            " sentence; any number of axes may come before",
            1.5,
            draw_scores,
            sizes=({"length": 5}, {"batch": 3, "length": 7}, {"batch": 3, "beams": 2, "length": 3}),
            hidden_sizes=({"length": 2}, {"batch": 2, "beams": 3, "length": 5}),
        ),
        Check(
            "padding takes no weight, and is not one of those asked; a sentence of padding alone"
            " gets 0",
            0.5,
            draw_padded_scores,
            sizes=({"batch": 4, "length": 7},),
            hidden_sizes=({"batch": 5, "length": 11},),
        ),
        Check(
            "scores may be some hundreds, above zero or below, and the highest may be padding",
            0.5,
            draw_large_scores,
            sizes=({"batch": 2, "length": 5},),
            hidden_sizes=({"batch": 3, "length": 4},),
            tolerance=512,
            sizes_matter=True,  # sums of more numbers have fewer digits
        ),
    ),
    mistakes=mistake.collected,
)
