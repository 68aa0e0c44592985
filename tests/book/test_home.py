"""The pages around the chapters keep up with them: the road, the colours, the reference."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser
from sphinx.application import Sphinx

from attn_course.plots import ROLE
from tests.book.test_pages import without_formulas
from tests.conftest import ROOT, Build, chapters, modules_with_pages
from tests.sampling import left_to_proofs

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from reference import remove_old_pages

TOP = re.compile(r"attn_course\.\w+")
ROAD = (ROOT / "book" / "road.html").read_text(encoding="utf-8")


def test_road_and_notation_page_use_the_colours_of_the_figures() -> None:
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    for role, colour in ROLE.items():
        assert f".road .{role} {{ fill: {colour}; }}" in ROAD
        assert re.search(rf"background:{colour}\"></span><strong>{role}</strong>", notation)


def test_every_module_has_its_page_and_no_other_has_one(book: Build) -> None:
    folder = book.html / "book" / "api"
    pages = {page.stem: page.read_text(encoding="utf-8") for page in folder.glob("*.html")}
    modules = modules_with_pages()
    assert set(pages) == {*modules, "peers", "transforms"}
    assert [name for name in modules if f'id="module-{name}"' not in pages[name]] == []


def test_menu_of_the_package_has_the_modules_of_chapters_first(book: Build) -> None:
    page = (book.html / "book" / "api" / "attn_course.html").read_text(encoding="utf-8")
    menu = re.findall(
        r'"toctree-l3"><a class="reference internal" href="attn_course\.(\w+)\.', page
    )
    slugs = [name[3:] for name in chapters()]
    assert menu[: len(slugs)] == slugs
    assert len(menu) == len([name for name in modules_with_pages() if TOP.fullmatch(name)])


def test_pages_of_modules_that_are_no_more_are_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "book" / "api"
    folder.mkdir(parents=True)
    staying = {"attn_course.rst", "attn_course.data.draw.rst", "peers.md"}
    listing = {"attn_course.data.rst"}  # it is made again, without the module that is gone
    for name in {*staying, *listing, "attn_course.data.gone.rst", "gone.too.rst"}:
        (folder / name).touch()
    remove_old_pages(SimpleNamespace(srcdir=tmp_path), None)
    assert {page.name for page in folder.iterdir()} == staying


def test_home_page_links_what_was_made_beside_it_and_else_says_how(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    settings = (
        'extensions = ["myst_parser", "downloads"]\nmyst_enable_extensions = ["colon_fence"]\n'
    )
    (tmp_path / "conf.py").write_text(settings, encoding="utf-8")
    (tmp_path / "index.md").write_text(
        "# A\n\n:::{downloads}\nAsk the author.\n:::\n", encoding="utf-8"
    )

    def built() -> str:
        app = Sphinx(tmp_path, tmp_path, tmp_path / "html", tmp_path / "trees", "html", status=None)
        app.build()
        return (tmp_path / "html" / "index.html").read_text(encoding="utf-8")

    assert "Ask the author." in built()
    (tmp_path / "dist" / "attention.pdf").write_bytes(b"%" * 2_600_000)
    page = built()
    (link,) = re.findall(r'href="(_downloads/\w+/attention\.pdf)"', page)
    assert (tmp_path / "html" / link).is_file()
    assert "3 MB" in page
    assert "Ask the author." not in page
    (tmp_path / "dist" / "attention.pdf").unlink()
    assert "Ask the author." in built()


@pytest.mark.browser
@pytest.mark.parametrize("base", [pytest.param("http", marks=left_to_proofs), "file"])
def test_home_page_leads_back_to_where_a_reader_stopped(
    browser: Browser, bases: dict[str, str], base: str
) -> None:
    home, chapter = f"{bases[base]}/book/intro.html", f"{bases[base]}/book/{chapters()[0]}.html"
    with browser.new_context() as window:
        page = without_formulas(window)
        page.goto(home)
        line = page.locator("p.course-links", has_text="Go on where you stopped")
        assert line.count() == 0
        page.goto(f"{chapter}#temperature")
        page.wait_for_function("scrollY > 0")
        page.goto(home)
        link = line.get_by_role("link")
        assert link.text_content() == "From SELECT to a soft lookup: Temperature"
        assert "Read" not in line.text_content()
        link.click()
        page.wait_for_url(f"{chapter}#temperature")
        for name, place in ((chapters()[1], "#going-deeper"), (chapters()[0], "#going-deeper")):
            page.goto(f"{bases[base]}/book/{name}.html{place}")
            page.wait_for_function("scrollY > 0")
        page.goto(f"{chapter}#temperature")
        page.goto(home)
        assert "Read to the end of the core: 01, 02. Only this browser" in line.text_content()
        line.get_by_role("button", name="forget").click()
        page.goto(home)
        assert line.count() == 0
        odd_read = {"place": f"{chapters()[0]}.html#x", "title": "x", "read": ["<b>", 1, "100"]}
        page.evaluate("odd => localStorage.setItem('attn-stopped', odd)", json.dumps(odd_read))
        page.goto(home)
        assert "Read" not in line.text_content()
        for odd in ("no JSON", json.dumps({"place": "javascript:alert(1)", "title": "x"})):
            page.evaluate("odd => localStorage.setItem('attn-stopped', odd)", odd)
            page.goto(home)
            assert line.count() == 0


def test_notation_page_names_tests_that_there_are() -> None:
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/\S+\.py)`", notation)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_statement_on_accessibility_rests_on_tests_that_there_are() -> None:
    page = (ROOT / "book" / "accessibility.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", page)
    assert len(named) == page.count("::test_") > 8
    for file, test in named:
        (path,) = (ROOT / "tests").rglob(file)
        assert f"\ndef {test}(" in path.read_text(encoding="utf-8"), (file, test)
