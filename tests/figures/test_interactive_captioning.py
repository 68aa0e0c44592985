"""The live captioners: in the page they say what they say in PyTorch, whatever is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.captioning import Captioner
from attn_course.captions.counterfactual import Directed
from attn_course.data.captions import CaptionedImage, captioned_images
from attn_course.data.translation import detokenise
from attn_course.decoding import greedy_decode
from attn_course.interactive import caption_explorer
from attn_course.interactive.captioning import ink_of, squares_of
from attn_course.interactive.captioning.said import MOST_WORDS, WORDS
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.seq2seq import BOS, PAD
from attn_course.trained.captions import load_captioner
from tests.book.test_pages import PHONE, size
from tests.figures.captioning_pen import drawn_images, image_of
from tests.figures.interactive_laws import (
    IN_LOOKS,
    assert_quick,
    opened,
    write_page,
)
from tests.figures.interactive_pages import look, page_of, read_all
from tests.sampling import sampled, takes_all

FIGURE = ".attn-figure[data-figure='captioning']"
MODELS = ("soft", "hard", "uniform")
SAID = "root => [...root.querySelectorAll('.attn-chip')].map((chip) => chip.textContent)"
THREE = [(0.3, 0.3), (0.6, 0.25), (0.6, 0.45), (0.45, 0.5), (0.65, 0.55), (0.6, 0.8), (0.3, 0.75)]


@cache
def images() -> tuple[CaptionedImage, ...]:
    """Images that no captioner has learned from; the first has two digits."""
    some = list(islice(captioned_images(10_000, "test"), 60 if takes_all() else 26))
    return (some[15], some[5], *some[20:60])


@cache
def drawn() -> InteractiveFigure:
    return caption_explorer(images()[:2])


address, window, page, figure = page_of("captioning", lambda: drawn().html, *MODELS)


def cell(page: Page, number: int) -> Locator:
    return page.locator(f"{FIGURE} [data-cell='{number}']")


def take(page: Page, tool: str) -> None:
    """Open the fold of the tools, and take one."""
    page.locator(".attn-more").evaluate("fold => { fold.open = true }")
    page.locator(f"[name=tool][value={tool}]").check()


def value(page: Page, name: str) -> str:
    return page.locator(f"{FIGURE} [name={name}]").first.input_value()


def said(page: Page) -> list[str]:
    """The words of the caption, once it has been computed."""
    page.wait_for_function(f'document.querySelector("{FIGURE}").reading')
    return page.locator(FIGURE).evaluate(SAID)


def path(page: Page, number: int, points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a cell, from 0 to 1, on the screen."""
    box = cell(page, number).locator("rect").bounding_box()
    return [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in points]


@torch.no_grad()
def described(
    model: Captioner, image: Tensor, moves: Sequence[dict[int, int]] = ()
) -> list[tuple[list[str], Tensor, Tensor, Tensor]]:
    """Return PyTorch's captions, its weights, the ones used, and the words' probabilities."""
    told = torch.zeros(len(image), MOST_WORDS, 9)
    for number, move in enumerate(moves):
        for word, at in move.items():
            told[number, word, at] = 1
    tokens = greedy_decode(Directed(model, told), image, MOST_WORDS)
    before = torch.cat([torch.full_like(tokens[:, :1], BOS), tokens[:, :-1]], 1)
    rows = iter(told.unbind(1))

    def use(weights: Tensor) -> Tensor:
        row = next(rows)
        return torch.where(row.any(-1, keepdim=True), row, model.use(weights))

    trace = model.trace(before, model.start(image), use)
    shares = trace.logits.softmax(-1).gather(-1, tokens[..., None]).squeeze(-1)
    found = []
    for i, row in enumerate(tokens):
        long = int((row != PAD).sum())
        words = [WORDS[token] for token in row[:long]]
        found.append((words, trace.weights[i, :long], trace.used[i, :long], shares[i, :long]))
    return found


def assert_agrees(got: dict[str, Any], wanted: tuple[list[str], Tensor, Tensor, Tensor]) -> None:
    words, weights, used, shares = wanted
    assert [one["word"] for one in got["said"]] == words
    close = {"rtol": 0, "atol": AGREES_TO}
    assert_close(torch.tensor([one["weights"] for one in got["said"]]), weights, **close)
    assert_close(torch.tensor([one["used"] for one in got["said"]]).float(), used, **close)
    assert_close(torch.tensor([one["guesses"][0][1] for one in got["said"]]), shares, **close)


def typed(image: CaptionedImage, first: int) -> str:
    """The image as samples that are numbered from `first`."""
    cells = [number for number, digit in enumerate(image.digits) if digit is not None]
    return "_".join(f"{number}.{first + number}" for number in cells)


@sampled
@pytest.mark.browser
def test_page_describes_as_pytorch(browser: Browser, tmp_path: Path) -> None:
    few, drawn_few = (40, 60) if takes_all() else (6, 6)
    chosen, by_hand = images()[2 : 2 + few], list(islice(drawn_images(1), drawn_few))
    cells = [ink_of(square) for one in chosen for square in squares_of(one.image[0])]
    more = replace(drawn(), data=drawn().data | {"samples": cells})
    settings = [{"strokes": "", "stamps": typed(one, 9 * i)} for i, one in enumerate(chosen)]
    settings += [{"stamps": "", "strokes": strokes} for strokes, _ in by_hand]
    settings = [one | {"model": MODELS[i % 3]} for i, one in enumerate(settings)]
    with opened(browser, write_page(tmp_path, more.html, *MODELS)) as page:
        found = read_all(page.locator(FIGURE), settings)
        assert_quick(page.locator(FIGURE))
    shown = [one.image for one in (*chosen, *(one for _, one in by_hand))]
    assert len(shown) == few + drawn_few
    for image, got in zip(shown, found, strict=True):
        ink = squares_of(16 * image[0]).flatten(1)
        assert_close(torch.tensor(got["ink"]).float(), ink, rtol=0, atol=0)
    for i, name in enumerate(MODELS):
        wanted = described(load_captioner(name), torch.stack(shown[i::3]))
        for got, ours in zip(found[i::3], wanted, strict=True):
            assert_agrees(got, ours)


@pytest.mark.browser
def test_moved_weight_and_empty_paper_do_what_they_do_in_pytorch(page: Page) -> None:
    start = {"stamps": drawn().data["examples"][1]["stamps"]}
    moves = [{1: 5}, {0: 5, 1: 5}, {1: 2}, {4: 0, 12: 8}]
    settings = [
        start | {"model": name, "moves": "_".join(f"{word}.{at}" for word, at in one.items())}
        for name in MODELS
        for one in moves
    ]
    empty = [{"stamps": "", "moves": "", "model": name} for name in MODELS]
    odd = {"stamps": "99.7_x", "strokes": "Mfoo", "moves": "a.b", "word": "-3"}  # of a broken link
    found = read_all(page.locator(FIGURE), [*settings, *empty, odd])
    assert found[-1]["said"] == found[-2]["said"], "it shows paper"
    image = images()[1].image.expand(4, -1, -1, -1)
    for i, name in enumerate(MODELS):
        model = load_captioner(name)
        own, *_ = described(model, image[:1])
        for got, wanted in zip(found[4 * i :], described(model, image, moves), strict=False):
            assert_agrees(got, wanted)
            assert [one["word"] for one in got["before"]] == own[0]
        assert_agrees(found[12 + i], described(model, torch.zeros(1, 1, 24, 24))[0])


@pytest.mark.browser
def test_mouse_draws_a_digit_that_is_read_and_undone(page: Page) -> None:
    take(page, "draw")
    before = value(page, "stamps")
    first, *others = path(page, 6, THREE)
    page.mouse.move(*first)
    page.mouse.down()
    for point in others:
        page.mouse.move(*point, steps=4)
    page.mouse.up()
    assert page.locator("[data-part=hand]").get_attribute("d").startswith("M")
    page.get_by_role("button", name="three").wait_for()
    # at rest the strokes become the pixels that the captioner sees
    page.wait_for_function("!document.querySelector('[data-part=hand]').getAttribute('d')")
    assert_shows(page, value(page, "strokes"))
    page.get_by_role("button", name="undo").click()
    assert (value(page, "strokes"), value(page, "stamps")) == ("", before)
    page.get_by_role("button", name="three").wait_for(state="detached")
    page.get_by_role("button", name="clear").click()
    assert (value(page, "strokes"), value(page, "stamps")) == ("", "")
    page.get_by_label("start from").select_option(index=2)
    assert page.locator("[data-part=right-reading]").inner_text() == detokenise(images()[1].words)


def assert_shows(page: Page, strokes: str) -> None:
    """Assert that the screen shows the pixels of the first image and of the strokes."""
    lines = [[[*map(float, point.split())] for point in stroke.split("L")]
             for stroke in strokes.split("M")[1:]]  # fmt: skip
    wanted = torch.maximum(images()[0].image, image_of(lines))[0]
    seen = torch.zeros(24, 24)
    for number, line in enumerate(page.locator("[data-part=ink] path").all()):
        for x, y in re.findall(r"M(\d+) (\d+)\.5h1", line.get_attribute("d")):
            seen[int(y), int(x)] = (number + 1) / 16
    assert_close(seen, wanted, rtol=0, atol=0)


@pytest.mark.browser
def test_keyboard_types_digits_moves_weight_and_walks_the_words(page: Page) -> None:
    page.evaluate(  # as JupyterLab does
        """() => { window.taken = []; document.addEventListener('keydown', event => {
             if (!['Tab', 'Control'].includes(event.key)) window.taken.push(event.key) }) }"""
    )
    page.keyboard.press("Tab")
    at = "Number(document.activeElement.dataset.cell)"
    walk = {"ArrowLeft": 0, "ArrowDown": 3, "End": 5, "ArrowUp": 2, "Home": 0}
    for key, wanted in walk.items():
        page.keyboard.press(key)
        assert page.evaluate(at) == wanted
    page.keyboard.press("8")
    assert said(page)[:2] == ["an", "eight"]
    stamps = value(page, "stamps")
    page.keyboard.press("8")
    assert value(page, "stamps") != stamps, "the same digit again is another hand's"
    page.keyboard.press("Enter")
    assert value(page, "moves") == "1.0"
    start = page.get_by_label("start from")
    assert start.evaluate("one => one.selectedOptions[0].text") == "your own"
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    assert (value(page, "moves"), value(page, "stamps")) == (
        "",
        drawn().data["examples"][0]["stamps"],
    )
    assert start.input_value() == "0"
    page.keyboard.press("Control+z")
    assert value(page, "stamps").endswith("0.25")
    for _ in range(4):  # attention, weights back, play, caption
        page.keyboard.press("Tab")
    word = "Number(document.activeElement.dataset.word)"
    for key, wanted in {"ArrowRight": 2, "ArrowUp": 1, "Home": 0, "ArrowLeft": 0}.items():
        page.keyboard.press(key)
        assert page.evaluate(word) == int(value(page, "word")) == wanted
    assert page.evaluate("[window.taken, window.scrollY]") == [[], 0]


@pytest.mark.browser
def test_link_opens_the_drawing_and_its_moved_weight(page: Page, address: str) -> None:
    cell(page, 8).focus()
    page.keyboard.press("5")
    said(page)
    cell(page, 8).click()
    page.locator("[data-part=before-reading]").wait_for()
    wanted = said(page)
    page.locator(".attn-link").hover()
    link = page.locator(".attn-link").get_attribute("href")
    page.goto("about:blank")
    page.goto(address + link)
    page.locator("[data-part=before-reading]").wait_for()
    assert said(page) == wanted
    take(page, "empty")
    cell(page, 8).click()
    page.locator("[data-part=back]").click()
    assert value(page, "stamps") == drawn().data["examples"][0]["stamps"]


@pytest.mark.browser
def test_words_are_played_one_after_the_other_until_the_reader_does_something(page: Page) -> None:
    play = page.locator("[data-part=play]")
    play.click()
    assert (value(page, "word"), play.text_content()) == ("0", "stop")
    page.wait_for_function("document.querySelector('[name=word]').value === '1'")
    page.keyboard.press("Tab")
    assert play.text_content() == "stop", "a key on the button itself is its own"
    page.keyboard.press("Tab")
    assert (value(page, "word"), play.text_content()) == ("1", "play")
    page.emulate_media(reduced_motion="reduce")
    assert not play.is_visible()


@pytest.mark.browser
def test_swipe_over_the_picture_of_a_phone_scrolls_the_page(browser: Browser, address: str) -> None:
    with browser.new_context(viewport=size(PHONE), has_touch=True, is_mobile=True) as window:
        page = window.new_page()
        page.goto(address)
        assert page.locator("[name=tool]:checked").input_value() == "move"
        touch = "getComputedStyle(document.querySelector('.attn-picture > svg')).touchAction"
        assert page.evaluate(touch) == "manipulation"


@pytest.mark.browser
@IN_LOOKS
def test_finger_draws(page: Page, shape: tuple[int, int], colours: str) -> None:
    look(page, shape, colours, "reduce")
    take(page, "draw")
    scrolled = page.evaluate("window.scrollY")
    finger = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(path(page, 6, THREE)):
        kind = "touchMove" if number else "touchStart"
        point = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
        finger.send("Input.dispatchTouchEvent", point)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.evaluate("window.scrollY") == scrolled
    page.get_by_role("button", name="three").tap()
    assert cell(page, 6).locator("text").text_content()
    touched = page.locator(f"{FIGURE} :is(label, button, select):visible").all()
    boxes = [one.bounding_box() for one in touched]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 24, "too small"


# Everything said and drawn, but not the numbers of boxes.
PARTS = """root => [root.querySelector(".attn-sentence").textContent,
  ...[...root.querySelectorAll("svg [data-cell], [data-part=weights] *, [data-part=ink] *")]
    .map((one) => [one.textContent, one.getAttribute("aria-label"), one.style.cssText,
                   one.getAttribute("d"), one.firstElementChild?.className.baseVal.trim()])]"""


@pytest.mark.parametrize(
    ("number", "grid", "message"),
    [
        (0, 3, "shows 1 to 8 images, not 0"),
        (9, 3, "shows 1 to 8 images, not 9"),
        (1, 4, "the captioners see 9 cells; an image has 16"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(number: int, grid: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        caption_explorer(list(islice(captioned_images(0, "test", grid), number)))
