"""The clock of positions: hands and dot products agree with `sinusoidal_positions`."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from playwright.sync_api import Locator
from torch.testing import assert_close

from attn_course.interactive import sinusoid_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.self_attention import sinusoidal_positions
from tests.figures.interactive_laws import (
    reading,
)
from tests.figures.interactive_pages import page_of, read_all

FIGURE = ".attn-figure[data-figure='sinusoids']"
LENGTH, D_MODEL = 64, 32


@cache
def drawn() -> InteractiveFigure:
    return sinusoid_explorer(LENGTH, D_MODEL)


address, window, page, figure = page_of("sinusoids", lambda: drawn().html)


@pytest.mark.browser
def test_hands_are_the_features_and_their_cosines_add_up_to_the_dot_product(
    figure: Locator,
) -> None:
    pairs = torch.randint(LENGTH, (100, 2), generator=torch.Generator().manual_seed(0))
    states = [{"one": one, "other": other} for one, other in pairs.tolist()]
    found = read_all(figure, states)
    places = sinusoidal_positions(LENGTH, D_MODEL).double()
    for pair, got in zip(pairs, found, strict=True):
        assert_close(torch.tensor(got["vectors"]).double(), places[pair], rtol=0, atol=1e-6)
        hands = places[pair].unflatten(1, (-1, 2))
        cosines = torch.tensor(got["cosines"]).double()
        assert_close(cosines, (hands[0] * hands[1]).sum(-1), rtol=0, atol=1e-6)
        assert got["product"] == pytest.approx(
            places[pair[0]].dot(places[pair[1]]).item(), abs=1e-5
        )
        assert got["distance"] == abs(int(pair[0] - pair[1]))


@pytest.mark.browser
def test_moved_together_positions_keep_their_distance_as_far_as_there_are_any(
    figure: Locator,
) -> None:
    product = reading(figure)["product"]
    before = figure.locator("[data-part='hand-0-0']").get_attribute("x2")
    figure.get_by_label("move both together").check()
    one, other = (figure.locator(f"[data-part='{name}']") for name in ("one", "other"))
    first, last = "0 is the first position", "63 is the last position"
    for moved, to, ends, says in (
        (one, 30, (30, 37), ""),
        (other, 3, (0, 7), first),
        (one, 63, (56, 63), last),
        (one, 40, (40, 47), ""),
    ):
        moved.fill(str(to))
        assert (one.input_value(), other.input_value()) == tuple(map(str, ends))
        assert reading(figure)["product"] == pytest.approx(product, abs=1e-9)
        stopped = figure.locator("[data-part='stopped-reading']")
        assert stopped.inner_text() == says
    assert figure.locator("[data-part='hand-0-0']").get_attribute("x2") != before
    one.focus()
    figure.page.keyboard.press("ArrowLeft")
    assert other.input_value() == "46"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"length": 1}, "positions 10 and 17 must be from 0 to 0"),
        ({"other": 64}, "positions 10 and 64 must be from 0 to 63"),
        ({"one": -1}, "positions -1 and 17 must be from 0 to 63"),
        ({"d_model": 7}, "length=64 must be positive and d_model=7 positive and even"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(given: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sinusoid_explorer(**{"length": LENGTH, "d_model": D_MODEL} | given)
