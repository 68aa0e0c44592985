"""BLEU, exact matches and alignments: by hand on paper-size examples, by laws, by other means."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attn_course.metrics import alignment_error_rate, corpus_bleu, exact_match, hard_links

THE_CAT = ["the", "cat", "sat", "on", "the", "mat"]
Corpus = list[list[str]]

# Busy machines are slow, and a run that fails must fail again.
some_law = settings(max_examples=50, deadline=None, derandomize=True)


def sentences(number: int, seed: int, longest: int = 12) -> Corpus:
    """Return sentences of few different words, some of them empty."""
    draw = random.Random(seed)
    return [draw.choices("abcdeF", k=draw.randint(0, longest)) for _ in range(number)]


# --- BLEU ---------------------------------------------------------------------------------------


def groups(sentence: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    """Count the groups of so many words."""
    return Counter(tuple(sentence[i : i + length]) for i in range(len(sentence) - length + 1))


def bleu_by_the_paper(hypotheses: Corpus, references: Corpus) -> float:
    """Compute BLEU from its definition; the nth precision of zero counts as `1 / 2^n`."""
    pairs = list(zip(hypotheses, references, strict=True))
    ours, wanted = sum(map(len, hypotheses)), sum(map(len, references))
    zeros, logarithms = 0, []
    for length in (1, 2, 3, 4):
        total = sum(groups(h, length).total() for h, _ in pairs)
        shared = sum((groups(h, length) & groups(r, length)).total() for h, r in pairs)
        if total == 0:
            return 0.0
        zeros += shared == 0
        logarithms.append(math.log((shared or 0.5**zeros) / total))
    brevity = math.exp(min(0.0, 1 - wanted / ours))
    return 100 * brevity * math.exp(sum(logarithms) / 4)


def test_bleu_by_hand() -> None:
    hypothesis = ["the", "cat", "sat", "on", "a", "mat"]
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 groups of four
    expected = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert corpus_bleu([hypothesis], [THE_CAT]) == pytest.approx(expected)


def test_bleu_counts_no_word_more_often_than_the_reference_does() -> None:
    hypothesis = ["the", "the", "the", "the", "the", "the"]
    # 2 of 6 words; the pairs, triples and fours of which there are none count 1/2, 1/4 and 1/8
    expected = 100 * (2 / 6 * 1 / 2 / 5 * 1 / 4 / 4 * 1 / 8 / 3) ** 0.25
    assert corpus_bleu([hypothesis], [THE_CAT]) == pytest.approx(expected)


def test_bleu_of_the_references_themselves_is_100() -> None:
    references = sentences(20, seed=1)
    assert corpus_bleu(references, references) == pytest.approx(100)
    assert corpus_bleu(list(map(tuple, references)), references) == pytest.approx(100)


def test_bleu_without_a_word_in_common_is_next_to_nothing() -> None:
    assert corpus_bleu([["x"] * 50], [["y"] * 50]) < 1
    assert corpus_bleu([[]], [THE_CAT]) == 0
    assert corpus_bleu([THE_CAT[:3]], [THE_CAT]) == 0  # no group of four


@pytest.mark.parametrize("left_out", [1, 2])
def test_bleu_punishes_short_hypotheses_by_their_length(left_out: int) -> None:
    expected = 100 * math.exp(1 - 6 / (6 - left_out))
    assert corpus_bleu([THE_CAT[:-left_out]], [THE_CAT]) == pytest.approx(expected)


def test_bleu_counts_over_the_corpus_and_is_no_mean_over_sentences() -> None:
    hypotheses, references = [THE_CAT, ["x", "y", "z", "u", "v", "w"]], [THE_CAT, THE_CAT]
    assert corpus_bleu(hypotheses, references) == pytest.approx(50)
    assert corpus_bleu(hypotheses[:1] * 3 + hypotheses[1:], [THE_CAT] * 4) == pytest.approx(75)


def test_bleu_tells_upper_from_lower_case_and_cuts_no_word() -> None:
    assert corpus_bleu([["The", *THE_CAT[1:]]], [THE_CAT]) < 90
    words = ["l'", "accord", ",", "c.-à-d.", "3,5", "%", "don't", "&", "&amp;", "<skipped>"]
    assert corpus_bleu([words], [words]) == pytest.approx(100)
    assert corpus_bleu([[*words[:-1], "x"]], [words]) == pytest.approx(
        100 * (9 / 10 * 8 / 9 * 7 / 8 * 6 / 7) ** 0.25
    )


@pytest.mark.parametrize("seed", range(20))
def test_bleu_agrees_with_its_definition(seed: int) -> None:
    references = [THE_CAT, *sentences(5, seed)]
    hypotheses = [THE_CAT[:5], *sentences(5, seed + 1000)]
    expected = bleu_by_the_paper(hypotheses, references)
    assert corpus_bleu(hypotheses, references) == pytest.approx(expected, rel=1e-9)


def test_bleu_does_not_depend_on_the_order_of_the_sentences() -> None:
    pairs = list(zip(sentences(9, seed=2), sentences(9, seed=3), strict=True))
    shuffled = random.Random(4).sample(pairs, len(pairs))
    there, back = (corpus_bleu(*zip(*order, strict=True)) for order in (pairs, shuffled))
    assert there == pytest.approx(back)
    assert there > 0


# --- exact matches ------------------------------------------------------------------------------


def test_exact_match_is_the_share_of_sentences_that_are_right() -> None:
    references = [THE_CAT, ["a"], [], ["a", "b"]]
    assert exact_match([tuple(THE_CAT), ["a"], [], ["b", "a"]], references) == 0.75
    assert exact_match([[], ["A"], ["a"], ["a", "b", "c"]], references) == 0


# --- alignments ---------------------------------------------------------------------------------

SURE, POSSIBLE = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (2, 1), (2, 2)}
pairs_of_words = st.tuples(st.integers(0, 3), st.integers(0, 3))
alignments = st.lists(st.tuples(*[st.frozensets(pairs_of_words)] * 3), min_size=1, max_size=4)


def test_alignment_error_rate_by_hand() -> None:
    links = {(0, 0), (2, 2), (3, 3)}  # one sure, one more possible, one neither
    expected = 1 - (1 + 2) / (3 + 2)
    assert alignment_error_rate([links], [SURE], [POSSIBLE]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (SURE, 0),
        (POSSIBLE, 0),
        (SURE | {(2, 1)}, 0),
        ({(3, 3)}, 1),
        (set(), 1),
        ({(0, 0)}, 1 - 2 / 3),
        ({(2, 1), (2, 2)}, 1 - 2 / 4),
    ],
)
def test_alignment_error_rate_of_the_plain_cases(
    links: set[tuple[int, int]], expected: float
) -> None:
    assert alignment_error_rate([links], [SURE], [POSSIBLE]) == pytest.approx(expected)


def test_alignment_error_rate_counts_over_the_corpus() -> None:
    # 2 + 2 of 2 + 2 in one sentence, 0 + 0 of 4 + 2 in the other
    wrong = {(9, j) for j in range(4)}
    rate = alignment_error_rate([SURE, wrong], [SURE] * 2, [POSSIBLE] * 2)
    assert rate == pytest.approx(1 - 4 / 10)


@some_law
@given(alignments)
def test_alignment_error_rate_from_precision_and_recall(
    corpus: list[tuple[frozenset[tuple[int, int]], ...]],
) -> None:
    links, sure = [a for a, _, _ in corpus], [s for _, s, _ in corpus]
    possible = [s | p for _, s, p in corpus]
    number, number_sure = sum(map(len, links)), sum(map(len, sure))
    assume(number > 0 and number_sure > 0)
    precision = sum(len(a & p) for a, p in zip(links, possible, strict=True)) / number
    recall = sum(len(a & s) for a, s in zip(links, sure, strict=True)) / number_sure
    agreement = (precision * number + recall * number_sure) / (number + number_sure)
    rate = alignment_error_rate(links, sure, possible)
    assert rate == pytest.approx(1 - agreement)
    assert 0 <= rate <= 1
    backwards = (corpus[::-1] for corpus in (links, sure, possible))
    assert alignment_error_rate(*backwards) == pytest.approx(rate)


# --- links from weights -------------------------------------------------------------------------


def test_hard_links_by_hand() -> None:
    weights = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0]])
    assert hard_links(weights) == {(1, 0), (2, 1), (0, 2), (1, 3)}


def test_hard_links_take_the_first_of_several_and_none_where_there_is_no_weight() -> None:
    weights = torch.tensor([[0.25, 0.25, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0], [0.25] * 4])
    assert hard_links(weights) == {(2, 0), (0, 2)}
    assert hard_links(weights.bfloat16()) == {(2, 0), (0, 2)}


def test_hard_links_leave_padding_and_the_end_mark_out() -> None:
    weights = torch.tensor([[0.2, 0.1, 0.7], [0.1, 0.3, 0.6], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
    assert hard_links(weights, source_len=2, target_len=3) == {(0, 0), (1, 1)}
    assert hard_links(weights, source_len=3, target_len=4) == hard_links(weights)
    assert hard_links(weights, source_len=0) == hard_links(weights, target_len=0) == set()


def test_hard_links_agree_with_a_loop() -> None:
    weights = torch.rand(7, 5, generator=torch.Generator().manual_seed(0))
    expected = {(max(range(5), key=row.__getitem__), j) for j, row in enumerate(weights.tolist())}
    links = hard_links(weights)
    assert links == expected
    assert all(type(i) is type(j) is int for i, j in links)


# --- what is refused ----------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "more hypotheses": (
        lambda: corpus_bleu([THE_CAT] * 3, [THE_CAT] * 2),
        ValueError,
        "every sentence needs a partner, but there are 3 hypotheses, 2 references$",
    ),
    "no sentences": (
        lambda: corpus_bleu([], []),
        ValueError,
        "no sentence to judge: 0 hypotheses, 0 references$",
    ),
    "a string for words": (
        lambda: corpus_bleu(["the cat"], [THE_CAT]),
        TypeError,
        r"hypotheses\[0\] is 'the cat'; expected a sequence of words$",
    ),
    "several references": (
        lambda: corpus_bleu([THE_CAT], [[THE_CAT] * 4]),
        TypeError,
        r"references\[0\] is \[\['the', .*; expected a sequence of words$",
    ),
    "numbers for words": (
        lambda: corpus_bleu([THE_CAT, [3, 4]], [THE_CAT] * 2),
        TypeError,
        r"hypotheses\[1\] is \[3, 4\]",
    ),
    "a space in a word": (
        lambda: corpus_bleu([THE_CAT], [["the", "cat sat", "on", "it"]]),
        ValueError,
        r"references\[0\] holds 'cat sat', which is not one word$",
    ),
    "a narrow space in a word": (
        lambda: corpus_bleu([["3\u202f000", "F"]], [THE_CAT]),
        ValueError,
        r"hypotheses\[0\] holds '3\\u202f000', which is not one word$",
    ),
    "an empty word": (
        lambda: corpus_bleu([["the", ""]], [THE_CAT]),
        ValueError,
        r"hypotheses\[0\] holds '', which is not one word$",
    ),
    "only short references": (
        lambda: corpus_bleu([["a", "b", "c"]], [["a", "b", "c"]]),
        ValueError,
        "groups of up to 4 words, but no reference is that long$",
    ),
    "exact match of nothing": (lambda: exact_match([], []), ValueError, "no sentence to judge"),
    "exact match of unequal numbers": (
        lambda: exact_match([THE_CAT], []),
        ValueError,
        "1 hypotheses, 0 references$",
    ),
    "links without a partner": (
        lambda: alignment_error_rate([SURE, SURE], [SURE, SURE], [POSSIBLE]),
        ValueError,
        "there are 2 links, 2 sure, 1 possible$",
    ),
    "no links to judge": (
        lambda: alignment_error_rate([], [], []),
        ValueError,
        "no sentence to judge: 0 links, 0 sure, 0 possible$",
    ),
    "the links of one sentence": (
        lambda: alignment_error_rate([(0, 0)], [(0, 0)], [(0, 0)]),
        TypeError,
        r"links\[0\] is \(0, 0\); expected a set of pairs \(i, j\)$",
    ),
    "a sure link that is not possible": (
        lambda: alignment_error_rate([SURE] * 2, [SURE, POSSIBLE], [POSSIBLE, SURE]),
        ValueError,
        r"sure\[1\] holds \(2, 1\), which possible\[1\] does not$",
    ),
    "nothing over nothing": (
        lambda: alignment_error_rate([set()] * 2, [set()] * 2, [POSSIBLE] * 2),
        ValueError,
        "neither a link nor a sure link: the error rate would be 0/0$",
    ),
    "more source words than weights": (
        lambda: hard_links(torch.ones(3, 5), source_len=6),
        ValueError,
        r"source_len=6, but the weights have shape \(3, 5\)$",
    ),
    "fewer target words than none": (
        lambda: hard_links(torch.ones(3, 5), target_len=-1),
        ValueError,
        r"target_len=-1, but the weights have shape \(3, 5\)$",
    ),
    "weights that are NaN": (
        lambda: hard_links(torch.tensor([[0.5, math.nan]])),
        ValueError,
        r"hard_links: weights holds 1 NaN",
    ),
    "weights of a batch": (
        lambda: hard_links(torch.ones(2, 3, 5)),
        ValueError,
        r"expected \(target_len, source_len\), 2 axes, but it has 3$",
    ),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_mistake_is_named(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
