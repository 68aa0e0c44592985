"""Part C of problem set 05: a window around a place that is predicted, and a bell upon it."""

import math

import torch
from hintgrader.exercise import Altered, Answer, Check, Contract, Exercise, Inputs, Mistakes, Plain
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_uniform, in_front
from attn_bank.luong import draw_mask
from attn_course.luong import gaussian_window, window_mask
from attn_course.retrieval import masked_softmax


def reference(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    centre, key_len = mask.sum(-1, keepdim=True) * share, scores.shape[-1]
    window = mask.unsqueeze(-2) & window_mask(centre, key_len, half_width)
    return masked_softmax(scores, window) * gaussian_window(centre, key_len, half_width)


def draw_sentences(
    generator: Generator,
    query_len: int,
    key_len: int,
    batch: int | None = None,
    groups: int | None = None,
) -> Inputs:
    """Sentences of different lengths, and windows that hold a word each."""
    before = in_front(groups, batch)
    mask = draw_mask(generator, math.prod(before) if before else 2, key_len)
    return {
        "scores": draw_normal(generator, *before, query_len, key_len),
        "share": 0.1 + 0.8 * draw_uniform(generator, *before, query_len),
        "mask": mask.view(*before, key_len) if before else mask[-1],
        "half_width": 1.2 + 2 * draw_uniform(generator).item(),
    }


def draw_high_scores_outside(generator: Generator, low: int, **sizes: int) -> Inputs:
    """Beside them, the words of the window would get no weight that float32 can hold.

    If `low`, those are at -8 million, in whole numbers, which float32 holds exactly.
    """
    inputs = draw_sentences(generator, **sizes)
    outside = reference(**inputs) == 0
    scores = inputs["scores"] + 200 * outside
    return inputs | {"scores": scores.round() - 2.0**23 * ~outside if low else scores}


def draw_edges(
    generator: Generator, query_len: int, key_len: int, quarters: int, batch: int = 2
) -> Inputs:
    """The last word that each window takes in lies at its edge.

    All numbers are short in base 2, so that no rounding moves a word across it.
    """
    half_width = quarters / 4
    lengths = key_len // 2 ** torch.arange(batch)
    places = [torch.randperm(int(length), generator=generator)[:query_len] for length in lengths]
    centre = torch.stack(places) + half_width % 1
    return {
        "scores": draw_normal(generator, batch, query_len, key_len),
        "share": centre.double() / lengths.unsqueeze(-1),
        "mask": torch.arange(key_len) < lengths.unsqueeze(-1),
        "half_width": half_width,
    }


def draw_empty_windows(generator: Generator, query_len: int, key_len: int) -> Inputs:
    """Windows narrower than the way from word to word, half of them between two words.

    The first sentence of the three has words only, the second half of them, the third has none.
    """
    lengths = torch.tensor([key_len, key_len // 2, 0]).unsqueeze(-1)
    place = (draw_uniform(generator, 3, query_len) * (lengths - 1)).floor().clamp_min(0)
    place[:, ::2] += 0.5
    place[:, 1::2] += 0.2
    return {
        "scores": draw_normal(generator, 3, query_len, key_len),
        "share": place / lengths.clamp_min(1),
        "mask": torch.arange(key_len) < lengths,
        "half_width": 0.4,
    }


def draw_a_sentence_of_padding(generator: Generator, **sizes: int) -> Inputs:
    """Windows of several words; the first sentence is padded, and the last has no word."""
    inputs = draw_sentences(generator, **sizes)
    inputs["mask"][0, -2:] = False
    inputs["mask"][-1] = False
    return inputs


def _distance(share: Tensor, mask: Tensor) -> Tensor:
    centre = mask.sum(-1, keepdim=True) * share
    return torch.arange(mask.shape[-1], device=mask.device) - centre.unsqueeze(-1)


def _window(share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    return mask.unsqueeze(-2) & (_distance(share, mask).abs() <= half_width)


def _bell(share: Tensor, mask: Tensor, sigma: float) -> Tensor:
    return torch.exp(-_distance(share, mask).square() / (2 * sigma**2))


def _local(
    scores: Tensor, distance: Tensor, mask: Tensor, half_width: float, reach: float | None = None
) -> Tensor:
    """Right, if `distance` is; `reach` is half of the window, if it is not `half_width`."""
    window = mask.unsqueeze(-2) & (distance.abs() <= (reach or half_width))
    return masked_softmax(scores, window) * torch.exp(-2 * (distance / half_width).square())


mistake = Mistakes()


@mistake
def takes_the_window_for_the_spread(scores, share, mask, half_width):
    """your bell is twice too wide: its standard deviation `sigma` is half of `half_width`, so that
    two of them reach the edge of the window"""
    return masked_softmax(scores, _window(share, mask, half_width)) * _bell(share, mask, half_width)


@mistake
def forgets_the_two_of_the_bell(scores, share, mask, half_width):
    """the 2 in front of `sigma²` is missing: the bell is `exp(-distance² / (2 sigma²))`"""
    window, sigma = _window(share, mask, half_width), half_width / 2
    return masked_softmax(scores, window) * _bell(share, mask, sigma / 2**0.5)


@mistake
def multiplies_by_the_square(scores, share, mask, half_width):
    """your exponent is multiplied by `sigma²`, as in `d**2 / 2 * sigma**2` without brackets; it is
    divided by `(2 * sigma**2)`"""
    window, sigma = _window(share, mask, half_width), half_width / 2
    return masked_softmax(scores, window) * _bell(share, mask, 1 / sigma)


@mistake
def forgets_to_square_the_spread(scores, share, mask, half_width):
    """`sigma` is not squared: the bell is `exp(-distance² / (2 sigma²))`"""
    window, sigma = _window(share, mask, half_width), half_width / 2
    return masked_softmax(scores, window) * _bell(share, mask, sigma**0.5)


@mistake
def forgets_to_square_the_distance(scores, share, mask, half_width):
    """the distance is not squared, so your bell has a tip: it is `exp(-distance² / (2 sigma²))`"""
    bell = torch.exp(-_distance(share, mask).abs() / (2 * (half_width / 2) ** 2))
    return masked_softmax(scores, _window(share, mask, half_width)) * bell


@mistake
def turns_the_bell_over(scores, share, mask, half_width):
    """your bell grows with the distance: the exponent is negative"""
    weights = masked_softmax(scores, _window(share, mask, half_width))
    return weights / _bell(share, mask, half_width / 2)


@mistake
def makes_the_bell_too_wide(scores, share, mask, half_width):
    """your bell is four times too wide: `sigma` is half of `half_width`, not twice as much"""
    window = _window(share, mask, half_width)
    return masked_softmax(scores, window) * _bell(share, mask, 2 * half_width)


@mistake
def takes_the_density(scores, share, mask, half_width):
    """your bell is the density of the normal distribution, whose height depends on its width; leave
    the factor before it out, so that it is 1 at the place `p_t`"""
    return reference(scores, share, mask, half_width) / (half_width / 2 * math.sqrt(2 * math.pi))


@mistake
def renormalises(scores, share, mask, half_width):
    """your weights sum to 1 again after the bell (adding its logarithm to the scores does the
    same); in equation 10 they do not: take the softmax, then multiply"""
    log_bell = -2 * (_distance(share, mask) / half_width).square()
    return masked_softmax(scores + log_bell, _window(share, mask, half_width))


@mistake
def adds_the_bell_to_the_scores(scores, share, mask, half_width):
    """you add the bell to the scores, where it is worth a factor of `e` at most; multiply the
    weights by it, after the softmax"""
    bell = _bell(share, mask, half_width / 2)
    return masked_softmax(scores + bell, _window(share, mask, half_width))


@mistake
def multiplies_the_scores_by_the_bell(scores, share, mask, half_width):
    """you multiply the scores by the bell; a low score then grows with the distance. Multiply the
    weights by it, after the softmax"""
    bell = _bell(share, mask, half_width / 2)
    return masked_softmax(scores * bell, _window(share, mask, half_width))


@mistake(right="the window is right")
def leaves_the_bell_out(scores, share, mask, half_width):
    """the bell is missing: all words of the window count by their scores alone, as in local-m;
    multiply by the bell"""
    return masked_softmax(scores, _window(share, mask, half_width))


@mistake(points=1)
def leaves_the_scores_out(scores, share, mask, half_width):
    """you return the bell alone; it multiplies the softmax of the scores"""
    return _bell(share, mask, half_width / 2) * _window(share, mask, half_width)


@mistake
def leaves_the_window_out(scores, share, mask, half_width):
    """there is no window: your softmax runs over the whole sentence. Words further than
    `half_width` from the place `p_t` are masked before it"""
    return masked_softmax(scores, mask.unsqueeze(-2)) * _bell(share, mask, half_width / 2)


@mistake
def cuts_the_window_after_the_softmax(scores, share, mask, half_width):
    """your softmax runs over the whole sentence, and the window cuts after it: what the words
    outside took is lost; mask their scores before the softmax"""
    window = _window(share, mask, half_width)
    return leaves_the_window_out(scores, share, mask, half_width) * window


@mistake(points=4.5)
def shares_out_again_after_the_softmax(scores, share, mask, half_width):
    """your softmax runs over the whole sentence, and you divide again afterwards: a high score
    outside leaves nothing to divide; mask the scores before the softmax"""
    inside = torch.softmax(scores, -1) * _window(share, mask, half_width)
    total = inside.sum(-1, keepdim=True)
    return inside / total.where(total > 0, 1) * _bell(share, mask, half_width / 2)


@mistake(points=4.5)
def fills_with_minus_ten_thousand(scores, share, mask, half_width):
    """you give the words outside a low score, -1e4 for example, which is low only as long as no
    word of the window scores lower; minus infinity is lower than everything"""
    window = _window(share, mask, half_width)
    weights = torch.softmax(scores.masked_fill(~window, -1e4), -1) * window
    return weights * _bell(share, mask, half_width / 2)


def _fill_the_zeros_inside(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    window = _window(share, mask, half_width)
    weights = torch.softmax(scores.masked_fill(~window, -math.inf), -1).masked_fill(window, 0)
    return weights * _bell(share, mask, half_width / 2)


def _look_outside(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    outside = scores.masked_fill(_window(share, mask, half_width), -math.inf)
    return torch.softmax(outside, -1) * _bell(share, mask, half_width / 2)


@mistake(also=(_look_outside, _fill_the_zeros_inside))
def fills_the_window(scores, share, mask, half_width):
    """you fill where a word is seen: `masked_fill` writes where its mask is True, so minus infinity
    and 0 both want the words that are not seen, `~seen`"""
    outside = ~_window(share, mask, half_width)
    return _look_outside(scores, share, mask, half_width).masked_fill(outside, 0)


@mistake
def sees_padding(scores, share, mask, half_width):
    """some weight goes to padding; a word of the window has to be a word as well: `mask &
    window`"""
    everything = torch.ones_like(mask)
    return _local(scores, _distance(share, mask), everything, half_width)


@mistake
def measures_the_padded_sentence(scores, share, mask, half_width):
    """you multiply `share` by the padded length; the length of a sentence is the number of its
    words, the sum of its mask"""
    distance = _distance(share, torch.ones_like(mask))
    return _local(scores, distance, mask, half_width)


@mistake(slip=True)
def counts_words_from_one(scores, share, mask, half_width):
    """you count words from 1; here the first word stands at 0"""
    return _local(scores, _distance(share, mask) + 1, mask, half_width)


@mistake
def stretches_to_the_last_word(scores, share, mask, half_width):
    """you multiply `share` by the length less 1; equation 9 says the length"""
    distance = _distance(share, mask) + share.unsqueeze(-1)
    return _local(scores, distance, mask, half_width)


def _round_the_centre(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    place = (mask.sum(-1, keepdim=True) * share).round().unsqueeze(-1)
    return _local(scores, torch.arange(mask.shape[-1]) - place, mask, half_width)


def _round_the_window(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    place = (mask.sum(-1, keepdim=True) * share).round().unsqueeze(-1)
    window = (torch.arange(mask.shape[-1]) - place).abs() <= half_width
    weights = masked_softmax(scores, mask.unsqueeze(-2) & window)
    return weights * _bell(share, mask, half_width / 2)


@mistake(also=(_round_the_centre, _round_the_window))
def rounds_the_centre(scores, share, mask, half_width):
    """you round the place to a word, for the bell or for the window; it is a real number, and only
    so a gradient can move it"""
    return _local(scores, _distance(share, mask).round(), mask, half_width)


def _cut_the_window_down(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    window = mask.unsqueeze(-2) & (_distance(share, mask).ceil().abs() <= half_width)
    return masked_softmax(scores, window) * _bell(share, mask, half_width / 2)


@mistake(also=(_cut_the_window_down,))
def rounds_the_centre_down(scores, share, mask, half_width):
    """you cut the place down to a whole number, for the bell or for the window; it is a real
    number, and only so a gradient can move it"""
    return _local(scores, _distance(share, mask).ceil(), mask, half_width)


@mistake
def takes_the_whole_window_for_the_half(scores, share, mask, half_width):
    """your window is half as wide as it should be: it reaches `half_width` to either side"""
    return _local(scores, _distance(share, mask), mask, half_width, half_width / 2)


@mistake
def takes_the_half_for_the_whole_window(scores, share, mask, half_width):
    """your window is twice as wide as it should be: it reaches `half_width` to either side"""
    return _local(scores, _distance(share, mask), mask, half_width, 2 * half_width)


@mistake(points=1)
def forbids_padding_after_the_softmax(scores, share, mask, half_width):
    """your softmax runs over the padding in the window too, and what it took is lost when you mask
    afterwards; padding is masked before the softmax, like the words outside"""
    return sees_padding(scores, share, mask, half_width) * mask.unsqueeze(-2)


@mistake
def allows_the_padding_alone(scores, share, mask, half_width):
    """you take the mask the wrong way round, and only padding gets weight; it is True at words"""
    return _local(scores, _distance(share, mask), ~mask, half_width)


def _take_all_words(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    distance = torch.arange(mask.shape[-1]) - (mask.sum() * share).unsqueeze(-1)
    return _local(scores, distance, mask, half_width)


@mistake(also=(_take_all_words,))
def takes_one_length_for_all(scores, share, mask, half_width):
    """you multiply `share` by one length for all sentences, the longest or the sum; each has its
    own number of words, `mask.sum(-1, keepdim=True)`"""
    longest = mask.sum(-1).max()
    distance = torch.arange(mask.shape[-1]) - (longest * share).unsqueeze(-1)
    return _local(scores, distance, mask, half_width)


@mistake
def gives_the_words_outside_a_score_of_zero(scores, share, mask, half_width):
    """you give the words outside the window, or the padding, the score 0 before the softmax, and 0
    is no low score: what they take there is lost; minus infinity takes nothing"""
    window = _window(share, mask, half_width)
    weights = torch.softmax(scores * window, -1) * window
    return weights * _bell(share, mask, half_width / 2)


@mistake(points=1)
def divides_over_the_queries(scores, share, mask, half_width):
    """your weights are shared out among the queries; each query shares out its weight among the
    words: the softmax runs over the last axis"""
    window = _window(share, mask, half_width)
    scores = scores.masked_fill(~window, -math.inf)
    weights = torch.softmax(scores, -2).masked_fill(~window, 0)
    return weights * _bell(share, mask, half_width / 2)


def _leave_one_edge_out(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    distance = _distance(share, mask)
    inside = (distance >= -half_width) & (distance < half_width)
    return masked_softmax(scores, mask.unsqueeze(-2) & inside) * _bell(share, mask, half_width / 2)


def _forbid_the_edge(
    answer: Answer, scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Plain:
    edge = _distance(share, mask).abs() == half_width
    return answer(scores.masked_fill(edge, -torch.inf), share, mask, half_width)


@mistake(points=4.5, computes=Altered(reference, _forbid_the_edge), also=(_leave_one_edge_out,))
def leaves_the_edge_out():
    """a word at exactly `half_width` is missing from your window, on one side or on both: compare
    with `<=`"""


@mistake(points=3)
def divides_nothing_by_nothing(scores, share, mask, half_width):
    """a window without a word is a row of minus infinities, of which softmax makes NaN; put 0 in
    the place of every weight that is not seen, right after the softmax"""
    scores = scores.masked_fill(~_window(share, mask, half_width), -math.inf)
    return torch.softmax(scores, -1) * _bell(share, mask, half_width / 2)


def _take_the_nearest(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    distance = _distance(share, mask).abs()
    nearest = torch.nn.functional.one_hot(distance.argmin(-1), mask.shape[-1])
    empty = ~_window(share, mask, half_width).any(-1, keepdim=True)
    weights = reference(scores, share, mask, half_width)
    return torch.where(empty, nearest * _bell(share, mask, half_width / 2), weights)


def _keep_all_scores(scores: Tensor, share: Tensor, mask: Tensor, half_width: float) -> Tensor:
    window = _window(share, mask, half_width)
    window = window | ~window.any(-1, keepdim=True)
    return masked_softmax(scores, window) * _bell(share, mask, half_width / 2)


@mistake(points=4, also=(_keep_all_scores, _take_the_nearest))
def spreads_an_empty_window(scores, share, mask, half_width):
    """where the window is empty you let words outside have the weight, as they do with one large
    negative number in place of every score; set those weights to 0"""
    scores = scores.masked_fill(~_window(share, mask, half_width), -1e9)
    return torch.softmax(scores, -1) * _bell(share, mask, half_width / 2)


@mistake(points=4)
def replaces_nan_afterwards(scores, share, mask, half_width):
    """you replace NaN at the very end, when it has been multiplied by the bell and is in its
    gradient; replace it right after the softmax"""
    return divides_nothing_by_nothing(scores, share, mask, half_width).nan_to_num(0)


@mistake(slip=True, points=3)
def knows_one_batch_axis_only(scores, share, mask, half_width):
    """you count axes from the front, which fits one batch axis only; count them from the back, as
    in `mask.unsqueeze(-2)`"""
    length, key_len = mask.sum(1), scores.shape[2]
    distance = torch.arange(key_len, device=mask.device) - (length[:, None] * share)[:, :, None]
    window = mask[:, None, :] & (distance.abs() <= half_width)
    return masked_softmax(scores, window) * torch.exp(-2 * (distance / half_width).square())


@mistake
def sums_to_one_again(scores, share, mask, half_width):
    """you divide by the sum once more after the bell; here the bell only takes weight away, and
    what is left sums to less than 1"""
    weights = reference(scores, share, mask, half_width)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1)


EXERCISE = Exercise(
    function="local_weights",
    reference=reference,
    title="a window around a predicted place",
    minutes=25,
    axes={"batch": 17, "key_len": 97},
    contract=Contract(batch=("scores", "share", "mask"), any_axes=True),
    checks=(
        Check(
            "in each window the weights are the softmax over its words, times the bell; padding"
            " gets none; one sentence or a batch",
            1.5,
            draw_sentences,
            sizes=(
                {"query_len": 3, "key_len": 7},
                {"batch": 2, "query_len": 5, "key_len": 11},
                {"groups": 2, "batch": 3, "query_len": 2, "key_len": 7},
            ),
            hidden_sizes=(
                {"query_len": 5, "key_len": 5},
                {"batch": 3, "query_len": 2, "key_len": 13},
                {"groups": 3, "batch": 2, "query_len": 3, "key_len": 5},
            ),
        ),
        Check(
            "a word at the distance `half_width` is still in the window",
            0.5,
            draw_edges,
            sizes=({"query_len": 3, "key_len": 8, "quarters": 8},),
            hidden_sizes=(
                {"query_len": 2, "key_len": 8, "quarters": 6},
                {"query_len": 5, "key_len": 16, "quarters": 13},
            ),
        ),
        Check(
            "words outside the window take nothing from those inside, however high their scores"
            " and however low the scores inside",
            0.5,
            draw_high_scores_outside,
            sizes=(
                {"batch": 2, "query_len": 3, "key_len": 11, "low": 0},
                {"batch": 2, "query_len": 2, "key_len": 7, "low": 1},
            ),
            hidden_sizes=(
                {"batch": 3, "query_len": 5, "key_len": 13, "low": 0},
                {"batch": 3, "query_len": 3, "key_len": 11, "low": 1},
            ),
        ),
        Check(
            "a window without a word has zero weights, and so has a sentence that is all padding",
            1,
            draw_empty_windows,
            sizes=({"query_len": 3, "key_len": 7},),
            hidden_sizes=({"query_len": 2, "key_len": 11},),
        ),
        Check(
            "the right gradient reaches `scores`, and through the bell `share`; it is finite where"
            " a window is empty",
            1,
            draw_a_sentence_of_padding,
            sizes=({"batch": 2, "query_len": 3, "key_len": 7},),
            hidden_sizes=({"batch": 3, "query_len": 5, "key_len": 11},),
            gradient=("scores", "share"),
        ),
    ),
    mistakes=mistake.collected,
)
