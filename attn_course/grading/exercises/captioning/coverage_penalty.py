"""Part B of problem set 06: a penalty on cells that a caption never looks at."""

import torch
from torch import Generator, Tensor

from attn_course.grading.exercises.captioning import draw_weights
from attn_course.grading.spec import Check, Exercise, Inputs, Mistake
from attn_course.image_grid import doubly_stochastic_penalty


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
    """What each cell gets over a caption, (batch, num_cells)."""
    return _words(weights, is_word).sum(1)


def forgets_the_padding(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights, torch.ones_like(is_word), share)


def turns_the_mask_round(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights, ~is_word, share)


def sums_over_the_cells_first(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _words(weights, is_word).sum(-1)).square().sum(-1).mean()


def squares_before_the_sum_over_words(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return ((share - weights).square() * is_word.unsqueeze(-1)).sum((1, 2)).mean()


def squares_the_weights(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights.square(), is_word)).sum(-1).mean()


def squares_the_whole_sum(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).sum(-1).square().mean()


def forgets_the_square(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).sum(-1).mean()


def takes_the_distance(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).abs().sum(-1).mean()


def takes_the_root(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).square().sum(-1).sqrt().mean()


def averages_over_the_cells(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).square().mean()


def adds_up_the_captions(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).square().sum()


def returns_one_for_each_caption(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).square().sum(-1)


def averages_over_the_words(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    mean = _total(weights, is_word) / is_word.sum(1, keepdim=True)
    return (share - mean).square().sum(-1).mean()


def divides_by_the_words_at_the_end(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    each = (share - _total(weights, is_word)).square().sum(-1)
    return (each / is_word.sum(1)).mean()


def divides_by_all_words(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).square().sum() / is_word.sum()


def adds_the_captions_before_the_square(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word).mean(0)).square().sum()


def takes_the_share_for_one(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights, is_word, 1.0)


def multiplies_by_the_share(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return share * reference(weights, is_word, 1.0)


def gives_each_cell_its_part(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    part = share * is_word.sum(1, keepdim=True) / weights.shape[-1]
    return (part - _total(weights, is_word)).square().sum(-1).mean()


def leaves_out_unseen_cells(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    total = _total(weights, is_word)
    return (share - total).square().masked_fill(total < share / 2, 0).sum(-1).mean()


def punishes_neglect_only(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - _total(weights, is_word)).clamp_min(0).square().sum(-1).mean()


def asks_for_the_share_at_padding(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    filled = weights.masked_fill(~is_word.unsqueeze(-1), share)
    return (share - filled.sum(1)).square().sum(-1).mean()


def cuts_to_the_shortest(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    shortest = int(is_word.sum(1).min())
    return reference(weights[:, :shortest], is_word[:, :shortest], share)


def takes_off_what_padding_got(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return (share - weights.sum(1) - (~is_word).sum(1, keepdim=True)).square().sum(-1).mean()


def writes_into_the_weights(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    weights.data[~is_word] = 0
    return reference(weights, is_word, share)


def takes_weights_for_constants(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights.detach(), is_word, share)


def returns_a_python_number(weights: Tensor, is_word: Tensor, share: float) -> float:
    return reference(weights, is_word, share).item()


def works_in_single_precision(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights.float(), is_word, share)


def works_in_double_precision(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    return reference(weights.double(), is_word, share)


EXERCISE = Exercise(
    function="coverage_penalty",
    reference=reference,
    equivalent_mutants={"-1 -> 1 (2)": "of two axes, cells are the last one and number 1"},
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
            "the weights at padding do not count, whatever they are; the tensors of the caller stay"
            " as they are",
            1.5,
            draw_padded_captions,
            sizes=({"batch": 3, "target_len": 7, "num_cells": 5},),
            hidden_sizes=({"batch": 5, "target_len": 5, "num_cells": 3},),
            dtype=torch.float64,
            untouched=True,
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
    mistakes=(
        Mistake(
            forgets_the_padding,
            "the weights at padding count in yours; a captioner computes them because a batch has"
            " one length, but they belong to no word",
            score=2.5,
        ),
        Mistake(
            turns_the_mask_round,
            "you keep the padding and drop the words: `is_word` is True at words",
            score=0,
        ),
        Mistake(
            sums_over_the_cells_first,
            "you add up over the cells first, where every word has the sum 1 whatever it looks at;"
            " add up over the words, axis 1",
            score=0,
        ),
        Mistake(
            squares_before_the_sum_over_words,
            "you square at each word; add up what a cell gets over the caption first, and square"
            " the distance of this sum",
            score=0,
        ),
        Mistake(
            squares_the_weights,
            "you square the weights; the distance from the share is squared, after the sum over the"
            " words",
            score=0,
        ),
        Mistake(
            squares_the_whole_sum,
            "you square after adding up the cells, where too much at one cell makes up for too"
            " little at another; square at each cell",
            score=0,
        ),
        Mistake(
            forgets_the_square,
            "the square is missing: too much at one cell makes up for too little at another, and"
            " the sum says nothing but how many words there are",
            score=0,
        ),
        Mistake(
            takes_the_distance,
            "you take the absolute value; its square is wanted",
            score=0,
        ),
        Mistake(
            takes_the_root,
            "you take a root at the end, as a norm does; the sum of squares is wanted",
            score=0,
        ),
        Mistake(
            averages_over_the_cells,
            "you take the mean over the cells too; over the cells it is a sum, over the captions a"
            " mean",
            score=0,
        ),
        Mistake(
            adds_up_the_captions,
            "you add up the captions; take their mean, or the penalty depends on the batch size",
            score=0,
        ),
        Mistake(
            returns_one_for_each_caption,
            "you return one number for each caption; their mean is wanted, a tensor without axes",
            score=0,
        ),
        Mistake(
            averages_over_the_words,
            "you take the mean over the words, which every cell's share of 1 is far from; take"
            " their sum",
            score=0,
        ),
        Mistake(
            divides_by_the_words_at_the_end,
            "you divide the penalty of each caption by its number of words; words are not counted",
            score=0,
        ),
        Mistake(
            divides_by_all_words,
            "you divide by the number of words; divide by the number of captions",
            score=0,
        ),
        Mistake(
            adds_the_captions_before_the_square,
            "you take the mean over the captions before the square: one caption may then look at"
            " the left half of its image only and another at the right. Square first",
            score=0,
        ),
        Mistake(
            takes_the_share_for_one,
            "you take 1 for the share, as the paper does; here it is an argument",
            score=2.5,
        ),
        Mistake(
            multiplies_by_the_share,
            "you multiply the penalty by the share; the share is what each cell should get, in the"
            " place of the 1 of the paper",
            score=2.5,
        ),
        Mistake(
            gives_each_cell_its_part,
            "you divide the words among the cells yourself; `share` already says what each cell"
            " should get",
            score=0,
        ),
        Mistake(
            leaves_out_unseen_cells,
            "you leave out cells that got little; they are the ones that it is about",
            score=0,
        ),
        Mistake(
            punishes_neglect_only,
            "you punish cells that got too little only; the square punishes too much as well",
            score=0,
        ),
        Mistake(
            asks_for_the_share_at_padding,
            "you put the share at padding, and so add it to every cell once for each padded place;"
            " padding adds nothing, so put 0 there",
            score=2.5,
        ),
        Mistake(
            cuts_to_the_shortest,
            "you use as many words of each caption as the shortest has; each has its own length",
            score=2.5,
        ),
        Mistake(
            takes_off_what_padding_got,
            "you take the number of padded places off; what is to go is the weight that each cell"
            " got there. Multiply by the mask before the sum",
            score=2.5,
        ),
        Mistake(
            writes_into_the_weights,
            "the penalty is right, but you write zeros into the weights of the caller, who goes on"
            " with them; multiply by the mask, or use `masked_fill`",
            score=2.5,
        ),
        Mistake(
            takes_weights_for_constants,
            "no gradient reaches the weights, and a penalty that nothing feels changes nothing;"
            " drop `detach`, `data` and `no_grad`",
            score=3,
        ),
        Mistake(
            returns_a_python_number,
            "you return a Python number, which carries no gradient; leave out `item()` or `float`",
            score=0,
        ),
        Mistake(
            works_in_double_precision,
            "you compute in float64 and return it; the penalty has the dtype of the weights",
            score=2.5,
        ),
        Mistake(
            works_in_single_precision,
            "you compute in float32, whatever came in; the penalty has the dtype of the weights,"
            " and their precision",
            score=2.5,
        ),
    ),
)
