"""Every page of the book in Chromium, as a reader meets it: desktop and phone, light and dark.

Each page is opened once, from a server or from the disk, in one of two colours and at one of two
widths, and then looked at from the other width; axe looks at a sample of them. `make proofs` opens
each twice, from both, in both colours, and shows all to axe. The tests then ask what was seen. The
pages come from `_toc.yml`, so a new chapter joins by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from tests.conftest import ROOT, chapters, modules_with_pages, toc_pages
from tests.sampling import left_to_proofs, parameters, sample, sampled, takes_all

pytestmark = pytest.mark.browser

DESKTOP, PHONE = (1280, 900), (390, 844)
# Opened twice, a page is seen at both widths and in both colours, once from a server and once from
# the disk; its neighbours have the other two combinations.
LOOKS = {
    "desktop-light": ("http", DESKTOP, "light"),
    "disk-phone-dark": ("file", PHONE, "dark"),
    "disk-desktop-dark": ("file", DESKTOP, "dark"),
    "phone-light": ("http", PHONE, "light"),
}
# The pages of `_toc.yml`, and the pages that Sphinx makes by itself.
PAGES = [*toc_pages(), "search", "genindex"]
# A page made of the same few things over and over is visited once, in this look.
ONCE = "disk-phone-dark"
LONG = "book/kill_matrix"
# The first look of a page is for `make test`: four neighbours have all four of them.
ORDERS = [[0, 1], [2, 3], [1, 0], [3, 2]]
VISITS = [
    pytest.param((page, look), marks=left_to_proofs if number or page == LONG else ())
    for page, order in zip(PAGES, cycle(ORDERS), strict=False)
    for number, look in enumerate(
        [ONCE] if page == LONG else [list(LOOKS)[place] for place in order]
    )
]
# The pages of the modules have one template: one of four, and those beside them in their folder.
OF_PACKAGES = ["book/api/peers", "book/api/transforms"]
OF_PACKAGES += [f"book/api/{name}" for name in modules_with_pages()[::4]]
VISITS += [
    pytest.param((*page.values, ONCE), marks=page.marks) for page in parameters(OF_PACKAGES, 2)
]
# One theme makes all pages, and the directives that it dresses stand on several of them.
SHOWN_TO_AXE = sample([visit.values[0] for visit in VISITS if not visit.marks], 6, "-".join)
AXE_VISITS = [
    visit
    if visit.marks or visit.values[0] in SHOWN_TO_AXE
    else pytest.param(*visit.values, marks=left_to_proofs)
    for visit in VISITS
]
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOCAL = ("data:", "blob:", "about:")

WAIT_FOR_MATH = "() => window.MathJax?.startup?.promise?.then(() => true) ?? true"
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Text of what is folded away counts too: innerText leaves it out.
LOOK_AT = """() => ({
  theme: document.documentElement.dataset.theme,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  read: [...document.querySelectorAll('main mjx-container')].map(m => m.textContent),
  formulas: document.querySelectorAll('.math').length,
  typeset: document.querySelectorAll('mjx-container').length,
  bare: [...document.querySelectorAll('.math')].filter(m => !m.querySelector('mjx-container'))
    .map(m => m.textContent.slice(0, 60)),
  wrong: [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map(m => m.textContent),
  images: [...document.querySelectorAll('main img')].map(image => ({
    src: image.src.split('/').pop().slice(0, 60), alt: image.alt, width: image.naturalWidth})),
  drawn: [...document.querySelectorAll('main .attn-drawn svg')].map(
    svg => svg.role === 'img' && svg.ariaLabel),
})"""
# What a core holds beside text. A live figure has its own tests; a formula is measured in its box.
TOO_WIDE = """() => {
  const end = document.getElementById("going-deeper");
  if (!end) return [];
  const article = document.querySelector("article.bd-article");
  const column = article.querySelector("section").getBoundingClientRect();
  const tables = "table, .pst-scrollable-table-container";
  const parts = `pre, ${tables}, mjx-math, figure, img, .cell_output svg`;
  for (const fold of article.querySelectorAll("details")) fold.open = true;
  return [...article.querySelectorAll(parts)].filter((part) => {
    if (!(part.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
    if (!part.checkVisibility() || part.closest(".attn-figure")) return false;
    const box = part.getBoundingClientRect();
    const scrolls = part.matches("pre, table, div") && part.scrollWidth > part.clientWidth + 1;
    return scrolls || box.left < column.left - 1 || box.right > column.right + 1;
  }).map((part) => `${part.tagName}: ${part.textContent.trim().slice(0, 60)}`);
}"""
# Texts look alike that have one colour and one size on one ground. An element has the ground of its
# parent, unless it paints, fades or moves something: then it counts with its class. To measure the
# contrast of every one of ten thousand texts takes a minute, so axe measures one of each look, and
# a few in `make proofs`.
MARK_LOOKS = """few => {
  const grounds = new Map([[null, '']]), looks = new Map();
  for (const element of document.querySelectorAll('*')) {
    const style = getComputedStyle(element), above = grounds.get(element.parentElement) ?? '';
    const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter,
      style.mixBlendMode, style.position].join();
    const ground = own === 'rgba(0, 0, 0, 0),none,1,none,normal,static' ? above
      : `${above} > ${element.tagName}.${element.getAttribute('class')} ${own}`;
    grounds.set(element, ground);
    const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!text && !element.matches('input, select, textarea')) continue;
    if (!element.checkVisibility()) continue;
    const look = [ground, element.tagName, style.color, style.webkitTextFillColor, style.textShadow,
      style.fontSize, style.fontWeight, style.visibility].join();
    looks.set(look, (looks.get(look) ?? 0) + 1);
    if (looks.get(look) <= few) element.dataset.measured = '';
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-measured]'}]});
}"""
FEW = 3 if takes_all() else 1
# Colours still fading in would be measured half-way, and axe must not load anything itself.
RUN_AXE = """async () => {
  const result = await axe.run(document, {resultTypes: ['violations'], preload: false});
  return result.violations.flatMap(({id, impact, nodes}) => nodes.map(
    node => `${impact} ${id}: ${node.html.slice(0, 120)}: ${node.failureSummary}`))
}"""


@dataclass
class Seen:
    """Everything that one visit to a page showed."""

    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    axe: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def watch(page: Page, base: str) -> Seen:
    """Note everything that a page complains about or asks for, from now on."""
    seen = Seen()

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.troubles.append(f"console {message.type}: {message.text}")

    def miss(request: Request) -> None:
        # A reader who leaves a page before it is whole aborts what was still on its way.
        if request.failure != "net::ERR_ABORTED":
            seen.troubles.append(f"{request.failure}: {request.url}")

    def answer(response: Response) -> None:
        if response.status >= 400:
            seen.troubles.append(f"{response.status}: {response.url}")

    def ask(request: Request) -> None:
        if not request.url.startswith((base, *LOCAL)):
            seen.requests.append(request.url)

    page.on("console", hear)
    page.on("pageerror", lambda error: seen.troubles.append(f"script: {error}"))
    page.on("requestfailed", miss)
    page.on("response", answer)
    page.on("request", ask)
    return seen


@pytest.fixture(scope="module")
def windows(browser: Browser, bases: dict[str, str]) -> dict[str, tuple[Page, Seen]]:
    """A window for each way to look, in which one page comes after the other.

    To open a window takes a browser as long as to show a page in it.
    """
    opened = {}
    for look, (scheme, shape, colours) in LOOKS.items():
        page = browser.new_page(viewport=size(shape), color_scheme=colours)
        opened[look] = page, watch(page, bases[scheme])
    return opened


@pytest.fixture(
    scope="module",
    params=VISITS,
    ids=lambda pair: "-".join(pair),
)
def seen(
    request: pytest.FixtureRequest,
    windows: dict[str, tuple[Page, Seen]],
    bases: dict[str, str],
) -> Seen:
    """Visit a page in one of the ways to look at it."""
    name, look = request.param
    scheme, shape, colours = LOOKS[look]
    page, noted = windows[look]
    page.set_viewport_size(size(shape))
    page.goto(f"{bases[scheme]}/{name}.html", wait_until="load")
    page.evaluate(WAIT_FOR_MATH)
    seen = Seen(facts=page.evaluate(LOOK_AT) | {"colours": colours})
    if takes_all() or request.param in SHOWN_TO_AXE:
        seen.axe = look_with_axe(page, FEW)
    page.set_viewport_size(size(DESKTOP if shape == PHONE else PHONE))
    seen.facts["wide from the other"] = page.evaluate(SIDEWAYS)
    seen.facts["too wide"] = page.evaluate(TOO_WIDE)
    seen.troubles, noted.troubles = noted.troubles, []
    seen.requests, noted.requests = noted.requests, []
    return seen


def without_formulas(window: BrowserContext) -> Page:
    """Open a page that typesets nothing, which takes longer than all the rest of it."""
    page = window.new_page()
    page.route("**/mathjax/*", lambda route: route.abort())
    return page


def size(pair: tuple[int, int]) -> dict[str, int]:
    """A width and a height, as Playwright takes them."""
    return {"width": pair[0], "height": pair[1]}


def look_with_axe(page: Page, few: int) -> list[str]:
    """Return axe's complaints about a page, with the contrast of so many texts of each look."""
    # A fade that the page itself cancels is over too; its promise is rejected.
    page.evaluate(
        "() => Promise.allSettled(document.getAnimations().map(moving => moving.finished))"
    )
    page.evaluate(AXE)
    page.evaluate(MARK_LOOKS, few)
    return page.evaluate(RUN_AXE)


def test_page_loads_without_an_error_or_a_warning(seen: Seen) -> None:
    assert seen.troubles == []


def test_page_asks_nothing_of_the_network(seen: Seen) -> None:
    assert seen.requests == []


def test_page_takes_the_colours_of_the_system(seen: Seen) -> None:
    assert seen.facts["theme"] == seen.facts["colours"]


def test_page_typesets_every_formula(seen: Seen) -> None:
    assert seen.facts["bare"] == []
    assert seen.facts["wrong"] == []
    assert not [formula for formula in seen.facts["read"] if "???" in formula]


def test_page_does_not_scroll_sideways(seen: Seen) -> None:
    assert seen.facts["wide"] <= 0
    assert seen.facts["wide from the other"] <= 0


def test_core_is_no_wider_than_its_column(seen: Seen) -> None:
    assert seen.facts["too wide"] == []


def test_images_are_there_and_say_what_they_show(seen: Seen) -> None:
    for label in seen.facts["drawn"]:
        assert len((label or "").split()) >= 3
    for image in seen.facts["images"]:
        assert image["width"] > 0, image
        assert len((image["alt"] or "").split()) >= 3, image
        assert not (image["alt"] or "").endswith((".png", ".svg", ".jpg")), image


@pytest.mark.parametrize("seen", AXE_VISITS, ids="-".join, indirect=True, scope="module")
def test_page_is_accessible(seen: Seen) -> None:
    assert seen.axe == []


PALE = ["color: #aaa", "background: #333", "opacity: 0.4", "-webkit-text-fill-color: #aaa"]


@pytest.mark.parametrize("style", parameters(PALE, 1))
def test_one_pale_text_among_thousands_is_found(
    browser: Browser, bases: dict[str, str], style: str
) -> None:
    with browser.new_context(color_scheme="light") as window:
        page = window.new_page()
        page.goto(f"{bases['file']}/book/notation.html")
        page.locator("main section p").last.evaluate("(p, s) => p.setAttribute('style', s)", style)
        (found,) = look_with_axe(page, FEW)
        assert "serious color-contrast: <p style=" in found


@pytest.fixture(params=["http", "file"])
def home(
    request: pytest.FixtureRequest, browser: Browser, bases: dict[str, str]
) -> Iterator[tuple[Page, Seen]]:
    """Open the book's front door, from a server or from the disk."""
    base = bases[request.param]
    with browser.new_context(viewport=size(DESKTOP)) as window:
        page = window.new_page()
        seen = watch(page, base)
        page.goto(f"{base}/index.html")
        page.wait_for_url("**/book/intro.html")
        yield page, seen


def test_search_finds_a_word_of_a_chapter(home: tuple[Page, Seen]) -> None:
    page, seen = home
    page.keyboard.press("Control+k")
    page.locator("input[name=q]:visible").fill("temperature")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li a", has_text="SELECT").first
    found.wait_for()
    assert (seen.troubles, seen.requests) == ([], [])


# Things that need no file but the page are tried from a server; from the disk too in the proofs.
BY_EITHER_WAY = pytest.mark.parametrize(
    "home", ["http", pytest.param("file", marks=left_to_proofs)], indirect=True
)


@BY_EITHER_WAY
def test_theme_switch_changes_the_colours_and_is_remembered(home: tuple[Page, Seen]) -> None:
    page, seen = home
    themes = []
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        themes.append(page.evaluate("document.documentElement.dataset.mode"))
    assert sorted(themes) == ["auto", "dark", "light"]
    page.evaluate("document.documentElement.dataset.mode")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.mode") == themes[-1]
    assert (seen.troubles, seen.requests) == ([], [])


# A server sends the same files, and each of them is opened from one above. That all links lead
# somewhere is for test_book.py.
@sampled
@pytest.mark.parametrize("home", ["file"], indirect=True)
def test_navigation_reaches_every_page_of_the_toc(home: tuple[Page, Seen]) -> None:
    page, seen = home
    for name in sample(toc_pages()[1:], 2):
        page.locator(f"nav.bd-links a[href$='{Path(name).name}.html']").first.click()
        page.wait_for_url(f"**/{name}.html", wait_until="commit")
    assert (seen.troubles, seen.requests) == ([], [])


# All chapters have the link from one template; test_book.py looks at the files behind them.
@pytest.mark.parametrize("name", parameters(chapters(), 1))
def test_problem_set_downloads_from_its_chapter(
    browser: Browser, bases: dict[str, str], name: str
) -> None:
    with browser.new_context(accept_downloads=True) as window:
        page = without_formulas(window)
        page.goto(f"{bases['http']}/book/{name}.html", wait_until="domcontentloaded")
        with page.expect_download() as waiting:
            page.locator(".course-links a.download").click()
        assert waiting.value.suggested_filename == f"{name}.ipynb"
        wanted = ROOT / "exercises" / name / f"{name}.ipynb"
        assert Path(waiting.value.path()).read_bytes() == wanted.read_bytes()


@BY_EITHER_WAY
def test_every_page_can_be_used_from_the_keyboard(home: tuple[Page, Seen]) -> None:
    page, _ = home
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Skip to main content"
