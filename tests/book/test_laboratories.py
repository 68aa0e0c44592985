"""The laboratories: every interactive figure has a page of its own, and links open their states."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser

from attn_course.interactive.machine import name_of
from attn_course.interactive.machine.states import STATES
from tests.book.test_pages import AXE, DESKTOP, PHONE, RUN_AXE, size, watch
from tests.conftest import ROOT, Build
from tests.sampling import left_to_proofs, sample, sampled, takes_all

sys.path.append(str(ROOT / "book" / "_ext"))
from figures import stored_figures
from laboratories import laboratories

MACHINES = {name_of(state) for state in STATES}
LABS = laboratories(ROOT / "book")
ANSWERED = "() => document.querySelector('.attn-figure')?.reading"
VALUES = "form => [...new FormData(form)].filter(([, value]) => value !== '')"


@pytest.fixture(scope="module")
def links(book: Build) -> list[tuple[str, str]]:
    """The links of the page of laboratories: the name of one, and the state it is to be in."""
    page = (book.html / "book" / "laboratory.html").read_text(encoding="utf-8")
    found = re.findall(r'href="\.\./labs/([\w-]+)\.html#lab=[\w-]+([^"]*)"', page)
    return [(name, unescape(state)) for name, state in found]


def test_every_figure_is_on_the_page_of_laboratories(links: list[tuple[str, str]]) -> None:
    assert list(dict.fromkeys(name for name, _ in links)) == list(LABS)


def test_every_page_stands_alone(book: Build) -> None:
    for name, lab in LABS.items():
        page = (book.html / "labs" / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="../book/{lab.chapter}.html"' in page
        assert page.count("<figure") == 1
        assert (book.html / "book" / f"{lab.chapter}.html").is_file()


def test_figure_opened_from_a_chapter_leaves_the_chapter_open(book: Build) -> None:
    chapters = (path.read_text(encoding="utf-8") for path in book.html.glob("book/[0-9]*.html"))
    links = [link for page in chapters for link in re.findall(r'<a [^>]*"\.\./labs/[^>]*>', page)]
    assert links
    assert all('target="_blank"' in link for link in links)


@pytest.mark.browser
@sampled
@pytest.mark.parametrize(
    ("shape", "colours"),
    [
        pytest.param(PHONE, "dark", id="phone"),
        pytest.param(DESKTOP, "light", id="desktop", marks=left_to_proofs),
    ],
)
def test_every_link_opens_its_state(
    browser: Browser,
    book: Build,
    links: list[tuple[str, str]],
    shape: tuple[int, int],
    colours: str,
) -> None:
    base = book.html.resolve().as_uri()
    with browser.new_context(
        viewport=size(shape), color_scheme=colours, reduced_motion="reduce"
    ) as window:
        page = window.new_page()
        seen = watch(page, base)
        for number, (name, state) in enumerate(sample(links, 12, "".join)):
            page.goto(f"{base}/labs/{name}.html?{number}#lab={name}{state}")
            if state:
                page.wait_for_function(ANSWERED)
            form = page.locator("form")
            wanted, found = dict(parse_qsl(state)), dict(form.evaluate(VALUES))
            assert wanted.items() <= found.items(), (name, state, found)
            assert not page.get_by_role("alert").is_visible(), (name, state)
            wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(wide) == 0, name
            if number == 0 or takes_all():  # each figure is shown to axe by its own tests
                page.evaluate(AXE)
                assert page.evaluate(RUN_AXE) == [], name
        assert (seen.troubles, seen.requests) == ([], [])


def test_a_chapter_shows_its_figures_once() -> None:
    shown = [
        figure.name
        for path in sorted(ROOT.glob("book/[0-9]*.ipynb"))
        for figure, _ in stored_figures(json.loads(path.read_text(encoding="utf-8")))
    ]
    assert [name for name in shown if name not in MACHINES] == [
        name for name in LABS if name not in MACHINES
    ]
