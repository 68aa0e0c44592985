"""The interactive figures: what they show is what the package computes, for every reader.

The pages are opened from the disk, where a browser allows least; the numbers of the script are held
against `attn_course.kernel_regression`, which `test_kernel_regression.py` holds against others.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch.testing import assert_close

from attn_course.data.regression import noisy_curve, true_curve
from attn_course.interactive import kernel_regression_explorer
from attn_course.interactive.figure import STORES, InteractiveFigure
from attn_course.interactive.kernel_regression_state import KERNELS
from attn_course.kernel_regression import kernel_scores, nadaraya_watson
from attn_course.retrieval import effective_number_of_keys, masked_softmax
from tests.conftest import Build, chapters
from tests.figures.interactive_laws import (
    IN_LOOKS,
    PAGE,
    assert_accessible_and_fits,
    assert_focus_is_seen,
    assert_prints_without_controls,
    assert_stands_without_scripts,
    data_of,
    opened_in_the_book,
    reading,
)
from tests.figures.interactive_pages import look, page_of, read_all
from tests.sampling import sample, sampled

FIGURE = ".attn-figure[data-figure='kernel-regression']"
# Keys with a gap in the middle, in no order, so that windows of the compact kernels fall empty.
SPARSE = torch.tensor([[5.0], [0.0], [0.31], [4.1], [0.9], [4.7], [0.5]])


def dense() -> InteractiveFigure:
    key, value = noisy_curve(seed=3, num_points=41)
    return kernel_regression_explorer(key, value, width=0.3, query=2.5, truth=true_curve)


def sparse(**options: Any) -> InteractiveFigure:
    start = {"width": 0.4, "query": 2.5, "kernel": "Epanechnikov"} | options
    return kernel_regression_explorer(SPARSE, SPARSE.sin() + 3, **start)


address, window, page, figure = page_of("kernel-regression", lambda: dense().html + sparse().html)


def column(numbers: list[float]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64).unsqueeze(-1)


def assert_script_agrees_with_package(figure: Locator, few: int = 120) -> int:
    """Compare a sample of a grid of kernels, widths, queries, stand-ins; how many were empty."""
    data = data_of(figure)
    key, value = column(data["keys"]), column(data["values"])
    low, high = data["across"][:2]
    step = float(figure.locator("[data-part=query]").get_attribute("step"))
    last = len(data["widths"]) - 1
    widths = sorted({0, last // 4, last // 2, 3 * last // 4, last})
    queries = [low, *(low + (high - low) * part / 11 for part in range(1, 11)), high]
    settings = sample(product(KERNELS, widths, queries, ("zero", "mean")), few)
    names = ("kernel", "width", "query", "empty")
    found = read_all(figure, [dict(zip(names, setting, strict=True)) for setting in settings])
    for (kernel, width, query, empty), got in zip(settings, found, strict=True):
        assert got["kernel"] == kernel
        assert got["width"] == data["widths"][width]
        assert abs(got["query"] - query) <= 0.501 * step
        at, log_kernel = column([got["query"]]), KERNELS[kernel]
        weights = masked_softmax(kernel_scores(at, key, got["width"], log_kernel))
        stand_in = value.mean(-2) if empty == "mean" else None
        output = nadaraya_watson(at, key, value, got["width"], log_kernel, stand_in)
        close = {"rtol": 0, "atol": 1e-9}
        assert_close(column(got["weights"]), weights.mT, **close)
        assert_close(column([got["output"]]), output, **close)
        assert_close(column([got["effective"]])[0], effective_number_of_keys(weights), **close)
        assert got["empty"] == (not weights.any())
    return sum(got["empty"] for got in found)


@sampled
@pytest.mark.browser
@pytest.mark.parametrize("number", [0, 1], ids=["dense", "sparse"])
def test_script_gives_the_numbers_of_the_package(page: Page, number: int) -> None:
    assert assert_script_agrees_with_package(page.locator(FIGURE).nth(number)) > 5


@sampled
@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in chapters() if "kernel_regression" in name])
def test_figure_in_the_book_gives_the_numbers_of_the_package(
    browser: Browser, book: Build, name: str
) -> None:
    with opened_in_the_book(browser, book, name) as page:
        figures = page.locator(FIGURE)
        assert figures.count() >= 1
        for figure in figures.all():
            assert figure.locator("form").is_visible()
            assert_script_agrees_with_package(figure, few=12)


@pytest.mark.browser
def test_curve_is_drawn_through_the_estimates_of_the_package(page: Page) -> None:
    for kernel in KERNELS:
        assert_curve_is_that_of_the_package(page.locator(FIGURE).nth(1), kernel)


def assert_curve_is_that_of_the_package(figure: Locator, kernel: str) -> None:
    data = data_of(figure)
    width = data["widths"].index(0.4)
    read_all(figure, [{"kernel": kernel, "width": width, "query": 2.5, "empty": "zero"}])
    left, right = data["across"][:2]
    positions = left + (right - left) * column(list(range(data["steps"] + 1))) / data["steps"]
    key, value = column(data["keys"]), column(data["values"])
    nowhere = torch.full((1,), torch.inf, dtype=torch.float64)
    estimates = nadaraya_watson(positions, key, value, 0.4, KERNELS[kernel], nowhere)
    known = estimates.isfinite()
    low, high, bottom, top = data["up"]
    height = bottom + (estimates.where(known, 0).clamp(low, high) - low) / (high - low) * (
        top - bottom
    )
    for part, there in (("curve", known), ("gap", ~known)):
        drawn = figure.locator(f"[data-part={part}]").get_attribute("d")
        heights = [float(y) for y in re.findall(r",([-\d.]+)", drawn)]
        assert_close(column(heights), height[there].unsqueeze(-1), rtol=0, atol=0.051)


@pytest.mark.browser
def test_first_pictures_stand_alone_in_print_and_as_the_script_draws_them(
    browser: Browser, page: Page, address: str
) -> None:
    assert_stands_without_scripts(browser, address, FIGURE, "circle", 41 + 1, page)
    assert_prints_without_controls(page, FIGURE)


@pytest.mark.browser
def test_keyboard_alone_changes_everything_and_shows_where_it_is(page: Page) -> None:
    figure = page.locator(FIGURE).first
    steps = [
        ("ArrowRight", "kernel", "boxcar"),
        ("ArrowRight", "width", None),
        ("ArrowLeft", "query", 2.48),
        ("ArrowDown", "standIn", None),
    ]
    for key, name, wanted in steps:
        before = reading(figure)
        page.keyboard.press("Tab")
        assert_focus_is_seen(page, name)
        page.keyboard.press(key)
        after = reading(figure)
        changed = {
            part for part in ("kernel", "width", "query", "standIn") if before[part] != after[part]
        }
        assert changed == {name}
        assert wanted in (None, after[name])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('figure')") != figure.element_handle()


@pytest.mark.browser
def test_arrow_keys_reach_the_figure_where_the_page_wants_them_too(page: Page) -> None:
    page.evaluate(  # as JupyterLab does
        "document.addEventListener('keydown', event => event.preventDefault())"
    )
    figure = page.locator(FIGURE).first
    figure.get_by_role("slider", name="query").press("ArrowRight")
    assert reading(figure)["query"] == 2.52


@pytest.mark.browser
def test_every_control_has_a_name_and_the_width_says_its_value(page: Page) -> None:
    figure = page.locator(FIGURE).first
    assert figure.get_by_role("group", name="Kernel").get_by_role("radio").count() == 4
    width = figure.get_by_role("slider", name="width")
    assert width.get_attribute("aria-valuetext") == "0.3"
    assert figure.get_by_role("slider", name="query").count() == 1
    assert figure.get_by_role("combobox", name="In an empty window, 0/0 becomes").count() == 1


@pytest.mark.browser
def test_query_follows_the_pointer_while_it_is_pressed(page: Page) -> None:
    figure = page.locator(FIGURE).first
    box = figure.locator("svg").first.bounding_box()
    low, high, left, right = data_of(figure)["across"]

    def place(query: float) -> tuple[float, float]:
        x = left + (query - low) / (high - low) * (right - left)
        return box["x"] + box["width"] * x / 560, box["y"] + box["height"] / 2

    page.mouse.move(*place(1.0))
    assert reading(figure)["query"] == 2.5
    page.mouse.down()
    assert abs(reading(figure)["query"] - 1.0) < 0.011
    page.mouse.move(*place(3.3))
    assert abs(reading(figure)["query"] - 3.3) < 0.011
    assert figure.locator("[data-part=query]").input_value() == f"{reading(figure)['query']:g}"
    page.mouse.move(0, place(0)[1])
    assert reading(figure)["query"] == low
    page.mouse.up()
    page.mouse.move(*place(2.0))
    assert reading(figure)["query"] == low


@pytest.mark.browser
def test_empty_window_is_said_and_gets_the_chosen_stand_in(page: Page) -> None:
    figure = page.locator(FIGURE).nth(1)
    note = figure.locator("text", has_text="no key in the window")
    assert reading(figure)["empty"]
    assert note.is_visible()
    assert "0/0" in figure.locator("[data-part=output-reading]").inner_text()
    figure.get_by_role("combobox").select_option("mean of all values")
    mean = sum(data_of(figure)["values"]) / len(SPARSE)
    assert abs(reading(figure)["output"] - mean) < 1e-9
    figure.get_by_role("radio", name="Gaussian").check()
    assert not reading(figure)["empty"]
    assert not note.is_visible()
    assert "0/0" not in figure.locator("[data-part=output-reading]").inner_text()


@pytest.mark.browser
def test_dots_without_weight_are_hollow_and_stems_stand_for_the_others(page: Page) -> None:
    figure = page.locator(FIGURE).first
    figure.get_by_role("radio", name="boxcar").check()
    inside = sum(weight > 0 for weight in reading(figure)["weights"])
    assert 0 < inside < 41
    assert figure.locator("circle[data-key][fill-opacity='0']").count() == 41 - inside
    stems = figure.locator("path[data-part=weights]").get_attribute("d")
    assert stems.count("M") == inside
    assert figure.locator("[data-part=inside-reading]").inner_text() == str(inside)


@pytest.mark.browser
def test_screen_reader_hears_one_sentence_after_a_pause(page: Page) -> None:
    figure = page.locator(FIGURE).first
    figure.evaluate(
        """root => { root.heard = []; const status = root.querySelector('[role=status]');
          new MutationObserver(() => root.heard.push(status.textContent))
            .observe(status, {childList: true}) }"""
    )
    page.wait_for_timeout(800)
    assert figure.locator("[role=status]").inner_text() == "", "it spoke before it was asked"
    figure.get_by_role("slider", name="query").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert figure.evaluate("root => root.heard") == []
    page.wait_for_function("root => root.heard.length", arg=figure.element_handle())
    assert figure.evaluate("root => root.heard") == [
        figure.locator("svg").first.get_attribute("aria-label")
    ]
    assert "query at 2.74:" in figure.evaluate("root => root.heard[0]")


@pytest.mark.browser
def test_two_figures_on_a_page_do_not_touch_each_other(page: Page) -> None:
    first, second = page.locator(FIGURE).all()
    before = second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]")
    for kernel in ("boxcar", "triangular"):
        first.get_by_role("radio", name=kernel).check()
        first.get_by_role("slider", name="width").press("Home")
    assert reading(first)["kernel"] == "triangular"
    assert second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]") == before
    assert second.get_by_role("radio", checked=True).input_value() == "Epanechnikov"


@pytest.mark.browser
def test_nothing_moves_by_itself(page: Page) -> None:
    figure = page.locator(FIGURE).first
    figure.get_by_role("radio", name="boxcar").check()
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.browser
@IN_LOOKS
def test_figure_is_accessible_fits_and_follows_a_finger(
    page: Page, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours)
    assert_accessible_and_fits(page, f"{FIGURE} svg text")
    figure = page.locator(FIGURE).first
    box = figure.locator("svg").first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 80)
    assert abs(reading(figure)["query"] - 1.75) < 0.05


@pytest.mark.browser
def test_names_of_the_axes_are_text_whatever_they_hold(page: Page) -> None:
    name = "</script><b id='taken'>flow</b> & \"more\""
    page.set_content(PAGE.format(sparse(key_name=name, value_name=name).html))
    assert page.locator("#taken").count() == 0
    assert page.locator("svg text", has_text=name).count() == 2
    assert reading(page.locator(FIGURE))["query"] == 2.5


def test_html_is_the_same_for_every_run_and_for_float32_and_float64() -> None:
    assert dense().html == dense().html
    wide = kernel_regression_explorer(SPARSE.double(), SPARSE.double().sin() + 3, 0.4, 2.5)
    narrow = kernel_regression_explorer(SPARSE, SPARSE.sin() + 3, 0.4, 2.5)
    assert wide.html == narrow.html


def test_html_needs_nothing_from_elsewhere() -> None:
    addresses = re.findall(r"https?://[^\s\"'<]+|url\(|@import|\bsrc=|\bhref=", dense().html)
    assert addresses == []


def test_png_and_text_stand_in_where_there_is_no_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STORES)
    bundle = dense()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert "Gaussian kernel of width 0.3, query at 2.5: output " in bundle["text/plain"]
    file = tmp_path / "figure.png"
    file.write_bytes(b64decode(bundle["image/png"]))
    image = matplotlib.image.imread(file)
    assert image.shape[0] > 400
    assert image.shape[1] > 600
    orange = torch.tensor(image[..., :3]) - torch.tensor([0xD5, 0x5E, 0x00]) / 255
    assert (orange.abs().amax(-1) < 0.02).sum() > 500, "no curve in the colour of the output"


def test_bundle_holds_only_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STORES)
    figure = sparse()
    assert set(figure._repr_mimebundle_(include={"image/png"})) == {"image/png"}
    assert set(figure._repr_mimebundle_(exclude={"text/html"})) == {"image/png", "text/plain"}


def test_page_gets_the_data_to_a_thousandth_of_their_range() -> None:
    key, value = 1871 + 99 * torch.rand(29, 1), 456 + 914 * torch.rand(29, 1)
    html = kernel_regression_explorer(key, value, 7, 1900).html
    block = re.search(r'<script type="application/json">(.*?)</script>', html).group(1)
    data = json.loads(block)
    assert_close(column(data["keys"]), key.double(), rtol=0, atol=0.0051)
    assert_close(column(data["values"]), value.double(), rtol=0, atol=0.051)
    assert 7 in data["widths"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0.0}, r"width=0 must be positive and finite"),
        ({"width": -2.0}, r"width=-2 must be positive and finite"),
        ({"query": 9.0}, r"query=9.0 is outside the figure, from -0.5 to 5.5"),
        ({"kernel": "gauss"}, r"kernel='gauss' is none of Gaussian, boxcar, triangular, Epan"),
        ({"key": torch.ones(7, 1)}, r"all 7 keys are 1: they span no axis"),
        ({"key": SPARSE * 1e-12, "query": 2e-12}, r"key spans 5e-12; give it in a smaller unit"),
        ({"value": SPARSE * 1e-30}, r"value spans 5e-30; give it in a smaller unit"),
        ({"key": torch.ones(6, 1)}, r"key_len=6 in key but 7 here"),
        ({"key": SPARSE.T}, r"key has shape \(1, 7\); expected \(key_len, 1\)"),
        ({"key": SPARSE.log()}, r"key holds 1 infinite numbers among 7"),
        ({"value": (SPARSE - 1).log()}, r"value holds 4 NaN among 7 numbers"),
        (
            {"key": torch.rand(1001, 1), "value": torch.rand(1001, 1)},
            r"shows 1 to 1000 keys, not 1001",
        ),
        ({"key": torch.rand(0, 1), "value": torch.rand(0, 1)}, r"shows 1 to 1000 keys, not 0"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(change: dict[str, Any], message: str) -> None:
    good = {"key": SPARSE, "value": SPARSE.sin(), "width": 0.4, "query": 2.5}
    with pytest.raises(ValueError, match=message):
        kernel_regression_explorer(**good | change)
