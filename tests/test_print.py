"""The edition on paper: chapters on right-hand pages, true numbers, nothing cut or lost."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

from tests.conftest import ROOT, Build
from tests.sampling import left_to_proofs

sys.path.insert(0, str(ROOT / "tools"))
import print_book
import print_pages

PAGE = """<!doctype html><html><head>{head}</head><body><article class="bd-article">{text}</article>
</body></html>"""
FIRST = """<section id="one"><h1>1. One</h1>
<p>A <a class="reference external" href="https://a.example/">paper</a>,
<a class="reference external" href="https://b.example/">b.example/</a>, and
<a href="two.html#far">what is far</a>.</p>
<details class="hide above-input"><pre>hidden code</pre></details>
<figure class="attn-figure" data-figure="clock"><svg width="9" height="9"></svg>
<form class="attn-controls" hidden></form><script>alive()</script></figure>
<div class="admonition dropdown"><p class="admonition-title">What is one?</p><p>The first.</p></div>
</section>"""
SECOND = """<section id="two"><h1>2. Two</h1><p>Long.</p>
<h2 id="far">2.1. Far</h2><p>Far.</p></section>"""
NAMES = ["one", "two"]


@pytest.fixture
def html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built book of two chapters, at an address."""
    folder = tmp_path / "html"
    folder.mkdir()
    head = '<link rel="canonical" href="https://c.example/book/index.html">'
    pages = {"index": "", "one": FIRST, "two": SECOND}
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(PAGE.format(head=head, text=text), encoding="utf-8")
    mathjax = folder / "_static" / "mathjax"
    mathjax.mkdir(parents=True)
    (mathjax / "tex-chtml.js").write_text("MathJax = {startup: {promise: null}};")
    monkeypatch.setattr(print_pages, "pages", lambda: NAMES)
    return folder


def test_joined_pages_keep_what_belongs_on_paper(html: Path) -> None:
    contents, one, two, answers = print_pages.join(html)
    assert not one.select("script, form, details.hide")
    assert "To try it: https://c.example/book/labs/clock.html" in one.get_text()
    notes = [item.get_text() for item in one.select(".notes li")]
    assert notes == ["https://a.example/"]  # the other link says itself where it leads
    assert one.select_one("a[href='#two--far']")
    assert two.select_one("#two--far")
    assert "The first." not in one.get_text()
    assert answers.select_one("#one--answer-1").get_text().count("The first.") == 1
    assert answers.select_one("a[href='#one--answer-1-asked']")
    assert one.select_one("#one--answer-1-asked a[href='#one--answer-1']")
    titles = [line.span.get_text() for line in contents.select("p")]
    assert titles == ["Introduction", "Addresses", "2. Two", "2.1. Far", "Answers", "Introduction"]


def test_a_book_that_is_not_built_is_named_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"intro\.html: build the book with 'make book'"):
        print_pages.take_page(tmp_path, "intro", set())
    (tmp_path / "intro.html").write_text("<p>nothing</p>")
    with pytest.raises(ValueError, match=r"intro\.html holds no article"):
        print_pages.take_page(tmp_path, "intro", set())


def test_blank_pages_are_as_few_as_put_each_chapter_on_an_odd_page() -> None:
    found = {"one": 3, "far": 4, "two": 6, "last": 7}
    moved, blanks = print_book.with_blanks(found, ["one", "two"], [])
    assert (moved, blanks) == ({"one": 3, "far": 4, "two": 7, "last": 8}, ["two"])
    assert print_book.with_blanks(moved, ["one", "two"], blanks) == (moved, blanks)
    shorter = {"one": 3, "far": 3, "two": 6, "last": 7}  # with the blank page, which goes again
    assert print_book.with_blanks(shorter, ["one", "two"], ["two"])[1] == []


@pytest.mark.browser
def test_numbers_on_paper_are_those_of_the_pages(html: Path, tmp_path: Path) -> None:
    parts = print_pages.join(html)
    source, target = tmp_path / "print" / "book.html", tmp_path / "book.pdf"
    source.parent.mkdir()
    config = {"title": "A book", "author": "Its authors", "copyright": "2026"}
    source.write_text(print_book.whole(parts, config), encoding="utf-8")
    print_book.lay_out(source, target)
    assert_is_a_book(target, [*NAMES, "answers"])


@left_to_proofs
@pytest.mark.browser
def test_the_whole_book_is_laid_out(
    book: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(book.html, tmp_path / "html")
    target = tmp_path / "attention.pdf"
    monkeypatch.setattr(sys, "argv", ["print_book.py", str(tmp_path / "html"), str(target)])
    print_book.main()
    assert_is_a_book(target, [*(Path(page).name for page in print_pages.pages()), "answers"])
    assert 200 < len(PdfReader(target).pages) < 400
    assert target.stat().st_size < 25e6


def assert_is_a_book(file: Path, names: list[str]) -> None:
    """Each chapter begins on a right-hand page, where the contents and a bookmark say."""
    reader, numbers = PdfReader(file), print_book.numbers_of(file)
    texts = [page.extract_text() for page in reader.pages]
    assert all(numbers[name] % 2 for name in names)
    listed = "\n".join(texts[2 : numbers[names[0]] - 1])
    assert "000" not in listed
    bookmarks = {
        one.title: reader.get_destination_page_number(one) + 1
        for one in reader.outline
        if not isinstance(one, list)
    }
    for name in names:
        assert numbers[name] in bookmarks.values(), name
        assert f" {numbers[name]}\n" in f"{listed}\n".replace("\t", " "), name
    blank = [number for number, text in enumerate(texts, 1) if not text.strip()]
    assert all(number % 2 == 0 for number in blank), blank
    for number, text in enumerate(texts, 1):
        assert number < 3 or number in blank or str(number) in text.split("\n"), number
