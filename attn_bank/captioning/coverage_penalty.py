"""Part B of problem set 06: a penalty on cells that a caption never looks at."""

from typing import Any

import torch
from hintgrader.exercise import (
    Altered,
    Answer,
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    then,
)
from torch import Generator, Tensor

from attn_bank.captioning import draw_weights
from attn_course.captions.image_grid import doubly_stochastic_penalty


def reference(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return doubly_stochastic_penalty(weights, is_word, share)


def draw_captions(
    generator: Generator, batch: int, target_len: int, num_cells: int, quarters: int
) -> Inputs:
    """Captions of one length; the share comes in quarters."""
    return {
        "weights": draw_weights(generator, batch, target_len, num_cells),
        "is_word": torch.ones(batch, target_len, dtype=torch.bool),
        "share": quarters / 4,
    }


def draw_padded_captions(generator: Generator, batch: int, target_len: int, **sizes: int) -> Inputs:
    """Captions of different lengths; at padding the weights are like any others."""
    inputs = draw_captions(generator, batch, target_len, quarters=4, **sizes)
    length = torch.randint(2, target_len, (batch, 1), generator=generator)
    length[0], length[-1] = target_len, 1
    return inputs | {"is_word": torch.arange(target_len) < length}


def _words(weights: Tensor, is_word: Tensor) -> Tensor:
    return weights * is_word.unsqueeze(-1)


def _total(weights: Tensor, is_word: Tensor) -> Tensor:
    """The weight that each cell gets over a caption, (batch, num_cells)."""
    return _words(weights, is_word).sum(1)


mistake = Mistakes()


@mistake(points=2.5, computes=given(reference, is_word=torch.ones_like))
def forgets_the_padding():
    """the weights at padding count in yours; a captioner computes them because a batch has one
    length, but they belong to no word"""


@mistake(computes=given(reference, is_word=torch.logical_not))
def turns_the_mask_round():
    """you keep the padding and drop the words: `is_word` is True at words"""


@mistake(also=(lambda weights, is_word, share: (1 - weights.sum(2)).square().mean(),))
def sums_over_the_cells_first(weights, is_word, share):
    """you add up over the cells first, where every word has the sum 1 whatever it looks at; add up
    over the words, axis 1"""
    return (share - _words(weights, is_word).sum(-1)).square().sum(-1).mean()


@mistake
def squares_before_the_sum_over_words(weights, is_word, share):
    """you square at each word; add up what a cell gets over the caption first, and square the
    distance of this sum"""
    return ((share - weights).square() * is_word.unsqueeze(-1)).sum((1, 2)).mean()


@mistake
def squares_the_weights(weights, is_word, share):
    """you square the weights; the distance from the share is squared, after the sum over the
    words"""
    return (share - _total(weights.square(), is_word)).sum(-1).mean()


@mistake
def squares_the_whole_sum(weights, is_word, share):
    """you square after adding up the cells, where too much at one cell makes up for too little at
    another; square at each cell"""
    return (share - _total(weights, is_word)).sum(-1).square().mean()


@mistake
def forgets_the_square(weights, is_word, share):
    """the square is missing: too much at one cell makes up for too little at another, and the sum
    says nothing but how many words there are"""
    return (share - _total(weights, is_word)).sum(-1).mean()


@mistake
def takes_the_distance(weights, is_word, share):
    """you take the absolute value; its square is wanted"""
    return (share - _total(weights, is_word)).abs().sum(-1).mean()


@mistake
def takes_the_root(weights, is_word, share):
    """you take a root at the end, as a norm does; the sum of squares is wanted"""
    return (share - _total(weights, is_word)).square().sum(-1).sqrt().mean()


def _average_words(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (1 - _total(weights, is_word)).square().mean()


def _average_everything(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (1 - weights.sum(1)).square().mean()


@mistake(also=(_average_words, _average_everything))
def averages_over_the_cells(weights, is_word, share):
    """you take the mean over the cells too; over the cells it is a sum, over the captions a mean"""
    return (share - _total(weights, is_word)).square().mean()


def _add_up(answer: Answer, **inputs: Any) -> Plain:
    return answer(**inputs) * len(inputs["weights"])


@mistake(computes=Altered(reference, _add_up))
def adds_up_the_captions():
    """you add up the captions; take their mean, or the penalty depends on the batch size"""


@mistake
def returns_one_for_each_caption(weights, is_word, share):
    """you return one number for each caption; their mean is wanted, a tensor without axes"""
    return (share - _total(weights, is_word)).square().sum(-1)


def _average_all_places(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _words(weights, is_word).mean(1)).square().sum(-1).mean()


@mistake(also=(_average_all_places,))
def averages_over_the_words(weights, is_word, share):
    """you take the mean over the words; what a cell got is the sum over them"""
    mean = _total(weights, is_word) / is_word.sum(1, keepdim=True)
    return (share - mean).square().sum(-1).mean()


@mistake
def divides_by_the_words_at_the_end(weights, is_word, share):
    """you divide the penalty of each caption by its number of words; words are not counted"""
    each = (share - _total(weights, is_word)).square().sum(-1)
    return (each / is_word.sum(1)).mean()


@mistake
def divides_by_all_words(weights, is_word, share):
    """you divide by the number of words; divide by the number of captions"""
    return (share - _total(weights, is_word)).square().sum() / is_word.sum()


@mistake
def adds_the_captions_before_the_square(weights, is_word, share):
    """you take the mean over the captions before the square: one caption may then look at the left
    half of its picture only and another at the right. Square first"""
    return (share - _total(weights, is_word).mean(0)).square().sum()


@mistake(points=2.5, computes=given(reference, share=1.0))
def takes_the_share_for_one():
    """you take 1 for the share, as the paper does; here it is an argument"""


@mistake(points=2.5)
def multiplies_by_the_share(weights, is_word, share):
    """you multiply the penalty by the share; the share is what each cell should get, in the place
    of the 1 of the paper"""
    return share * reference(weights, is_word, 1.0)


@mistake
def gives_each_cell_its_part(weights, is_word, share):
    """you divide the words among the cells yourself; `share` already says what each cell should
    get"""
    part = share * is_word.sum(1, keepdim=True) / weights.shape[-1]
    return (part - _total(weights, is_word)).square().sum(-1).mean()


@mistake
def leaves_out_unseen_cells(weights, is_word, share):
    """you leave out cells that got little; they are the ones that it is about"""
    total = _total(weights, is_word)
    return (share - total).square().masked_fill(total < share / 2, 0).sum(-1).mean()


@mistake
def punishes_neglect_only(weights, is_word, share):
    """you punish cells that got too little only; the square punishes too much as well"""
    return (share - _total(weights, is_word)).clamp_min(0).square().sum(-1).mean()


@mistake(points=2.5)
def asks_for_the_share_at_padding(weights, is_word, share):
    """you put the share at padding, and so add it to every cell once for each padded place; padding
    adds nothing, so put 0 there"""
    filled = weights.masked_fill(~is_word.unsqueeze(-1), share)
    return (share - filled.sum(1)).square().sum(-1).mean()


@mistake(points=2.5)
def cuts_to_the_shortest(weights, is_word, share):
    """you use as many words of each caption as the shortest has; each has its own length"""
    shortest = int(is_word.sum(1).min())
    return reference(weights[:, :shortest], is_word[:, :shortest], share)


@mistake(points=2.5)
def takes_off_what_padding_got(weights, is_word, share):
    """you take the number of padded places off; take off the weight that each cell got there.
    Multiply by the mask before the sum"""
    return (share - weights.sum(1) - (~is_word).sum(1, keepdim=True)).square().sum(-1).mean()


@mistake(points=3.5, right="the penalty is right")
def changes_weights(weights, is_word, share):
    """you write zeros into the weights of the caller, who goes on with them; multiply by the mask,
    or use `masked_fill`"""
    weights.data[~is_word] = 0
    return reference(weights, is_word, share)


@mistake(computes=then(reference, Tensor.item))
def returns_a_python_number():
    """you return a Python number, which carries no gradient; leave out `item()` or `float`"""


@mistake(
    computes=then(reference, lambda penalty: penalty.unsqueeze(0)), right="your penalty is right"
)
def keeps_an_axis():
    """there is an axis of length one left; a loss has none"""


@mistake
def divides_the_share_by_the_cells(weights, is_word, share):
    """you divide the share by the number of cells; it is already what each cell should get"""
    return reference(weights, is_word, share / weights.shape[-1])


@mistake
def multiplies_the_share_by_the_words(weights, is_word, share):
    """you multiply the share by the number of words; it is what a cell should get over all of
    them together"""
    whole = share * is_word.sum(1, keepdim=True)
    return (whole - _total(weights, is_word)).square().sum(-1).mean()


@mistake(computes=then(reference, lambda penalty: penalty / 2))
def halves_the_penalty():
    """your penalty is half of what it should be: there is no factor before the sum of squares"""


@mistake
def adds_the_words_of_all_captions(weights, is_word, share):
    """what a cell gets is added up over the words of all captions; each caption has its own sum and
    its own penalty, whose mean comes last"""
    return (share - weights[is_word].sum(0)).square().sum()


@mistake
def takes_the_most_of_a_word(weights, is_word, share):
    """you take the greatest weight that a cell got at any word; add up what it got over all"""
    return (share - _words(weights, is_word).amax(1)).square().sum(-1).mean()


@mistake
def squares_each_weight_and_the_distance(weights, is_word, share):
    """you square the weights before you add them up; only the distance of their sum from the share
    is squared"""
    return (share - _total(weights.square(), is_word)).square().sum(-1).mean()


@mistake
def lays_words_over_cells(weights, is_word, share):
    """`is_word` lies along the cells in yours; give it a last axis of length 1, so that it lies
    along the words"""
    return (share - (weights * is_word.unsqueeze(1)).sum(1)).square().sum(-1).mean()


EXERCISE = Exercise(
    function="coverage_penalty",
    reference=reference,
    title="give every cell its share",
    minutes=15,
    axes={"batch": 17, "target_len": 43, "num_cells": 97},
    equivalent_mutants={"-1 -> 1 (2)": "of two axes, cells are the last one and number 1"},
    contract=Contract(like=1, batch=("weights", "is_word")),
    checks=(
        Check(
            "the squared distance of what each cell got from `share`, added up over the cells, the"
            " mean over the captions",
            1.5,
            draw_captions,
            sizes=(
                {"batch": 3, "target_len": 5, "num_cells": 7, "quarters": 4},
                {"batch": 1, "target_len": 7, "num_cells": 3, "quarters": 9},
            ),
            hidden_sizes=(
                {"batch": 5, "target_len": 2, "num_cells": 11, "quarters": 1},
                {"batch": 2, "target_len": 11, "num_cells": 5, "quarters": 6},
            ),
        ),
        Check(
            "the weights at padding do not count, whatever they are",
            1,
            draw_padded_captions,
            sizes=({"batch": 3, "target_len": 7, "num_cells": 5},),
            hidden_sizes=({"batch": 5, "target_len": 5, "num_cells": 3},),
        ),
        Check(
            "the right gradient reaches the weights",
            1,
            draw_captions,
            sizes=({"batch": 2, "target_len": 3, "num_cells": 5, "quarters": 4},),
            hidden_sizes=({"batch": 3, "target_len": 5, "num_cells": 2, "quarters": 4},),
            gradient=("weights",),
        ),
    ),
    mistakes=mistake.collected,
)
