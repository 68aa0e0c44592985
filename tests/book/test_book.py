"""The book builds from its sources without a warning, and its links lead somewhere."""

from __future__ import annotations

import re
import shutil
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import nbformat
import pytest
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat.v4 import new_markdown_cell, new_notebook

from tests.conftest import ROOT, Build, build_book, chapters, toc_pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from found import put_sitemap

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}
# Links that a reader may follow out of the book; everything else must be inside it.
LEAVES = ("http", "https", "mailto", "data", "javascript")
# What may hold source on a page, and the tags and attributes around what else a reader is shown.
CODE = re.compile(r"<(script|style|pre|code|dt)\b.*?</\1>", re.S)
MATH = re.compile(r'<(span|div)[^>]* class="[^"]*\bmath\b.*?</\1>', re.S)
SPOKEN = re.compile(r'\b(?:alt|title|content|aria-label)="([^"]*)"')
# Signs of Markdown, LaTeX or a role of Sphinx that was not turned into what it stands for.
SOURCE = re.compile(r"\$|\\[a-zA-Z]{2,}|\{[a-z]+(:[a-z]+)?\}|`|\]\(|\*\*|:::")

# The anchors of each chapter's headings in version 0.1.0, to which people have links.
FIRST_EDITION = {
    chapter: anchors
    for chapter, *anchors in map(
        str.split, (Path(__file__).parent / "first_edition.txt").read_text("utf-8").splitlines()
    )
}


class Page(HTMLParser):
    """The anchors, the links and the head of one HTML page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.language: str | None = None
        self.meta: dict[str, str] = {}
        self.canonical: str | None = None
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an anchor, a link of a tag that has one, and what the head says of the page."""
        found = dict(attrs)
        if tag == "html":
            self.language = found.get("lang")
        elif tag == "meta":
            self.meta[found.get("property") or found.get("name") or ""] = found.get("content") or ""
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        if tag == "link" and found.get("rel") == "canonical":
            self.canonical = found["href"]  # which no browser loads
        elif tag in LINKS and (target := found.get(LINKS[tag])):
            self.links.append((tag, target))


@cache
def page_at(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path)


def pages_of(html: Path) -> list[Path]:
    """Return the pages of a book, without what lies beside them."""
    return [path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts]


def broken(html: Path, path: Path) -> list[str]:
    """Return the links of a page that lead nowhere inside the book."""
    faults = []
    for _, link in page_at(path).links:
        parts = urlsplit(link)
        if parts.scheme in LEAVES:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file() or not target.is_relative_to(html):
            faults.append(f"{path.relative_to(html)}: {link}")
        elif parts.fragment and target.suffix == ".html":
            anchors = page_at(target).anchors
            is_state = parts.fragment.startswith("lab=")  # of a figure: see test_laboratories.py
            if not is_state and unquote(parts.fragment) not in anchors:
                faults.append(f"{path.relative_to(html)}: {link}: no such place on that page")
    return faults


def source_left(page: str) -> list[str]:
    """Return what is source in the words that a page shows or reads out, each in its place."""
    page = MATH.sub("", CODE.sub("", page))
    words = [re.sub(r"<[^>]*>", "", page), *SPOKEN.findall(page)]
    return [
        text[max(0, found.start() - 30) : found.end() + 30]
        for text in words
        for found in SOURCE.finditer(text)
    ]


def test_book_builds_without_a_warning(book: Build) -> None:
    assert book.status == 0, book.log[-6000:]


def test_every_page_says_its_language(book: Build) -> None:
    assert [page for page in pages_of(book.html) if page_at(page).language != "en"] == []


def test_every_head_of_a_table_says_something(book: Build) -> None:
    silent = re.compile(r"<th\b[^>]*>(\s|</?p>)*</th>")
    texts = {page: page.read_text(encoding="utf-8") for page in pages_of(book.html)}
    assert [page for page, text in texts.items() if silent.search(text)] == []


def test_no_page_shows_the_source_of_a_formula_or_a_role(book: Build) -> None:
    pages = {str(path.relative_to(book.html)): path for path in pages_of(book.html)}
    shown = [page for page in pages if not page.startswith("_modules")]  # these are source
    left = {page: source_left(pages[page].read_text(encoding="utf-8")) for page in shown}
    assert {page: texts for page, texts in left.items() if texts} == {}


@pytest.mark.parametrize("name", chapters())
def test_every_formula_of_a_problem_set_is_one(name: str) -> None:
    # a line that goes on with a dash is an item of a list, and then dollars are shown
    markdown = MarkdownIt().use(dollarmath_plugin)
    source = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    texts = [cell.source for cell in source.cells if cell.cell_type == "markdown"]
    tokens = [token for text in texts for token in markdown.parse(text)]
    words = [child for token in tokens for child in token.children or [] if child.type == "text"]
    assert [word.content for word in words if "$" in word.content] == []


def test_every_page_of_the_toc_is_built(book: Build) -> None:
    missing = [page for page in toc_pages() if not (book.html / f"{page}.html").is_file()]
    assert missing == []


def test_index_leads_to_the_home_page(book: Build) -> None:
    index = (book.html / "index.html").read_text(encoding="utf-8")
    assert re.search(r'url=book/intro\.html"', index)


def test_every_internal_link_resolves(book: Build) -> None:
    html = book.html.resolve()
    pages = pages_of(html)
    faults = [fault for page in pages for fault in broken(html, page)]
    assert faults == []
    assert len(pages) >= len(toc_pages())


@pytest.mark.parametrize("chapter", sorted(FIRST_EDITION))
def test_what_led_into_the_first_edition_leads_somewhere_still(book: Build, chapter: str) -> None:
    there = page_at(book.html / f"book/{chapter}.html").anchors
    assert [anchor for anchor in FIRST_EDITION[chapter] if anchor not in there] == []


def test_no_page_loads_anything_from_elsewhere(book: Build) -> None:
    faults = [
        f"{path.name}: {link}"
        for path in sorted(book.html.rglob("*.html"))
        for tag, link in page_at(path).links
        if tag != "a" and urlsplit(link).scheme in ("http", "https")
    ]
    assert faults == []


@pytest.mark.parametrize("name", chapters())
def test_chapter_offers_its_problem_set(book: Build, name: str) -> None:
    page = book.html / "book" / f"{name}.html"
    links = [link for _, link in page_at(page).links if link.endswith(f"{name}.ipynb")]
    downloads = [link for link in links if "_downloads" in link]
    assert downloads, "no download link to the problem set"
    offered = (page.parent / downloads[0]).read_bytes()
    assert offered == (ROOT / "exercises" / name / f"{name}.ipynb").read_bytes()


@pytest.mark.parametrize("name", chapters())
def test_number_of_a_chapter_in_the_book_is_that_of_its_file(book: Build, name: str) -> None:
    text = (book.html / "book" / f"{name}.html").read_text(encoding="utf-8")
    number = int(name[:2])
    assert f"<title>{number}. " in text
    figures = re.findall(r'"caption-number">(?:Fig\.|Table|Listing) (\d+)\.', text)
    assert set(figures) == {str(number)}


def test_first_cells_of_hosted_notebooks_are_on_no_page(book: Build) -> None:
    for name in chapters():
        assert "ModuleNotFoundError" not in (book.html / "book" / f"{name}.html").read_text()


def repository_links(html: Path, name: str) -> set[str]:
    """Return the links of a chapter that need the repository to be public somewhere."""
    page = page_at(html / "book" / f"{name}.html")
    links = {link for tag, link in page.links if tag == "a"}
    return {link for link in links if "colab" in link or link.endswith(f"book/text/{name}.md")}


@pytest.mark.parametrize("name", chapters())
def test_repository_links_appear_only_with_an_address(book: Build, name: str) -> None:
    address = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    assert bool(repository_links(book.html, name)) == bool(address)
    page = page_at(book.html / "book" / f"{name}.html")
    told = [page.canonical, page.meta.get("description"), page.meta.get("og:url")]
    assert list(map(bool, told)) == [bool(address)] * 3
    assert (book.html / "sitemap.xml").is_file() == bool(address)


def lay_out_book(clone: Path, names: tuple[str, ...]) -> None:
    """Make a small book of the parts of ours: its settings, and chapters of a few words."""
    for part in ("_ext", "_front", "_static", "_templates"):
        shutil.copytree(ROOT / "book" / part, clone / "book" / part)
    shutil.copy(ROOT / "book" / "references.bib", clone / "book")
    shutil.copytree(ROOT / "docs", clone / "docs")
    titles = {"intro": "Home", "problem_sets": "Problem sets"} | {name: name for name in names}
    for page, title in titles.items():
        text = f'# {title}\n\nIn *{title}* "words" are <b>counted</b>.' + " Many words." * 30
        notebook = new_notebook(cells=[new_markdown_cell(text)])
        nbformat.write(notebook, clone / "book" / f"{page}.ipynb")
    for name in names:
        shutil.copytree(ROOT / "exercises" / name, clone / "exercises" / name)
    toc = {"format": "jb-book", "root": "book/intro"}
    toc["chapters"] = [{"file": f"book/{page}"} for page in titles if page != "intro"]
    (clone / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")


def test_address_in_one_place_turns_on_every_link_and_a_space_in_the_path_is_no_trouble(
    tmp_path: Path,
) -> None:
    clone, names = tmp_path / "a clone", (chapters()[0], chapters()[-1])
    lay_out_book(clone, names)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    address = "https://github.com/someone/attention"
    colab = "https://colab.research.google.com/github/someone/attention"
    changed, places = re.subn(r"(?m)^  url: .*$", f"  url: {address}", config)
    assert places == 1
    (clone / "_config.yml").write_text(changed, encoding="utf-8")
    build = build_book(tmp_path / "built here", clone)
    assert build.status == 0, build.log[-6000:]
    for name in names:
        assert repository_links(build.html, name) == {
            f"{colab}/blob/main/book/{name}.ipynb",
            f"{colab}/blob/main/exercises/{name}/{name}.ipynb",
            f"{address}/blob/main/book/text/{name}.md",
        }
        found_by(build.html, f"book/{name}.html", f"In {name} “words” are <b>counted</b>.")
    places = ElementTree.parse(build.html / "sitemap.xml").getroot().iter()
    pages = {"intro", "problem_sets", *names}
    assert {place.text for place in places if place.text} == {
        f"https://someone.github.io/attention/book/{page}.html" for page in pages
    }


def test_sitemap_goes_with_the_address(tmp_path: Path) -> None:
    (tmp_path / "sitemap.xml").write_text("of an earlier build")
    settings, builder = SimpleNamespace(html_baseurl=""), SimpleNamespace(format="html")
    put_sitemap(SimpleNamespace(config=settings, outdir=tmp_path, builder=builder), None)
    assert not (tmp_path / "sitemap.xml").exists()


def found_by(html: Path, place: str, words: str) -> None:
    """Check what a page with an address says to search engines, and to previews of links."""
    page, base = page_at(html / place), "https://someone.github.io/attention/"
    assert page.canonical == page.meta["og:url"] == f"{base}{place}"
    assert page.meta["description"] == page.meta["og:description"]
    assert page.meta["description"].startswith(words)
    assert 180 < len(page.meta["description"]) <= 200
    assert page.meta["og:title"] == Path(place).stem
    picture = html / page.meta["og:image"].removeprefix(base)
    assert picture.read_bytes() == (ROOT / "docs" / "page.png").read_bytes()
