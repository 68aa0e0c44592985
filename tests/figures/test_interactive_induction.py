"""The live model of two heads: in the page it predicts what it predicts in PyTorch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch import Tensor
from torch.testing import assert_close

from attn_course.data.repeats import SYMBOLS, repeat_batches
from attn_course.induction import Edit, silence, weights_of_heads
from attn_course.interactive import induction_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.induction import MOST, TEXT
from attn_course.interactive.live import AGREES_TO
from attn_course.trained.induction import KEPT, load_induction
from tests.figures.interactive_laws import AT_WIDTHS, IN_LOOKS
from tests.figures.interactive_pages import (
    assert_a_finger_hits,
    assert_first_state_is_computed_alike,
    look,
    page_of,
)
from tests.figures.test_machine import assert_on_one_screen
from tests.sampling import sampled, takes_all

FIGURE = ".attn-figure[data-figure='induction']"


@cache
def drawn() -> InteractiveFigure:
    return induction_explorer()


address, window, page, figure = page_of("induction", lambda: drawn().html, "induction")


def states() -> Iterator[dict[str, Any]]:
    """Yield texts in which something comes twice, each in a state of its own."""
    tokens = next(repeat_batches(7, 100, MOST, sizes=(5, 20))).tokens
    for number, row in enumerate(tokens.tolist()):
        text = "".join(SYMBOLS[token] for token in row)[: 1 + number % MOST]
        state = {"text": text, "step": number % len(KEPT), "at": number // 2 % len(text)}
        yield state | {f"off{layer}": bool(number // 3 >> layer & 1) for layer in range(2)}


# Sets the form and returns what the model then knows.
READ = """async (root, state) => {
  const form = root.querySelector("form");
  for (const name in state) {
    const one = form.elements[name];
    if (one.type === "checkbox") one.checked = state[name];
    else one.value = state[name];
  }
  root.reading = null;
  form.dispatchEvent(new Event("input", { bubbles: true }));
  while (!root.reading) await new Promise((resolve) => setTimeout(resolve));
  return JSON.stringify(root.reading);
}"""


def read(figure: Locator, state: Mapping[str, object]) -> dict[str, Any]:
    return json.loads(figure.evaluate(READ, state))


def numbers_of(text: str) -> Tensor:
    return torch.tensor([[SYMBOLS.index(letter) for letter in text]])


def both(*edits: Edit) -> Edit:
    """Return an edit that makes several changes, one after the other."""

    def edit(layer: int, part: str, given: Tensor) -> Tensor:
        for one in edits:
            given = one(layer, part, given)
        return given

    return edit


@sampled
@pytest.mark.browser
def test_page_predicts_as_pytorch(figure: Locator) -> None:
    chosen = list(islice(states(), 0, None, 1 if takes_all() else 7))
    for state in chosen:
        got, tokens = read(figure, state), numbers_of(state["text"])
        model = load_induction(KEPT[state["step"]]).double()
        edit = both(*(silence(layer, 0) for layer in range(2) if state[f"off{layer}"]))
        seen: list[Tensor] = []

        def note(
            layer: int, part: str, given: Tensor, seen: list = seen, edit: Edit = edit
        ) -> Tensor:
            if part == "weights":
                seen.append(given[0, 0])
            return edit(layer, part, given)

        laws = model(tokens, note)[0].softmax(-1)
        close = {"rtol": 0, "atol": AGREES_TO}
        assert_close(torch.tensor(got["laws"]).double(), laws, **close)
        for found, ours in zip(got["weights"], seen, strict=True):
            for at, row in enumerate(found):
                assert_close(torch.tensor(row).double(), ours[at, : at + 1], **close)
        assert got["at"] == state["at"]
    assert {(state["off0"], state["off1"]) for state in chosen} == {
        (a, b) for a in (False, True) for b in (False, True)
    }
    assert {state["step"] for state in chosen} == {*range(len(KEPT))}


@pytest.mark.browser
def test_letters_are_taken_or_refused(figure: Locator) -> None:
    typed, alert = figure.get_by_role("textbox", name="Letters"), figure.get_by_role("alert")
    for text, said in [
        ("Emma and Emma", ""),
        ("Jos\u00e9 M\u00fcller", ""),
        ("Stra\u00dfe", "It knows a to z and the space, and not \u00df"),
        ("in 1813", "and not 1 8 3"),
        ("", "Type some letters"),
    ]:
        typed.fill(text)
        if said:
            alert.get_by_text(said).wait_for()
            assert figure.get_attribute("data-stale") is not None
        else:
            figure.page.wait_for_function("root => root.reading", arg=figure.element_handle())
            assert not alert.is_visible()
    assert len(read(figure, {"text": "Emma"})["laws"]) == 4
    typed.fill("a" * (MOST + 1))
    alert.get_by_text(f"There is room for {MOST} letters, not {MOST + 1}.").wait_for()


@pytest.mark.browser
def test_it_writes_on_what_came_before_and_lets_the_oldest_go(figure: Locator) -> None:
    typed, write = (
        figure.get_by_role("textbox", name="Letters"),
        figure.get_by_role("button", name="one more letter"),
    )
    read(figure, {"text": TEXT, "at": ""})
    for _ in range(2):
        write.click()
    assert typed.input_value() == TEXT + "ox"
    figure.get_by_role("button", name="random letters, twice").click()
    text = typed.input_value()
    once = (len(text) + 1) // 2
    assert text == (text[:once] * 2)[:-1]
    read(figure, {"text": "ab" * (MOST // 2), "at": ""})
    write.click()
    assert typed.input_value() == ("ab" * MOST)[1 : MOST + 1]


@pytest.mark.browser
def test_reader_stands_where_key_mouse_and_finger_say(page: Page, figure: Locator) -> None:
    text = "ab" * 26
    read(figure, {"text": text, "at": ""})
    stand = figure.get_by_role("slider", name="letter to stand on")

    def at() -> int:
        return figure.evaluate("root => root.reading.at")

    assert at() == len(text) - 1
    stand.press("ArrowLeft")
    assert at() == len(text) - 2
    stand.press("Shift+ArrowLeft")
    assert at() == len(text) - 7
    for _ in range(9):
        stand.press("Shift+ArrowLeft")
    assert at() == 0
    stand.press("ArrowRight")
    assert stand.get_attribute("aria-valuetext") == "letter 2, \u201cb\u201d"
    boxes = [one.bounding_box() for one in figure.locator(".t.bold").all()]
    places = sorted((box for box in boxes if box), key=lambda box: (round(box["y"]), box["x"]))
    for place in (0, 30, 51):
        box = places[place]
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert at() == place
    page.touchscreen.tap(places[7]["x"] + 4, places[7]["y"] + 8)
    assert at() == 7
    figure.get_by_role("textbox", name="Letters").fill("abc")
    page.wait_for_function("root => root.reading.at === 2", arg=figure.element_handle())


@pytest.mark.browser
def test_silent_head_is_grey_and_struck_in_the_picture(figure: Locator) -> None:
    coloured, struck = figure.locator(".attn-picture .f.weight"), figure.locator(".t.off")
    for off in ([], [0], [1], [0, 1]):
        read(figure, {"text": TEXT, "at": ""} | {f"off{layer}": layer in off for layer in (0, 1)})
        names = {text for layer in off for text in (f"layer {layer}", f"layer {layer}, off")}
        assert {*struck.all_text_contents()} == names
        assert (coloured.count() > 0) == (len(off) < 2)
        said = figure.locator(".attn-sentence").inner_text()
        assert [layer for layer in (0, 1) if f"layer {layer}, which is silent" in said] == off


@pytest.mark.browser
def test_picture_says_and_shows_how_many_were_predicted_and_what_rows_and_columns_are(
    figure: Locator,
) -> None:
    read(figure, {"text": TEXT, "at": ""})
    shown = figure.locator(".attn-picture .t").all_text_contents()
    assert {"Of 12 letters that could be predicted, 11 were.", "row: from, column: to"} <= {*shown}
    shaded, boxed = (figure.locator(f".attn-picture .{way}[height='16']") for way in "fs")
    assert (shaded.count(), boxed.count()) == (11, 1)


@pytest.mark.browser
def test_letter_found_has_a_label_only_if_most_of_a_look_goes_one_back(figure: Locator) -> None:
    for step, at, labels in (
        (500, "", ["after f"]),
        (150, "", ["after i, not f"]),
        (100, 4, []),  # layer 0 looks evenly at all so far
    ):
        read(figure, {"text": TEXT, "step": KEPT.index(step), "at": at})
        notes = figure.locator(".attn-picture .t.key").all_text_contents()
        assert [note for note in notes if note] == labels


@pytest.mark.browser
def test_link_opens_the_state_and_an_odd_one_does_no_harm(
    page: Page, address: str, figure: Locator
) -> None:
    wanted = read(figure, {"text": "otto and otto", "at": 5, "step": 3, "off0": True})
    figure.locator(".attn-link").hover()
    link = figure.locator(".attn-link").get_attribute("href")
    for way, check in [
        (link, lambda got: got == wanted),
        ("#lab=induction&text=abab&at=-7&step=99&off1=x", lambda got: got["at"] == 0),
        ("#lab=induction&text=abab&at=x", lambda got: len(got["laws"]) == 4),
    ]:
        page.goto("about:blank")
        page.goto(address + way)
        page.wait_for_function(f'document.querySelector("{FIGURE}").reading')
        assert check(figure.evaluate("root => root.reading"))


@pytest.mark.browser
def test_page_computes_the_first_state_that_python_gives(page: Page) -> None:
    assert_first_state_is_computed_alike(page.locator(FIGURE))


@pytest.mark.browser
@IN_LOOKS
def test_a_finger_hits_what_it_can_take(
    page: Page, figure: Locator, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours, "reduce")
    read(figure, {"text": ("she sells sea shells " * 3)[:MOST], "off1": True, "at": 30})
    assert_a_finger_hits(figure)


@pytest.mark.browser
@AT_WIDTHS
def test_all_of_it_is_on_one_screen_and_no_letters_collide(
    page: Page, figure: Locator, shape: tuple[int, int]
) -> None:
    look(page, shape, "light", "reduce")
    for state in islice(states(), 0, None, 9):
        read(figure, state)
        assert_on_one_screen(figure, shape)


def test_first_state_is_predicted_by_the_model() -> None:
    first, tokens = drawn().data["first"], numbers_of(TEXT)
    laws = load_induction()(tokens)[0].softmax(-1)
    assert first["told"] == "".join(SYMBOLS[number] for number in laws.argmax(-1).tolist())
    for number, share in first["best"]:
        assert share == pytest.approx(laws[-1, number].item(), abs=1e-3)
    assert SYMBOLS[first["best"][0][0]] == "o"
    for layer, ours in zip(
        first["weights"], weights_of_heads(load_induction(), tokens), strict=True
    ):
        for at, row in enumerate(layer):
            assert row == pytest.approx(ours[0, 0, at, : at + 1].tolist(), abs=0.006)


@pytest.mark.browser
def test_a_map_takes_the_reader_to_the_letter_of_a_row(page: Page, figure: Locator) -> None:
    read(figure, {"text": TEXT, "at": ""})
    box = figure.locator("[data-map='1']").bounding_box()
    assert box

    def point(row: int) -> tuple[float, float]:
        """A place in the middle of a row."""
        return box["x"] + 30, box["y"] + (row + 0.5) / len(TEXT) * box["height"]

    page.mouse.click(*point(20))
    expect_letter(figure, 20)
    page.mouse.down()
    page.mouse.move(*point(7))
    expect_letter(figure, 7)
    page.mouse.up()


def expect_letter(figure: Locator, at: int) -> None:
    """Wait until the reader stands on a letter."""
    figure.page.wait_for_function(f'document.querySelector("{FIGURE}").reading.at === {at}')
