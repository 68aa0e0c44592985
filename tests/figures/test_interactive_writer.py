"""The live writer: in the page it writes what it writes in PyTorch, whatever is silent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from itertools import islice
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from torch import Tensor
from torch.testing import assert_close

from attn_course.data.novels import novels, pieces
from attn_course.interactive import writer_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.interactive.writer import (
    BEGINNING,
    MOST,
    SEED,
    TEMPERATURE,
    TEMPERATURES,
    TOGETHER,
    TOP_P,
    WRITTEN,
)
from attn_course.interactive.writer.reading import chance, drawn_from, looks, told
from attn_course.trained.writers import CONTEXT, load_writer
from attn_course.transformer import LanguageModel, next_token_law
from tests.book.test_pages import DESKTOP
from tests.figures.interactive_laws import AT_WIDTHS, IN_LOOKS
from tests.figures.interactive_pages import (
    assert_a_finger_hits,
    assert_first_state_is_computed_alike,
    look,
    page_of,
    read_all,
)
from tests.figures.test_machine import assert_on_one_screen
from tests.sampling import sampled, takes_all

FIGURE = ".attn-figure[data-figure='writer']"
# What is silent: nothing, a head, the maps, both, all heads of a block, the whole of it.
HEADS = [f"1.{head}" for head in range(4)]
SILENT = ("", "0.3", "1.maps", "0.0_0.maps_1.2", "_".join(HEADS), "_".join([*HEADS, "1.maps"]))


@cache
def drawn() -> InteractiveFigure:
    return writer_explorer()


address, window, page, figure = page_of("writer", lambda: drawn().html, "writer")


@cache
def model() -> LanguageModel:
    """The writer in double precision, in which the page computes."""
    return load_writer().double()


def without(parts: str) -> LanguageModel:
    """The writer whose silent parts add nothing to the stream."""
    changed = deepcopy(model())
    for block, part in (name.split(".") for name in parts.split("_") if name):
        inside = changed.blocks[int(block)]
        output, wide = inside.attention.project_output, inside.widen.in_features // 4
        with torch.no_grad():
            if part == "maps":
                inside.narrow.weight.zero_()
                inside.narrow.bias.zero_()
            else:
                output.weight[:, int(part) * wide : (int(part) + 1) * wide] = 0
            if not output.weight.any():
                output.bias.zero_()
    return changed


def states() -> Iterator[dict[str, Any]]:
    """Yield beginnings from the novels' unseen ends, each in a state of its own."""
    text = novels("test")
    for number in range(100):
        start = 557 * number
        begun = " ".join(text[start : start + 20 + number].split())
        state = {"begun": begun, "told": "", "look": "", "seed": 7 * number}
        state["off"] = SILENT[number % len(SILENT)]
        state["temperature"] = number % len(TEMPERATURES)
        state["top_p"] = number // 3 % len(TOP_P)
        if number % 4 == 3:  # far beyond the context
            after = pieces().encode(text[start + 120 : start + 120 + 8 * number])
            state["told"] = "_".join(map(str, after[: MOST["pieces"] - WRITTEN]))
        yield state


# Sets the form, lets the writer add pieces one by one, and returns what it then knows.
WRITE = """async (root, [state, number]) => {
  const form = root.querySelector("form"), step = root.querySelector("[data-part=step]");
  for (const name in state) form.elements[name].value = state[name];
  for (let i = 0; i < number; i++) {
    root.reading = null;
    step.click();
    const late = Date.now() + 30000;
    while (!root.reading) {
      if (Date.now() > late) throw new Error(`no reading of ${JSON.stringify(state)}`);
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  return JSON.stringify(root.reading);
}"""


def write(figure: Locator, state: Mapping[str, object], number: int = WRITTEN) -> dict[str, Any]:
    return json.loads(figure.evaluate(WRITE, [state, number]))


def law_of(logits: Tensor, state: Mapping[str, Any]) -> Tensor:
    temperature, top_p = TEMPERATURES[state["temperature"]], TOP_P[state["top_p"]]
    return next_token_law(logits, temperature, top_p=top_p)


@sampled
@pytest.mark.browser
def test_page_writes_as_pytorch(figure: Locator) -> None:
    chosen = list(islice(states(), 0, None, 1 if takes_all() else 17))
    drawn, plain = WRITTEN if takes_all() else 8, load_writer()
    for state in chosen:
        got = write(figure, state, drawn)
        tokens = got["tokens"]
        begun = pieces().encode(state["begun"])
        before = len(begun) + len([one for one in state["told"].split("_") if one])
        assert tokens[: len(begun)] == begun
        assert len(tokens) == before + drawn
        with torch.no_grad():
            changed = without(state["off"])
            logits = changed(torch.tensor([tokens]))[0]
            own = law_of(plain(torch.tensor([tokens]))[0, -1], state)
        for place in range(before, len(tokens)):
            law = law_of(logits[place - 1], state)
            wanted = drawn_from(law, chance(state["seed"], place - len(begun)))
            assert tokens[place] == wanted, state
        close = {"rtol": 0, "atol": AGREES_TO}
        assert_close(torch.tensor(got["law"]).double(), law_of(logits[-1], state), **close)
        assert_close(torch.tensor(got["own"]).float(), own, **close)
        for found, ours in zip(got["weights"], looks(changed, tokens), strict=True):
            assert_close(torch.tensor(found).double(), ours, **close)
            assert len(found[0]) == min(len(tokens), CONTEXT)
    lengths = [len(state["told"].split("_")) for state in chosen]
    assert max(lengths) > CONTEXT
    assert {state["off"] for state in chosen} == set(SILENT)


@pytest.mark.browser
def test_each_part_that_goes_silent_changes_what_may_come_next(figure: Locator) -> None:
    whole = read_all(figure, [{"off": ""}])[0]
    for block in range(2):
        for part in (*range(4), "maps"):
            (got,) = read_all(figure, [{"off": f"{block}.{part}"}])
            assert got["own"] == whole["own"]
            assert max(abs(a - b) for a, b in zip(got["law"], whole["law"], strict=True)) > 1e-3


# Milliseconds for each token of a text that is read anew, with a full context.
PACES = """async (root, state) => {
  const form = root.querySelector("form"), found = [];
  for (const name in state) form.elements[name].value = state[name];
  for (const off of ["", "0.0", "0.1"]) {
    root.reading = null;
    form.elements.off.value = off;
    form.dispatchEvent(new Event("input", { bubbles: true }));
    while (!root.reading) await new Promise((resolve) => setTimeout(resolve));
    found.push(root.milliseconds);
  }
  return found;
}"""


@pytest.mark.browser
def test_a_token_takes_less_than_20_milliseconds(figure: Locator) -> None:
    far = pieces().encode(novels("test")[:3000])[: MOST["pieces"]]
    state = {"told": "_".join(map(str, far))}
    paces = figure.evaluate(PACES, state)
    assert len(figure.evaluate("root => root.reading.tokens")) > 2 * CONTEXT
    assert 0 < min(paces[1:]) < 20, paces


@pytest.mark.browser
def test_beginning_is_taken_or_refused_by_its_letters(figure: Locator) -> None:
    typed, alert = figure.get_by_label("Beginning"), figure.get_by_role("alert")
    for text, said in [
        ("Emma", ""),
        ("a café", "No piece has é in it."),
        ("in 1813", "No piece has 1 8 3 in it."),
        ("", "Type a beginning"),
    ]:
        typed.fill(text)
        if said:
            alert.get_by_text(said).wait_for()
            assert figure.get_attribute("data-stale") is not None
        else:
            figure.page.wait_for_function("root => root.reading", arg=figure.element_handle())
            assert not alert.is_visible()
    typed.fill("10")
    alert.get_by_text("letters and spaces there are ! \" ' ( ) ,").wait_for()
    typed.fill("\u201cI don\u2019t\u201d \u2014")  # as a phone writes it
    alert.wait_for(state="hidden")
    wanted = pieces().encode('"I don\'t" --')
    assert figure.evaluate("root => root.reading.tokens") == wanted
    typed.fill("a" * (MOST["letters"] + 1))
    alert.get_by_text("There is room for 300 letters, not 301.").wait_for()


def value(figure: Locator, name: str) -> str:
    return figure.locator(f"[name={name}]").input_value()


def told_by(figure: Locator) -> list[str]:
    return [one for one in value(figure, "told").split("_") if one]


@pytest.mark.browser
def test_piece_is_forced_taken_back_and_drawn_again(page: Page, figure: Locator) -> None:
    first = told_by(figure)
    back, step = (figure.get_by_role("button", name=name) for name in ("back", "step"))
    figure.locator("[data-grip='next3']").click()
    forced = told_by(figure)
    assert forced[:-1] == first
    assert forced[-1] == f"{drawn().data['first']['best'][3][0]}f"
    step.click()
    stepped = told_by(figure)
    assert stepped[:-1] == forced
    back.click()
    step.click()
    assert told_by(figure) == stepped, "the same draw gives the same piece"
    given = len(drawn().data["first"]["begun"])
    figure.locator(f"[data-cut='{given + 5}']").click()
    assert told_by(figure) == first[:5]
    figure.get_by_role("button", name="draw again").click()
    again = told_by(figure)
    assert len(again) == WRITTEN
    assert again[:5] != first[:5]
    figure.locator("[data-grip='next0']").press("Enter")
    assert told_by(figure)[:-1] == again
    figure.locator(f"[data-cut='{given + 2}']").click()
    for _ in range(2):
        back.click()
    assert told_by(figure) == []
    assert back.get_attribute("aria-disabled") == "true"
    back.click(force=True)
    assert told_by(figure) == []
    assert page.locator(f"{FIGURE} [data-cut]").count() == 0


@pytest.mark.browser
def test_head_and_block_go_silent_by_key_finger_and_mouse(page: Page, figure: Locator) -> None:
    before = figure.locator(".attn-picture > svg").inner_html()
    head = figure.get_by_role("button", name="block 1, head 2: silent")
    head.press("Enter")
    assert value(figure, "off") == "1.2"
    expect(head).to_have_attribute("aria-pressed", "true")
    assert value(figure, "look") == "1.2", "the keyboard shows where the head looks"
    assert figure.locator(".attn-picture > svg").inner_html() != before
    head.press(" ")
    assert value(figure, "off") == ""
    block = figure.get_by_role("button", name="block 0: silent")
    block.click()
    assert sorted(value(figure, "off").split("_")) == ["0.0", "0.1", "0.2", "0.3", "0.maps"]
    expect(figure.locator(".attn-sentence")).to_contain_text("Silent: block 0.")
    figure.get_by_role("button", name="block 0, maps: silent").tap()
    assert "0.maps" not in value(figure, "off")


@pytest.mark.browser
def test_strip_shows_in_the_text_where_its_head_looks(figure: Locator) -> None:
    for block, head in ((0, 1), (1, 3)):
        figure.locator(f"[data-look='{block}.{head}']").click()
        assert value(figure, "look") == f"{block}.{head}"
        weights = drawn().data["first"]["weights"][block][head]
        opacities = [float(one.get_attribute("opacity") or 1)
                     for one in figure.locator("rect.f.weight[height='17']").all()]  # fmt: skip
        most = max(weights)
        wanted = [0.3 * one / most for one in weights if one / most > 0.02]
        assert opacities == pytest.approx(wanted, abs=0.006)
    figure.locator("[data-look='1.3']").click()
    assert value(figure, "look") == ""
    outline = "svg => getComputedStyle(svg).outlineStyle"  # a click frames no picture
    assert figure.locator(".attn-picture > svg").first.evaluate(outline) == "none"


@pytest.mark.browser
def test_it_writes_until_it_is_stopped_or_there_is_no_room(page: Page, figure: Locator) -> None:
    play = figure.locator("[data-part=play]")
    before = len(told_by(figure))
    figure.get_by_label("Beginning").press("Enter")
    assert play.inner_text() == "stop"
    enough = f"root => root.querySelector('[name=told]').value.split('_').length > {before + 3}"
    page.wait_for_function(enough, arg=figure.element_handle())
    figure.get_by_label("temperature").press("ArrowRight")
    assert play.inner_text() == "stop", "a law may change while it writes"
    play.click()
    now = told_by(figure)
    assert play.inner_text() == "write"
    page.wait_for_timeout(300)
    assert told_by(figure) == now
    look(page, DESKTOP, "light", "reduce")
    play.click()
    assert len(told_by(figure)) == len(now) + WRITTEN
    full = "_".join(["7"] * (MOST["pieces"] - 1))
    write(figure, {"told": full}, 2)
    figure.get_by_role("alert").get_by_text(f"stops after {MOST['pieces']} pieces").wait_for()
    assert len(told_by(figure)) == MOST["pieces"]
    whole = figure.locator("[data-part=whole]").inner_text()
    last = pieces().decode([int(told_by(figure)[-1])])
    assert whole == BEGINNING + pieces().decode([7]) * (MOST["pieces"] - 1) + last


@pytest.mark.browser
def test_link_opens_the_state(page: Page, address: str, figure: Locator) -> None:
    wanted = write(figure, {"begun": "Emma was", "told": "7f_9", "off": "0.1", "seed": 3}, 4)
    figure.locator("[data-look='1.0']").click()
    figure.locator(".attn-link").hover()
    link = figure.locator(".attn-link").get_attribute("href")
    page.goto("about:blank")
    page.goto(address + link)
    page.wait_for_function(f'document.querySelector("{FIGURE}").reading')
    assert figure.evaluate("root => root.reading") == wanted
    assert value(figure, "look") == "1.0"
    assert figure.locator("rect.s.ink[stroke-width='1.2']").count() == 1, "what was forced"


@pytest.mark.browser
def test_odd_link_does_no_harm(page: Page, address: str, figure: Locator) -> None:
    odd = "#lab=writer&told=1_x_99999&off=7.9_foo&look=0.maps&seed=-x&temperature=99&top_p=-4"
    page.goto("about:blank")
    page.goto(address + odd)
    page.wait_for_function(f'document.querySelector("{FIGURE}").reading')
    assert figure.evaluate("root => root.reading.tokens") == pieces().encode(BEGINNING)
    assert figure.locator("[data-part=temperature-reading]").inner_text() == "2"
    assert figure.locator("[data-part=top_p-reading]").inner_text() == "0.1"


@pytest.mark.browser
def test_page_computes_the_first_state_that_python_gives(page: Page) -> None:
    assert_first_state_is_computed_alike(page.locator(FIGURE))


@pytest.mark.browser
@IN_LOOKS
def test_a_finger_hits_what_it_can_take(
    page: Page, figure: Locator, shape: tuple[int, int], colours: str
) -> None:
    look(page, shape, colours, "reduce")
    told = "_".join(map(str, pieces().encode(novels("test")[:300])[:39]))
    write(figure, {"told": told, "off": "0.3_1.maps"}, 1)
    figure.locator("[data-look='1.1']").tap()
    assert_a_finger_hits(figure)


@sampled
@pytest.mark.browser
@AT_WIDTHS
def test_all_of_it_is_on_one_screen_and_no_letters_collide(
    page: Page, figure: Locator, shape: tuple[int, int]
) -> None:
    look(page, shape, "light", "reduce")
    figure.get_by_text("The whole text").click()  # folded, as a reader finds it
    for state in islice(states(), 0, None, 1 if takes_all() else 29):
        write(figure, state, 1)
        assert_on_one_screen(figure, shape)


def test_first_state_is_written_by_the_model() -> None:
    first = drawn().data["first"]
    tokens = [*first["begun"], *first["told"]]
    assert pieces().decode(first["begun"]) == BEGINNING
    law = {"temperature": TEMPERATURE, "top_p": TOGETHER}
    written = told(load_writer(), first["begun"], len(first["told"]), seed=SEED, **law)
    assert first["told"] == written
    with torch.no_grad():
        logits = model()(torch.tensor([tokens]))[0, -1]
    shares = next_token_law(logits, **law)
    for token, of_law in first["best"]:
        assert of_law == pytest.approx(shares[token].item(), abs=1e-3)
    for block, ours in zip(first["weights"], looks(model(), tokens), strict=True):
        assert_close(torch.tensor(block).double(), ours, rtol=0, atol=1e-3)


def test_draws_are_spread_over_all_numbers_and_follow_the_law() -> None:
    numbers = torch.tensor([chance(seed, n) for seed in range(40) for n in range(50)])
    counts = torch.histc(numbers, 10, 0, 1)
    assert counts.sum() == 2000
    assert (counts - 200).abs().max() < 60
    law = torch.tensor([0.2, 0.0, 0.5, 0.3])
    assert [drawn_from(law, number) for number in (0, 0.49, 0.51, 0.79, 0.81, 0.9999)] == [
        2, 2, 3, 3, 0, 0,
    ]  # fmt: skip
