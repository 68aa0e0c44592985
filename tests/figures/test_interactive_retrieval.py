"""The two lookups in a table of colours: what they show is what the package computes."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch.testing import assert_close

from attn_course.data.colours import load_colours
from attn_course.interactive import colour_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.retrieval import (
    distance_scores,
    effective_number_of_keys,
    masked_softmax,
    soft_lookup,
)
from tests.book.test_pages import DESKTOP, PHONE
from tests.conftest import Build, chapters
from tests.figures.interactive_laws import (
    IN_LOOKS,
    assert_focus_is_seen,
    data_of,
    opened,
    opened_in_the_book,
    reading,
)
from tests.figures.interactive_pages import look, page_of, read_all
from tests.sampling import left_to_proofs, sampled, takes_all

FIGURE = ".attn-figure[data-figure='retrieval']"
WORDS = ["green", "blue", "pink", "purple", "brown", "yellow", "red", "orange"]
LAST = 200
# Picks a colour as a reader does.
PICK = """(input, colour) => {
  input.value = colour;
  input.dispatchEvent(new Event('input', { bubbles: true }));
}"""
# The share of their column that tiles cover, by colour; tiles of one colour are added up.
TILES = """root => {
  const area = {};
  for (const tile of root.querySelectorAll('[data-part=tiles] rect')) {
    const fill = tile.getAttribute('fill');
    const [width, height] = ['width', 'height'].map((name) => Number(tile.getAttribute(name)));
    area[fill] = (area[fill] ?? 0) + width * height;
  }
  return area;
}"""

# The words on the walk that the line of the query runs through.
CROSSED = """root => {
  const { left, right } = root.querySelector('.attn-walk .attn-query').getBoundingClientRect();
  const names = [...root.querySelectorAll('[data-part$=-names] text')];
  return names.filter((name) => {
    const box = name.getBoundingClientRect();
    return box.left < right && box.right > left;
  }).map((name) => name.textContent);
}"""


@cache
def drawn(**options: Any) -> InteractiveFigure:
    """The figure of the chapter."""
    names, rgb = load_colours()
    start = {"start": (15, 150, 125), "end": (255, 129, 192)} | options
    return colour_explorer(names, rgb, WORDS, **start)


def table() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The keys, the number of the word of each, and their values, as the chapter has them."""
    names, rgb = load_colours()
    last = [name.split()[-1] for name in names]
    rows = [row for row, word in enumerate(last) if word in WORDS]
    word = torch.tensor([WORDS.index(last[row]) for row in rows])
    return rgb[rows].double() / 255, word, torch.eye(8, dtype=torch.double)[word]


address, window, page, figure = page_of("retrieval", lambda: drawn().html)


def random_states(walks: int, temperatures: int) -> list[tuple[str, str, int, int]]:
    """Draw walks, five states on each: a step, and the number of a temperature."""
    draw, states = random.Random(1), []
    for _ in range(walks):
        ends = [f"#{draw.randrange(1 << 24):06x}" for _ in range(2)]
        hot_or_cold = [0, temperatures - 1, *(draw.randrange(temperatures) for _ in range(3))]
        states += [(*ends, draw.randrange(LAST + 1), place) for place in hot_or_cold]
    return states


def assert_script_agrees_with_package(root: Locator, walks: int) -> None:
    """Compare both lookups at the queries of random states, and the words along their walks."""
    temperatures = data_of(root)["temperatures"]
    states = random_states(walks, len(temperatures))
    names = ("from", "to", "step", "temperature")
    found = read_all(root, [dict(zip(names, state, strict=True)) for state in states])
    key, word, value = table()
    ends = [[list(bytes.fromhex(hex[1:])) for hex in state[:2]] for state in states]
    start, end = torch.tensor(ends, dtype=torch.double).unbind(1)
    way = torch.tensor([[state[2] / LAST] for state in states], dtype=torch.double)
    query = ((1 - way) * start + way * end) / 255
    tau = torch.tensor([[temperatures[state[3]]] for state in states], dtype=torch.double)
    scores = distance_scores(query, key)
    weights = masked_softmax(scores / tau)
    close = {"rtol": 0, "atol": 1e-9}

    def column(name: str) -> torch.Tensor:
        return torch.tensor([one[name] for one in found], dtype=torch.double)

    assert_close(column("query"), query, **close)
    assert_close(column("weights"), weights, **close)
    shares = [one["shares"][one["step"]] for one in found]
    assert_close(torch.tensor(shares, dtype=torch.double), weights @ value, **close)
    assert_close(column("effective"), effective_number_of_keys(weights), rtol=1e-9, atol=0)
    at = torch.arange(LAST + 1, dtype=torch.double)[:, None] / LAST
    for one, a, b in list(zip(found, start, end, strict=True))[::5]:
        along = distance_scores(((1 - at) * a + at * b) / 255, key)
        closest = torch.tensor(one["closest"])
        # of keys equally near, either may be called the nearest
        assert_close(along.gather(1, closest[:, None])[:, 0], along.amax(-1), **close)
        assert one["said"] == word[closest].tolist()


@sampled
@pytest.mark.browser
def test_script_gives_the_numbers_of_the_package(page: Page) -> None:
    assert_script_agrees_with_package(page.locator(FIGURE), 25 if takes_all() else 6)


@pytest.mark.browser
def test_shares_on_the_walk_are_those_of_the_soft_lookup(page: Page) -> None:
    key, _, value = table()
    at = torch.arange(LAST + 1, dtype=torch.double)[:, None] / LAST
    start, end = torch.tensor([[15, 150, 125], [255, 129, 192]], dtype=torch.double)
    wanted = soft_lookup(((1 - at) * start + at * end) / 255, key, value, 0.01)
    got = torch.tensor(reading(page.locator(FIGURE))["shares"], dtype=torch.double)
    assert_close(got, wanted, rtol=0, atol=1e-9)


@left_to_proofs  # one chapter, with the figure of 07, is looked at each time
@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in chapters() if "retrieval" in name])
def test_figure_in_the_book_gives_the_numbers_of_the_package(
    browser: Browser, book: Build, name: str
) -> None:
    with opened_in_the_book(browser, book, name) as page:
        (root,) = page.locator(FIGURE).all()
        assert root.locator("form").is_visible()
        assert_script_agrees_with_package(root, 2)


@pytest.mark.browser
def test_keyboard_alone_changes_everything_and_shows_where_it_is(page: Page) -> None:
    root = page.locator(FIGURE)
    pressed = ["", "", "Enter", "ArrowRight", "ArrowLeft"]
    for name, key in zip(["from", "to", "jump", "step", "temperature"], pressed, strict=True):
        page.keyboard.press("Tab")
        if name == "temperature":  # which is folded
            page.keyboard.press("Enter")
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.part") == name
        assert_focus_is_seen(page, name)
        before = reading(root)
        if key:
            page.keyboard.press(key)
            after = reading(root)
            changed = [part for part in ("step", "temperature") if before[part] != after[part]]
            assert changed == ["step" if name == "jump" else name]


@pytest.mark.browser
def test_a_picked_colour_is_asked_for_at_once(page: Page) -> None:
    root = page.locator(FIGURE)
    root.get_by_role("slider", name="step").fill("77")
    for name, step in (("from", 0), ("to", LAST)):
        root.get_by_label(name, exact=True).evaluate(PICK, "#650021")
        got = reading(root)
        assert got["step"] == step
        assert_close(torch.tensor(got["query"]), torch.tensor([101, 0, 33]) / 255)
        # maroon is no key; the nearest is a red
        assert root.locator("[data-part=asked]").get_attribute("fill") == "rgb(101, 0, 33)"


@pytest.mark.browser
def test_next_jump_leads_to_each_change_of_the_nearest_word_and_round_again(page: Page) -> None:
    root = page.locator(FIGURE)
    said = reading(root)["said"]
    jumps = [at for at in range(1, LAST + 1) if said[at] != said[at - 1]]
    button = root.locator("[data-part=jump]")
    assert button.inner_text() == f"next of {len(jumps)} jumps"
    for jump in [*jumps, jumps[0]]:
        button.click()
        assert reading(root)["step"] == jump
        word = WORDS[said[jump]]
        assert root.locator("[data-part=word]").text_content() == word
    root.get_by_label("to", exact=True).evaluate(PICK, "#0f967d")  # no way to go
    assert button.is_disabled()
    assert button.inner_text() == "no jump on this walk"


@pytest.mark.browser
def test_a_link_unfolds_the_temperature_that_it_changes(browser: Browser, address: str) -> None:
    for state, is_open in (("step=15", False), ("step=15&temperature=0", True)):
        with opened(browser, f"{address}#lab=retrieval&{state}") as page:
            assert page.locator(".attn-more").evaluate("fold => fold.open") == is_open


@pytest.mark.browser
@pytest.mark.parametrize("shape", [DESKTOP, PHONE])
def test_no_name_lies_on_the_line_of_the_query(page: Page, shape: tuple[int, int]) -> None:
    look(page, shape, "light")
    root = page.locator(FIGURE)
    for step in range(0, LAST + 1, 20):
        root.get_by_role("slider", name="step").fill(str(step))
        assert root.evaluate(CROSSED) == []


@pytest.mark.browser
def test_tiles_are_as_large_as_the_weights(page: Page) -> None:
    root = page.locator(FIGURE)
    data, weights = data_of(root), reading(root)["weights"]
    whole = 106 * (402 - 140)  # the area of their column
    wanted = dict.fromkeys(root.evaluate(TILES), 0.0)
    for colour, weight in zip(data["colours"], weights, strict=True):
        name = "rgb({}, {}, {})".format(*bytes.fromhex(colour))
        if name in wanted:
            wanted[name] += weight
    got = {name: area / whole for name, area in root.evaluate(TILES).items()}
    assert len(got) > 30
    assert max(abs(got[name] - weight) for name, weight in wanted.items()) < 1e-4
    assert sum(got.values()) > 0.999


@pytest.mark.browser
def test_query_follows_the_pointer_on_the_walk_alone(page: Page) -> None:
    root = page.locator(FIGURE)
    box = root.locator("svg").first.bounding_box()

    def place(step: float) -> tuple[float, float]:
        x = 10 + 294 * step / LAST
        return box["x"] + box["width"] * x / 560, box["y"] + box["height"] / 2

    page.mouse.move(*place(50))
    page.mouse.down()
    assert abs(reading(root)["step"] - 50) <= 1
    page.mouse.move(*place(150))
    assert abs(reading(root)["step"] - 150) <= 1
    page.mouse.move(*place(300))
    assert reading(root)["step"] == LAST
    page.mouse.up()
    page.mouse.move(*place(100))
    page.mouse.click(*place(240))  # on the keys
    assert reading(root)["step"] == LAST


@pytest.mark.browser
@IN_LOOKS
def test_query_follows_a_finger(page: Page, shape: tuple[int, int], colours: str) -> None:
    look(page, shape, colours)
    root = page.locator(FIGURE)
    box = root.locator("svg").first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] * (10 + 294 / 2) / 560, box["y"] + 100)
    assert abs(reading(root)["step"] - 100) <= 1
    for control in root.locator("input, button").all():
        assert min(control.bounding_box()[side] for side in ("width", "height")) >= 24


def test_names_are_text_whatever_they_hold() -> None:
    name = "</script><b/id='taken'>&quot;green"
    shown = colour_explorer([name], torch.zeros(1, 3).int(), [name], (0, 0, 0), (9, 9, 9))
    assert "<b" not in shown.html.replace("<button", "")
    assert shown.html.count("</script>") == 2
    assert json.dumps(name).replace("<", "\\u003c") in shown.html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.0}, r"temperature=0 must be positive and finite"),
        ({"step": 201}, r"step=201 is not on the walk, from 0 to 200"),
        ({"start": (0, 0, 256)}, r"start must be whole numbers from 0 to 255, three a colour, not"),
        ({"end": (0, 0)}, r"end must be whole numbers .* not \[\[0, 0\]\]"),
        ({"end": (0.5, 0, 0)}, r"end must be whole numbers .* not \[\[0.5, 0.0, 0.0\]\]"),
        ({"rgb": torch.zeros(2, 3).int()}, r"rgb has shape \(2, 3\); 1 names need it to be \(1, 3"),
        ({"rgb": torch.full((1, 3), -1)}, r"rgb must be whole numbers from 0 to 255.*\[-1, -1, -1"),
        ({"words": ["red", "mauve"]}, r"none of 1 names ends in 'mauve'"),
        ({"words": []}, r"there are no words"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(change: dict[str, Any], message: str) -> None:
    good = {"names": ["deep red"], "rgb": torch.zeros(1, 3).int(), "words": ["red"],
            "start": (0, 0, 0), "end": (9, 9, 9)}  # fmt: skip
    with pytest.raises(ValueError, match=message):
        colour_explorer(**good | change)
