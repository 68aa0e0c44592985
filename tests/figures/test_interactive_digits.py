"""A digit to draw: what the figure shows is what the package computes."""

from __future__ import annotations

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch.testing import assert_close

from attn_course.data.regression import load_digits
from attn_course.interactive.digits import LABELS, START, WIDTHS
from attn_course.kernel_regression import nadaraya_watson
from attn_course.retrieval import effective_number_of_keys, masked_softmax
from tests.figures.captioning_pen import POINTS, image_of, written
from tests.figures.interactive_laws import assert_focus_is_seen, data_of, reading
from tests.figures.interactive_pages import live_figures, page_of, read_all

SEVEN = [(0.2, 0.15), (0.8, 0.15), (0.4, 0.9)]  # in shares of the pad

address, window, page, figure = page_of("digits", lambda: live_figures()["digits"].html)


def digits_in(letters: str) -> torch.Tensor:
    """Return the images that a figure stores, from 0 to 1."""
    sixteenths = [ord(letter) - ord("a") for letter in letters]
    return torch.tensor(sixteenths, dtype=torch.double).view(-1, 64) / 16


def keys_in(letters: str) -> torch.Tensor:
    """Return the keys, of which a figure stores the first pixel of all, then the second."""
    return digits_in(letters).reshape(64, -1).mT


def test_keys_are_those_of_the_chapter() -> None:
    data = live_figures()["digits"].data
    image, label = load_digits()
    order = label[:1200].argsort(stable=True)
    assert_close(keys_in(data["keys"]), image[order].double(), rtol=0, atol=0)
    assert data["labels"]["true"] == "".join(map(str, label[order].tolist()))
    told = torch.tensor([int(one) for one in data["labels"]["told"]])
    assert 0.4 < (told != label[order]).double().mean() < 0.5


@pytest.mark.browser
def test_script_gives_the_numbers_of_the_package(page: Page, figure: Locator) -> None:
    data = data_of(figure)
    states = [
        {"strokes": "", "sample": sample, "labels": labels, "width": width}
        for sample in range(len(data["samples"]))
        for labels in LABELS
        for width in (0, 3, 8, 12)
    ]
    found = read_all(figure, states)
    keys = keys_in(data["keys"])
    for state, one in zip(states, found, strict=True):
        query, width = digits_in(data["samples"][state["sample"]]), WIDTHS[state["width"]]
        label = torch.tensor([int(digit) for digit in data["labels"][state["labels"]]])
        value = torch.nn.functional.one_hot(label, 10).double()
        scores = -(query - keys).square().sum(-1) / (2 * width**2)
        weights = masked_softmax(scores[None])
        close = {"rtol": 0, "atol": 1e-9}
        assert_close(torch.tensor([one["weights"]], dtype=torch.double), weights, **close)
        share = nadaraya_watson(query, keys, value, width)
        assert_close(torch.tensor([one["shares"]], dtype=torch.double), share, **close)
        effective = torch.tensor([one["effective"]], dtype=torch.double)
        assert_close(effective, effective_number_of_keys(weights), rtol=1e-9, atol=0)


@pytest.mark.browser
def test_a_drawing_becomes_pixels_as_the_digits_did_and_is_read(
    page: Page, figure: Locator
) -> None:
    box = figure.locator(".pad").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in SEVEN]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    page.mouse.up()
    drawn = figure.locator("input[name=strokes]").input_value()
    points = [[round(POINTS * x), round(POINTS * y)] for x, y in SEVEN]
    assert drawn.count("M") == 1
    corners = [[int(at) for at in point.split()] for point in drawn[1:].split("L")]
    assert torch.tensor(corners).sub(torch.tensor(points)).abs().max() <= 1
    stroke = [tuple(map(float, point)) for point in corners]
    assert written([stroke]) == drawn
    ink = torch.tensor(reading(figure)["ink"]).view(8, 8)
    assert_close(ink, image_of([stroke])[0, :8, :8], rtol=0, atol=0)
    assert "It reads a 7" in figure.locator(".attn-sentence").inner_text()
    figure.get_by_role("button", name="clear").click()
    assert "Nothing is drawn" in figure.locator(".attn-sentence").inner_text()


@pytest.mark.browser
def test_keyboard_and_link_reach_every_state(page: Page, figure: Locator) -> None:
    first = reading(figure)["ink"]
    other = figure.get_by_role("button", name="another digit")
    other.press("Enter")
    assert reading(figure)["ink"] != first
    figure.get_by_role("slider", name="width").press("ArrowRight")
    assert_focus_is_seen(page, "width")
    figure.get_by_role("radio", name=LABELS["told"]).press("Space")
    link = figure.get_by_role("link", name="link to this state")
    link.focus()
    wanted = f"width={WIDTHS.index(START) + 1}"
    assert {wanted, "labels=told", "sample=1"} <= set(link.get_attribute("href").split("&"))
