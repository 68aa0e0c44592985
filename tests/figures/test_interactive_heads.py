"""The record of all heads: it is what the model gives, and the page shows it."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.interactive import head_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.heads import PAIRS, cell_of
from attn_course.trained.heads.minilm_heads import NAME, SENTENCES, STEPS, load_heads
from tests.book.test_pages import PHONE
from tests.figures.interactive_pages import look, page_of, read_all

FIGURE = ".attn-figure[data-figure='heads']"
BARK = SENTENCES[0]
# The opacity of each dot of the small pictures.
DOTS = """async (root) => {
  const image = new Image();
  image.src = root.querySelector("image").getAttribute("href");
  await image.decode();
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [image.width, image.height];
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, image.width, image.height);
  return Array.from(data).filter((_, i) => i % 4 === 3);
}"""


@cache
def drawn() -> InteractiveFigure:
    return head_explorer(BARK, (5, 11), "dog", "bark")


address, window, page, figure = page_of("heads", lambda: drawn().html, NAME)


def reading(figure: Locator, part: str) -> str:
    return figure.locator(f"[data-part='{part}-reading']").inner_text()


def small_pictures(weights: Tensor) -> Tensor:
    """The weights of all heads, as the dots of one picture with a line between two tables."""
    apart = torch.nn.functional.pad(weights, (0, 1, 0, 1))
    return apart.transpose(1, 2).flatten() * STEPS


@pytest.mark.browser
def test_page_shows_the_record(figure: Locator) -> None:
    first = small_pictures(load_heads(BARK).weights)
    dots = torch.tensor(figure.evaluate(DOTS)).float()  # before anything is fetched
    assert_close(dots, first, rtol=0, atol=1.1)
    draw, states = random.Random(0), []
    records = [load_heads(sentence) for sentence in SENTENCES]
    for number in range(100):
        sentence = number * len(SENTENCES) // 100  # another one is drawn anew
        count = len(records[sentence].pieces)
        cell = {"row": draw.randrange(count), "column": draw.randrange(count)}
        head = {"layer": draw.randrange(6), "head": draw.randrange(12)}
        states.append({"sentence": str(sentence)} | head | cell)
    found = read_all(figure, states)
    for state, got in zip(states, found, strict=True):
        weights = records[int(state["sentence"])].weights
        table, at = weights[state["layer"], state["head"]], state["column"]
        assert_close(torch.tensor(got["table"]).float(), table, rtol=0, atol=1e-6)
        others = torch.cat([table[: state["row"], at], table[state["row"] + 1 :, at]])
        assert got["others"] == pytest.approx(others.mean().item(), abs=1e-6)
        cells = weights[..., state["row"], at]
        assert got["more"] == (cells > table[state["row"], at]).sum()
    for sentence in (4, 0):
        state = {"sentence": str(sentence)}
        read_all(figure, [state])
        weights = records[sentence].weights
        dots = torch.tensor(figure.evaluate(DOTS)).float()
        assert_close(dots, small_pictures(weights), rtol=0, atol=1.1)


@pytest.mark.browser
def test_buttons_and_keys_walk_through_the_heads(figure: Locator) -> None:
    keys = figure.page.keyboard
    figure.locator("[data-head='5,11']").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft"):
        keys.press(key)
    figure.get_by_text("layer 4, head 10", exact=True).wait_for()
    assert figure.page.evaluate("document.activeElement.dataset.head") == "4,10"
    figure.get_by_role("button", name="gives most here").click()
    figure.get_by_text("layer 5, head 11", exact=True).wait_for()
    assert reading(figure, "cell") == "“dog” gives 67% to “bark”"
    figure.get_by_role("button", name="next head").click()
    figure.get_by_text("1 of 72 give it more").wait_for()
    figure.locator("[data-cell='9,1']").focus()
    keys.press("ArrowDown")
    figure.get_by_text("“[SEP]” gives 20% to “bark”", exact=True).wait_for()
    figure.locator("[data-cell='7,3']").click()
    figure.get_by_label("Sentence").select_option("6")
    figure.get_by_text(re.compile(r"^“chased” gives \d+% to “dog”$")).wait_for()


@pytest.mark.browser
def test_a_second_word_adds_its_column_to_every_row(figure: Locator) -> None:
    table = load_heads(BARK).weights[1, 3]
    pieces = load_heads(BARK).pieces
    he, both = pieces.index("he"), table[:, [pieces.index(word) for word in ("bark", "dog")]].sum(1)
    figure.locator("[data-head='1,3']").click()
    figure.locator(f"[data-cell='{he},{pieces.index('bark')}']").click()
    figure.get_by_label("Second word").select_option("dog")
    figure.get_by_text("“he” gives 55% to “bark” and “dog”", exact=True).wait_for()
    assert reading(figure, "rows") == "give 17% on average, 26% at most"
    wide = figure.locator(".attn-given").evaluate_all(
        "all => all.map((bar) => bar.width.baseVal.value)"
    )
    assert_close(torch.tensor(wide) / max(wide), both / both.max(), rtol=0, atol=0.02)
    figure.locator(f"[data-column='{pieces.index('dog')}']").click(force=True)
    figure.get_by_text("“he” gives 38% to “bark”", exact=True).wait_for()
    assert figure.get_by_label("Second word").input_value() == "-1"
    read_all(figure, [{"also": "1e9"}])  # as in an odd link
    assert reading(figure, "cell") == "“he” gives 38% to “bark”"


def test_every_sentence_opens_at_its_pair_of_words() -> None:
    for sentence, pair, cell in zip(SENTENCES, PAIRS, drawn().data["cells"], strict=True):
        pieces = load_heads(sentence).pieces
        assert (pieces[cell[0]], pieces[cell[1]]) == pair
        assert cell[0] != cell[1], sentence


def test_of_a_word_that_comes_again_the_last_asks_and_the_nearest_other_is_looked_at() -> None:
    assert cell_of(["a", "b", "a", "c"], "a", "b") == (2, 1)
    assert cell_of(["dog"] * 4, "dog", "dog") == (3, 2)
    assert cell_of(["b", "a", "c", "b"], "a", "b") == (1, 0)


@pytest.mark.browser
def test_odd_link_does_no_harm_and_a_finger_hits_a_head(page: Page, address: str) -> None:
    odd = "#lab=heads&sentence=99&layer=x&head=-1&row=77&column=1e9"
    look(page, PHONE, "dark", "reduce")
    page.goto("about:blank")
    page.goto(address + odd)
    page.get_by_text("layer 0, head 0", exact=True).wait_for()
    page.locator(f"{FIGURE} [data-head='1,3']").tap()
    page.get_by_text("layer 1, head 3", exact=True).wait_for()
    side = "frame => frame.getBoundingClientRect().width * 12 / 11"  # with the line between two
    assert page.locator(f"{FIGURE} [data-head='1,3']").evaluate(side) >= 24


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentence": "A dog"}, "there is no record of 'A dog'"),
        ({"head": (5, 12)}, r"there are 6 layers of 12 heads, and so no head \(5, 12\)"),
        ({"looked_at": "cat"}, "'cat' is not among the pieces"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(changes: dict[str, object], message: str) -> None:
    given = {"sentence": BARK, "head": (5, 11), "asking": "dog", "looked_at": "bark"}
    with pytest.raises(ValueError, match=message):
        head_explorer(**given | changes)
