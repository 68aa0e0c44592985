"""The live translator with one vector: its beam is the one of PyTorch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from torch.testing import assert_close

from attn_course.data.tokens import pad
from attn_course.data.translation import SentencePair, detokenise
from attn_course.decoding import Hypotheses, beam_search
from attn_course.interactive import fixed_vector_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.fixed_vector import MOST_WORDS
from attn_course.interactive.live import AGREES_TO
from attn_course.seq2seq import PAD
from attn_course.trained import load
from attn_course.trained.translators.measure import unseen_pairs
from tests.figures.interactive_laws import (
    assert_quick,
    assert_refused_beside,
    reading,
)
from tests.figures.interactive_pages import page_of, read_all, unseen
from tests.sampling import sampled

FIGURE = ".attn-figure[data-figure='fixed-vector']"
# A sentence that grows by a clause, of 14, 21 and 36 words.
GROWS = unseen_pairs((30, 40), 1)[0]


def up_to_commas(words: Sequence[str]) -> list[Sequence[str]]:
    ends = [i for i, word in enumerate(words) if word == ","]
    return [*((*words[:i], ".") for i in ends), words]


@cache
def drawn() -> InteractiveFigure:
    return fixed_vector_explorer(
        list(zip(up_to_commas(GROWS.source), up_to_commas(GROWS.target), strict=True))
    )


address, window, page, figure = page_of("fixed-vector", lambda: drawn().html, "fixed", "bahdanau")


def said(figure: Locator) -> str:
    return figure.locator("[data-part='said-reading']").inner_text()


def lengthen(figure: Locator) -> None:
    before = said(figure)
    figure.get_by_role("button", name="a longer sentence").click()
    figure.page.wait_for_function(
        "([root, before]) => root.querySelector('[data-part=said-reading]').innerText !== before",
        arg=[figure.element_handle(), before],
    )


@cache
def searched(sources: tuple[tuple[str, ...], ...], width: int, power: float) -> Hypotheses:
    """Return what PyTorch's beam search finds for sentences of one length."""
    known = load("fixed")
    source = pad([known.source_words.encode(one) for one in sources])
    return beam_search(known.model, source, int(1.5 * source.shape[1]) + 5, width, power)


def assert_same_beam(got: dict[str, Any], wanted: Hypotheses, row: int) -> None:
    lines = wanted.tokens[row].tolist()
    words = [[word for word in line if word != PAD] for line in lines]
    assert [one["words"] for one in got["found"]] == words
    for name, numbers in (("total", wanted.log_probability), ("score", wanted.score)):
        found = torch.tensor([one[name] for one in got["found"]])
        assert_close(found, numbers[row], rtol=0, atol=AGREES_TO)


@sampled
@pytest.mark.browser
def test_beam_is_the_one_of_pytorch(figure: Locator) -> None:
    groups: dict[tuple[int, int, int], list[SentencePair]] = defaultdict(list)
    for number, pair in enumerate(unseen(8, (5, 10), (10, 15))):
        groups[len(pair.source), 1 + number % 4, number % 8 // 4].append(pair)
    groups[len(GROWS.source), 4, 0].append(GROWS)
    asked = [
        {"source": detokenise(pair.source), "beam": width, "power": str(power)}
        for (_, width, power), group in groups.items()
        for pair in group
    ]
    found = iter(read_all(figure, asked))
    attending = load("bahdanau")
    for (_, width, power), group in groups.items():
        wanted = searched(tuple(pair.source for pair in group), width, power)
        other = attending.translate([pair.source for pair in group])
        for row, pair in enumerate(group):
            got = next(found)
            assert tuple(got["source"]) == pair.source
            assert_same_beam(got, wanted, row)
            assert tuple(got["other"]) == other[row]
    vector = load("fixed").model.start(pad([load("fixed").source_words.encode(GROWS.source)]))[0][0]
    assert_close(torch.tensor(got["vector"]), vector, rtol=0, atol=AGREES_TO)
    assert_quick(figure)


@pytest.mark.browser
def test_sentence_grows_and_the_tree_leads_to_what_is_said(figure: Locator) -> None:
    assert said(figure) == detokenise(up_to_commas(GROWS.target)[0])
    assert figure.locator(".attn-strange").count() == 0
    other = figure.locator("[data-part='other-reading']")
    assert not other.is_visible()
    lengthen(figure)
    assert not other.is_visible()
    strange = figure.locator(".attn-strange")
    assert strange.all_text_contents() == ["décembre", "2002", "Yémen"]
    lengthen(figure)
    assert strange.first.text_content() == "Éthiopie"
    assert figure.get_by_role("button", name="a longer sentence").is_disabled()
    assert figure.get_by_label("or choose").input_value() == detokenise(GROWS.source)
    figure.get_by_label("beam").press("ArrowRight")  # a wider beam, from the keyboard
    figure.get_by_text("a beam of 1 finds").wait_for()
    on_the_way = figure.locator("g.attn-best text:first-of-type").all_text_contents()
    assert detokenise([word for word in on_the_way if word != "EOS"]) == said(figure)
    kept = figure.locator("g.attn-kept, g.attn-best").count()
    assert kept == 2 * figure.locator("g").count() / 4


@pytest.mark.browser
def test_words_that_were_weighed_are_folded_away_until_asked_for(page: Page) -> None:
    root = page.locator(FIGURE)
    vector, tree = (root.locator(f"{box} > svg") for box in (".attn-picture", ".attn-tree"))
    assert vector.is_visible()
    assert not tree.is_visible()
    assert not root.locator("[data-part='chance-reading']").is_visible()
    root.get_by_text("Word by word").click()
    tree.wait_for()
    assert root.get_by_text("the probability of the sentence so far").is_visible()
    assert root.locator("[data-part='chance-reading']").inner_text() == "5%"


@pytest.mark.browser
def test_words_are_replaced_one_on_top_of_the_other(figure: Locator) -> None:
    lengthen(figure)
    lengthen(figure)
    typed = detokenise(GROWS.source)
    for word, other in (("Moscow", "Rome"), ("November", "March")):
        typed = typed.replace(word, other)
        figure.locator("[data-part=place]").select_option(label=word)
        figure.locator("[data-part=other]").select_option(other)
        assert figure.get_by_label("English").input_value() == typed
    figure.get_by_text("chapter 04's translator says").wait_for()
    figure.locator("[data-part='said-reading']", has_text="mars").wait_for()


@pytest.mark.browser
def test_the_tree_shows_the_first_wrong_word(figure: Locator) -> None:
    lengthen(figure)
    first = figure.locator(".attn-strange").first.text_content()
    expect(figure.locator("g.attn-best text", has_text=first)).to_be_in_viewport()
    assert figure.locator(".attn-tree").evaluate("box => box.scrollTop") > 0


@pytest.mark.browser
def test_a_sentence_of_ones_own_is_compared_with_chapter_04(figure: Locator) -> None:
    typed = unseen_pairs((15, 20), 2)[1].source
    figure.get_by_label("English").fill(detokenise(typed))
    figure.get_by_text("chapter 04's translator says something else").wait_for()
    (ours,), (other,) = (load(name).translate([typed]) for name in ("fixed", "bahdanau"))
    assert said(figure) == detokenise(ours)
    assert reading(figure)["other"] == list(other)
    assert figure.locator(".attn-strange").all_text_contents() == [
        word for word in ours if word not in other
    ]
    assert not figure.locator("[data-part='right-reading']").is_visible()
    assert figure.locator("[data-part='other-reading']").inner_text() == detokenise(other)
    figure.get_by_label("English").fill("The agreement was signed.")
    figure.get_by_text("0 of 6 words: chapter 04's translator says the same").wait_for()
    figure.get_by_label("English").fill(detokenise(typed))
    figure.get_by_text("chapter 04's translator says something else").wait_for()
    figure.get_by_label("English").fill("The cat <b>sat</b>")
    assert_refused_beside(figure, "English", "It has never met “cat”, “<b>sat</b>”.")
    figure.get_by_label("English").fill("law " * 300)
    figure.get_by_text(f"There is room for {MOST_WORDS} words; this sentence has 301.").wait_for()
    assert said(figure) == detokenise(ours)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "needs a pair of sentences to show first; there is none"),
        ([([], ["."])], f"a sentence has 1 to {MOST_WORDS} words, not 0"),
        ([(["law"] * 41, ["."])], f"a sentence has 1 to {MOST_WORDS} words, not 41"),
        ([(["The", "cat", "sat"], ["."])], "does not know 'cat', 'sat'"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(
    pairs: list[tuple[list[str], list[str]]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fixed_vector_explorer(pairs)
