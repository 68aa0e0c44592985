"""The live reader of heaps: in the page it answers as in PyTorch, in any order of the words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Locator
from torch.testing import assert_close

from attn_course.interactive import permutation_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.trained.store import record
from attn_course.trained.who_does_what import NAME, VOCABULARY, heaps, load_heap_reader, share_right
from tests.figures.interactive_laws import (
    opened,
    write_page,
)
from tests.figures.interactive_pages import page_of, read_all

FIGURE = ".attn-figure[data-figure='permutation']"
WORDS = "florist waiter diver picks stirs steers roses rice barge".split()  # noqa: SIM905


@cache
def drawn() -> InteractiveFigure:
    return permutation_explorer(WORDS)


address, window, page, figure = page_of("permutation", lambda: drawn().html, NAME)


def reading(figure: Locator, part: str) -> str:
    return figure.locator(f"[data-part='{part}-reading']").inner_text()


@pytest.mark.browser
def test_page_reads_heaps_as_pytorch(figure: Locator) -> None:
    heap = next(heaps(999, 100)).words
    draw = torch.Generator().manual_seed(0)
    order = torch.stack([torch.randperm(9, generator=draw) for _ in heap])
    words = heap.gather(1, order)
    states = [{"heap": ".".join(map(str, row))} for row in words.tolist()]
    found = read_all(figure, states)
    reader = load_heap_reader().double()
    for row, got in zip(words, found, strict=True):
        wanted = reader.weights(row[None])[0]
        weights = torch.tensor(got["weights"], dtype=torch.double)
        assert_close(weights, wanted, rtol=0, atol=AGREES_TO)
        sure, answers = reader(row[None])[0].softmax(-1).max(-1)
        assert got["answers"] == answers.tolist()
        found_sure = torch.tensor(got["sure"], dtype=torch.double)
        assert_close(found_sure, sure, rtol=0, atol=AGREES_TO)


@pytest.mark.browser
def test_shuffled_words_get_shuffled_rows(figure: Locator) -> None:
    figure.get_by_role("button", name="shuffle").click()
    figure.locator("[data-part='apart-reading']").wait_for()
    assert reading(figure, "apart") == "the same table"
    assert reading(figure, "answers") == "9 of 9 right"
    figure.get_by_role("button", name="first order").click()
    figure.locator("[data-part='apart-reading']").wait_for(state="hidden")


@pytest.mark.browser
def test_keyboard_walks_and_a_chosen_column_gets_another_word(figure: Locator) -> None:
    cell = figure.locator("[data-cell='0,0']")
    cell.focus()
    figure.page.keyboard.press("ArrowRight")
    figure.page.keyboard.press("Enter")
    figure.locator("[data-column='1']", has_text="guest").wait_for()
    assert figure.page.evaluate("document.activeElement.dataset.cell") == "0,1"
    assert reading(figure, "answers") == "9 of 9 right"


def test_reader_is_that_of_the_record() -> None:
    first = record("who_does_what")["runs"][0]
    assert abs(share_right(load_heap_reader()) - first["right"]) < 0.01


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a heap has 9 different words, not 0"),
        (WORDS[:8] + WORDS[:1], "a heap has 9 different words, not 8"),
        ([*WORDS[:8], "cat"], "the reader does not know 'cat'"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(words: list[str], message: str) -> None:
    assert len(VOCABULARY) == 60
    with pytest.raises(ValueError, match=message):
        permutation_explorer(words)


@pytest.mark.browser
def test_a_link_carries_a_heap_and_its_first_order(figure: Locator, address: str) -> None:
    figure.get_by_role("button", name="other words").click()
    figure.get_by_role("button", name="shuffle").click()
    figure.get_by_text("the same table").wait_for()
    words = figure.locator("[data-column]").all_inner_texts()
    link = figure.locator(".attn-link")
    link.focus()
    state = link.get_attribute("href")
    figure.page.goto("about:blank")
    figure.page.goto(f"{address}{state}")
    figure.get_by_text("the same table").wait_for()
    assert figure.locator("[data-column]").all_inner_texts() == words


@pytest.mark.browser
def test_words_that_only_a_link_names_are_in_their_first_order(
    figure: Locator, address: str
) -> None:
    heap = next(heaps(5, 1)).words[0].tolist()
    figure.page.goto("about:blank")
    figure.page.goto(f"{address}#lab=permutation&heap={'.'.join(map(str, heap))}")
    figure.get_by_text("9 of 9 right").wait_for()
    figure.get_by_role("button", name="shuffle").click()
    figure.get_by_text("the same table").wait_for()
    figure.get_by_role("button", name="first order").click()
    figure.locator("[data-part='apart-reading']").wait_for(state="hidden")
    assert figure.evaluate("root => root.reading.words") == heap


@pytest.mark.browser
def test_odd_links_and_odd_heaps_do_no_harm(browser: Browser, tmp_path: Path) -> None:
    odd = permutation_explorer([*WORDS[:8], "soup"])  # its cook is not there
    address = write_page(tmp_path, odd.html, NAME)
    with opened(browser, f"{address}#lab=permutation&heap=1.2.x&row=99&column=-3") as page:
        figure = page.locator(FIGURE)
        page.wait_for_function("document.querySelector('.attn-figure').reading")
        assert figure.evaluate("root => root.reading.words.length") == 9
        assert reading(figure, "answers") != "9 of 9 right"
        figure.locator("[data-column='0']").click()
        figure.locator("[data-column='0']", has_text="botanist").wait_for()
