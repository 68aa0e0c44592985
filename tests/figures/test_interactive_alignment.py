"""The live translator: in the page it says what it says in PyTorch, whatever is done to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from torch import Tensor
from torch.testing import assert_close

from attn_course.bahdanau import BahdanauTranslator
from attn_course.data.tokens import pad
from attn_course.data.translation import detokenise, paper_sentence
from attn_course.interactive import alignment_explorer
from attn_course.interactive.alignment import MOST_WORDS
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.retrieval import masked_softmax
from attn_course.seq2seq import BOS, EOS
from attn_course.trained import load
from tests.figures.interactive_laws import (
    PALE,
    assert_quick,
    assert_refused_beside,
)
from tests.figures.interactive_pages import page_of, read_all, unseen
from tests.sampling import sampled

FIGURE = ".attn-figure[data-figure='alignment']"
SENTENCES = [paper_sentence().source, ("Armenia", "ratified", "the", "convention", ".")]


@cache
def drawn() -> InteractiveFigure:
    return alignment_explorer(SENTENCES)


address, window, page, figure = page_of("alignment", lambda: drawn().html, "bahdanau")


def cell(figure: Locator, row: int, column: int) -> Locator:
    return figure.locator(f"[data-cell='{row},{column}']")


def said(figure: Locator) -> str:
    return figure.locator("[data-part='said-reading']").inner_text()


def marked(figure: Locator, reading: str) -> list[str]:
    return figure.locator(f"[data-part='{reading}-reading'] .attn-strange").all_text_contents()


@torch.no_grad()
def translated(source: Sequence[str], hands: dict[int, Tensor]) -> tuple[list[str], Tensor, Tensor]:
    """The words that PyTorch says with these weights at these words, and its own weights."""
    known = load("bahdanau")
    model = known.model
    assert isinstance(model, BahdanauTranslator)
    annotations, key, mask, hidden = model.start(pad([known.source_words.encode(source)]))
    word, found, weights, sure = BOS, [], [], []
    while word != EOS and len(found) < int(1.5 * mask.shape[-1]) + 5:
        own = masked_softmax(model.score(hidden[:, None], key), mask)[0]
        used = hands.get(len(found), own.flatten())[None]
        given = model.embedding(torch.tensor([word]))
        context = used @ annotations[0]
        hidden = model.cell(torch.cat([given, context], -1), hidden)
        share = model.readout(torch.cat([hidden, given, context], -1)).softmax(-1)[0]
        word = int(share.argmax())
        found.append("EOS" if word == EOS else known.target_words.decode([word])[0])
        weights.append(used[0])
        sure.append(share.max())
    return found, torch.stack(weights), torch.stack(sure)


def assert_agrees(got: dict[str, Any], wanted: tuple[list[str], Tensor, Tensor]) -> None:
    words, weights, sure = wanted
    assert [one["word"] for one in got["said"]] == words
    close = {"rtol": 0, "atol": AGREES_TO}
    assert_close(torch.tensor([one["weights"] for one in got["said"]]), weights, **close)
    assert_close(torch.tensor([one["probability"] for one in got["said"]]), sure, **close)


@sampled
@pytest.mark.browser
def test_page_translates_as_pytorch(figure: Locator) -> None:
    sentences = [pair.source for pair in unseen(12, (5, 10), (10, 15), (15, 20))]
    found = read_all(figure, [{"source": detokenise(one)} for one in sentences])
    for sentence, got in zip(sentences, found, strict=True):
        assert got["words"] == list(sentence)
        assert_agrees(got, translated(sentence, {}))
    assert_quick(figure)


@pytest.mark.browser
def test_hands_on_the_weights_do_what_they_do_in_pytorch(figure: Locator) -> None:
    sentence = SENTENCES[0]
    length = len(sentence) + 1
    order = [j for k in range(3) for j in range(k, length, 3)]
    _, own, _ = translated(sentence, {})
    forbidden = own[3].clone()
    forbidden[6] = 0
    hands = {
        "move": torch.eye(length)[6],
        "forbid": forbidden / forbidden.sum(),
        "flatten": torch.full((length,), 1 / length),
        "shuffle": own[3][order],
    }
    start = {"source": detokenise(sentence), "row": 3, "column": 6}
    found = read_all(figure, [{"hands": name} | start for name in hands])
    for weights, got in zip(hands.values(), found, strict=True):
        assert_agrees(got, translated(sentence, {3: weights}))
    (got,) = read_all(figure, [start | {"hands": "move", "row": 5, "column": 4}])
    assert [one["word"] for one in got["said"]][4:7] == ["zone", "européenne", "a"]  # chapter 04
    setting = start | {"hands": "flatten", "everywhere": True}
    (got,) = read_all(figure, [setting])
    assert_agrees(got, translated(sentence, dict.fromkeys(range(99), hands["flatten"])))


@pytest.mark.browser
def test_a_replaced_word_changes_what_depends_on_it(figure: Locator) -> None:
    figure.locator("[data-part=place]").select_option("Area")
    figure.locator("[data-part=other]").select_option("Market")
    figure.locator("[data-part='before-reading']").wait_for()
    exchanged = tuple("Market" if word == "Area" else word for word in SENTENCES[0])
    ours = [word for word in translated(exchanged, {})[0] if word != "EOS"]
    assert said(figure) == detokenise(ours)
    before = [word for word in translated(SENTENCES[0], {})[0] if word != "EOS"]
    new, lost = ([x for x in a if x not in b] for a, b in ((ours, before), (before, ours)))
    assert figure.locator(".attn-changed").all_text_contents() == new
    assert marked(figure, "said") == new
    assert marked(figure, "before") == lost
    assert "européen" in new


@pytest.mark.browser
def test_word_that_is_lost_is_marked_in_what_it_says_left_alone(figure: Locator) -> None:
    cell(figure, 5, 4).click()
    figure.locator("[data-part='before-reading']").wait_for()
    assert marked(figure, "before") == ["économique"]
    assert marked(figure, "said") == []


@pytest.mark.browser
def test_a_link_opens_the_state_that_it_was_copied_from(figure: Locator, address: str) -> None:
    cell(figure, 5, 4).click()
    figure.locator("[data-part='before-reading']").wait_for()
    wanted = said(figure)
    figure.locator(".attn-link").hover()
    link = figure.locator(".attn-link").get_attribute("href")
    figure.page.goto("about:blank")
    figure.page.goto(address + link)
    figure.locator("[data-part='before-reading']").wait_for()
    assert said(figure) == wanted


@pytest.mark.browser
def test_a_link_that_is_pressed_again_sets_its_state_again(figure: Locator) -> None:
    state = "#lab=alignment&hands=move&row=5&column=4"
    link = f"<a href={state}>a</a>"
    figure.evaluate("(root, link) => root.insertAdjacentHTML('afterend', link)", link)
    before = figure.locator("[data-part='before-reading']")
    for _ in range(2):
        figure.page.get_by_role("link", name="a", exact=True).click()
        before.wait_for()
        figure.get_by_role("button", name="undo").click()
        before.wait_for(state="hidden")


@pytest.mark.browser
def test_what_it_cannot_translate_is_said_by_name(figure: Locator) -> None:
    for typed, wanted in (
        ("", "Write a sentence, or choose one."),
        ("The cat was signed.", "It has never met “cat”. Near “cat” it knows “a”, “at”"),
        ("Le traité <b>x</b>", "It has never met “Le”, “traité”, “<b>x</b>”."),
        ("Договор был подписан", "It has never met “Договор”, “был”, “подписан”."),
        ("law " * 300, f"There is room for {MOST_WORDS} words; this sentence has 301."),
    ):
        figure.get_by_label("English").fill(typed)
        assert_refused_beside(figure, "English", wanted.split("“a”")[0])
        if "Договор" in typed:  # like no word that it knows
            assert figure.get_by_role("alert").inner_text() == wanted
        assert said(figure).startswith("L'accord sur la zone")
    figure.get_by_label("English").fill("Armenia ratified the law.")
    figure.locator("[data-part='said-reading']", has_text="L'Arménie").wait_for()
    assert figure.evaluate(PALE) == "1"


@pytest.mark.browser
def test_typed_text_is_cut_as_the_grammar_cuts_it(figure: Locator) -> None:
    figure.get_by_label("English").fill("armenia ratified: (Romania’s law)!?")
    figure.get_by_text("Armenia ratified Romania's law.", exact=False).wait_for(state="attached")
    assert figure.evaluate("root => root.reading.words") == [
        "Armenia",
        "ratified",
        "Romania",
        "'s",
        "law",
        ".",
    ]


@pytest.mark.browser
def test_keyboard_walks_the_table_and_moves_the_weight(figure: Locator) -> None:
    page = figure.page
    cell(figure, 0, 0).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.cell") == "1,2"
    page.keyboard.press("Enter")
    figure.locator("[data-part='before-reading']").wait_for()
    assert page.evaluate("document.querySelector('[name=hands]:checked').value") == "move"
    everywhere = figure.get_by_label("at every word")
    everywhere.check(force=True)
    figure.get_by_role("button", name="undo").click()
    figure.locator("[data-part='before-reading']").wait_for(state="hidden")
    assert not everywhere.is_checked()


@pytest.mark.browser
def test_another_sentence_is_answered_whole(figure: Locator) -> None:
    figure.locator("[data-part=words]").fill("2")
    assert said(figure) == "L'accord"
    assert "In French: L'accord … " in figure.locator(".attn-sentence").text_content()
    example = figure.get_by_label("or choose")
    example.select_option(index=1)
    figure.get_by_label("English").fill("Armenia ratified the law.")
    assert example.evaluate("one => one.selectedOptions[0].text") == "a sentence of your own"
    figure.get_by_label("English").fill(example.evaluate("one => one.options[2].value"))
    assert example.evaluate("one => one.selectedIndex") == 2
    figure.get_by_label("English").fill("Armenia ratified the law.")
    figure.locator("[data-part='said-reading']", has_text="L'Arménie a ratifié la loi.").wait_for()


@pytest.mark.browser
def test_what_says_it_word_by_word_stays_under_the_map(figure: Locator) -> None:
    slider = figure.locator("[data-part=words]")
    before = slider.bounding_box()["y"]
    assert before < figure.locator("[data-part='said-reading']").bounding_box()["y"]
    slider.fill("2")
    assert said(figure) == "L'accord"
    assert slider.bounding_box()["y"] == before
    slider.press("ArrowRight")
    assert said(figure) == "L'accord sur"


HIDDEN_COLUMNS = """root => {
  const box = root.querySelector(".attn-picture"), { right } = box.getBoundingClientRect();
  const cells = [...root.querySelectorAll("[data-line='0'] [data-cell]")];
  return [cells.length, cells.filter((one) => one.getBoundingClientRect().right > right).length];
}"""


@pytest.mark.browser
def test_the_whole_map_is_seen_on_a_phone_and_again_on_a_wider_screen(figure: Locator) -> None:
    columns = len(SENTENCES[0]) + 1
    for width, least in ((360, 16), (1280, 24), (390, 16)):
        figure.page.set_viewport_size({"width": width, "height": 844})
        figure.page.wait_for_timeout(100)  # until it is drawn again
        assert figure.evaluate(HIDDEN_COLUMNS) == [columns, 0], width
        box = cell(figure, 3, 6).bounding_box()
        assert min(box["width"], box["height"]) >= least, "too small for a finger"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "needs a sentence to show first; there is none"),
        ([[]], "a sentence has 1 to 24 words, not 0"),
        ([["law"] * 25], "a sentence has 1 to 24 words, not 25"),
        ([["The", "cat", "sat"]], "does not know 'cat', 'sat'"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(sentences: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        alignment_explorer(sentences)
