"""Part E of problem set 05: how many words to the side of its word a model looks."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_uniform, in_front


def reference(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    offset = _offset(weights, _nearest(weights, sure))[sure.any(-1)]
    return _shares(offset, reach, weights)


def _offset(weights: Tensor, word: Tensor) -> Tensor:
    return weights.argmax(-1) - word


def _nearest(weights: Tensor, sure: Tensor) -> Tensor:
    """The sure word closest to the greatest weight; with none it does not matter."""
    position = torch.arange(weights.shape[-1], device=weights.device)
    away = (position - weights.argmax(-1, keepdim=True)).abs()
    return away.masked_fill(~sure, weights.shape[-1]).argmin(-1)


def _shares(offset: Tensor, reach: int, weights: Tensor) -> Tensor:
    places = torch.arange(-reach, reach + 1, device=weights.device)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def draw_links(
    generator: Generator,
    target_len: int,
    source_len: int,
    reach: int,
    batch: int | None = None,
    groups: int | None = None,
) -> Inputs:
    """One sure link for each target word. Weight is spread, its mean far from its peak."""
    shape = (*in_front(groups, batch), target_len)
    looked_at = torch.randint(source_len, shape, generator=generator)
    step = torch.randint(-reach - 1, reach + 2, shape, generator=generator)
    return {
        "weights": draw_weights(generator, looked_at, source_len),
        "sure": torch.arange(source_len) == (looked_at - step).remainder(source_len).unsqueeze(-1),
        "reach": reach,
    }


def draw_weights(generator: Generator, looked_at: Tensor, source_len: int) -> Tensor:
    """Rows that sum to 1; the greatest weight is at `looked_at`, a rival at either end."""
    weights = draw_uniform(generator, *looked_at.shape, source_len)
    weights[..., [0, -1]] += 1
    weights.scatter_(-1, looked_at.unsqueeze(-1), 2.5)
    return weights / weights.sum(-1, keepdim=True)


def draw_several_links(
    generator: Generator, target_len: int, source_len: int, reach: int
) -> Inputs:
    """Two sure links for each word: one near, on either side, and one further on the other."""
    middle = torch.randint(4, source_len - 4, (2, target_len), generator=generator)
    near = torch.randint(0, 3, middle.shape, generator=generator)
    side = 2 * torch.randint(2, middle.shape, generator=generator) - 1
    position = torch.arange(source_len)
    links = [middle + side * near, middle - side * (near + 1)]
    return {
        "weights": draw_weights(generator, middle, source_len),
        "sure": sum(position == link.unsqueeze(-1) for link in links) > 0,
        "reach": reach,
    }


def draw_padded_links(
    generator: Generator, batch: int, target_len: int, source_len: int, reach: int
) -> Inputs:
    """Sentences of different lengths, padded with zeros; every third word has no sure link."""
    inputs = draw_links(generator, target_len, source_len, reach, batch)
    lengths = torch.randint(2, target_len + 1, (batch, 1, 1), generator=generator)
    lengths[0], lengths[-1] = target_len, 2
    row = torch.arange(target_len).unsqueeze(-1)
    inputs["weights"] = inputs["weights"] * (row < lengths)
    inputs["sure"] = inputs["sure"] & (row < lengths) & (row % 3 != 1)
    return inputs


mistake = Mistakes()


@mistake(computes=then(reference, lambda output: output.flip(-1)))
def turns_left_and_right():
    """left and right are exchanged: an offset is the place of the word looked at, minus the place
    of the sure word, so one word too far to the right is +1"""


@mistake
def takes_the_mean_place(weights, sure, reach):
    """you take the mean place under the weights; take the place of the greatest one. With weight at
    both ends the mean is in the middle, where nobody looks"""
    position = torch.arange(weights.shape[-1], device=weights.device)
    mean = (weights * position).sum(-1).round().long()
    one_hot = torch.nn.functional.one_hot(mean, weights.shape[-1])
    shares = reference(one_hot, sure, reach)
    return shares.to(weights.dtype)


@mistake(computes=given(reference, weights=torch.neg))
def takes_the_least_weight():
    """you look for the least weight; the greatest is wanted"""


@mistake(computes=given(reference, weights=lambda weights: weights.mT, sure=lambda sure: sure.mT))
def looks_along_the_target():
    """you look for the greatest weight of each source word; there is one row for each target word,
    so search along the last axis"""


@mistake
def counts_instead_of_shares(weights, sure, reach):
    """you return how many words there are at each offset; divide by the number of words that have a
    sure link"""
    return (reference(weights, sure, reach) * sure.any(-1).sum()).round()


@mistake
def adds_up_weights(weights, sure, reach):
    """you add up the weight at each offset; a word counts once, where its greatest weight
    is"""
    position = torch.arange(weights.shape[-1], device=weights.device)
    word = _nearest(weights, sure)
    offset = position - word.unsqueeze(-1)
    rows = sure.any(-1)
    places = range(-reach, reach + 1)
    return torch.stack([(weights * (offset == d)).sum(-1)[rows].mean() for d in places])


@mistake
def forgets_the_sign(weights, sure, reach):
    """you take the distance without its sign, so nothing is ever to the left"""
    offset = _offset(weights, _nearest(weights, sure))[sure.any(-1)].abs()
    return _shares(offset, reach, weights)


@mistake(points=1)
def puts_the_far_ones_at_the_ends(weights, sure, reach):
    """you count words further away than `reach` at the first and last offset; they count at none of
    them, and the shares sum to less than 1"""
    offset = _offset(weights, _nearest(weights, sure))[sure.any(-1)]
    return _shares(offset.clamp(-reach, reach), reach, weights)


@mistake(points=1)
def counts_only_those_within_reach(weights, sure, reach):
    """your shares sum to 1: you divide by the words within `reach`; divide by all words that have a
    sure link, however far the model looks from it"""
    shares = reference(weights, sure, reach)
    return shares / shares.sum()


@mistake(computes=then(reference, lambda output: output[:-1]))
def leaves_the_last_place_out():
    """the last offset is missing: from `-reach` to `reach` there are `2 * reach + 1` of them, and
    the end of a range does not belong to it"""


@mistake(points=3)
def takes_the_first_sure_word(weights, sure, reach):
    """a word with several sure links is measured from the first of them; take the one that is
    nearest to where the model looks"""
    return _shares(_offset(weights, sure.int().argmax(-1))[sure.any(-1)], reach, weights)


@mistake(points=3)
def takes_the_last_sure_word(weights, sure, reach):
    """a word with several sure links is measured from the last of them; take the one that is
    nearest to where the model looks"""
    last = sure.shape[-1] - 1 - sure.flip(-1).int().argmax(-1)
    return _shares(_offset(weights, last)[sure.any(-1)], reach, weights)


@mistake(points=3)
def takes_the_farthest_sure_word(weights, sure, reach):
    """a word with several sure links is measured from the one that is farthest from where the model
    looks; take the nearest"""
    position = torch.arange(weights.shape[-1])
    size = (weights.argmax(-1, keepdim=True) - position).abs().masked_fill(~sure, -1)
    return _shares(_offset(weights, size.argmax(-1))[sure.any(-1)], reach, weights)


@mistake(points=3)
def takes_the_middle_of_the_sure_words(weights, sure, reach):
    """a word with several sure links is measured from the middle of them; take the one that is
    nearest to where the model looks"""
    total = (sure * torch.arange(weights.shape[-1])).sum(-1)
    middle = (total / sure.sum(-1).clamp_min(1)).round()
    return _shares(_offset(weights, middle)[sure.any(-1)], reach, weights)


@mistake(points=3)
def divides_by_the_links(weights, sure, reach):
    """you divide by the number of sure links, of which a word may have several; divide by the
    number of words that have one"""
    shares = reference(weights, sure, reach)
    return shares * sure.any(-1).sum() / sure.sum()


@mistake(points=3)
def takes_a_missing_link_for_a_right_one(weights, sure, reach):
    """a word without a sure link counts as one that looks right, at the offset 0; leave out the
    rows in which nothing is sure"""
    offset = _offset(weights, _nearest(weights, sure)).masked_fill(~sure.any(-1), 0)
    return _shares(offset.flatten(), reach, weights)


def _let_them_win_far_away(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    offset = weights.argmax(-1, keepdim=True) - torch.arange(weights.shape[-1])
    nearest = offset.abs().where(sure, reach + 1).argmin(-1, keepdim=True)
    return _shares(offset.gather(-1, nearest).squeeze(-1)[sure.any(-1)], reach, weights)


@mistake(also=(_let_them_win_far_away,))
def lets_words_that_are_not_sure_win(weights, sure, reach):
    """where a word is not sure you set its distance to a number that can be the smallest; make it
    larger than any other"""
    offset = weights.argmax(-1, keepdim=True) - torch.arange(weights.shape[-1])
    nearest = (offset.abs() * sure).argmin(-1, keepdim=True)
    return _shares(offset.gather(-1, nearest).squeeze(-1)[sure.any(-1)], reach, weights)


@mistake(points=3)
def counts_every_sure_word(weights, sure, reach):
    """a word with several sure links counts several times; it counts once, from the one that is
    nearest to where the model looks"""
    position = torch.arange(weights.shape[-1], device=weights.device)
    return _shares((weights.argmax(-1, keepdim=True) - position)[sure], reach, weights)


@mistake(points=3)
def takes_the_likeliest_sure_word(weights, sure, reach):
    """a word with several sure links is measured from the one with the most weight; take the one
    that is nearest to where the model looks"""
    likeliest = weights.masked_fill(~sure, -1).argmax(-1)
    return _shares(_offset(weights, likeliest)[sure.any(-1)], reach, weights)


def _link_to_the_first_word(sure: Tensor) -> Tensor:
    """Link a row without a link to its first place, as `argmin` and `argmax` do."""
    unlinked = ~sure.any(-1, keepdim=True)
    return sure | (unlinked & (torch.ones_like(sure).cumsum(-1) == 1))


@mistake(points=3, computes=given(reference, sure=_link_to_the_first_word))
def counts_words_without_a_link():
    """you count words without a sure link, and padding, as if they had one; leave out the rows in
    which nothing is sure"""


@mistake(points=3)
def divides_by_all_rows(weights, sure, reach):
    """you divide by all rows, padding too; divide by the number of words that have a sure link"""
    return reference(weights, sure, reach) * sure.any(-1).sum() / sure.any(-1).numel()


@mistake(points=3)
def averages_over_sentences(weights, sure, reach):
    """you average the shares of the sentences, so a word of a short one counts more; count the
    words of all sentences together"""
    if weights.ndim == 2:
        return reference(weights, sure, reach)
    pairs = zip(weights, sure, strict=True)
    return torch.stack([reference(*pair, reach) for pair in pairs]).mean(0)


@mistake(slip=True, points=2)
def knows_batches_only(weights, sure, reach):
    """your answer needs a batch; one sentence alone, `(target_len, source_len)`, should do as
    well"""
    _batch, _target_len, _source_len = weights.shape
    return reference(weights, sure, reach)


EXERCISE = Exercise(
    function="displacements",
    reference=reference,
    title="measure how far beside its word a model looks",
    minutes=25,
    axes={"batch": 17, "source_len": 43, "target_len": 43},
    contract=Contract(
        batch=("weights", "sure"), any_axes=True, exempts={"cuts off": "counts have no gradient"}
    ),
    checks=(
        Check(
            "the share of the words at each offset, from `reach` words to the left to `reach` to"
            " the right, with or without a batch; what is further away counts at none of them",
            1.5,
            draw_links,
            sizes=(
                {"target_len": 11, "source_len": 7, "reach": 2},
                {"batch": 3, "target_len": 13, "source_len": 11, "reach": 1},
                {"target_len": 5, "source_len": 3, "reach": 4},
                {"target_len": 13, "source_len": 5, "reach": 0},
                {"groups": 3, "batch": 2, "target_len": 5, "source_len": 7, "reach": 2},
            ),
            hidden_sizes=(
                {"target_len": 13, "source_len": 17, "reach": 0},
                {"target_len": 7, "source_len": 3, "reach": 5},
                {"batch": 5, "target_len": 7, "source_len": 5, "reach": 2},
                {"batch": 11, "target_len": 2, "source_len": 19, "reach": 5},
                {"groups": 2, "batch": 3, "target_len": 7, "source_len": 5, "reach": 1},
            ),
        ),
        Check(
            "with several sure words, the one nearest to where the model looks counts",
            1,
            draw_several_links,
            sizes=({"target_len": 7, "source_len": 13, "reach": 2},),
            hidden_sizes=({"target_len": 11, "source_len": 17, "reach": 3},),
        ),
        Check(
            "rows without a sure link count nowhere, and padding is such a row: the shares are"
            " taken over all other rows of the batch",
            1,
            draw_padded_links,
            sizes=({"batch": 3, "target_len": 7, "source_len": 5, "reach": 2},),
            hidden_sizes=({"batch": 5, "target_len": 11, "source_len": 7, "reach": 1},),
        ),
    ),
    mistakes=mistake.collected,
)
