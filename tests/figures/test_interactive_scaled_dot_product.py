"""The interactive heat map: what it shows is what the package computes, for every reader."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.interactive import attention_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.scaled_dot_product.state import SCALES, State, rounded
from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.scaled_dot_product import attention_weights, causal_mask, combine
from tests.conftest import Build, chapters
from tests.figures.interactive_laws import (
    IN_LOOKS,
    PAGE,
    assert_focus_is_seen,
    data_of,
    opened_in_the_book,
    reading,
)
from tests.figures.interactive_pages import look, page_of, read_all
from tests.sampling import sample, sampled

FIGURE = ".attn-figure[data-figure='scaled-dot-product']"
WORDS = ["a", "bee", "met", "the", "fly", "PAD", "PAD"]


def rows(seed: int, d_key: int = 5) -> Tensor:
    return 2 * torch.randn(len(WORDS), d_key, generator=torch.Generator().manual_seed(seed))


def drawn(**options: Any) -> InteractiveFigure:
    return attention_explorer(
        WORDS, rows(0), rows(1), length=5, **{"row": 4, "column": 1} | options
    )


address, window, page, figure = page_of(
    "scaled-dot-product", lambda: drawn().html + drawn(row=0).html
)


def cell(figure: Locator, row: int, column: int) -> Locator:
    return figure.locator(f"[data-cell='{row},{column}']")


def table(numbers: list[list[float]]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def state_of(scale: str, place: int, causal: bool, half: int | None, length: int | None) -> dict:
    """The values of the form; a slider of a mask that is off stays at 0."""
    masks = {"causal": causal, "window": half is not None, "padding": length is not None}
    sliders = {"temperature": place, "half-width": half or 0, "words": length or 0}
    return {"scale": scale} | masks | sliders


def assert_script_agrees_with_package(figure: Locator, few: int = 100) -> int:
    """Compare a sample of a grid of scales, temperatures, masks; how many rows had no key."""
    data = data_of(figure)
    start = State(data["words"], table(data["query"]), table(data["key"]))
    last, most, empty = len(data["temperatures"]) - 1, len(data["words"]), 0
    grid = product(
        SCALES,
        (0, last // 3, last // 2, last),
        (False, True),
        (None, 0, 2, most - 1),
        (None, 0, 3, most),
    )
    settings = sample(grid, few)
    found = read_all(figure, [state_of(*setting) for setting in settings])
    for (scale, place, causal, half_width, length), got in zip(settings, found, strict=True):
        temperature = data["temperatures"][place]
        wanted = replace(start, scale=scale, temperature=temperature, causal=causal,
                         half_width=half_width, length=length)  # fmt: skip
        allowed = torch.ones(most, most).bool() if wanted.mask is None else wanted.mask
        assert got["allowed"] == allowed.tolist()
        close = {"rtol": 0, "atol": 1e-9}
        assert_close(table(got["scores"]), wanted.scores, rtol=1e-12, atol=1e-12)
        assert_close(table(got["weights"]), wanted.weights, **close)
        empty += sum(not any(row) for row in got["weights"])
    return empty


def test_the_figure_starts_with_the_weights_of_the_layer() -> None:
    state = State(WORDS, rounded(rows(0)), rounded(rows(1)))
    assert_close(state.weights, attention_weights(state.query, state.key))
    masked = replace(state, causal=True, scale="keep", temperature=2.0)
    wanted = masked_softmax(dot_scores(state.query, state.key) / 2, causal_mask(len(WORDS)))
    assert_close(masked.weights, wanted)
    root = masked.temperatures.index(2.24)
    same = replace(state, scale="keep", temperature=masked.temperatures[root])
    assert_close(same.weights, state.weights, rtol=0, atol=2e-3)


@sampled
@pytest.mark.browser
@pytest.mark.parametrize("number", [0, 1])
def test_script_gives_the_numbers_of_the_package(page: Page, number: int) -> None:
    assert assert_script_agrees_with_package(page.locator(FIGURE).nth(number)) > 5


@sampled
@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in chapters() if "scaled_dot_product" in name])
def test_figure_in_the_book_gives_the_numbers_of_the_package(
    browser: Browser, book: Build, name: str
) -> None:
    with opened_in_the_book(browser, book, name) as page:
        figure = page.locator(FIGURE)
        assert figure.locator("form").is_visible()
        assert_script_agrees_with_package(figure, few=12)


@pytest.mark.browser
def test_cells_forbidden_by_hand_are_a_mask_beside_the_others(page: Page) -> None:
    figure = page.locator(FIGURE).first
    by_hand = torch.ones(7, 7).bool()
    figure.get_by_role("checkbox", name="causal").check()
    for i, j in [(4, 1), (4, 4), (2, 5), (0, 0)]:
        cell(figure, i, j).click()
        by_hand[i, j] = False
    got = reading(figure)
    mask = combine(causal_mask(7), by_hand)
    assert got["allowed"] == mask.tolist()
    assert_close(table(got["weights"]), masked_softmax(table(got["scores"]), mask))
    assert got["weights"][0] == [0] * 7, "the first word has lost its only key"
    strokes = {
        place: (cell(figure, *place).locator("path").get_attribute("d") or "").count("M")
        for place in [(4, 1), (2, 5), (0, 1), (3, 3)]
    }
    assert strokes == {(4, 1): 2, (2, 5): 2, (0, 1): 1, (3, 3): 0}
    cell(figure, 4, 1).click()
    assert reading(figure)["allowed"][4][1]
    figure.get_by_role("button", name="allow all cells again").click()
    assert reading(figure)["allowed"] == causal_mask(7).tolist()
    assert not figure.get_by_role("button", name="allow all").is_visible()


@pytest.mark.browser
def test_row_without_a_key_is_said(page: Page) -> None:
    figure = page.locator(FIGURE).first
    figure.get_by_role("checkbox", name="padding").check()
    figure.get_by_role("slider", name="words").press("Home")
    says = figure.locator(".attn-sentence").text_content()
    assert says.endswith("padding from token 1. Query fly: no key is left, all weights are 0.")
    assert figure.locator("svg").first.get_attribute("aria-label") == says
    assert figure.locator("[data-part=sum-reading]").inner_text() == "0.00"
    assert figure.locator("[data-part=score-reading]").inner_text() == "forbidden"
    heights = figure.locator("[data-bar]").evaluate_all(
        "bars => bars.map(bar => Number(bar.getAttribute('height')))"
    )
    assert heights == [0] * 7


@pytest.mark.browser
def test_bars_and_cells_are_as_large_and_as_dark_as_the_weights(page: Page) -> None:
    figure = page.locator(FIGURE).first
    got = reading(figure)
    heights = figure.locator("[data-bar]").evaluate_all(
        "bars => bars.map(bar => Number(bar.getAttribute('height')))"
    )
    tall = 64  # of a weight of 1
    assert_close(torch.tensor(heights), tall * torch.tensor(got["weights"][4]), rtol=0, atol=0.051)
    opacity = figure.locator(".attn-weight").evaluate_all(
        "cells => cells.map(cell => Number(cell.getAttribute('fill-opacity')))"
    )
    wanted = torch.tensor(got["weights"]).flatten()
    assert_close(torch.tensor(opacity), wanted, rtol=0, atol=5.1e-4)


@pytest.mark.browser
def test_keyboard_alone_walks_the_grid_and_forbids_cells(page: Page) -> None:
    figure = page.locator(FIGURE).first
    page.keyboard.press("Tab")
    where = "document.activeElement.dataset.cell"
    assert page.evaluate(where) == "4,1"
    walk = [("ArrowUp", "3,1"), ("ArrowRight", "3,2"), ("End", "3,6"), ("ArrowRight", "3,6"),
            ("Home", "3,0"), ("ArrowDown", "4,0"), ("ArrowLeft", "4,0")]  # fmt: skip
    for key, wanted in walk:
        page.keyboard.press(key)
        assert page.evaluate(where) == wanted
        assert f"{reading(figure)['row']},{reading(figure)['column']}" == wanted
    for key, allowed in [("Enter", False), ("Space", True), ("Enter", False)]:
        page.keyboard.press(key)
        assert reading(figure)["allowed"][4][0] is allowed
    label = cell(figure, 4, 0).get_attribute("aria-label")
    assert label == "query fly, key a: forbidden"
    stroke = "node => getComputedStyle(node).strokeWidth"
    assert figure.locator("[data-part=cell]").evaluate(stroke) == "5px"


@pytest.mark.browser
def test_keyboard_alone_reaches_every_control_and_sees_where_it_is(page: Page) -> None:
    figure = page.locator(FIGURE).first
    steps = [("ArrowRight", "scale"), ("ArrowLeft", "temperature"), ("Space", "causal"),
             ("Space", "halfWidth"), ("Space", "length"), ("ArrowRight", "halfWidth"),
             ("ArrowLeft", "length")]  # fmt: skip
    page.keyboard.press("Tab")
    for key, name in steps:
        before = reading(figure)
        page.keyboard.press("Tab")
        assert_focus_is_seen(page, name)
        page.keyboard.press(key)
        after = reading(figure)
        parts = ("scale", "temperature", "causal", "halfWidth", "length")
        assert {part for part in parts if before[part] != after[part]} == {name}
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "attn-link"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.cell") == "0,1", "the next figure"


@pytest.mark.browser
def test_keys_of_the_grid_are_not_taken_by_the_page(page: Page) -> None:
    page.evaluate(  # as JupyterLab does
        """() => { window.taken = 0; document.addEventListener('keydown', event => {
             window.taken += event.key.startsWith('Arrow') || event.key === 'Enter' }) }"""
    )
    figure = page.locator(FIGURE).first
    cell(figure, 4, 1).focus()
    for key in ("ArrowDown", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("[window.taken, window.scrollY]") == [0, 0]


@pytest.mark.browser
def test_pointer_looks_without_a_click_and_a_click_forbids(page: Page) -> None:
    figure = page.locator(FIGURE).first
    cell(figure, 2, 3).hover()
    got = reading(figure)
    assert (got["row"], got["column"]) == (2, 3)
    assert figure.locator("[data-part=pair-reading]").inner_text() == "met → the"
    written = figure.locator("[data-part=weight-reading]").inner_text()
    assert abs(float(written) - got["weights"][2][3]) <= 0.005001
    score = figure.locator("[data-part=score-reading]").inner_text().replace("\N{MINUS SIGN}", "-")
    assert abs(float(score) - got["scores"][2][3]) <= 0.005001
    assert figure.locator("[data-part=says]").text_content() == "weights of query met"
    assert all(all(row) for row in got["allowed"])
    cell(figure, 2, 3).click()
    assert not reading(figure)["allowed"][2][3]


@pytest.mark.browser
def test_screen_reader_finds_a_grid_and_hears_one_sentence_after_a_pause(page: Page) -> None:
    figure = page.locator(FIGURE).first
    assert figure.get_by_role("row").count() == 7
    assert figure.get_by_role("gridcell").count() == 49
    weight = reading(figure)["weights"][4][1]
    name = f"query fly, key bee: weight {weight:.2f}"
    assert figure.get_by_role("gridcell", name=name, exact=True).count() == 1
    figure.evaluate(
        """root => { root.heard = []; const status = root.querySelector('[role=status]');
          new MutationObserver(() => root.heard.push(status.textContent))
            .observe(status, {childList: true}) }"""
    )
    page.wait_for_timeout(800)
    assert figure.evaluate("root => root.heard") == [], "it spoke before it was asked"
    cell(figure, 4, 1).focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.wait_for_function("root => root.heard.length", arg=figure.element_handle())
    (heard,) = figure.evaluate("root => root.heard")
    assert heard.startswith("Dot products ÷ √5, temperature 1, no mask. Query bee: ")


@pytest.mark.browser
def test_two_figures_on_a_page_do_not_touch_each_other(page: Page) -> None:
    first, second = page.locator(FIGURE).all()
    before = second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]")
    first.get_by_role("checkbox", name="causal").check()
    cell(first, 1, 1).click()
    assert second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]") == before


@pytest.mark.browser
@IN_LOOKS
def test_a_finger_looks_before_it_forbids(
    page: Page, figure: Locator, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours)
    cell(figure, 1, 6).tap()
    got = reading(figure)
    assert (got["row"], got["column"], got["allowed"][1][6]) == (1, 6, True)
    cell(figure, 1, 6).tap()
    assert not reading(figure)["allowed"][1][6]
    box = cell(figure, 0, 0).locator("rect").bounding_box()
    assert min(box["width"], box["height"]) >= 24, "too small for a finger"


@pytest.mark.browser
def test_words_are_text_whatever_they_hold(page: Page) -> None:
    name = "</script><b id='taken'>fly</b>"
    html = attention_explorer([name, "b"], torch.eye(2), torch.eye(2)).html
    page.set_content(PAGE.format(html))
    assert page.locator("#taken").count() == 0
    assert page.locator("svg text[data-row]").first.text_content() == name
    assert reading(page.locator(FIGURE))["row"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": ["a"] * 13}, r"shows 1 to 12 words, not 13"),
        ({"words": []}, r"shows 1 to 12 words, not 0"),
        ({"words": WORDS[:3]}, r"there are 3 words but 7 queries"),
        ({"row": 7}, r"row=7 is not a token: they are numbered from 0 to 6"),
        ({"column": -1}, r"column=-1 is not a token"),
        ({"length": 8}, r"length=8 is not from 0 to 7"),
        ({"wants": WORDS}, r"of 7 words, 7 want and 0 offer"),
        ({"temperature": 0.0}, r"temperature=0 must be positive and finite"),
        ({"query": rows(0) / 0}, r"query holds 35 infinite numbers among 35"),
        ({"key": rows(0, d_key=3)}, r"d_key=3 in key but 5|d_key"),
        ({"key": rows(0)[:6]}, r"length"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(change: dict[str, Any], message: str) -> None:
    good = {"words": WORDS, "query": rows(0), "key": rows(1)}
    with pytest.raises(ValueError, match=message):
        attention_explorer(**good | change)
