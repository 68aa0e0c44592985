"""The figure of gradients: the page's own layers against autograd."""

from __future__ import annotations

import math
import random
import re
from functools import cache
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch.testing import assert_close

from attn_course.interactive import gradient_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.recurrence.draws import SEEDS, noise, normal, orthogonal
from attn_course.interactive.recurrence.state import State
from tests.conftest import Build, chapters
from tests.figures.interactive_laws import (
    IN_LOOKS,
    assert_focus_is_seen,
    opened_in_the_book,
    reading,
)
from tests.figures.interactive_pages import look, page_of, read_all
from tests.sampling import left_to_proofs, sample, sampled

FIGURE = ".attn-figure[data-figure='recurrence']"
LEFT, RIGHT = 66, 450  # of the distances from 0 to 200, in the picture
CONTROLS = ("distance", "gain", "forget bias")


@cache
def drawn(**options: Any) -> InteractiveFigure:
    """The figure of the chapter, at a distance between its ends."""
    return gradient_explorer(**{"distance": 50, **options})  # from there all keys lead somewhere


address, window, page, figure = page_of("recurrence", lambda: drawn().html)


def random_states() -> list[dict[str, float]]:
    """A hundred states, and the ends of the sliders."""
    draw = random.Random(1)
    ends = [
        {"seed": 0, "distance": 1, "gain": 0.5, "forget bias": 0.0},
        {"seed": SEEDS - 1, "distance": 200, "gain": 2.0, "forget bias": 6.0},
    ]
    return ends + [
        {
            "seed": draw.randrange(SEEDS),
            "distance": draw.randint(1, 200),
            "gain": round(0.5 + 0.02 * draw.randrange(76), 2),
            "forget bias": 0.25 * draw.randrange(25),
        }
        for _ in range(100)
    ]


def assert_script_agrees_with_package(root: Locator, states: list[dict[str, float]]) -> None:
    """The gradients of all layers at all distances are autograd's, but for rounding."""
    found = read_all(root, states)
    for set_to, got in zip(states, found, strict=True):
        seed, distance, gain, bias = set_to.values()
        state = State(distance, gain, bias, seed)
        for name, reach in state.reach.items():
            # what a gradient does to a change it does to a rounding: with gain 2 both grow by
            # ten powers of ten, and PyTorch's own instructions differ as much from each other
            close = (
                1e-12 if name != "rnn" else 1e-10 if gain < 1.7 else 1e-5 if gain < 1.9 else 1e-2
            )
            found_here = torch.tensor(got["reach"][name], dtype=torch.float64)
            assert_close(found_here, reach, rtol=close, atol=0)


@sampled
@pytest.mark.browser
def test_script_gives_the_gradients_of_autograd(page: Page) -> None:
    states = sample(random_states(), 6)
    assert_script_agrees_with_package(page.locator(FIGURE), states)


@left_to_proofs  # one chapter, with the figure of 07, is looked at each time
@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in chapters() if "recurrence" in name])
def test_figure_in_the_book_gives_the_gradients_of_autograd(
    browser: Browser, book: Build, name: str
) -> None:
    with opened_in_the_book(browser, book, name) as page:
        (root,) = page.locator(FIGURE).all()
        assert root.locator("form").is_visible()
        assert_script_agrees_with_package(root, random_states()[2:4])


@pytest.mark.browser
def test_keyboard_alone_changes_everything_and_shows_where_it_is(page: Page) -> None:
    root = page.locator(FIGURE)
    changes = ({"distance"}, {"gain", "rnn"}, {"bias", "lstm"}, None)
    for name, allowed in zip((*CONTROLS, "again"), changes, strict=True):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.part") == name
        assert_focus_is_seen(page, name)
        before = reading(root)
        page.keyboard.press("Enter" if name == "again" else "ArrowRight")
        after = reading(root)
        changed = {part for part in before if part != "reach" and before[part] != after[part]}
        changed |= {one for one in before["reach"] if before["reach"][one] != after["reach"][one]}
        if allowed is None:
            assert changed == {"seed", "rnn", "gru", "lstm", "attention"}
        else:
            assert changed
            assert changed <= allowed


@pytest.mark.browser
def test_distance_follows_the_pointer_and_marks_stay_on_their_curves(page: Page) -> None:
    root = page.locator(FIGURE)
    box = root.locator("svg").first.bounding_box()

    def place(distance: float) -> tuple[float, float]:
        x = LEFT + distance / 200 * (RIGHT - LEFT)
        return box["x"] + box["width"] * x / 560, box["y"] + 100

    page.mouse.move(*place(50))
    page.mouse.down()
    page.mouse.move(*place(150))
    assert abs(reading(root)["distance"] - 150) <= 1
    page.mouse.move(*place(-20))
    assert reading(root)["distance"] == 1
    page.mouse.up()
    page.mouse.move(*place(100))
    assert reading(root)["distance"] == 1
    for name in ("rnn", "attention"):
        curve = root.locator(f'[data-curve="{name}"]').get_attribute("d").split("L")
        mark = root.locator(f'[data-here="{name}"]').get_attribute("transform")
        assert curve[1].split(",")[1] == re.findall(r"[\d.]+", mark)[-1]


@pytest.mark.browser
@IN_LOOKS
def test_distance_follows_a_finger(page: Page, shape: tuple[int, int], colours: str) -> None:
    look(page, shape, colours)
    root = page.locator(FIGURE)
    box = root.locator("svg").first.bounding_box()
    middle = box["width"] * (LEFT + RIGHT) / 2 / 560
    page.touchscreen.tap(box["x"] + middle, box["y"] + 60)
    assert abs(reading(root)["distance"] - 100) <= 1
    for control in root.locator("input:not([type=hidden]), button").all():
        assert min(control.bounding_box()[side] for side in ("width", "height")) >= 24


# --- random numbers -------------------------------------------------------------------------------


def test_noise_is_even_and_streams_do_not_repeat_each_other() -> None:
    drawn = torch.stack([noise(seed, stream, 4096) for seed in (0, 1, 8191) for stream in (0, 21)])
    assert drawn.min() > 0
    assert drawn.max() < 1
    for row in drawn:
        assert abs(row.mean() - 0.5) < 0.02
        assert (row.histc(16, 0, 1) - 256).abs().max() < 80
    apart = torch.corrcoef(drawn) - torch.eye(len(drawn), dtype=torch.float64)
    assert apart.abs().max() < 0.06


def test_normal_numbers_are_normal_and_an_orthogonal_matrix_keeps_lengths() -> None:
    drawn = normal(3, 0, 12_864)
    moments = torch.stack([drawn.mean(), drawn.std(), drawn.pow(4).mean() / 3])
    assert_close(moments, torch.tensor([0.0, 1, 1]).double(), rtol=0, atol=0.06)
    matrix = orthogonal(3)
    assert_close(matrix @ matrix.mT, torch.eye(64).double(), rtol=0, atol=1e-12)


# --- what the package gives -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distance": 0}, r"distance=0 is not from 1 to 200"),
        ({"distance": 201}, r"distance=201 is not from 1 to 200"),
        ({"gain": 2.5}, r"gain=2.5 is not from 0.5 to 2"),
        ({"gain": math.nan}, r"gain=nan is not from 0.5 to 2"),
        ({"forget_bias": -1.0}, r"forget_bias=-1.0 is not from 0 to 6"),
        ({"seed": 8192}, r"seed=8192 is not from 0 to 8191"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gradient_explorer(**change)
