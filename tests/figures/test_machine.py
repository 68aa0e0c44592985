"""The attention machine: in every state its numbers are the package's, and it can be taken."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page
from torch.testing import assert_close

from attn_course.interactive import attention_machine
from attn_course.interactive.machine import name_of
from attn_course.interactive.machine.states import STATES
from tests.book.test_pages import DESKTOP, PHONE
from tests.conftest import ROOT
from tests.figures.interactive_laws import (
    AT_WIDTHS,
    read_aloud_after_a_pause,
    watched,
    write_page,
)
from tests.figures.interactive_pages import look, read_all, shown
from tests.figures.machine_numbers import LAWS, drawn_states
from tests.sampling import parameters, sampled, takes_all

sys.path.append(str(ROOT / "tools"))
from draw_frames import TAKE

in_every_state = pytest.mark.parametrize("name", STATES)
# Steps, links and sentences are one component's: what holds in some states holds in all.
in_some_states = pytest.mark.parametrize("name", parameters(STATES, 3))
ALL = "all of them"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write a page of each machine, since nine in one take nine times as long, and one of all."""
    folder, html = (
        tmp_path_factory.mktemp("machine"),
        {n: attention_machine(n).html for n in STATES},
    )
    for name in STATES:
        (folder / name).mkdir()
    of_each = {name: write_page(folder / name, html[name]) for name in STATES}
    return of_each | {ALL: write_page(folder, "".join(html.values()))}


@pytest.fixture
def address(request: pytest.FixtureRequest, addresses: dict[str, str]) -> str:
    """Return the page of the machine that a test is about, or of all."""
    of_test = getattr(request.node, "callspec", None)
    return addresses[of_test.params.get("name", ALL) if of_test else ALL]


@pytest.fixture(scope="module")
def window(browser: Browser, addresses: dict[str, str]) -> Iterator[Page]:
    with watched(browser, addresses[ALL]) as page:
        yield page


@pytest.fixture
def page(window: Page, address: str) -> Page:
    return shown(window, address)


# The picture as it stands without scripts, and what it says.
ALONE = f'root => ({TAKE})(root).replace(/ ?style="[^"]*"/, \'\')'
# The places in a picture that a reader can take, each once.
GRIPS = "root => [...new Set([...root.querySelectorAll('.grip')].map(one => one.dataset.grip))]"
BAR = 60  # pixels that the bar above a page of the book takes of a screen
# Letters beyond the edges of the picture.
BEYOND = """root => {
  const edge = root.getBoundingClientRect(), out = (box) => box.left < edge.left - 1
    || box.right > edge.right + 1 || box.top < edge.top - 12 || box.bottom > edge.bottom;
  return [...root.querySelectorAll('.attn-picture .t')].filter((one) =>
    one.textContent && out(one.getBoundingClientRect())).map((one) => one.textContent);
}"""
# Pairs of visible texts in a picture that cover each other by more than a hair.
COLLIDING = """root => {
  const texts = [...root.querySelectorAll('.attn-picture .t')]
    .filter((one) => one.textContent && one.getAttribute('opacity') !== '0')
    .map((one) => [one.textContent, one.getBoundingClientRect()]);
  return texts.flatMap(([text, a], i) => texts.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4.5).map(([other]) => [text, other]));
}"""
HEIGHT = """root => {
  const [form, picture] = ["form", ".attn-picture"].map((one) => root.querySelector(one));
  return form.getBoundingClientRect().bottom - picture.getBoundingClientRect().top;
}"""


def assert_on_one_screen(figure: Locator, shape: tuple[int, int]) -> None:
    """Controls and picture are seen together, none of it sticks out, and no letters collide."""
    assert figure.evaluate(HEIGHT) <= shape[1] - BAR
    assert figure.evaluate(BEYOND) == []
    assert figure.evaluate(COLLIDING) == []


def machine(page: Page, name: str) -> Locator:
    return page.locator(f".attn-figure[data-figure='{name_of(name)}']")


def opens(name: str) -> int:
    """The step that a machine opens at."""
    return STATES[name].opens or len(STATES[name].steps)


def reading(root: Locator) -> dict[str, Any]:
    """The numbers of a machine; minus infinity is None."""
    return json.loads(root.evaluate("root => JSON.stringify(root.reading)"))


def test_every_state_has_its_law() -> None:
    assert list(LAWS) == list(STATES)


@sampled
@pytest.mark.browser
@in_every_state
def test_script_gives_the_numbers_of_the_package(page: Page, name: str) -> None:
    forms = drawn_states(name, 400 if takes_all() else 60)
    for form, got in zip(forms, read_all(machine(page, name), forms), strict=True):
        assert got.items() >= set_by(name, form).items()
        assert_agree(got, LAWS[name].numbers(got))


def set_by(name: str, form: dict[str, Any]) -> dict[str, Any]:
    """The numbers that a form of drawn lists and places of sliders stands for."""
    stops = STATES[name].stops
    lists = {key: [*map(float, form[key].split("_"))] for key in form.keys() & STATES[name].numbers}
    return lists | {key: stops[key][form[key]] for key in stops}


def assert_agree(got: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, number in wanted.items():
        if isinstance(number, dict):
            assert_agree(got[key], number)
        else:
            found = torch.tensor(got[key], dtype=number.dtype)
            assert_close(found, number, rtol=1e-9, atol=1e-9, msg=lambda m, k=key: f"{k}: {m}")


KEYS = {"vertical": ["ArrowUp", "ArrowDown"], "horizontal": ["ArrowLeft", "ArrowRight"]}
LAST_ROW = "[data-grip='row2']"
HERE = """() => {
  const here = document.activeElement, seen = getComputedStyle(here).strokeWidth;
  return [here.dataset.grip, here.getAttribute('aria-orientation'), seen];
}"""


def follow_the_last_row(root: Locator, name: str) -> None:
    """Follow it, so that each row that is tried, from the first one on, is a new one."""
    if "row" in STATES[name].numbers:
        root.locator(LAST_ROW).click()


@pytest.mark.browser
@in_every_state
def test_every_grip_answers_the_keyboard_and_shows_where_it_is(page: Page, name: str) -> None:
    root = machine(page, name)
    follow_the_last_row(root, name)
    reached = set()
    if grips := root.evaluate(GRIPS):
        root.locator(".grip").first.focus()
    for _ in range(root.locator(".grip").count()):
        key, way, seen = page.evaluate(HERE)
        assert seen == "3px", key
        before = reading(root)
        for press in KEYS.get(way, ["Enter"]):  # at one end of its range only one of two moves it
            if reading(root) == before:
                page.keyboard.press(press)
        assert reading(root) != before, key
        assert page.evaluate(HERE)[:2] == [key, way], "the focus is lost"
        reached.add(key)
        page.keyboard.press("Tab")
    assert reached == set(grips)
    assert grips or STATES[name].acts


@pytest.mark.browser
@in_every_state
def test_every_grip_follows_the_pointer(page: Page, name: str) -> None:
    root = machine(page, name)
    follow_the_last_row(root, name)
    for key in root.evaluate(GRIPS):
        grip = root.locator(f"[data-grip='{key}']").first
        grip.scroll_into_view_if_needed()
        box, before = grip.bounding_box(), reading(root)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        if grip.get_attribute("role") == "slider":
            now, least = (grip.get_attribute(f"aria-value{one}") for one in ("now", "min"))
            page.mouse.move(x + (41 if now == least else -31), y + 17, steps=3)
        page.mouse.up()
        assert reading(root) != before, key
        page.mouse.move(x, y)
        after = reading(root)
        page.mouse.move(x + 9, y)
        assert reading(root) == after, f"{key} is held after the button is up"


@pytest.mark.browser
def test_the_query_is_taken_anywhere_on_its_line_and_a_point_beneath_it_as_before(
    page: Page,
) -> None:
    root = machine(page, "kernel_regression")
    query, point = (root.locator(f"[data-grip={key}]").first for key in ("query", "point3"))

    def drag(x: float, y: float, by: float) -> list[bool]:
        before = [one.get_attribute("aria-valuenow") for one in (query, point)]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by, y, steps=3)
        page.mouse.up()
        after = [one.get_attribute("aria-valuenow") for one in (query, point)]
        return [one != other for one, other in zip(before, after, strict=True)]

    query.scroll_into_view_if_needed()
    line, under = query.bounding_box(), point.bounding_box()
    at, there = (box["x"] + box["width"] / 2 for box in (line, under))
    height = under["y"] + under["height"] / 2
    assert drag(at, line["y"] + 4, there - at) == [True, False]
    assert drag(there, height, 40) == [False, True]
    assert drag(there, height, 40) == [True, False]


@pytest.mark.browser
def test_a_finger_masks_a_key_and_sets_a_score(page: Page) -> None:
    look(page, PHONE, "dark")
    root = machine(page, "retrieval")

    def tap(key: str, across: float) -> None:
        box = root.locator(f"[data-grip={key}]").bounding_box()
        page.touchscreen.tap(box["x"] + across * box["width"], box["y"] + box["height"] / 2)

    tap("mask1", 0.5)
    assert reading(root)["off"] == [0, 1, 0]
    assert reading(root)["weights"][1] == 0
    tap("mask1", 0.5)
    assert reading(root)["off"] == [0, 0, 0]
    tap("score2", 0.9)
    assert reading(root)["scores"][2] > 2


@pytest.mark.browser
@pytest.mark.parametrize("name", ["retrieval", "bahdanau", "luong"])
def test_the_score_of_a_masked_key_reads_minus_infinity_in_the_words_too(
    page: Page, name: str
) -> None:
    root = machine(page, name)
    read_all(root, [{"off": "0_1_0", "step": 1}])
    assert root.locator("text", has_text="−∞").count() == 1
    assert root.locator(".attn-sentence").inner_text().count("−∞") == 1


@pytest.mark.browser
def test_rings_mark_the_outputs_in_the_other_order(page: Page) -> None:
    root = machine(page, "multi_head")
    rings = root.locator("circle.s.output")

    def outputs() -> dict[str, list[float]]:
        return {id_: reading(root)[id_]["output"] for id_ in ("one", "other", "both")}

    before, legend = outputs(), root.get_by_text("ring: the output in the other order")
    assert (rings.count(), legend.count()) == (0, 0)  # they would answer what the chapter asks
    root.get_by_role("radio", name="let \u2026 hang").check()
    assert (rings.count(), legend.count()) == (3, 1)
    assert (outputs()["one"], outputs()["other"]) == (before["other"], before["one"])
    root.get_by_role("radio", name="hang \u2026 let").check()
    assert (rings.count(), legend.count()) == (0, 0)
    read_all(root, [{"stretch": "1.5"}])
    assert (rings.count(), legend.count()) == (3, 1)
    for title in ("two heads", "instead, a single head"):
        assert root.locator(".t.bold", has_text=title).count() == 1


@pytest.mark.browser
@in_some_states
def test_steps_go_forwards_and_backwards_by_button_and_by_key(page: Page, name: str) -> None:
    root, last = machine(page, name), len(STATES[name].steps)
    back, on = (root.get_by_role("button", name=f"one step {way}") for way in ("back", "on"))
    assert reading(root)["step"] == str(opens(name))
    read_all(root, [{"step": last}])
    assert on.get_attribute("aria-disabled") == "true"
    for step in range(last - 1, 0, -1):
        back.click()
        assert reading(root)["step"] == str(step)
    assert back.get_attribute("aria-disabled") == "true"
    back.click(force=True)
    assert reading(root)["step"] == "1"
    on.focus()
    page.keyboard.press("Enter")
    assert reading(root)["step"] == "2"
    root.get_by_role("radio", checked=True).first.press("ArrowLeft")
    assert reading(root)["step"] == "1"


@pytest.mark.browser
@in_some_states
def test_without_motion_a_step_is_there_at_once(page: Page, name: str) -> None:
    root, last = machine(page, name), str(len(STATES[name].steps))
    read_all(root, [{"step": last}])
    look(page, DESKTOP, "light", motion="reduce")
    whole = root.evaluate(ALONE)
    look(page, DESKTOP, "light", motion="reduce")
    read_all(root, [{"step": 1}])
    part = root.evaluate(ALONE)
    assert part != whole
    page.wait_for_timeout(60)
    assert root.evaluate(ALONE) == part
    read_all(root, [{"step": last}])
    assert root.evaluate(ALONE) == whole
    look(page, DESKTOP, "light")
    read_all(root, [{"step": 1}])
    assert root.evaluate(ALONE) != part  # it has only begun
    ended = f"root => ({ALONE})(root) === {json.dumps(part)}"
    page.wait_for_function(ended, arg=root.element_handle(), timeout=30_000)


@pytest.mark.browser
@in_some_states
def test_link_opens_the_state_and_reset_leads_back(page: Page, address: str, name: str) -> None:
    root = machine(page, name)
    first = reading(root)
    (got,) = read_all(root, drawn_states(name, 1))
    link = root.get_by_role("link", name="link to this state").get_attribute("href")
    page.goto("about:blank")
    page.goto(address + link)
    assert reading(root) == got != first
    root.get_by_role("button", name="start again").click()
    assert reading(root) == first


@pytest.mark.browser
@in_some_states
def test_what_a_link_cannot_mean_is_left_as_it_was(page: Page, address: str, name: str) -> None:
    first = reading(machine(page, name))
    wrong = "".join(f"&{key}=1_x_NaN" for key in STATES[name].numbers)
    page.goto("about:blank")
    page.goto(f"{address}#lab={name_of(name)}{wrong}&step={opens(name)}")
    assert reading(machine(page, name)) == first


@pytest.mark.browser
@in_some_states
def test_what_it_says_is_seen_at_once_and_read_aloud_after_a_pause(page: Page, name: str) -> None:
    root = machine(page, name)
    with read_aloud_after_a_pause(page, root) as sentence:
        first = sentence.inner_text()
        read_all(root, drawn_states(name, 3))
        assert sentence.inner_text() != first
        assert root.locator("[role=status]").inner_text() == ""
    assert root.get_by_role("group", name=sentence.inner_text(), exact=True).count() == 1


# The contrast (WCAG 2) of letters in each role, on paper and on paper tinted with a fifth of it.
CONTRASTS = """root => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const svg = root.querySelector(".attn-picture > svg"), paper = getComputedStyle(root);
  const light = (...layers) => {
    for (const [colour, alpha] of layers) {
      [pen.fillStyle, pen.globalAlpha] = [colour, alpha];
      pen.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = document.createElement("p");
  ground.style.color = "Canvas";
  root.append(ground);
  const canvas = getComputedStyle(ground).color;
  return ["query", "key", "value", "weight", "output"].flatMap((role) => {
    const text = svg.appendChild(document.createElementNS(svg.namespaceURI, "text"));
    text.setAttribute("class", `t ${role}`);
    const ink = light([canvas, 1], [getComputedStyle(text).fill, 1]);
    const tint = paper.getPropertyValue(`--attn-${role}`);
    return [0, 0.2].map((alpha) => {
      const under = light([canvas, 1], [tint, alpha]);
      return (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05);
    });
  });
}"""


@pytest.mark.browser
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_letters_of_every_role_can_be_read_on_paper_and_on_their_tint(
    page: Page, colours: str
) -> None:
    look(page, DESKTOP, colours)
    contrasts = machine(page, "retrieval").evaluate(CONTRASTS)
    assert len(contrasts) == 10
    assert min(contrasts) >= 4.5, contrasts


@pytest.mark.browser
@in_every_state
@AT_WIDTHS
def test_control_and_effect_are_on_one_screen(
    page: Page, name: str, shape: tuple[int, int]
) -> None:
    look(page, shape, "light")
    root = machine(page, name)
    states = drawn_states(name, 8)
    for form in states:
        read_all(root, [form])
        assert root.bounding_box()["height"] <= shape[1] - BAR
        beyond = root.evaluate(BEYOND)
        assert beyond == [], f"outside of the figure: {beyond}, in {form}"


@pytest.mark.browser
@in_every_state
def test_names_do_not_collide(page: Page, name: str) -> None:
    root = machine(page, name)
    for shape in (DESKTOP, PHONE):
        look(page, shape, "light", motion="reduce")
        for form in [{}, *drawn_states(name, 8)]:
            read_all(root, [form | {"step": len(STATES[name].steps)}])
            assert root.evaluate(COLLIDING) == [], form


def test_unknown_state_is_named() -> None:
    with pytest.raises(ValueError, match=r"no state 'retreival'; it has retrieval"):
        attention_machine("retreival")
