"""The keys that learn: the picture has the keys and the queries where their colours are."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch.testing import assert_close

from attn_course.interactive import key_explorer
from attn_course.interactive.figure import InteractiveFigure
from tests.figures.interactive_laws import reading
from tests.figures.interactive_pages import page_of

FIGURE = ".attn-figure[data-figure='learned-keys']"
WORDS = ["green", "blue", "red"]
GREY, PURE = torch.full((3, 3), 0.5), torch.eye(3)[[1, 2, 0]]
HISTORY = {0: GREY, 1: 0.8 * GREY + 0.2 * PURE, 100: PURE}
RIGHT, ASKED = [0.333, 0.6, 0.91], torch.tensor([[0.0, 0.4, 0.2], [0.9, 0.2, 0.1]])
# Where discs are, with their colours.
DISCS = """(root, kind) =>
  [...root.querySelectorAll('.attn-picture circle:not([class])')].filter(
    (one) => one.getAttribute('r') === kind,
  ).map((one) => [Number(one.getAttribute('cx')), Number(one.getAttribute('cy')),
    getComputedStyle(one).fill])"""


@cache
def drawn() -> InteractiveFigure:
    return key_explorer(WORDS, HISTORY, RIGHT, ASKED, PURE)


address, window, page, figure = page_of("learned-keys", lambda: drawn().html)


@pytest.mark.browser
def test_every_step_shows_its_keys_among_the_queries(figure: Locator) -> None:
    for at, (step, keys) in enumerate(HISTORY.items()):
        figure.get_by_role("slider").fill(str(at))
        got = reading(figure)
        assert_close(torch.tensor(got["keys"], dtype=torch.float), keys, rtol=0, atol=1e-3)
        discs = figure.evaluate(DISCS, "10")
        assert [colour for *_, colour in discs] == [
            "rgb({}, {}, {})".format(*(round(255 * part + 1e-6) for part in key))
            for key in keys.tolist()
        ]
        # red to the right of green, and both above blue
        (green, green_up, _), (_, blue_up, _), (red, red_up, _) = discs
        if step:
            assert green < red
            assert blue_up > max(green_up, red_up)
        words = set(figure.locator(".attn-picture text").all_text_contents())
        assert ("all eight keys" in words) == (step == 0)
        name = f"After {step} step{'s' * (step != 1)} the eight keys name {100 * RIGHT[at]:.0f}%"
        assert figure.locator(".attn-sentence").inner_text().startswith(name)
    assert len(figure.evaluate(DISCS, "3.2")) == len(ASKED)


@pytest.mark.browser
def test_learn_goes_from_the_first_step_to_the_last(page: Page, figure: Locator) -> None:
    figure.get_by_role("slider").fill("1")
    figure.get_by_text("learn").last.click()
    page.wait_for_function("root => root.reading.after === 100", arg=figure.element_handle())
    figure.get_by_text("start again").click()
    assert reading(figure)["after"] == 0
