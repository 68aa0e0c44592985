"""Part C of problem set 04: the alignment error rate of weights, against links that people drew."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.bahdanau import draw_lengths
from attn_bank.draws import draw_normal
from attn_course import metrics


def reference(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> float:
    links = [
        metrics.hard_links(rows, target_len=int(mask.sum()))
        for rows, mask in zip(weights, target_mask, strict=True)
    ]
    return metrics.alignment_error_rate(links, _sets(sure), _sets(sure | possible))


def _sets(links: Tensor) -> list[set[tuple[int, int]]]:
    return [{(i, j) for j, i in each.nonzero().tolist()} for each in links]


def draw_links(
    generator: Generator, batch: int, target_len: int, source_len: int, padding: int = 0
) -> Inputs:
    """Words with sure links or none, some with possible ones; weights that lean to the links.

    The rows and columns of padding hold no links. Padding of the source has no weight. The first
    sentence has the most padding, and each one after it a word less.
    """
    shape = (batch, target_len, source_len)
    source = draw_lengths(generator, batch, source_len, source_len - 1)
    sources = torch.arange(source_len) < source[:, None, None]
    padded = (padding - torch.arange(batch).unsqueeze(-1)).clamp_min(0)
    target_mask = torch.arange(target_len) < target_len - padded
    words = sources & target_mask.unsqueeze(-1)
    best = torch.randint(source_len - 1, shape[:2], generator=generator)
    sure = torch.nn.functional.one_hot(best, source_len).bool() & words
    sure &= (torch.rand(*shape[:2], 1, generator=generator) < 0.8).expand(shape)
    sure[:, ::3] |= sure[:, ::3].roll(1, -1) & words[:, ::3]  # two words for one
    possible = (torch.rand(shape, generator=generator) < 0.25) & words & ~sure
    scores = draw_normal(generator, *shape) + 2 * sure + possible
    weights = torch.softmax(scores.masked_fill(~sources, -torch.inf), -1)
    return {"weights": weights, "sure": sure, "possible": possible, "target_mask": target_mask}


def draw_padded_links(generator: Generator, batch: int, **sizes: int) -> Inputs:
    """Sentences with as many links and sure links together, so that a mean of rates is right.

    That their links are counted together shows in another row.
    """
    while True:
        inputs = draw_links(generator, batch, **sizes)
        total = inputs["target_mask"].sum(1) + inputs["sure"].sum((1, 2))
        if len(total.unique()) == 1:
            return inputs


def draw_links_listed_twice(generator: Generator, **sizes: int) -> Inputs:
    """The possible links hold the sure ones too."""
    inputs = draw_links(generator, **sizes)
    return inputs | {"possible": inputs["sure"] | inputs["possible"]}


def _links(weights: Tensor, target_mask: Tensor) -> Tensor:
    best = torch.zeros_like(weights, dtype=torch.bool)
    return best.scatter(-1, weights.argmax(-1, keepdim=True), True) & target_mask.unsqueeze(-1)


def _rate(links: Tensor, sure: Tensor, possible: Tensor) -> float:
    agreed = (links & sure).sum() + (links & possible).sum()
    return 1 - float(agreed / (links.sum() + sure.sum()))


mistake = Mistakes()


@mistake(points=2)
def averages_over_the_sentences(weights, sure, possible, target_mask):
    """you take the mean of the error rates of the sentences; count the links of all sentences
    together, and divide once"""
    links, both = _links(weights, target_mask), sure | possible
    rates = [_rate(*each) for each in zip(links, sure, both, strict=True)]
    return sum(rates) / len(rates)


def _count_once(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> float:
    links = _links(weights, target_mask)
    return 1 - float((links & (sure | possible)).sum() / (links.sum() + sure.sum()))


def _as_listed_with_padding(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    return _rate(_links(weights, torch.ones_like(target_mask)), sure, possible)


@mistake(points=1, also=(_count_once, _as_listed_with_padding))
def forgets_that_sure_links_are_possible(weights, sure, possible, target_mask):
    """a sure link that is found counts twice, in A ∩ S and in A ∩ P, for P of the formula holds the
    sure links as well: `sure | possible`"""
    return _rate(_links(weights, target_mask), sure, possible)


@mistake(points=3)
def counts_links_of_both_lists_twice(weights, sure, possible, target_mask):
    """you add the sure links to the possible ones, which counts those on both lists twice; join the
    two lists instead: `sure | possible`"""
    links = _links(weights, target_mask)
    agreed = 2 * (links & sure).sum() + (links & possible).sum()
    return 1 - float(agreed / (links.sum() + sure.sum()))


@mistake
def takes_unions(weights, sure, possible, target_mask):
    """you count what is in one set or the other; ∩ asks for what is in both: `links & sure`"""
    links = _links(weights, target_mask)
    agreed = (links | sure).sum() + (links | sure | possible).sum()
    return 1 - float(agreed / (links.sum() + sure.sum()))


@mistake(points=3)
def takes_sure_links_out_again(weights, sure, possible, target_mask):
    """a link on both lists is in P no more: `^` keeps what is on one list alone; join the two
    lists instead: `sure | possible`"""
    return _rate(_links(weights, target_mask), sure, sure ^ possible)


@mistake(points=1)
def returns_a_rate_for_each_sentence(weights, sure, possible, target_mask):
    """you return one rate for each sentence; count the links of the whole batch together"""
    links, both, all_of_it = _links(weights, target_mask), sure | possible, (1, 2)
    agreed = (links & sure).sum(all_of_it) + (links & both).sum(all_of_it)
    return 1 - agreed / (links.sum(all_of_it) + sure.sum(all_of_it))


def _count(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> list[Tensor]:
    """|A|, |S|, |P|, |A ∩ S| and |A ∩ P|, and the number of target words."""
    links, both = _links(weights, target_mask), sure | possible
    tables = links, sure, both, links & sure, links & both, target_mask
    return [table.sum() for table in tables]


def _mean_of_two(**inputs: Tensor) -> float:
    links, sure, _, right, allowed, _ = _count(**inputs)
    return 1 - float((right / sure + allowed / links) / 2)


@mistake(also=(_mean_of_two,))
def takes_a_mean_of_precision_and_recall(**inputs):
    """you take a mean of two shares, of the links that are possible and of the sure links that are
    found; the formula adds the counts first and divides once"""
    links, sure, _, right, allowed, _ = _count(**inputs)
    recall, precision = right / sure, allowed / links
    return 1 - float(2 * recall * precision / (recall + precision))


def _divide_by(which: Callable[..., Tensor]) -> Callable[..., float]:
    def answer(**inputs: Tensor) -> float:
        links, sure, both, right, allowed, words = _count(**inputs)
        return 1 - float((right + allowed) / which(links, sure, both, words))

    return answer


@mistake(
    computes=_divide_by(lambda links, sure, both, words: links),
    also=(
        _divide_by(lambda links, sure, both, words: sure),
        _divide_by(lambda links, sure, both, words: words),
        _divide_by(lambda links, sure, both, words: links + sure + both),
    ),
)
def divides_by_another_number():
    """the numerator is right, but you divide it by another number than |A| + |S|"""


def _subtract_the_quotient_and_more(**inputs: Tensor) -> float:
    links, sure, _, right, allowed, _ = _count(**inputs)
    return 1 - float((right + allowed) / links + sure)


@mistake(also=(_subtract_the_quotient_and_more,))
def divides_before_it_adds(**inputs):
    """you divide by |A| alone, and |S| is left over, for `/` comes before `+`; put |A| + |S| into
    brackets"""
    links, sure, _, right, allowed, _ = _count(**inputs)
    return float(1 - (right + allowed) / links + sure)


def _forget_the_possible(**inputs: Tensor) -> float:
    links, sure, _, right, _, _ = _count(**inputs)
    return 1 - float(right / (links + sure))


@mistake(also=(_forget_the_possible,))
def adds_up_one_intersection(**inputs):
    """you count one of the two intersections only, or one of them twice; the numerator is |A ∩ S|
    plus |A ∩ P|"""
    links, sure, _, _, allowed, _ = _count(**inputs)
    return 1 - float(2 * allowed / (links + sure))


def _link_by_columns(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> float:
    """The same, but source padding links as well, and padded targets may win before they are
    dropped."""
    links = _links(weights.mT, weights.amax(1) >= 0).mT & target_mask.unsqueeze(-1)
    return _rate(links, sure, sure | possible)


def _link_by_columns_of_words(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Likewise, but padded targets never win, and source padding links as well."""
    kept = weights.masked_fill(~target_mask.unsqueeze(-1), -1)
    links = torch.zeros_like(sure).scatter(1, kept.argmax(1, keepdim=True), True)
    return _rate(links, sure, sure | possible)


@mistake(also=(_link_by_columns, _link_by_columns_of_words))
def links_each_source_word(weights, sure, possible, target_mask):
    """you link each source word with a target word; each target word must choose, among the source
    words, which are on the last axis"""
    kept = weights.masked_fill(~target_mask.unsqueeze(-1), -1)
    best = torch.zeros_like(weights, dtype=torch.bool)
    links = best.scatter(1, kept.argmax(1, keepdim=True), True) & (weights.amax(1) > 0).unsqueeze(1)
    return _rate(links, sure, sure | possible)


@mistake(points=3)
def counts_padding(weights, sure, possible, target_mask):
    """your links count the rows of padding, too; keep those where `target_mask` is True"""
    return _rate(_links(weights, torch.ones_like(target_mask)), sure, sure | possible)


@mistake(computes=then(reference, lambda output: 1 - output))
def returns_the_agreement():
    """you return the share that agrees; the error rate is 1 minus that"""


@mistake
def divides_by_the_possible_links(weights, sure, possible, target_mask):
    """you divide by |A| + |P|; nobody has to draw a possible link, so it is |A| + |S|"""
    links, both = _links(weights, target_mask), sure | possible
    agreed = (links & sure).sum() + (links & both).sum()
    return 1 - float(agreed / (links.sum() + both.sum()))


@mistake
def divides_by_the_union(weights, sure, possible, target_mask):
    """you divide by the number of links in A or S; those in both count twice, once in each"""
    links = _links(weights, target_mask)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - float(agreed / (links | sure).sum())


@mistake
def asks_only_for_possible_links(weights, sure, possible, target_mask):
    """you only look whether the links are possible; the formula looks for the sure ones as well"""
    links = _links(weights, target_mask)
    return 1 - float((links & (sure | possible)).sum() / links.sum())


@mistake
def asks_only_for_sure_links(weights, sure, possible, target_mask):
    """you only look for the sure links; the formula looks whether the others are possible, too"""
    return 1 - float((_links(weights, target_mask) & sure).sum() / sure.sum())


@mistake
def knows_no_possible_links(weights, sure, possible, target_mask):
    """you count links that are possible but not sure as wrong; the second intersection is with P,
    which is `sure | possible`"""
    return _rate(_links(weights, target_mask), sure, sure)


@mistake
def knows_no_sure_links(weights, sure, possible, target_mask):
    """you treat possible links as if they were sure; the first intersection is with S, and so is
    the count in the denominator"""
    return _rate(_links(weights, target_mask), sure | possible, sure | possible)


@mistake
def links_whatever_has_half_the_weight(weights, sure, possible, target_mask):
    """you link the pairs with more than half of the weight, so many words get no link; each target
    word links to the source word with the most weight"""
    links = (weights > 0.5) & target_mask.unsqueeze(-1)
    return _rate(links, sure, sure | possible)


@mistake
def links_the_largest_of_all(weights, sure, possible, target_mask):
    """you link only the largest weight of the whole batch; each target word links to the source
    word with the most weight of its row: `amax(-1, keepdim=True)`"""
    links = (weights == weights.max()) & target_mask.unsqueeze(-1)
    return _rate(links, sure, sure | possible)


@mistake
def lets_the_mask_meet_the_source(weights, sure, possible, target_mask):
    """`target_mask` has no axis for the source words, so its target words meet them; give it one:
    `target_mask.unsqueeze(-1)`"""
    links = _links(weights, torch.ones_like(target_mask)) & target_mask
    return _rate(links, sure, sure | possible)


@mistake
def links_whatever_has_more_than_its_share(weights, sure, possible, target_mask):
    """you link all pairs above a threshold, so a word may get several links; each target word links
    to the source word with the most weight, and to no other"""
    links = (weights > 1 / weights.shape[-1]) & target_mask.unsqueeze(-1)
    return _rate(links, sure, sure | possible)


@mistake
def sums_the_weights(weights, sure, possible, target_mask):
    """you sum the weights; the formula counts links, one from each target word, to the source word
    with the most weight"""
    kept = weights * target_mask.unsqueeze(-1)
    agreed = kept[sure].sum() + kept[sure | possible].sum()
    return 1 - float(agreed / (kept.sum() + sure.sum()))


@mistake(points=3)
def takes_one_mask_for_all(weights, sure, possible, target_mask):
    """the padding of the first sentence is taken out of all of them in yours; each has its own row
    of `target_mask`"""
    return reference(weights, sure, possible, target_mask[:1].expand_as(target_mask))


def _first(sure: Tensor) -> Tensor:
    return sure & (sure.cumsum(-1) == 1)


def _find_the_first(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> float:
    return _rate(_links(weights, target_mask), _first(sure), sure | possible)


@mistake(slip=True, computes=given(reference, sure=_first), also=(_find_the_first,))
def takes_one_sure_link_of_a_word():
    """of several sure links of one word you count the first; each is one of S"""


@mistake(slip=True)
def counts_words_with_a_sure_link(weights, sure, possible, target_mask):
    """you divide by |A| and the number of words that have a sure link; |S| counts the links, of
    which a word may have several"""
    links = _links(weights, target_mask)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - float(agreed / (links.sum() + sure.any(-1).sum()))


EXERCISE = Exercise(
    function="alignment_error_rate",
    reference=reference,
    title="measure whether a model looks where a person would",
    minutes=25,
    axes={"batch": 17, "source_len": 43, "target_len": 43},
    contract=Contract(batch=("weights", "sure", "possible", "target_mask")),
    checks=(
        Check(
            "the links of all sentences are counted together, one from each target word",
            1.5,
            draw_links,
            sizes=({"batch": 3, "target_len": 5, "source_len": 7},),
            hidden_sizes=(
                {"batch": 5, "target_len": 7, "source_len": 4},
                {"batch": 2, "target_len": 3, "source_len": 3},
            ),
        ),
        Check(
            "padding of the target has no links",
            1,
            draw_padded_links,
            sizes=(
                {"batch": 1, "target_len": 7, "source_len": 5, "padding": 3},
                {"batch": 2, "target_len": 5, "source_len": 7, "padding": 2},
            ),
            hidden_sizes=(
                {"batch": 1, "target_len": 11, "source_len": 7, "padding": 5},
                {"batch": 2, "target_len": 7, "source_len": 5, "padding": 3},
            ),
        ),
        Check(
            "a sure link that is listed among the possible ones again counts once there",
            1,
            draw_links_listed_twice,
            sizes=({"batch": 1, "target_len": 11, "source_len": 7},),
            hidden_sizes=({"batch": 1, "target_len": 13, "source_len": 5},),
        ),
    ),
    mistakes=mistake.collected,
)
