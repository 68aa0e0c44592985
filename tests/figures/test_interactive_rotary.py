"""The figure of rotary positions: its vectors turn as the package turns them."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.interactive import rotary_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.rotary import BASES, LAST, LONGEST, PAIRS
from attn_course.self_attention import rotate_by_position
from tests.book.test_pages import DESKTOP, PHONE
from tests.figures.interactive_laws import (
    AT_WIDTHS,
    IN_LOOKS,
    opened,
    read_aloud_after_a_pause,
    reading,
)
from tests.figures.interactive_pages import assert_a_finger_hits, look, page_of, read_all
from tests.figures.machine_numbers import wide
from tests.figures.test_machine import HERE, KEYS, assert_on_one_screen

FIGURE = ".attn-figure[data-figure='rotary']"
EXACT = {"rtol": 0, "atol": 1e-9}


@cache
def drawn() -> InteractiveFigure:
    return rotary_explorer()


address, window, page, figure = page_of("rotary", lambda: drawn().html)


def states(many: int) -> list[dict[str, Any]]:
    """Forms of drawn vectors and places, all pairs and bases among them."""
    draw = Random(5)

    def vector() -> str:
        return "_".join(f"{draw.uniform(-1.4, 1.4):.3f}" for _ in range(2))

    return [
        {
            "query": vector(),
            "key": vector(),
            "m": draw.randint(0, LAST),
            "n": draw.randint(0, LAST),
            "base": number % len(BASES),
            "pair": number % PAIRS,
        }
        for number in range(many)
    ]


def turned(vector: Tensor, position: int, base: float) -> Tensor:
    """The vector in each pair of a head, turned by its position: complex numbers turn by a product.

    Returns:
        A row for each pair.
    """
    speeds = base ** (-torch.arange(PAIRS, dtype=torch.float64) / PAIRS)
    turn = torch.polar(torch.ones_like(speeds), position * speeds)
    return torch.view_as_real(torch.view_as_complex(vector) * turn)


@pytest.mark.browser
def test_script_turns_vectors_as_the_package(figure: Locator) -> None:
    forms = states(40)
    for form, got in zip(forms, read_all(figure, forms), strict=True):
        base = BASES[form["base"]]
        query, key = (wide(got[name]) for name in ("query", "key"))
        places = (form["m"], form["n"])
        both = torch.stack(
            [turned(one, at, base) for one, at in zip((query, key), places, strict=True)]
        )
        if base == 10_000:
            for one, at, pairs in zip((query, key), places, both, strict=True):
                ours = rotate_by_position(one.repeat(PAIRS)[None], start=at)
                assert_close(ours.view(PAIRS, 2), pairs, rtol=0, atol=1e-12)
        assert_close(wide(got["turned"]), both.transpose(0, 1), **EXACT)
        scores = (both[0] * both[1]).sum(-1)
        assert_close(wide(got["scores"]), scores, **EXACT)
        assert got["head"] == pytest.approx(scores.sum().item(), abs=1e-9)


@pytest.mark.browser
def test_curve_is_the_score_by_distance(figure: Locator) -> None:
    forms = [form | {"base": BASES.index(10_000)} for form in states(4)]
    for got in read_all(figure, forms):
        query, key = (wide(got[name]).repeat(PAIRS) for name in ("query", "key"))
        asked = rotate_by_position(query[None], start=LAST)
        keys = rotate_by_position(key.expand(2 * LAST + 1, -1))
        assert_close(wide(got["curve"])[::4], (asked * keys).sum(-1), **EXACT)


@pytest.mark.browser
def test_moved_together_vectors_turn_and_keep_their_scores(figure: Locator) -> None:
    look(figure.page, DESKTOP, "light", "reduce")  # else it takes a second
    move = figure.get_by_role("button", name="move both")
    for m, n, ends in ((24, 17, (34, 27)), (60, 50, (16, 6)), (0, LAST, (0, LAST))):
        before = read_all(figure, [{"m": m, "n": n}])[0]
        move.click()
        after = reading(figure)
        assert (after["m"], after["n"]) == ends
        assert after["scores"] == pytest.approx(before["scores"], abs=1e-9)
        assert after["head"] == pytest.approx(before["head"], abs=1e-9)
        assert (after["turned"] == before["turned"]) == (m == 0)
    alone = read_all(figure, [{"m": 24, "n": 17}, {"m": 25, "n": 17}])
    assert alone[0]["scores"] != pytest.approx(alone[1]["scores"], abs=1e-3)


@pytest.mark.browser
def test_what_moves_by_itself_stops_when_a_reader_takes_something(figure: Locator) -> None:
    page, start = figure.page, reading(figure)["m"]
    figure.get_by_role("button", name="move both").click()
    moved = "([root, start]) => root.reading.m > start + 2"
    page.wait_for_function(moved, arg=[figure.element_handle(), start])
    query = figure.get_by_role("slider", name="query at")
    query.focus()
    page.keyboard.press("Shift")
    here = reading(figure)
    page.wait_for_timeout(300)
    assert reading(figure) == here
    assert here["m"] - here["n"] == 7
    assert here["m"] < start + 10


@pytest.mark.browser
def test_arrow_is_dragged_where_it_has_turned_to(page: Page, figure: Locator) -> None:
    for role, position in (("query", "m"), ("key", "n")):
        grip = figure.locator(f"[data-grip='plane-{role}']").first
        grip.scroll_into_view_if_needed()
        box, before = grip.bounding_box(), reading(figure)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 31, y + 44, steps=3)
        page.mouse.up()
        after, moved = reading(figure), grip.bounding_box()
        assert moved["x"] - box["x"] == pytest.approx(31, abs=6)  # to tenths of a unit
        assert moved["y"] - box["y"] == pytest.approx(44, abs=6)
        pair, i = after["pair"], "mn".index(position)
        assert after["turned"][pair][i] != before["turned"][pair][i]
        assert after[position] == before[position]
        page.mouse.move(x - 90, y)
        page.mouse.down()
        page.mouse.move(x - 400, y, steps=3)
        page.mouse.up()
        assert sum(one**2 for one in reading(figure)[role]) <= LONGEST**2 + 0.01


@pytest.mark.browser
def test_every_grip_answers_the_keyboard_and_shows_where_it_is(page: Page, figure: Locator) -> None:
    figure.locator(".grip").first.focus()
    reached = []
    for _ in range(figure.locator(".grip").count()):
        key, way, seen = page.evaluate(HERE)
        assert seen == "3px", key
        before = reading(figure)
        for press in KEYS.get(way, ["Enter"]):
            if reading(figure) == before:
                page.keyboard.press(press)
        assert reading(figure) != before or key == "pair2", key  # which is chosen already
        assert page.evaluate(HERE)[:2] == [key, way], "the focus is lost"
        reached.append(key)
        page.keyboard.press("Tab")
    assert [*dict.fromkeys(reached)] == [
        *("plane-query", "plane-key"),
        *(f"pair{i}" for i in range(PAIRS)),
    ]


@pytest.mark.browser
def test_a_finger_chooses_a_pair(page: Page, figure: Locator) -> None:
    look(page, PHONE, "dark")
    for pair in (7, 0, 3):
        clock = figure.get_by_role("button", name=f"clock {pair}")
        clock.tap()
        assert reading(figure)["pair"] == pair
        assert clock.get_attribute("aria-pressed") == "true"
    assert figure.locator("[aria-pressed=true]").count() == 1
    assert "Clock 3 turns 0.032 rad a step" in figure.locator(".attn-sentence").inner_text()


@pytest.mark.browser
def test_link_opens_the_state_and_an_odd_one_does_no_harm(
    browser: Browser, address: str, figure: Locator
) -> None:
    first = reading(figure)
    wanted = read_all(figure, [states(3)[2]])[0]
    link = figure.locator(".attn-link").get_attribute("href")
    figure.get_by_role("button", name="start again").click()
    assert reading(figure) == first
    with opened(browser, address + link) as page:
        assert reading(page.locator(FIGURE)) == wanted
    with opened(browser, f"{address}#lab=rotary&query=1_x&key=9e9_1&pair=99&m=-4&n=900") as page:
        got = reading(page.locator(FIGURE))
        assert (got["query"], got["pair"], got["m"], got["n"]) == ([1.8, 0.6], PAIRS - 1, 0, LAST)
        assert got["key"] == pytest.approx([LONGEST, 0], abs=1e-3)


@pytest.mark.browser
def test_what_it_says_is_read_aloud_after_a_pause(page: Page, figure: Locator) -> None:
    told = ((9, 9, "at the same place"), (9, 4, "5 before it"), (0, 63, "63 after it"))
    with read_aloud_after_a_pause(page, figure) as sentence:
        for m, n, said in told:
            read_all(figure, [{"m": m, "n": n}])
            assert said in sentence.inner_text()


@pytest.mark.browser
@IN_LOOKS
def test_a_finger_hits_what_it_can_take(
    page: Page, figure: Locator, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours, "reduce")
    assert_a_finger_hits(figure, ":is(button, .grip[role=button])")


@pytest.mark.browser
@AT_WIDTHS
def test_all_of_it_is_on_one_screen_and_no_letters_collide(
    page: Page, figure: Locator, shape: tuple[int, int]
) -> None:
    look(page, shape, "light", "reduce")
    for form in states(12):
        read_all(figure, [form])
        assert_on_one_screen(figure, shape)


@pytest.mark.browser
def test_thousands_of_the_base_have_a_comma(figure: Locator) -> None:
    base = figure.get_by_role("slider", name="base")
    for stop, number in enumerate(BASES):
        read_all(figure, [{"base": stop}])
        assert figure.locator("[data-part=base-reading]").inner_text() == f"{number:,}"
        assert base.get_attribute("aria-valuetext") == f"{number:,}"
