"""The figure of two memories: its state and its rows hold what the package computes."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.interactive import associative_memory_explorer
from attn_course.interactive.associative_memory import BEGUN, MOST
from attn_course.interactive.associative_memory.memory import (
    RULES,
    SHARP,
    look_up,
    shares,
)
from attn_course.interactive.associative_memory.pairs import (
    COLOURS,
    NAMES,
    SEED,
    WIDTHS,
    favourites,
    keys_and_codes,
    unit,
)
from attn_course.interactive.figure import InteractiveFigure
from attn_course.linear_attention import read
from tests.book.test_pages import DESKTOP
from tests.figures.interactive_laws import (
    AT_WIDTHS,
    IN_LOOKS,
    opened,
    read_aloud_after_a_pause,
    reading,
)
from tests.figures.interactive_pages import assert_a_finger_hits, look, page_of, read_all
from tests.figures.machine_numbers import wide
from tests.figures.test_machine import assert_on_one_screen

FIGURE = ".attn-figure[data-figure='associative-memory']"
EXACT = {"rtol": 0, "atol": 1e-9}
ALL = [(name, int(colour)) for name, colour in enumerate(favourites())]


@cache
def drawn() -> InteractiveFigure:
    return associative_memory_explorer()


address, window, page, figure = page_of("associative-memory", lambda: drawn().html)


def form_of(
    rows: list[tuple[int, int]],
    width: int = 8,
    rule: str = "add",
    asked: int = 0,
    vectors: str = "shown",
) -> Any:
    flat = "_".join(f"{name}_{colour}" for name, colour in rows)
    form = {"rows": flat, "d": WIDTHS.index(width), "rule": rule, "asked": asked}
    return form | {"vectors": vectors}


def states(many: int) -> list[dict[str, Any]]:
    """Forms of drawn rows, in which a name may come again, by all rules and at all widths."""
    draw, forms = Random(3), []
    for number in range(many):
        rows = [
            (draw.randrange(len(NAMES)), draw.randrange(len(COLOURS)))
            for _ in range(1 + (7 * number) % MOST)
        ]
        rule, width = [*RULES][number % 3], WIDTHS[number // 3 % 3]
        vectors = ("hidden", "shown")[number % 2]
        forms.append(form_of(rows, width, rule, draw.randrange(len(rows)), vectors))
    return forms


class Memory:
    """Both memories after some rows, as the package computes them."""

    def __init__(self, rows: list[tuple[int, int]], width: int, rule: str) -> None:
        keys, codes = (unit(vectors[:, :width]) for vectors in keys_and_codes())
        self.last, self.keys, self.codes = dict(rows), keys, codes
        self.rows = tuple(torch.stack([of[i] for i in column]) for of, column in
                          zip((keys, codes), zip(*rows, strict=True), strict=True))  # fmt: skip
        self.state = torch.zeros(width, width, dtype=torch.float64)
        for key, value in zip(*self.rows, strict=True):
            self.state = RULES[rule](self.state, key, value)

    def reads(self, name: int) -> tuple[Tensor, Tensor]:
        """Read what the state and what softmax attention give for a name."""
        return read(self.state, self.keys[name]), look_up(self.keys[name], *self.rows)

    def recalled(self) -> list[int]:
        """Count the names whose last colour has more than any other, by both memories."""
        return [
            sum(clearly_first(shares(self.reads(name)[memory], self.codes), colour)
                for name, colour in self.last.items())
            for memory in range(2)
        ]  # fmt: skip


def clearly_first(among: Tensor, colour: int) -> bool:
    others = torch.cat([among[:colour], among[colour + 1 :]])
    return bool(among[colour] > others.max() + 1e-6)


@pytest.mark.browser
def test_script_remembers_as_the_package(figure: Locator) -> None:
    forms = states(18)
    for form, got in zip(forms, read_all(figure, forms), strict=True):
        rows = [tuple(row) for row in got["written"]]
        assert form_of(rows, got["d"], form["rule"], form["asked"], form["vectors"]) == form
        memory = Memory(rows, got["d"], form["rule"])
        assert_close(wide(got["state"]), memory.state, **EXACT)
        assert {one["name"]: one["colour"] for one in got["answers"]} == memory.last
        for one in got["answers"]:
            reads = memory.reads(one["name"])
            assert_close(wide(one["read"]), reads[0], **EXACT)
            for found, given in zip(one["shares"], reads, strict=True):
                assert_close(wide(found), shares(given, memory.codes), **EXACT)
        asked = memory.keys[got["answer"]["name"]]
        assert_close(wide(got["dots"]), memory.rows[0] @ asked, **EXACT)
        for count, past in enumerate(got["history"], start=1):
            wanted = Memory(rows[:count], got["d"], form["rule"])
            assert past["names"] == len(wanted.last)
            assert [past["state"], past["softmax"]] == wanted.recalled()
            asked = got["answer"]["name"]
            assert bool(past["shares"]) == (asked in wanted.last)
            if past["shares"]:
                told = shares(wanted.reads(asked)[0], wanted.codes)
                assert_close(wide(past["shares"]), told, **EXACT)


@cache
def recalled_by_draw(width: int, rule: str, draws: int = 300) -> Tensor:
    """Count the names recalled after each pair, in a row for each draw of keys and colours."""
    vectors = [[unit(of[:, :width]) for of in keys_and_codes(seed)] for seed in range(draws)]
    keys, codes = (torch.stack(list(of)) for of in zip(*vectors, strict=True))
    colours = torch.stack([favourites(seed) for seed in range(draws)])
    state, counts = torch.zeros(draws, width, width, dtype=torch.float64), []
    for i in range(len(NAMES)):
        key, value = keys[:, i], codes[torch.arange(draws), colours[:, i]]
        state = RULES[rule](state, key, value)
        best = (keys[:, : i + 1] @ state @ codes.mT).argmax(-1)
        counts.append((best == colours[:, : i + 1]).sum(-1))
    return torch.stack(counts, dim=-1)


def test_draw_of_the_figure_is_a_plain_one() -> None:
    apart = torch.zeros(300)
    for width in WIDTHS:
        for rule in RULES:
            counts = recalled_by_draw(width, rule).float()
            apart += (counts - counts.mean(0)).square().sum(-1)
            assert counts[SEED, -1] == Memory(ALL, width, rule).recalled()[0]
    assert apart.argsort()[:5].tolist().count(SEED) == 1


def test_ada_is_lost_for_good() -> None:
    for count in range(BEGUN, len(NAMES) + 1):
        memory = Memory(ALL[:count], 8, "add")
        is_right = clearly_first(shares(memory.reads(0)[0], memory.codes), ALL[0][1])
        assert is_right == (count < 10), count


@pytest.mark.parametrize("width", WIDTHS)
def test_softmax_recalls_all_names_and_a_state_does_not(width: int) -> None:
    memory = Memory(ALL, width, "add")
    state, softmax = memory.recalled()
    assert softmax == len(NAMES)
    assert state < len(NAMES)
    weights = (SHARP * memory.keys @ memory.keys.mT).softmax(-1)
    assert weights.diagonal().min() > 0.9
    assert Memory(ALL[:BEGUN], 8, "add").recalled() == [BEGUN, BEGUN]


@pytest.mark.browser
def test_buttons_write_pairs_until_there_are_no_names(figure: Locator) -> None:
    look(figure.page, DESKTOP, "light", "reduce")  # else it takes seconds
    one, every = (figure.get_by_role("button", name=f"write {what}") for what in ("one", "all"))
    first = reading(figure)
    one.click()
    assert reading(figure)["written"] == [*first["written"], [*ALL[BEGUN]]]
    assert reading(figure)["asked"] == first["asked"]
    every.click()
    assert [tuple(row) for row in reading(figure)["written"]] == ALL
    one.click()
    assert len(reading(figure)["written"]) == len(NAMES)
    figure.get_by_role("button", name="start again").click()
    assert reading(figure) == first


@pytest.mark.browser
def test_pairs_are_written_one_after_the_other_until_a_reader_takes_something(
    figure: Locator,
) -> None:
    page = figure.page
    figure.get_by_role("button", name="write all").click()
    more = "([root, begun]) => root.reading.written.length > begun + 2"
    page.wait_for_function(more, arg=[figure.element_handle(), BEGUN])
    page.keyboard.press("Shift")
    stopped = len(reading(figure)["written"])
    page.wait_for_timeout(300)
    assert len(reading(figure)["written"]) == stopped < len(NAMES)


@pytest.mark.browser
def test_only_the_delta_rule_replaces_a_colour(figure: Locator) -> None:
    again = figure.get_by_role("button", name="another colour")
    for rule in RULES:
        read_all(figure, [form_of(ALL[:3], 8, rule, asked=1)])
        again.click()
        again.click()
        got = reading(figure)
        assert got["asked"] == len(got["written"]) - 1 == 4
        assert [name for name, _ in got["written"]] == [0, 1, 2, 1, 1]
        answer = got["answer"]
        assert (answer["name"], answer["colour"]) == (1, (ALL[1][1] + 6) % len(COLOURS))
        sure = answer["shares"][0][answer["colour"]]
        assert (sure > 0.9) == (rule == "delta")
        assert answer["weights"] == pytest.approx([0, 1 / 3, 0, 1 / 3, 1 / 3], abs=0.01)
        assert answer["shares"][1][answer["colour"]] < 0.7
    read_all(figure, [form_of([(0, 0)] * MOST)])
    again.click()
    assert len(reading(figure)["written"]) == MOST


@pytest.mark.browser
def test_key_mouse_and_finger_ask_for_a_name(page: Page, figure: Locator) -> None:
    read_all(figure, [form_of(ALL)])
    asked = figure.get_by_role("slider", name="name to ask for")
    for press, row in (("ArrowDown", 1), ("Shift+ArrowDown", 6), ("ArrowUp", 5)):
        asked.press(press)
        assert reading(figure)["asked"] == row
        assert reading(figure)["answer"]["name"] == row
    for press, row in (("Shift+ArrowDown", 10), ("Shift+ArrowDown", 15), ("Shift+ArrowDown", 19)):
        asked.press(press)  # on to the second column, and not beyond the last row
        assert reading(figure)["asked"] == min(row, 19)
    assert asked.get_attribute("aria-valuetext").startswith("Uma, ")
    for name, row in (("Cleo", 2), ("Ned", 13)):
        box = figure.locator(".t", has_text=name).first.bounding_box()
        page.mouse.click(box["x"] + 3, box["y"] + 5)
        assert reading(figure)["asked"] == row
    box = figure.locator(".t", has_text="Kim").first.bounding_box()
    page.touchscreen.tap(box["x"] + 3, box["y"] + 5)
    assert reading(figure)["asked"] == 10
    read_all(figure, [form_of(ALL[:BEGUN])])  # who has not been written cannot be asked for
    box = figure.locator(".t", has_text="Kim").first.bounding_box()
    page.mouse.click(box["x"] + 3, box["y"] + 5)
    assert reading(figure)["asked"] == 0


@pytest.mark.browser
def test_link_opens_the_state_and_an_odd_one_does_no_harm(
    browser: Browser, address: str, figure: Locator
) -> None:
    wanted = read_all(figure, [states(8)[5]])[0]
    link = figure.locator(".attn-link").get_attribute("href")
    with opened(browser, address + link) as page:
        assert reading(page.locator(FIGURE)) == wanted
    for rows, count in (("1_x", BEGUN), ("99_1_2_-1_3_2.5_4", 1), ("", 1), ("4_1_5", 1)):
        with opened(browser, f"{address}#lab=associative-memory&rows={rows}&asked=77") as page:
            got = reading(page.locator(FIGURE))
            assert (len(got["written"]), got["asked"]) == (count, count - 1), rows


@pytest.mark.browser
def test_what_it_says_is_read_aloud_after_a_pause(page: Page, figure: Locator) -> None:
    with read_aloud_after_a_pause(page, figure) as sentence:
        read_all(figure, [form_of(ALL, 8)])
        state = Memory(ALL, 8, "add").recalled()[0]
        said = f"The state recalls {state} of 20 names, softmax 20. For Ada ("
        assert sentence.inner_text().startswith(said)


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
    for form in [*states(12), form_of(ALL, 16, "delta"), form_of(ALL[:BEGUN], 4, "decay")]:
        read_all(figure, [form])
        assert_on_one_screen(figure, shape)
