"""The figure of tiles: its sums and its counts are those of the package."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.interactive import tile_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.tiles import BEGUN, REACH, SCORES, SIZES, VALUES, WIDE
from attn_course.layer.online_softmax import OnlineSoftmax, update
from attn_course.long_context import SlowMemory, attend_by_table, attend_in_tiles
from attn_course.retrieval import attend
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

FIGURE = ".attn-figure[data-figure='tiles']"
EXACT = {"rtol": 0, "atol": 1e-9}
LENGTH = len(VALUES)


@cache
def drawn() -> InteractiveFigure:
    return tile_explorer()


address, window, page, figure = page_of("tiles", lambda: drawn().html)


def form_of(scores: tuple[float, ...] = SCORES, at: int = BEGUN, size: int = 4) -> dict[str, Any]:
    return {"scores": "_".join(map(str, scores)), "at": at, "B": SIZES.index(size)}


def states(many: int) -> list[dict[str, Any]]:
    """Forms of drawn scores, at all sizes, from no tile to the last."""
    draw, forms = Random(7), []
    for number in range(many):
        size = SIZES[number % len(SIZES)]
        scores = tuple(round(draw.uniform(*REACH), 1) for _ in range(LENGTH))
        forms.append(form_of(scores, size * draw.randint(0, (LENGTH // size) ** 2), size))
    return forms


def sums_after_each_tile(scores: Tensor, size: int) -> list[OnlineSoftmax]:
    """The sums of one query after each tile, as the package computes them."""
    values = wide(VALUES)[:, None]
    state, after = OnlineSoftmax.before(torch.zeros(1, WIDE).double(), values), []
    for some, those in zip(scores.split(size), values.split(size), strict=True):
        state = update(state, some[None], None, those)
        after.append(state)
    return after


class Diary(SlowMemory):
    """A memory that writes down how many numbers have crossed, after each part."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[int] = []

    def read(self, part: Tensor) -> Tensor:
        super().read(part)
        self.pages.append(self.numbers)
        return part

    write = read


@cache
def crossings(size: int) -> list[int]:
    """Count what has crossed after so many tiles: an output is written after the last of a row."""
    diary, side = Diary(), LENGTH // size
    attend_in_tiles(*torch.randn(3, LENGTH, WIDE), diary, tile_len=size)
    each_row = 2 + 2 * side  # parts that cross: queries, keys and values of each tile, output
    after = [0]
    for row in range(side):
        pages = diary.pages[row * each_row : (row + 1) * each_row]
        after += [*pages[2:-1:2][:-1], pages[-1]]
    return after


@pytest.mark.browser
def test_script_keeps_the_sums_of_the_package(figure: Locator) -> None:
    forms = states(36)
    for form, got in zip(forms, read_all(figure, forms), strict=True):
        scores, size = wide(got["heard"]), SIZES[form["B"]]
        assert_close(scores, wide([*map(float, form["scores"].split("_"))]), **EXACT)
        wanted = sums_after_each_tile(scores, size)
        assert len(got["history"]) == len(wanted)
        before = None
        for one, after in zip(got["history"], wanted, strict=True):
            for name in ("best", "total", "blend"):
                assert one[name] == pytest.approx(getattr(after, name).item(), abs=1e-9)
            factor = (before.best - after.best).exp().item() if before else 0
            assert one["factor"] == pytest.approx(factor, abs=1e-12)
            before = after
        whole = attend(scores[None], wide(VALUES)[:, None]).item()
        assert got["whole"] == pytest.approx(whole, abs=1e-9)
        assert wanted[-1].output().item() == pytest.approx(whole, abs=1e-9)
        met = min(got["tile"], LENGTH // size)
        assert (got["seen"], got["tile"] * size) == (met * size, form["at"])
        if met:
            assert got["sums"] == got["history"][met - 1]


@pytest.mark.browser
def test_script_counts_what_crosses_in_the_package(figure: Locator) -> None:
    table = SlowMemory()
    attend_by_table(*torch.randn(3, LENGTH, WIDE), table)
    for size in SIZES:
        wanted = crossings(size)
        forms = [form_of(at=tiles * size, size=size) for tiles in range(len(wanted))]
        found = read_all(figure, forms)
        assert [got["crossed"] for got in found] == wanted
        assert {got["all"] for got in found} == {wanted[-1]}
        assert {got["byTable"] for got in found} == {table.numbers}
        parts = torch.zeros(3 * size, WIDE), torch.zeros(size, size), torch.zeros(size, 2 + WIDE)
        assert {got["room"] for got in found} == {sum(part.numel() for part in parts)}
    # single keys cross more often than the table, and larger tiles less and less
    alls = [crossings(size)[-1] for size in SIZES]
    assert alls[0] > table.numbers > alls[1]
    assert alls == sorted(alls, reverse=True)


@pytest.mark.browser
def test_buttons_go_from_tile_to_tile_and_back(figure: Locator) -> None:
    look(figure.page, DESKTOP, "light", "reduce")  # else it takes seconds
    back, onward, through = (
        figure.get_by_role("button", name=name) for name in ("back", "next tile", "all tiles")
    )
    first = reading(figure)
    onward.click()
    after = reading(figure)
    assert (first["tile"], after["tile"]) == (1, 2)
    assert after["sums"]["best"] > first["sums"]["best"]
    back.click()
    assert reading(figure) == first
    for _ in range(4):
        back.click()
    assert (reading(figure)["tile"], reading(figure)["crossed"]) == (0, 0)
    assert "No key yet" in figure.locator(".attn-sentence").inner_text()
    through.click()
    done = reading(figure)
    assert (done["tile"], done["crossed"]) == (done["count"], done["all"])
    onward.click()
    assert reading(figure) == done
    figure.get_by_role("button", name="start again").click()
    assert reading(figure) == first


@pytest.mark.browser
def test_tiles_go_by_themselves_until_a_reader_takes_something(figure: Locator) -> None:
    page = figure.page
    read_all(figure, [form_of(at=0, size=1)])
    figure.get_by_role("button", name="all tiles").click()
    more = "root => root.reading.tile > 3"
    page.wait_for_function(more, arg=figure.element_handle())
    page.keyboard.press("Shift")
    stopped = reading(figure)["tile"]
    page.wait_for_timeout(300)
    assert reading(figure)["tile"] == stopped < LENGTH


@pytest.mark.browser
def test_another_size_leaves_the_keys_that_have_passed(figure: Locator) -> None:
    for size in SIZES:
        got = read_all(figure, [form_of(at=2 * LENGTH, size=4) | {"B": SIZES.index(size)}])[0]
        assert (got["tile"], got["seen"]) == (min(2, LENGTH // size) * LENGTH // size, LENGTH)
    got = read_all(figure, [form_of(at=5, size=4)])[0]
    assert (got["tile"], got["seen"]) == (2, 8)  # never half a tile


@pytest.mark.browser
def test_a_best_score_that_comes_late_shrinks_what_was_kept(page: Page, figure: Locator) -> None:
    read_all(figure, [form_of((0.0,) * LENGTH, at=LENGTH)])
    assert reading(figure)["sums"]["total"] == pytest.approx(LENGTH, abs=1e-9)
    grip = figure.locator("[data-grip='score11']")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 44, steps=3)
    page.mouse.up()
    got = reading(figure)
    late = got["heard"][11]
    assert late > 1.5
    assert got["heard"][:11] == [0] * 11
    assert got["sums"]["factor"] == pytest.approx(torch.tensor(-late).double().exp().item())
    assert f"A new best, {late:.1f}" in figure.locator(".attn-sentence").inner_text()
    page.mouse.move(x, y - 44)
    page.mouse.down()
    page.mouse.move(x, y - 900, steps=3)
    page.mouse.up()
    assert reading(figure)["heard"][11] == REACH[1]


@pytest.mark.browser
def test_every_grip_answers_the_keyboard_and_shows_where_it_is(page: Page, figure: Locator) -> None:
    figure.locator(".grip").first.focus()
    reached = []
    for _ in range(figure.locator(".grip").count()):
        key, way, seen = page.evaluate(HERE)
        assert seen == "3px", key
        before = reading(figure)
        for press in KEYS[way]:
            if reading(figure) == before:
                page.keyboard.press(press)
        assert reading(figure) != before, key
        assert page.evaluate(HERE)[:2] == [key, way], "the focus is lost"
        reached.append(key)
        page.keyboard.press("Tab")
    assert reached == ["tiles", *(f"score{i}" for i in range(LENGTH))]


@pytest.mark.browser
def test_keys_walk_over_the_table_and_on_to_the_next_row(figure: Locator) -> None:
    read_all(figure, [form_of(at=0)])
    tile = figure.get_by_role("slider", name="tile", exact=True).and_(figure.locator(".grip"))
    for press, number in (
        *(("ArrowRight", one) for one in range(1, 10)),
        ("ArrowRight", 9),
        *(("ArrowLeft", one) for one in range(8, -1, -1)),
        ("ArrowLeft", 0),
    ):
        tile.press(press)
        assert reading(figure)["tile"] == number
        assert tile.get_attribute("aria-valuenow") == str(number)


# Another width is drawn by the next frame, and so a place is asked for after two.
DRAWN = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"


@pytest.mark.browser
def test_mouse_and_finger_choose_a_tile(page: Page, figure: Locator) -> None:
    box = figure.locator("[data-grip='tiles']").bounding_box()
    cell = box["width"] / LENGTH
    page.mouse.click(box["x"] + 5.5 * cell, box["y"] + 9.5 * cell)
    assert (reading(figure)["row"], reading(figure)["column"]) == (2, 1)
    look(page, PHONE, "dark")
    page.evaluate(DRAWN)
    box = figure.locator("[data-grip='tiles']").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 12, box["y"] + box["height"] / 12)
    assert reading(figure)["tile"] == 1


@pytest.mark.browser
def test_link_opens_the_state_and_an_odd_one_does_no_harm(
    browser: Browser, address: str, figure: Locator
) -> None:
    first = reading(figure)
    read_all(figure, [states(9)[8]])
    wanted = reading(figure)
    link = figure.locator(".attn-link").get_attribute("href")
    with opened(browser, address + link) as page:
        assert reading(page.locator(FIGURE)) == wanted
    for odd, at in (("scores=1_2_x&at=-9", 0), ("scores=&at=1e9", 9), ("at=_&B=3", 1)):
        with opened(browser, f"{address}#lab=tiles&{odd}") as page:
            got = reading(page.locator(FIGURE))
            assert (got["heard"], got["tile"]) == (first["heard"], at), odd
    far = "_".join(["77", "-77", "0.1234", *"000000000"])
    with opened(browser, f"{address}#lab=tiles&scores={far}") as page:
        assert reading(page.locator(FIGURE))["heard"][:3] == [REACH[1], REACH[0], 0.1]


@pytest.mark.browser
def test_what_it_says_is_read_aloud_after_a_pause(page: Page, figure: Locator) -> None:
    told = (
        (form_of(at=4), "Tile 1 of 9, keys 1 to 4. The best score is 1.2."),
        (form_of(at=12), "A new best, 3.4: the old sums are multiplied by 0.17. Output, all 12"),
        (form_of(at=10, size=1), "Tile 10 of 144, key 10. A new best, 3.4"),
        (form_of(at=11, size=1), "The best score is still 3.4. Output, so far: "),
        (form_of(at=20), "Tile 5 of 9: queries 5 to 8. The keys are fetched again. 208 of 384"),
        (form_of(at=36), "384 of 384 numbers fetched or stored; by the table, 768."),
    )
    with read_aloud_after_a_pause(page, figure) as sentence:
        for form, said in told:
            read_all(figure, [form])
            assert said in sentence.inner_text()


@pytest.mark.browser
@IN_LOOKS
def test_a_finger_hits_what_it_can_take(
    page: Page, figure: Locator, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours, "reduce")
    assert_a_finger_hits(figure)


@pytest.mark.browser
@AT_WIDTHS
def test_all_of_it_is_on_one_screen_and_no_letters_collide(
    page: Page, figure: Locator, shape: tuple[int, int]
) -> None:
    look(page, shape, "light", "reduce")
    for form in [*states(18), form_of((4.0,) * LENGTH, 36), form_of((-2.0,) * LENGTH, 4, 2)]:
        read_all(figure, [form])
        assert_on_one_screen(figure, shape)
