"""Part E of problem set 07, third snippet: a batch that is padded and does not know it."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.softmaxes import lowest, twice
from attn_course import scaled_dot_product


def reference(tokens: Tensor, length: Tensor) -> Tensor:
    return _ask(_last(tokens, length), tokens, _real(tokens, length))


def _last(tokens: Tensor, length: Tensor) -> Tensor:
    """The vector of the last word of each sentence."""
    return tokens[torch.arange(len(tokens), device=tokens.device), length - 1]


def _real(tokens: Tensor, length: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1], device=tokens.device) < length.unsqueeze(-1)


def _ask(query: Tensor, tokens: Tensor, real: Tensor) -> Tensor:
    output = scaled_dot_product.attention(query.unsqueeze(1), tokens, tokens, real.unsqueeze(1))
    return output.squeeze(1)


def _everything(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)


def draw_sentences(
    generator: Generator, batch: int, max_len: int, d_model: int, noise: int
) -> Inputs:
    """Sentences of different lengths, padded with zeros or with something else.

    In a batch one fills its row, and of three or more one has a single word, if the padding is no
    louder than words are.
    """
    length = torch.randint(2, max_len, (batch,), generator=generator)
    length[0] = max_len if batch > 1 else max_len - 2
    if noise <= 1:
        length[2:3] = 1
    tokens = draw_normal(generator, batch, max_len, d_model)
    padding = float(noise) * (1 + draw_normal(generator, batch, max_len, d_model))
    tokens = torch.where(_real(tokens, length).unsqueeze(-1), tokens, padding)
    return {"tokens": tokens, "length": length}


mistake = Mistakes()


@mistake
def changes_nothing(tokens, length):
    """both bugs are still there. What is `tokens[:, -1]` for a short sentence? And which weight
    does a key of zeros get?"""
    return _ask(tokens[:, -1], tokens, _everything(tokens))


@mistake(right="the query is right", slip=0.5)
def mends_the_query_only(tokens, length):
    """padding still takes weight: a key of zeros has the score 0, and `exp(0)` is 1. Fill the
    scores of the padding with minus infinity"""
    return _ask(_last(tokens, length), tokens, _everything(tokens))


def _ask_at_the_longest(tokens: Tensor, length: Tensor) -> Tensor:
    return _ask(tokens[:, length.max() - 1], tokens, _real(tokens, length))


@mistake(also=(_ask_at_the_longest,), right="the mask is right", slip=0.5)
def mends_the_mask_only(tokens, length):
    """in a sentence shorter than others you ask with padding, which asks nothing: each has its last
    word at the place `length - 1` of its own"""
    return _ask(tokens[:, -1], tokens, _real(tokens, length))


@mistake
def sets_padding_to_zero(tokens, length):
    """you set the padding to zero, which takes no weight from it: a key of zeros has the score 0,
    and `exp(0)` is 1. Fill the scores of the padding with minus infinity"""
    return mends_the_query_only(tokens * _real(tokens, length).unsqueeze(-1), length)


@mistake
def takes_zeros_for_padding(tokens, length):
    """you recognise padding by its zeros; here it may hold anything. `length` says where it
    begins"""
    return _ask(_last(tokens, length), tokens, (tokens != 0).any(-1))


@mistake(slip=True)
def asks_with_the_position_behind(tokens, length):
    """you ask with the position behind the last word; places are counted from 0, so the last word
    is at `length - 1`"""
    behind = (length + 1).clamp_max(tokens.shape[1])
    return _ask(_last(tokens, behind), tokens, _real(tokens, length))


@mistake
def asks_with_the_first_word(tokens, length):
    """you ask with the first word of each sentence; the last one asks"""
    return _ask(tokens[:, 0], tokens, _real(tokens, length))


def _take_places_of_all(tokens: Tensor, length: Tensor) -> Tensor:
    real = _real(tokens, length).unsqueeze(1)
    return scaled_dot_product.attention(tokens[:, length - 1], tokens, tokens, real)


@mistake(
    computes=_take_places_of_all, also=(then(_take_places_of_all, lambda out: out.squeeze(1)),)
)
def takes_the_places_of_all_sentences():
    """`tokens[:, length - 1]` takes the places of all last words from every sentence; each has its
    last word at one place: `tokens[rows, length - 1]`, where `rows` counts the sentences"""


@mistake(also=(lambda tokens, length: _ask(tokens.mean(1), tokens, _real(tokens, length)),))
def asks_with_the_mean(tokens, length):
    """you ask with a mean of the tokens; the last word asks"""
    total = (tokens * _real(tokens, length).unsqueeze(-1)).sum(1)
    return _ask(total / length.unsqueeze(-1), tokens, _real(tokens, length))


@mistake(slip=True)
def leaves_the_last_word_out(tokens, length):
    """the last word does not see itself: the words are at the first `length` places, `place <
    length` if you count from 0, and `<=` if you count from 1"""
    return _ask(_last(tokens, length), tokens, _real(tokens, length - 1))


@mistake(slip=True)
def sees_one_position_too_many(tokens, length):
    """one position of padding is seen: the words are at the first `length` places, `place <
    length` if you count from 0, and `<=` if you count from 1"""
    return _ask(_last(tokens, length), tokens, _real(tokens, length + 1))


def _fill_the_words(tokens: Tensor, length: Tensor) -> Tensor:
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    scores = scores.masked_fill(_real(tokens, length).unsqueeze(-1), -torch.inf)
    return (torch.softmax(scores, 1) * tokens).sum(1)


@mistake(also=(_fill_the_words,))
def turns_the_mask_round(tokens, length):
    """you see the padding and not the words: `masked_fill` fills where its mask is True"""
    return _ask(_last(tokens, length), tokens, ~_real(tokens, length))


@mistake
def masks_after_the_softmax(tokens, length):
    """you mask after the softmax, so that the weights of the words sum to less than 1; mask the
    scores before it"""
    real = _real(tokens, length).unsqueeze(-1)
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    return (torch.softmax(scores, 1) * real * tokens).sum(1)


@mistake(points=1.5)
def adds_a_finite_wall(tokens, length):
    """you add a large negative number, -1e9 for example, to the scores of the padding; a score
    there may be larger than that. Do not add to it but replace it, by minus infinity:
    `masked_fill`"""
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    scores = scores - 1e9 * ~_real(tokens, length).unsqueeze(-1)
    return (torch.softmax(scores, 1) * tokens).sum(1)


@mistake(points=1.5)
def shares_out_again_after_the_softmax(tokens, length):
    """your softmax runs over the padding too, and you divide again afterwards: a high score of the
    padding leaves nothing to divide; mask the scores before the softmax"""
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    weights = torch.softmax(scores, 1) * _real(tokens, length).unsqueeze(-1)
    return (weights / weights.sum(1, keepdim=True) * tokens).sum(1)


@mistake
def multiplies_the_scores_by_the_mask(tokens, length):
    """the scores of the padding are about 0, and `exp(0)` is 1: it still takes weight. The score
    that takes none is minus infinity"""
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    weights = torch.softmax(scores * _real(tokens, length).unsqueeze(-1), 1)
    return (weights * tokens).sum(1)


@mistake
def scales_by_the_number_of_words(tokens, length):
    """you divide by the root of the number of words; it is the root of the width of the tokens, as
    in the snippet"""
    factor = (tokens.shape[-1] / length.to(tokens.dtype)).sqrt().unsqueeze(-1)
    return _ask(_last(tokens, length) * factor, tokens, _real(tokens, length))


@mistake
def leaves_the_scale_out(tokens, length):
    """the root of the width, which the snippet had right, is gone"""
    scaled = _last(tokens, length) * tokens.shape[-1] ** 0.5
    return _ask(scaled, tokens, _real(tokens, length))


@mistake
def cuts_the_batch_to_the_shortest(tokens, length):
    """you see as many words of each sentence as the shortest has; each has its own length"""
    return _ask(_last(tokens, length), tokens, _real(tokens, length.amin().expand(len(length))))


@mistake(
    computes=then(reference, lambda output: output.unsqueeze(1)), right="your numbers are right"
)
def keeps_the_axis_of_the_query():
    """the axis of the one query is still there; name it when you drop it, `squeeze(1)`"""


@mistake(points=1.5, right="your output is right")
def changes_tokens(tokens, length):
    """you write into `tokens`, which the caller may need again"""
    output = reference(tokens, length)
    tokens[~_real(tokens, length)] = 0
    return output


@mistake
def takes_the_plain_mean(tokens, length):
    """you return the plain mean of the words; the last word asks, and a softmax of its scaled dot
    products with all of them says how much each counts"""
    total = tokens.masked_fill(~_real(tokens, length).unsqueeze(-1), 0).sum(1)
    return total / length.unsqueeze(-1)


def _mean_of_all(tokens: Tensor, length: Tensor) -> Tensor:
    real = _real(tokens, length).unsqueeze(1)
    return scaled_dot_product.attention(tokens, tokens, tokens, real).mean(1)


@mistake(also=(_mean_of_all,))
def lets_every_word_ask(tokens, length):
    """you let every word ask, and return the mean of what they get; only the last word asks"""
    real = _real(tokens, length)
    clean = tokens.masked_fill(~real.unsqueeze(-1), 0)
    output = scaled_dot_product.attention(clean, clean, clean, real.unsqueeze(1))
    return (output * real.unsqueeze(-1)).sum(1) / length.unsqueeze(-1)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


def _ask_round(tokens: Tensor, length: Tensor, seen: int = 0) -> Tensor:
    """The place behind the last is the first, as `take_along_dim` has it."""
    return _ask(_last(tokens, length % tokens.shape[1] + 1), tokens, _real(tokens, length + seen))


@mistake(also=(_ask_round, partial(_ask_round, seen=1)))
def asks_behind_the_last_place(tokens, length):
    """you look at the place `length`, which does not exist in the longest sentence
    (`take_along_dim` takes the first for it); places are counted from 0, so the last word is at
    `length - 1`"""
    return _ask(tokens[torch.arange(len(tokens)), length], tokens, _real(tokens, length))


@mistake
def divides_by_the_width(tokens, length):
    """you divide by the width of the tokens; it is its root, as in the snippet"""
    last = _last(tokens, length) / tokens.shape[-1] ** 0.5
    return _ask(last, tokens, _real(tokens, length))


@mistake
def scales_by_the_number_of_places(tokens, length):
    """you divide by the root of the number of places, padding included; it is the root of the width
    of the tokens"""
    factor = (tokens.shape[-1] / tokens.shape[1]) ** 0.5
    return _ask(_last(tokens, length) * factor, tokens, _real(tokens, length))


@mistake
def returns_the_last_word(tokens, length):
    """you return the last word itself; it asks, and the summary is what all words answer"""
    return _last(tokens, length)


@mistake
def cuts_the_batch_to_one_length(tokens, length):
    """you cut all sentences to the length of one, the longest or the first, and others keep their
    padding; each has its own length, so make a mask"""
    longest = length.amax().expand(len(length))
    return _ask(_last(tokens, length), tokens, _real(tokens, longest))


@mistake
def normalises_over_the_one_query(tokens, length):
    """your softmax runs over the one query, where every weight is 1 or `nan`; it runs over the
    words"""
    real = _real(tokens, length)
    scores = tokens @ _last(tokens, length).unsqueeze(-1) / tokens.shape[-1] ** 0.5
    weights = scores.squeeze(-1).masked_fill(~real, -torch.inf).unsqueeze(1).softmax(1)
    return (weights @ tokens).squeeze(1)


def _ask_at(which: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """All sentences ask at the place of one sentence's last word."""

    def answer(tokens: Tensor, length: Tensor) -> Tensor:
        return _ask(tokens[:, which(length) - 1], tokens, _real(tokens, length))

    return answer


@mistake(computes=_ask_at(torch.min))
def asks_at_one_place_for_all():
    """you ask at the same place in every sentence, where one of them has its last word; each has
    its own: `tokens[rows, length - 1]`, where `rows` counts the sentences"""


@mistake
def asks_with_the_word_of_one_sentence(tokens, length):
    """one word asks in all sentences, the last of the first sentence; each sentence asks with its
    own last word"""
    query = _last(tokens, length)[:1].expand(len(tokens), -1)
    return _ask(query, tokens, _real(tokens, length))


EXERCISE = Exercise(
    function="summarise",
    reference=reference,
    minutes=10,
    axes={"batch": 17, "max_len": 43, "d_model": 31},
    avoid=("attention",),
    contract=Contract(
        batch=("tokens", "length"),
        exempts={
            "cuts off": "gradients are asked in part A, whose formula this is",
            "fills with": "a word scores itself, which gives 0 or more, so no row lies that low",
        },
    ),
    checks=(
        Check(
            "the last word of each sentence asks all words of its sentence; what stands in the"
            " padding, zeros or not, changes nothing",
            1,
            draw_sentences,
            sizes=(
                {"batch": 3, "max_len": 7, "d_model": 5, "noise": 0},
                {"batch": 2, "max_len": 5, "d_model": 3, "noise": 1},
                {"batch": 1, "max_len": 5, "d_model": 2, "noise": 0},
            ),
            hidden_sizes=(
                {"batch": 5, "max_len": 11, "d_model": 7, "noise": 0},
                {"batch": 7, "max_len": 5, "d_model": 2, "noise": 1},
            ),
            easier=True,
        ),
        Check(
            "nor do huge numbers in the padding",
            0.5,
            draw_sentences,
            sizes=({"batch": 3, "max_len": 7, "d_model": 3, "noise": 10**10},),
            hidden_sizes=({"batch": 5, "max_len": 5, "d_model": 7, "noise": 10**10},),
        ),
    ),
    mistakes=mistake.collected,
)
