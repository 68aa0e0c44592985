"""The interactive captions: what can be seen is what the captioners say, for every reader."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.image
import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch.testing import assert_close

from attn_course.captioning import Captioner
from attn_course.data.captions import VOCABULARY, CaptionedImage, captioned_images
from attn_course.decoding import greedy_decode
from attn_course.interactive import caption_explorer
from attn_course.interactive.captioning_picture import key_of
from attn_course.interactive.captioning_said import END, Word, describe
from attn_course.interactive.captioning_state import State
from attn_course.interactive.figure import InteractiveFigure
from attn_course.seq2seq import BOS
from attn_course.trained.captions import load_captioner
from tests.conftest import Build, chapters
from tests.interactive_laws import (
    PAGE,
    assert_accessible_and_fits,
    assert_focus_is_seen,
    assert_prints_without_controls,
    assert_stands_without_scripts,
    data_of,
    opened,
    opened_in_the_book,
    reading,
    size,
    write_page,
)
from tests.test_pages import DESKTOP, PHONE

FIGURE = ".attn-figure[data-figure='captioning']"
# Goes through everything that can be chosen, and returns what the figure says of each.
READ_ALL = """root => {
  const found = [], choose = (group, at) => {
    const input = root.querySelectorAll(`input[name="${group}"]`)[at];
    input.checked = true;
    input.dispatchEvent(new Event('input', {bubbles: true}));
  };
  const count = name => root.querySelectorAll(`input[name="${name}"]`).length;
  const click = cell => cell.dispatchEvent(new Event('click', {bubbles: true}));
  for (let image = 0; image < count('image'); image++) {
    choose('image', image);
    for (let model = 0; model < count('model'); model++) {
      choose('model', model);
      for (let word = 0; word < count('word'); word++) {
        choose('word', word);
        found.push(root.reading);
        const cells = root.querySelectorAll('[data-cell]');
        for (const cell of cells) { click(cell); found.push(root.reading); }
        click(cells[cells.length - 1]);
      }
    }
  }
  return found;
}"""


@cache
def models() -> dict[str, Captioner]:
    return {name: load_captioner(name) for name in ("soft", "hard", "uniform")}


@cache
def images() -> tuple[CaptionedImage, ...]:
    """Two digits that all read right, two of which soft attention misreads one, and three."""
    pool = list(islice(captioned_images(10_000, "test"), 132))
    return tuple(pool[number] for number in (2, 131, 4))


@cache
def said() -> list[dict[str, list[Word]]]:
    return describe(images(), models())


@cache
def drawn() -> InteractiveFigure:
    return caption_explorer(images(), models())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a page of two figures, and return where it is."""
    other = caption_explorer(images()[1:], {"hard": models()["hard"]}, image=1, word=6)
    return write_page(tmp_path_factory.mktemp("figures"), drawn().html + other.html)


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Open the page, and see at the end that it neither complained nor asked for anything."""
    with opened(browser, address) as page:
        yield page


def cell(figure: Locator, number: int) -> Locator:
    return figure.locator(f"[data-cell='{number}']")


def choose(figure: Locator, group: str, number: int) -> None:
    """Take one of a group of buttons, as a click on it does."""
    figure.locator(f"label:has(input[name={group}])").nth(number).click()


def words_in(data: dict[str, Any], letters: str) -> list[str]:
    return [data["words"][ord(letter) - ord("a")] for letter in letters]


def shares_in(data: dict[str, Any], text: str) -> list[tuple[str, int]]:
    found = re.findall(r"([a-z])(\d+)", text)
    assert "".join(letter + number for letter, number in found) == text
    return [(words_in(data, letter)[0], int(number)) for letter, number in found]


def words_of(data: dict[str, Any], one: dict[str, Any]) -> list[Word]:
    """What a page holds of a caption, read without its script."""
    columns = [words_in(data, one["words"]), one["right"], one["weights"], one["looked"]]
    return [
        Word(
            word,
            bool(right),
            weights,
            looked,
            shares_in(data, guesses),
            [shares_in(data, text.split("|")[0]) for text in moved],
            [words_in(data, text.split("|")[1]) for text in moved],
        )
        for word, right, weights, looked, guesses, moved in zip(
            *columns, one["guesses"], one["moved"], strict=True
        )
    ]


def assert_script_agrees_with_package(figure: Locator) -> list[dict[str, list[Word]]]:
    """Compare every word of every caption, and every cell; return what the page holds."""
    data = data_of(figure)
    held = [
        {name: words_of(data, one) for name, one in image["said"].items()}
        for image in data["images"]
    ]
    cells = [None, *range(data["grid"] ** 2)]
    # of the images a state needs no more than how many cells there are, and the caption
    shown = [
        SimpleNamespace(digits=cells[1:], words=image["right"].split()) for image in data["images"]
    ]
    wanted = [
        State(shown, held, image, model, word, moved)
        for image, captions in enumerate(held)
        for model, words in captions.items()
        for word in range(len(words))
        for moved in cells
    ]
    for got, state in zip(figure.evaluate(READ_ALL), wanted, strict=True):
        assert (got["image"], got["model"], got["word"]) == (state.image, state.model, state.word)
        assert (got["moved"], got["looked"]) == (state.moved, state.looked)
        assert got["weights"] == state.weights
        assert got["guesses"] == [list(guess) for guess in state.now.guesses]
        assert got["movedGuesses"] == [list(guess) for guess in state.moved_guesses]
        assert (got["caption"], got["movedCaption"]) == (state.caption, state.moved_caption)
        assert got["right"] == [word.is_right for word in state.words]
        assert got["sentence"] == state.sentence
    return held


# --- what the captioners say ----------------------------------------------------------------------


def test_captions_and_weights_are_those_of_the_captioners() -> None:
    for name, model in models().items():
        for example, found in zip(images(), said(), strict=True):
            words, image = found[name], example.image.unsqueeze(0)
            written = greedy_decode(model, image, 30)
            caption = VOCABULARY.decode(written[0])
            assert [word.word for word in words] == [*caption, END]
            given = torch.tensor([[BOS, *written[0, :-1]]])
            trace = model.trace(given, model.start(image))
            close = {"rtol": 0, "atol": 0.501}
            assert_close(
                torch.tensor([word.weights for word in words]).float(),
                100 * trace.weights[0],
                **close,
            )
            best = trace.logits[0].softmax(-1).amax(-1)
            assert_close(
                torch.tensor([word.guesses[0][1] for word in words]).float(), 100 * best, **close
            )
            looked = [None if name != "hard" else int(used.argmax()) for used in trace.used[0]]
            assert [word.looked for word in words] == looked


@pytest.mark.parametrize("name", ["soft", "hard", "uniform"])
def test_moved_weight_gives_the_word_that_this_cell_alone_would_give(name: str) -> None:
    model, example, words = models()[name], images()[2], said()[2][name]
    ids = [VOCABULARY.encode([word.word])[0] for word in words[:-1]]
    for number, target in [(0, 1), (1, 1), (6, 8), (len(ids), 0)]:
        given = torch.tensor([[BOS, *ids[:number]]])
        state = model.start(example.image.unsqueeze(0))
        if number:
            state = model.trace(given[:, :-1], state).state
        only = torch.eye(9)[target].unsqueeze(0)
        trace = model.trace(given[:, -1:], state, lambda weights, only=only: only)
        probability = trace.logits[0, 0].softmax(-1)
        word, percent = words[number].moved[target][0]
        assert abs(100 * probability.max().item() - percent) <= 0.501
        token, rest = probability.argmax(), []
        state = trace.state
        while VOCABULARY.decode([token]) and len(rest) < 30:
            rest += VOCABULARY.decode([token])
            logits, state = model.step(token.view(1), state)
            token = logits[0].argmax()
        assert words[number].rest[target] == [*rest, END][: 20 - number]
        assert word == words[number].rest[target][0]


def test_figure_shows_what_the_chapter_says_of_it() -> None:
    """A weight on the wrong cell makes the wrong word, and on the right one the right caption;
    hard attention names at the digit what it has seen at the article."""
    soft, hard = said()[1]["soft"], said()[1]["hard"]
    assert [word.word for word in soft[:2]] == ["a", "nine"]
    assert [word.is_right for word in soft[:3]] == [False, False, True]
    assert " ".join(soft[0].rest[7]) == "an eight is left of a nine (end)"
    assert all(word.is_right for word in hard)
    uniform = said()[0]["uniform"]  # a zero is above a nine
    assert [word.is_right for word in uniform] == [True, False, True, True, True, False, True]
    soft, hard = said()[2]["soft"], said()[2]["hard"]
    assert (soft[1].word, soft[1].rest[1][0], soft[0].rest[1][1]) == ("three", "six", "three")
    assert (hard[1].word, hard[1].rest[1][0], hard[0].rest[1][1]) == ("three", "three", "six")


def test_sentence_says_where_the_weight_is_and_what_a_move_changes() -> None:
    state = State(images(), said(), 2, "hard", 0, moved=1)
    assert state.sentence == (
        "Image 3, hard attention. Word 1 of 17: “a”, probability 100%. 85% of the weight on row 1, "
        "column 1; 15% on row 1, column 2. It looks at row 1, column 1 alone. Had it looked at row "
        "1, column 2 alone: “a”, probability 100%. The caption would be: “a six is left of a six , "
        "which is above and left of a three”."
    )
    even = replace(state, model="uniform", moved=None).sentence
    assert even.endswith("11% of the weight on every cell.")


def test_caption_that_does_not_end_is_cut_off_and_shown_with_dots() -> None:
    model = load_captioner("soft")
    with torch.no_grad():
        model.readout[-1].bias[2] = -100  # the end
    (words,) = describe(images()[:1], {"endless": model})[0].values()
    state = State(images()[:1], [{"endless": words}], 0, "endless", 19)
    assert len(words) == 20
    assert state.caption.endswith(" …")
    assert all(word.is_right for word in words[:6])


# --- the script -----------------------------------------------------------------------------------


@pytest.mark.browser
def test_script_gives_the_numbers_of_the_package(page: Page) -> None:
    assert assert_script_agrees_with_package(page.locator(FIGURE).first) == said()


@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in chapters() if "captioning" in name])
def test_figure_in_the_book_gives_the_numbers_of_the_package(
    browser: Browser, book: Build, name: str
) -> None:
    with opened_in_the_book(browser, book, name) as page:
        figure = page.locator(FIGURE).first
        assert figure.locator("form").is_visible()
        assert_script_agrees_with_package(figure)


@pytest.mark.browser
def test_script_starts_with_the_picture_that_the_package_drew(
    browser: Browser, page: Page, address: str
) -> None:
    stage = "svg > :not([data-part=all], defs)"
    with browser.new_context(java_script_enabled=False) as window:
        still = window.new_page()
        still.goto(address)
        for number in (0, 1):
            before, after = (where.locator(FIGURE).nth(number) for where in (still, page))
            for part in (f"{stage} text", ".attn-readings dd", ".attn-sentence", "label"):
                texts = [
                    [text for text in figure.locator(part).all_text_contents() if text]
                    for figure in (before, after)
                ]
                texts[1] = [text.removesuffix(" (wrong)") for text in texts[1]]
                assert [text for text in texts[1] if text != "click a cell"] == texts[0]
            for name in ("x", "y", "width", "style", "class", "href", "transform"):
                read = f"all => all.map(one => one.getAttribute('{name}'))"
                found = [f.locator(f"{stage} :is(rect, use)").evaluate_all(read)
                         for f in (before, after)]  # fmt: skip
                numbers = [
                    [re.sub(r"(\d)\.0\b|[\s;]", r"\1", one or "") for one in all_] for all_ in found
                ]
                assert numbers[1] == numbers[0]
            height = "picture => picture.viewBox.baseVal.height"
            assert before.locator("svg").first.evaluate(height) > 500
            assert after.locator("svg").first.evaluate(height) < 330
            assert after.locator(".attn-small").count() == 0


@pytest.mark.browser
def test_cells_and_bars_show_the_weights_and_the_guesses(page: Page) -> None:
    figure = page.locator(FIGURE).first
    choose(figure, "image", 1)
    choose(figure, "word", 0)
    word = said()[1]["soft"][0]
    shares = figure.locator("[data-part=weights] rect").evaluate_all(
        "all => all.map(one => Number(one.style.getPropertyValue('--attn-share')))"
    )
    assert shares == [percent / 100 for percent in word.weights]
    opacity = figure.locator("[data-part=weights] rect").evaluate_all(
        "all => all.map(one => Number(getComputedStyle(one).fillOpacity))"
    )
    assert_close(torch.tensor(opacity), 0.7 * torch.tensor(shares), rtol=0, atol=1e-4)
    numbers = figure.locator("[data-cell] text").all_text_contents()
    assert numbers == [f"{percent}%" for percent in word.weights]
    cell(figure, 7).click()
    lines = figure.locator("[data-part=moved] .attn-guess")
    for line, (guess, percent) in zip(lines.all(), word.moved[7], strict=False):
        assert line.locator("text").all_text_contents() == [guess, f"{percent}%"]
        width = float(line.locator("rect").get_attribute("width"))
        assert abs(width - 2.12 * percent) <= 0.051
    assert lines.first.locator("text").first.text_content() == "an"
    assert figure.locator("[data-part=moved-caption-reading]").inner_text() == (
        "an eight is left of a nine"
    )
    frames = figure.locator(".attn-looked")
    assert (frames.count(), cell(figure, 7).locator(".attn-looked").count()) == (1, 1)


@pytest.mark.browser
def test_moved_weight_comes_back_and_stays_when_the_attention_changes(page: Page) -> None:
    figure = page.locator(FIGURE).first
    give_back = figure.get_by_role("button", name="give the weight back")
    assert not give_back.is_visible()
    for come_back in (
        lambda: cell(figure, 4).click(),
        lambda: give_back.click(),
        lambda: page.keyboard.press("Escape"),
        lambda: choose(figure, "word", 2),
        lambda: choose(figure, "image", 1),
    ):
        cell(figure, 4).click()
        assert reading(figure)["moved"] == 4
        assert give_back.is_visible()
        come_back()
        assert reading(figure)["moved"] is None
        assert not figure.locator("[data-part=moved-caption-reading]").is_visible()
    cell(figure, 3).click()
    choose(figure, "model", 1)
    got = reading(figure)
    assert (got["model"], got["moved"]) == ("hard", 3)
    assert got["movedCaption"].split()[got["word"] :] == said()[1]["hard"][2].rest[3][:-1]


@pytest.mark.browser
def test_shorter_caption_shows_its_last_word(page: Page) -> None:
    figure = page.locator(FIGURE).first
    choose(figure, "image", 2)
    choose(figure, "word", 16)
    cell(figure, 0).click()
    choose(figure, "image", 0)
    got = reading(figure)
    assert (got["word"], got["moved"], got["words"][-1]) == (6, None, END)
    assert figure.get_by_role("radio", name=END).is_checked()


@pytest.mark.browser
def test_words_that_the_right_caption_lacks_are_marked(page: Page) -> None:
    figure = page.locator(FIGURE).first
    choose(figure, "image", 1)
    labels = figure.locator("[data-part=words] label")
    assert labels.all_text_contents() == [
        "a (wrong)", "nine (wrong)", "is", "left", "of", "a", "nine", END
    ]  # fmt: skip
    line = "node => getComputedStyle(node).textDecorationStyle"
    assert [label.evaluate(line) for label in labels.all()][:3] == ["wavy", "wavy", "solid"]
    assert figure.get_by_role("radio", name="nine (wrong)").count() == 1
    right = figure.locator("[data-part=right-reading]").inner_text()
    assert right == "an eight is left of a nine"


@pytest.mark.browser
def test_two_figures_on_a_page_do_not_touch_each_other(page: Page) -> None:
    first, second = page.locator(FIGURE).all()
    before = second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]")
    choose(first, "image", 1)
    choose(first, "model", 2)
    cell(first, 1).click()
    assert second.evaluate("root => [root.innerHTML, JSON.stringify(root.reading)]") == before
    assert reading(second)["sentence"].startswith("Image 2, hard attention. Word 7 of 17: “six”")


# --- by keyboard, by hand, by ear -----------------------------------------------------------------


@pytest.mark.browser
def test_keyboard_alone_walks_the_words(page: Page) -> None:
    figure = page.locator(FIGURE).first
    page.keyboard.press("Tab")  # the image
    page.keyboard.press("Tab")
    here = "[document.activeElement.name, Number(document.activeElement.value)]"
    assert page.evaluate(here) == ["word", 1]
    walk = [("ArrowRight", 2), ("ArrowDown", 3), ("End", 6), ("ArrowRight", 6), ("ArrowLeft", 5),
            ("ArrowUp", 4), ("Home", 0), ("ArrowLeft", 0)]  # fmt: skip
    for key, wanted in walk:
        page.keyboard.press(key)
        assert page.evaluate(here) == ["word", wanted]
        assert reading(figure)["word"] == wanted
        assert figure.locator("input[name=word]").nth(wanted).is_checked()


@pytest.mark.browser
def test_keyboard_alone_walks_the_image_and_moves_the_weight(page: Page) -> None:
    figure = page.locator(FIGURE).first
    page.keyboard.press("Tab")
    where = "Number(document.activeElement.dataset.cell)"
    walk = [("ArrowLeft", 0), ("ArrowDown", 3), ("ArrowRight", 4), ("End", 5), ("ArrowRight", 5),
            ("ArrowUp", 2), ("ArrowUp", 2), ("Home", 0), ("ArrowDown", 3),
            ("ArrowRight", 4)]  # fmt: skip
    for key, wanted in walk:
        page.keyboard.press(key)
        assert page.evaluate(where) == wanted
        assert reading(figure)["moved"] is None
    stroke = "node => getComputedStyle(node).strokeWidth"
    assert cell(figure, 4).locator("rect").evaluate(stroke) == "6px"
    for key, moved in [("Enter", 4), ("Space", None), ("Space", 4), ("Escape", None)]:
        page.keyboard.press(key)
        assert reading(figure)["moved"] == moved
        assert page.evaluate(where) == 4
    page.keyboard.press("Enter")
    figure.get_by_role("button", name="give the weight back").focus()
    page.keyboard.press("Enter")
    assert (page.evaluate(where), reading(figure)["moved"]) == (4, None)


@pytest.mark.browser
def test_keyboard_alone_reaches_every_control_and_sees_where_it_is(page: Page) -> None:
    figure = page.locator(FIGURE).first
    page.keyboard.press("Tab")
    steps = [("ArrowRight", "word"), ("Enter", "word"), ("Enter", "word"), (None, "play"),
             ("ArrowRight", "image"), ("ArrowRight", "model")]  # fmt: skip
    for key, name in steps:
        before = reading(figure)
        page.keyboard.press("Tab")
        assert_focus_is_seen(page, name)
        if key is None:
            assert page.evaluate("document.activeElement.dataset.part") == name
            continue
        page.keyboard.press(key)
        after = reading(figure)
        parts = ("word", "image", "model")
        assert {part for part in parts if before[part] != after[part]} == {name}


@pytest.mark.browser
def test_keys_of_words_and_cells_are_not_taken_by_the_page(page: Page) -> None:
    page.evaluate(  # as JupyterLab does
        """() => { window.taken = 0; document.addEventListener('keydown', event => {
             window.taken += /^(Arrow|Home|Enter)/.test(event.key) }) }"""
    )
    figure = page.locator(FIGURE).first
    for place in (cell(figure, 0), figure.locator("input[name=word]").nth(1)):
        place.focus()
        for key in ("ArrowDown", "ArrowUp", "Home"):
            page.keyboard.press(key)
    cell(figure, 0).press("Enter")
    assert page.evaluate("[window.taken, window.scrollY]") == [0, 0]


@pytest.mark.browser
def test_buttons_step_and_stop_at_both_ends(page: Page) -> None:
    figure = page.locator(FIGURE).first
    back, on = (figure.get_by_role("button", name=name) for name in ("previous", "next"))
    state = [(back, 0), (back, 0)] + [(on, min(word, 6)) for word in range(1, 9)]
    for button, wanted in state:
        button.click(force=True)  # a button that is off is still there to be pressed
        assert reading(figure)["word"] == wanted
        off = [one.get_attribute("aria-disabled") == "true" for one in (back, on)]
        assert off == [wanted == 0, wanted == 6]


@pytest.mark.browser
def test_playing_goes_to_the_end_and_stops(browser: Browser, address: str) -> None:
    with browser.new_context() as window:
        page = window.new_page()
        page.clock.install()
        page.goto(address)
        figure = page.locator(FIGURE).first
        button = figure.locator("[data-part=play]")
        button.click()
        seen = []
        for _ in range(6):
            seen.append((reading(figure)["word"], button.inner_text()))
            page.clock.run_for(1500)
        assert seen == [
            (2, "stop"),
            (3, "stop"),
            (4, "stop"),
            (5, "stop"),
            (6, "play"),
            (6, "play"),
        ]
        button.click()
        page.clock.run_for(1600)
        assert reading(figure)["word"] == 1, "it begins anew, and goes on"
        button.click()
        page.clock.run_for(5000)
        assert (reading(figure)["word"], button.inner_text()) == (1, "play")
        button.click()
        cell(figure, 0).click()
        page.clock.run_for(5000)
        assert (reading(figure)["word"], reading(figure)["moved"]) == (2, 0), "a move stops it"


@pytest.mark.browser
def test_nothing_plays_for_readers_who_want_less_motion(browser: Browser, address: str) -> None:
    with browser.new_context(reduced_motion="reduce") as window:
        page = window.new_page()
        page.clock.install()
        page.goto(address)
        figure = page.locator(FIGURE).first
        play = figure.locator("[data-part=play]")
        assert not play.is_visible()
        assert figure.get_by_role("button", name="next").is_visible()
        page.emulate_media(reduced_motion="no-preference")
        play.click()
        page.emulate_media(reduced_motion="reduce")
        play.wait_for(state="hidden")
        before = reading(figure)["word"]
        page.clock.run_for(5000)
        assert (reading(figure)["word"], play.text_content()) == (before, "play")


@pytest.mark.browser
def test_finger_chooses_words_and_cells(browser: Browser, address: str) -> None:
    with browser.new_context(viewport=size(PHONE), has_touch=True, is_mobile=True) as window:
        page = window.new_page()
        page.goto(address)
        figure = page.locator(FIGURE).first
        cell(figure, 4).tap()
        assert reading(figure)["moved"] == 4
        figure.locator("[data-part=words] label").nth(5).tap()
        got = reading(figure)
        assert (got["word"], got["moved"]) == (5, None)
        touched = [cell(figure, 0), *figure.locator("label, button:visible").all()]
        boxes = [one.bounding_box() for one in touched]
        assert min(min(box["width"], box["height"]) for box in boxes) >= 24, "too small"


@pytest.mark.browser
def test_screen_reader_finds_a_grid_and_hears_one_sentence_after_a_pause(page: Page) -> None:
    figure = page.locator(FIGURE).first
    assert figure.get_by_role("row").count() == 3
    assert figure.get_by_role("gridcell").count() == 9
    name = "row 1, column 2: 98% of the weight"
    assert figure.get_by_role("gridcell", name=name, exact=True).count() == 1
    assert figure.get_by_role("radio", name="image 2: eight, nine", exact=True).count() == 1
    figure.evaluate(
        """root => { root.heard = []; const status = root.querySelector('[role=status]');
          new MutationObserver(() => root.heard.push(status.textContent))
            .observe(status, {childList: true}) }"""
    )
    page.wait_for_timeout(800)
    assert figure.evaluate("root => root.heard") == [], "it spoke before it was asked"
    figure.locator("input[name=word]").nth(1).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("root => root.heard.length", arg=figure.element_handle())
    (heard,) = figure.evaluate("root => root.heard")
    assert heard == (
        "Image 1, soft attention. Word 6 of 7: “zero”, probability 100%. "
        "98% of the weight on row 2, column 2."
    )


@pytest.mark.browser
@pytest.mark.parametrize(
    ("shape", "colours"),
    [(DESKTOP, "light"), (PHONE, "dark")],
    ids=["desktop-light", "phone-dark"],
)
def test_figure_is_accessible_and_fits(
    browser: Browser, address: str, shape: tuple[int, int], colours: str
) -> None:
    with browser.new_context(viewport=size(shape), color_scheme=colours) as window:
        page = window.new_page()
        page.goto(address)
        figure = page.locator(FIGURE).first
        choose(figure, "image", 1)
        cell(figure, 8).click()
        assert_accessible_and_fits(page, f"{FIGURE} [data-cell='8'] text")


# --- without a script, and without a browser ------------------------------------------------------


@pytest.mark.browser
def test_without_scripts_every_word_stands_with_its_weights(browser: Browser, address: str) -> None:
    assert_stands_without_scripts(browser, address, FIGURE, ".attn-small", 7)
    with browser.new_context(java_script_enabled=False, viewport=size(PHONE)) as window:
        page = window.new_page()
        page.goto(address)
        for number, (image, name) in enumerate([(0, "soft"), (2, "hard")]):
            small = page.locator(FIGURE).nth(number).locator(".attn-small")
            for one, word in zip(small.all(), said()[image][name], strict=True):
                texts = [str(share) for share in word.weights if share >= 10]
                texts += [word.word, f"{word.guesses[0][1]}%"]
                assert one.locator("text").all_text_contents() == texts
                assert one.locator(".attn-looked").count() == (word.looked is not None)
            assert small.last.bounding_box()["width"] > 60
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.browser
def test_print_shows_the_state_without_its_controls(page: Page) -> None:
    figure = page.locator(FIGURE).first
    invitation = figure.get_by_text("click a cell", exact=True)
    assert invitation.is_visible()
    assert_prints_without_controls(page, FIGURE)
    assert not invitation.is_visible()


@pytest.mark.browser
def test_digits_stay_visible_under_the_whole_weight(page: Page, tmp_path: Path) -> None:
    figure = page.locator(FIGURE).first
    for colours, is_ink in [("light", lambda x: x < 0.2), ("dark", lambda x: x > 0.8)]:
        page.emulate_media(color_scheme=colours)
        cell(figure, 4).focus()
        file = tmp_path / f"{colours}.png"
        cell(figure, 1).screenshot(path=file)
        red, _, blue = torch.tensor(matplotlib.image.imread(file)[..., :3]).unbind(-1)
        green = torch.tensor(matplotlib.image.imread(file)[..., 1])
        ink = is_ink(green) & ((red - blue).abs() < 0.1)
        tinted = red - green > 0.1
        assert ink.float().mean() > 0.03, colours
        assert tinted.float().mean() > 0.3, colours


def test_pixels_are_those_of_the_images() -> None:
    html = drawn().html
    for example in images():
        (lines,) = re.findall(rf'<g id="{key_of(example)}">(.*?)</g>', html)
        grey = torch.zeros(24, 24)
        for line, opacity in re.findall(r'd="(.*?)" stroke-opacity="(.*?)"', lines):
            for x, y in re.findall(r"M(\d+) (\d+)\.5h1", line):
                grey[int(y), int(x)] = float(opacity)
        assert_close(grey, example.image[0], rtol=0, atol=5.1e-3)


@pytest.mark.browser
def test_larger_grid_has_its_own_cells(browser: Browser) -> None:
    examples = list(islice(captioned_images(10_000, "test", 4, (2, 4)), 1))
    figure = caption_explorer(examples, {"soft": load_captioner("soft_large")}, word=99)
    with browser.new_context() as window:
        page = window.new_page()
        page.set_content(PAGE.format(figure.html))
        shown = page.locator(FIGURE)
        last = len(data_of(shown)["images"][0]["said"]["soft"]["words"]) - 1
        assert shown.get_by_role("gridcell").count() == 16
        cell(shown, 15).click()
        got = reading(shown)
        assert (got["word"], got["weights"]) == (last, [0] * 15 + [100])
        assert "Had it looked at row 4, column 4 alone" in got["sentence"]


@pytest.mark.browser
def test_names_are_text_whatever_they_hold(browser: Browser) -> None:
    name = "</script><b id='taken'>\"soft\"</b>"
    figure = caption_explorer(images()[:1], {name: models()["uniform"]})
    with browser.new_context() as window:
        page = window.new_page()
        page.set_content(PAGE.format(figure.html))
        assert page.locator("#taken").count() == 0
        choose(page.locator(FIGURE), "model", 0)
        choose(page.locator(FIGURE), "word", 2)
        assert reading(page.locator(FIGURE))["sentence"].startswith(f"Image 1, {name} attention.")


def test_html_is_the_same_for_every_run_and_needs_nothing_from_elsewhere() -> None:
    once, again = (caption_explorer(images()[:1], models()).html for _ in range(2))
    assert once == again
    found = r"https?://[^\s\"'<]+|@import|\bsrc=|\bhref=\"(?!#attn-image-)|url\("
    assert re.findall(found, drawn().html) == []
    assert len(drawn().html) < 100_000
    weights = models()["soft"].state_dict().values()
    assert all(one.dtype != torch.float64 for one in weights), "the captioner was changed"


def test_png_and_text_stand_in_where_there_is_no_browser(tmp_path: Path) -> None:
    bundle = drawn()._repr_mimebundle_()
    assert bundle["text/plain"].startswith("A caption word by word, and where each word looked")
    assert "Word 2 of 7: “nine”" in bundle["text/plain"]
    file = tmp_path / "figure.png"
    file.write_bytes(b64decode(bundle["image/png"]))
    image = torch.tensor(matplotlib.image.imread(file)[..., :3])
    purple = image - torch.tensor([0xCC, 0x79, 0xA7]) / 255
    assert (purple.abs().amax(-1) < 0.03).sum() > 300, "no cell in the colour of the weights"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": []}, r"shows 1 to 8 images, not 0"),
        ({"images": [0] * 9}, r"shows 1 to 8 images, not 9"),
        ({"models": {}}, r"there is no captioner ''; there are none"),
        ({"model": "hazy"}, r"there is no captioner 'hazy'; there are soft"),
        ({"image": 3}, r"image=3 is not from 0 to 2"),
        ({"word": -1}, r"word=-1 is negative"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(change: dict[str, Any], message: str) -> None:
    good = {"images": images(), "models": {"soft": models()["soft"]}}
    with pytest.raises(ValueError, match=message):
        caption_explorer(**good | change)


def test_images_of_another_grid_are_refused() -> None:
    other = next(captioned_images(0, "test", 4))
    with pytest.raises(ValueError, match=r"'soft' is for 9 cells, the images have 16"):
        caption_explorer([other], models())
    with pytest.raises(ValueError, match=r"grids of \[9, 16\] cells"):
        caption_explorer([images()[0], other], models())
