"""Laws that hold of every interactive figure, as the chapters store it.

A figure joins by being shown in a chapter. What it computes is held against the package by a file
of its own.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page

from attn_course.interactive.figure import STORES, InteractiveFigure, stored_figures
from attn_course.interactive.live import WEIGHTS, weights_script, write_weights
from attn_course.interactive.scripts import NEEDS
from attn_course.plots import ROLE
from tests.book.test_pages import AXE, DESKTOP, RUN_AXE, size
from tests.conftest import ROOT, Build, chapters
from tests.figures.interactive_laws import IN_LOOKS, PAGE, data_of, opened, reading
from tests.figures.interactive_pages import live_figures, look

sys.path.append(str(ROOT / "tools"))
from draw_frames import figures, frames

FIGURES = figures()  # the attention machine in every state, and what the chapters store
of_every_figure = pytest.mark.parametrize("name", FIGURES)
FIGURE = ".attn-figure"
PHOTOGRAPHS = "06_captioning"  # which weigh more than its figures
# The place that a finger touches first, in figures that draw places for it; it gets an answer.
TOUCHED = {
    "alignment": "[data-cell='2,1']",
    "captioning": "[data-word='2']",
    "fixed-vector": "[data-part=longer]",
    "head-ablation": "[data-cell='1,4']",
    "heads": "[data-head='1,3']",
    "permutation": "[data-cell='1,4']",
    "scaled-dot-product": "[data-cell='1,6']",
    "scores": "[data-model=local-m] [data-cell='3,1']",
    "sinusoids": "[data-part=one]",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page for each figure, and the weights that they fetch."""
    made = tmp_path_factory.mktemp("figures")
    write_weights(made)
    for name, figure in FIGURES.items():
        (made / f"{name}.html").write_text(PAGE.format(figure.html), encoding="utf-8")
    return made


def address_of(folder: Path, name: str) -> str:
    """The page of a figure, as a browser opens it from the disk."""
    return (folder / f"{name}.html").as_uri()


@pytest.mark.browser
@of_every_figure
def test_stored_pictures_are_what_the_scripts_draw(browser: Browser, name: str) -> None:
    for file, drawn in frames(browser, FIGURES[name]):
        stored = file.read_text(encoding="utf-8")
        # a compressed picture within one is as good in other bytes
        one, other = (re.sub(r'href="data:[^"]*"', "", text) for text in (drawn, stored))
        assert one == other, f"run `python tools/draw_frames.py {name}`"


@pytest.mark.browser
@of_every_figure
def test_first_state_stands_without_scripts_and_on_paper(
    browser: Browser, folder: Path, name: str
) -> None:
    with browser.new_context(viewport=size(DESKTOP), java_script_enabled=False) as still:
        assert_shows_its_first_state(still.new_page(), folder, name)
    with opened(browser, address_of(folder, name)) as page:
        page.emulate_media(media="print")
        page.evaluate("new Promise(requestAnimationFrame)")  # by then a script has heard of it
        assert_shows_its_first_state(page, folder, name)
        assert page.evaluate("document.getAnimations().length") == 0


def assert_shows_its_first_state(page: Page, folder: Path, name: str) -> None:
    """A picture and its sentence are seen, and no control."""
    if page.url == "about:blank":
        page.goto(address_of(folder, name))
    root, sentence = page.locator(FIGURE), FIGURES[name].sentence
    said = root.locator(".attn-sentence")
    assert said.is_visible()
    assert said.inner_text() == sentence
    assert len(sentence) > 20
    assert root.locator(f'svg[aria-label="{sentence}"]').first.bounding_box()["height"] > 100
    assert not root.locator("form").is_visible()


@of_every_figure
def test_drawing_stands_alone_where_there_is_no_browser(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STORES)
    shown = FIGURES[name]
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["text/plain"] == f"{shown.label}. {shown.sentence}"
    drawing = ElementTree.fromstring(bundle["image/svg+xml"])
    assert drawing.get("aria-label") == shown.sentence
    assert f"attn-{name}" in drawing.get("class").split()
    assert all(colour in bundle["image/svg+xml"] for colour in ROLE.values())
    assert set(shown._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(shown._repr_mimebundle_(exclude={"text/html"})) == {"image/svg+xml", "text/plain"}


def test_figure_of_other_numbers_has_no_stored_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STORES)
    stored = FIGURES["sinusoids"]
    other = InteractiveFigure("sinusoids", stored.label, stored.controls, {"length": 9})
    assert set(other._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert other._repr_mimebundle_()["text/plain"] == f"{stored.label}."


@of_every_figure
def test_html_needs_nothing_from_elsewhere_and_is_light(name: str) -> None:
    html = FIGURES[name].html
    elsewhere = r"https?://[^\s\"'<]+|url\((?!#)|@import|\bsrc=|\bhref=\"(?!data:)"
    addresses = re.findall(elsewhere, html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}
    assert len(gzip.compress(html.encode())) < 50_000


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_light(name: str) -> None:
    assert len(weights_script(name)) * 3 / 4 < 1.1e6  # packed, letters weigh what their bytes do


@pytest.mark.parametrize("name", [one for one in chapters() if one != PHOTOGRAPHS])
def test_page_of_a_chapter_is_light(book: Build, name: str) -> None:
    page = (book.html / "book" / f"{name}.html").read_bytes()
    assert len(gzip.compress(page)) < 150_000


@pytest.mark.browser
@pytest.mark.parametrize("name", [one for one, parts in NEEDS.items() if "weights" in parts])
def test_without_its_weights_a_figure_says_so_and_keeps_its_picture(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    page = browser.new_page()
    (tmp_path / "page.html").write_text(PAGE.format(FIGURES[name].html), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    root = page.locator(FIGURE)
    before = root.locator(".attn-picture").inner_html()
    root.locator("form").dispatch_event("input", {"bubbles": True})
    alert = root.get_by_role("alert")
    alert.get_by_text("cannot be read").wait_for()
    assert "_static/weights/" in alert.inner_text()
    assert root.locator(".attn-picture").inner_html() == before
    page.close()


# The texts beside sliders and readings that need more than their line or column.
CROWDED = """() => [...document.querySelectorAll(".attn-row output, .attn-readings dt")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 || (one.matches("output") &&
    one.clientHeight > 1.6 * parseFloat(getComputedStyle(one).lineHeight)))
  .map((one) => one.textContent)"""
# Words that stick out of a table of weights, which hides what does.
CUT = """() => [...document.querySelectorAll(".attn-table text")].filter((text) => {
  const word = text.getBoundingClientRect(), table = text.ownerSVGElement.getBoundingClientRect();
  return word.left < table.left - 1 || word.right > table.right + 1 || word.top < table.top - 1;
}).map((text) => text.textContent)"""
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HEIGHTS = """root => [...root.querySelectorAll('.attn-picture text:not([transform])')]
  .map((one) => one.getBoundingClientRect().height).filter(Boolean)"""

ANSWERED = "([root, before]) => root.querySelector('.attn-readings').textContent !== before"


@pytest.mark.browser
@IN_LOOKS
@of_every_figure
def test_figure_is_accessible_and_fits(
    browser: Browser, folder: Path, name: str, shape: tuple[int, int], colours: str
) -> None:
    with opened(browser, address_of(folder, name)) as page:
        look(page, shape, colours, "reduce")
        root = page.locator(FIGURE)
        if name in TOUCHED:
            touch(root, root.locator(TOUCHED[name]))
        assert page.evaluate(WIDE) == 0
        assert page.evaluate(CUT) == []
        assert page.evaluate(CROWDED) == []
        assert min(root.evaluate(HEIGHTS)) > 11
        page.evaluate(AXE)
        assert page.evaluate(RUN_AXE) == []


def touch(root: Locator, place: Locator) -> None:
    """Touch a place that a finger hits, and wait for the answer."""
    box = place.bounding_box()
    assert min(box["height"], box["width"] + 8) >= 22, "too small for a finger"
    before = root.locator(".attn-readings").text_content()
    place.tap()
    root.page.wait_for_function(ANSWERED, arg=[root.element_handle(), before])


def test_a_chapter_shows_each_figure_from_its_own_numbers() -> None:
    for figure in live_figures().values():
        assert figure.frames, f"run `python tools/draw_frames.py {figure.name}`"
    for path in sorted(ROOT.glob("book/[0-9]*.ipynb")):
        for figure, forms in stored_figures(json.loads(path.read_text(encoding="utf-8"))):
            wanted = {"image/svg+xml": figure.drawing, "text/plain": figure.words}
            held = {kind: "".join(forms[kind]) for kind in wanted}
            assert held == wanted, "run `python tools/draw_frames.py`"


@pytest.mark.browser
def test_arrow_keys_reach_a_slider_where_the_page_wants_them_too(
    browser: Browser, folder: Path
) -> None:
    with opened(browser, address_of(folder, "retrieval")) as page:
        page.evaluate(  # as JupyterLab does
            "document.addEventListener('keydown', event => event.preventDefault())"
        )
        root = page.locator(FIGURE)
        root.get_by_role("slider", name="step").press("ArrowRight")
        assert reading(root)["step"] == 1
        assert data_of(root)["last"] == 200
