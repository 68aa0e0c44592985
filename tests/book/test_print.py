"""The print edition: chapters on the right, true numbers of pages, answers at the end, notes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from attn_course.interactive.figure import stored_figures
from tests.conftest import ROOT, Build
from tests.sampling import left_to_proofs

sys.path.insert(0, str(ROOT / "tools"))
from print_book import NoBrowser, lay_out, numbers_of, print_pages, with_blanks
from print_pages import NotBuilt, join, pages

SHORT = ["book/notation", "book/01_retrieval"]


def shortened(book: Build, folder: Path) -> Path:
    """A built book of the short pages, whose sections without anything folded are left out."""
    html = folder / "html"
    (html / "book").mkdir(parents=True)
    for name in ("_static", "_images"):
        (html / name).symlink_to(book.html / name)
    for page in SHORT:
        soup = BeautifulSoup((book.html / f"{page}.html").read_text(encoding="utf-8"), "lxml")
        for section in soup.select("section section:not(:has(.dropdown))"):
            section.decompose()
        (html / f"{page}.html").write_text(str(soup), encoding="utf-8")
    return html


def headings(reader: PdfReader) -> dict[str, int]:
    """The bookmarks of the first level, with the pages that they lead to, from 1."""
    marks = [mark for mark in reader.outline if not isinstance(mark, list)]
    return {mark.title: reader.get_destination_page_number(mark) + 1 for mark in marks}


def check(pdf: Path, chapters: int) -> None:
    """Assert what holds of an edition of so many chapters, whatever is in it."""
    reader = PdfReader(pdf)
    texts = [page.extract_text() for page in reader.pages]
    marks = headings(reader)
    starts = list(marks.values())[-chapters - 1 :]  # the last one begins the answers
    assert list(marks)[-1] == "Answers"
    assert [start for start in starts if start % 2 == 0] == []
    contents = "\n".join(texts[2 : starts[0] - 1])
    for title, start in list(marks.items())[-chapters - 1 :]:
        words = re.escape(title.split(". ")[-1])
        assert re.search(rf"{words}\s*{start}\b", contents), (title, start)
    assert "000" not in contents
    places = numbers_of(pdf)
    answers = [name for name in places if re.search(r"--answer-\d+$", name)]
    assert answers
    for name in answers:
        place, asked = places[name], places[f"{name}-asked"]
        assert starts[-1] <= place <= len(texts), name
        assert f"page {place}" in texts[asked - 1], name
        assert f"Asked on page {asked}" in texts[place - 1], name
    assert "This edition holds" in texts[1]
    empty = [number for number, text in enumerate(texts, 1) if not text.strip()]
    assert all(number + 1 in starts for number in empty), empty


@pytest.mark.browser
def test_two_chapters_on_paper(book: Build, tmp_path: Path) -> None:
    print_pages(shortened(book, tmp_path), SHORT, tmp_path / "short.pdf")
    check(tmp_path / "short.pdf", len(SHORT))


@left_to_proofs
@pytest.mark.browser
def test_whole_book_on_paper(book: Build, tmp_path: Path) -> None:
    print_pages(book.html, pages(), tmp_path / "whole.pdf")
    check(tmp_path / "whole.pdf", len(pages()))


def test_links_are_notes_and_figures_name_the_live_one(book: Build) -> None:
    chosen = ["book/01_retrieval", "book/04_bahdanau"]
    html = "".join(map(str, join(book.html, chosen)))
    assert re.search(r'</a><sup class="note">1</sup>', html)
    assert re.search(r'<ol class="notes"><li>https?://', html)
    live = re.findall(r"To try it: (\S+) in the built book", html)
    notebooks = (
        json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8")) for name in chosen
    )
    assert len(live) == sum(1 for notebook in notebooks for _ in stored_figures(notebook))
    assert all((book.html / one).is_file() for one in live)


def test_whole_listings_are_unfolded(book: Build) -> None:
    html = "".join(map(str, join(book.html, ["book/01_retrieval"])))
    assert "<details" not in html
    assert re.search(r'<div class="whole-listing"><div>With its shapes', html)
    assert html.index("@checked") > html.index("def</span>")


def test_hidden_code_is_left_out_and_hidden_output_printed(tmp_path: Path) -> None:
    summary = "<summary>Show</summary>"
    code = f'<details class="hide above-input">{summary}print(6.9)</details>'
    output = f'<details class="hide below-input">{summary}<pre>+6.9</pre></details>'
    page = f'<article class="bd-article"><h1>Title</h1>{code}{output}</article>'
    (tmp_path / "one.html").write_text(page, encoding="utf-8")
    section = join(tmp_path, ["one"])[1]
    assert section.pre.get_text() == "+6.9"
    assert section.find(["details", "summary"]) is None
    assert "print" not in section.get_text()


def test_links_into_another_chapter_say_the_page(tmp_path: Path) -> None:
    there = '<a class="reference internal" href="two.html#part">there</a>'
    here = '<a class="reference internal" href="#one">here</a>'
    nowhere = '<a class="reference internal" href="two.html#none">nowhere</a>'
    bodies = {"one": f"<p>{there} {there} {here} {nowhere}</p>", "two": '<h2 id="part">Part</h2>'}
    for name, body in bodies.items():
        page = f'<article class="bd-article"><h1>Title</h1>{body}</article>'
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    section = join(tmp_path, list(bodies))[1]
    assert section.p.get_text() == "there (page 000) there here nowhere"
    assert section.select_one("a.page")["href"] == "#two--part"


def test_figures_name_the_published_ones_where_the_book_has_an_address(tmp_path: Path) -> None:
    page = """<link rel="canonical" href="https://a.example/course/one.html">
    <article class="bd-article"><h1>One</h1>
    <figure class="attn-figure" data-figure="sinusoids"></figure>
    </article>"""
    (tmp_path / "one.html").write_text(page, encoding="utf-8")
    html = "".join(map(str, join(tmp_path, ["one"])))
    assert "To try it: https://a.example/course/labs/sinusoids.html<" in html


def test_blank_pages_move_what_follows() -> None:
    found = {"a": 4, "b": 7, "inside-b": 8, "c": 9}
    moved, blank = with_blanks(found, ["a", "b", "c"], [])
    assert moved == {"a": 5, "b": 9, "inside-b": 10, "c": 11}
    assert blank == ["a", "b"]


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotBuilt, match=r"notation\.html holds no page of the book: 'make book'"):
        join(tmp_path, SHORT)
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(NoBrowser, match="nothing does not start: 'make browser' gets one"):
        lay_out(tmp_path / "book.html", tmp_path / "book.pdf")
