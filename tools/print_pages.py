"""Joins the pages of the built book into one, as the print edition wants them.

Folded parts are gathered under Answers, links become notes, and interactive figures keep the
picture of their first state. Where the number of a page belongs, there is
`<a class="page" href="#PLACE">`.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[1]
# For the screen, or not for readers. A page below one that is left out is left out too.
LEFT_OUT = ("book/laboratory", "book/instructors", "book/kill_matrix", "book/api")
# Words and works have their order there, and need no number of a page.
FOUND_BY_NAME = ("glossary", "bibliography")
# Controls, and code that a cell hides, but not the output that it hides.
ON_SCREEN = (
    "script, a.headerlink, details.hide:not(.below-input), details.below-input > summary, "
    ".attn-controls, .attn-code, .attn-live, .attn-trouble, .toctree-wrapper, .course-links"
)


class NotBuilt(Exception):
    """A page of the built book is not there."""


def pages() -> list[str]:
    """The pages of the edition, in reading order, as `_toc.yml` names them."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [page for page in [toc["root"], *listed] if page not in LEFT_OUT]


def make(soup: BeautifulSoup, name: str, text: str = "", **attributes: str) -> Tag:
    """An element with the attributes, `class_` among them, and the text."""
    found = soup.new_tag(name, attrs={key.rstrip("_"): value for key, value in attributes.items()})
    found.string = text
    return found


def take_page(html: Path, page: str, inside: set[str]) -> Tag:
    """Return a built page as a section whose ids and links belong to the whole book."""
    file = html / f"{page}.html"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    article = BeautifulSoup(text, "lxml").select_one("article.bd-article")
    if article is None:
        raise NotBuilt(f"{file} holds no page of the book: 'make book' builds it")
    name = Path(page).name
    for element in article.select(ON_SCREEN):
        element.decompose()
    for fold in article.select("details.whole-listing"):  # nothing on paper opens
        fold.name = fold.summary.name = "div"
    for fold in article.select("details.below-input"):
        fold.unwrap()
    for element in article.find_all(True):
        if "id" in element.attrs and not element.find_parent("svg"):
            element["id"] = f"{name}--{element['id']}"
        for key in ("for", "aria-labelledby", "aria-describedby", "aria-controls"):
            element.attrs.pop(key, None)
        if element.get("src", "").startswith("../"):
            element["src"] = f"../html/{element['src'][3:]}"
    for style in article.select("link[href^='../']"):
        style["href"] = f"../html/{style['href'][3:]}"
    for link in article.select("a[href]:not([href^=http])"):
        target, _, anchor = link["href"].partition("#")
        target = target.removesuffix(".html") or name
        if target in inside:
            link["href"] = f"#{target}--{anchor}" if anchor else f"#{target}"
        else:
            link.unwrap()
    article.name, article.attrs = "section", {"id": name, "class": "chapter"}
    return article


def number_links(soup: BeautifulSoup, sections: list[Tag]) -> None:
    """Say after a link into another chapter which page it leads to, once in each paragraph."""
    places = {tag["id"] for section in sections for tag in [section, *section.find_all(id=True)]}
    for section in sections:
        own, said = section["id"], set()
        for link in section.select("a.reference.internal[href]"):
            place = link["href"].removeprefix("#")
            block = link.find_parent(["p", "dd"])
            known = place.partition("--")[0] in (own, *FOUND_BY_NAME) or place not in places
            if known or block is None or (id(block), place) in said:
                continue
            said.add((id(block), place))
            link.insert_after(reference := refer(soup, " (page ", place))
            reference.append(")")


def note_links(soup: BeautifulSoup, section: Tag) -> None:
    """Say at the end of a section where its links lead, unless the text of a link says it."""
    notes: dict[str, int] = {}
    for link in section.select("a.reference.external"):
        address = link["href"]
        bare = link.get_text().removeprefix("doi:").removeprefix("arXiv:")
        if bare not in address:
            number = notes.setdefault(address, len(notes) + 1)
            link.insert_after(make(soup, "sup", str(number), class_="note"))
    if notes:
        section.append(make(soup, "h2", "Addresses", id=f"{section['id']}--addresses"))
        section.append(listed := make(soup, "ol", class_="notes"))
        for address in notes:
            listed.append(make(soup, "li", address))


def name_figures(soup: BeautifulSoup, section: Tag, base: str) -> None:
    """Say under each interactive figure where it lives."""
    for figure in section.select("figure.attn-figure"):
        live = f"labs/{figure['data-figure']}.html"
        where = f"{base}{live}" if base else f"{live} in the built book"
        figure.append(make(soup, "p", f"To try it: {where}", class_="address"))


def gather_answers(soup: BeautifulSoup, section: Tag) -> Iterator[Tag]:
    """Move what is folded in a section out of it, with a reference to the page, both ways."""
    chapter = section.h1.get_text()
    for number, fold in enumerate(section.select(".admonition.dropdown, details.sd-dropdown"), 1):
        if number == 1:
            yield make(soup, "h2", chapter, id=f"answers--{section['id']}")
        label = f"Answer {chapter.partition('.')[0]}.{number}"
        name = f"{section['id']}--answer-{number}"
        asked = fold.select_one(".admonition-title, .sd-summary-text").extract()
        for summary in fold.select("summary"):
            summary.decompose()
        asked.name, asked.attrs = "span", {"class": "asked"}
        place = make(soup, "p", class_="fold", id=f"{name}-asked")
        if asked.get_text() != "Answer":
            place.append(copy(asked))
        place.append(refer(soup, f" {label}, page ", name))
        fold.replace_with(place)
        answer = make(soup, "div", class_="answer", id=name)
        answer.append(line := make(soup, "p", class_="asked"))
        line.append(make(soup, "span", f"{label}. "))
        if asked.get_text() != "Answer":
            line.append(asked)
        line.append(refer(soup, " Asked on page ", f"{name}-asked"))
        fold.name, fold.attrs = "div", {}
        answer.append(fold)
        yield answer


def refer(soup: BeautifulSoup, words: str, place: str) -> Tag:
    """The words, and after them the number of the page of a place."""
    reference = make(soup, "span", words, class_="see")
    reference.append(make(soup, "a", "000", class_="page", href=f"#{place}"))
    return reference


def list_contents(soup: BeautifulSoup, sections: list[Tag]) -> Tag:
    """The contents: the headings of two levels, with the numbers of their pages."""
    contents = make(soup, "nav", id="contents")
    contents.append(make(soup, "h1", "Contents"))
    for heading in (h for section in sections for h in section.select("h1, h2")):
        near = heading if heading.get("id") else heading.parent
        if heading.name == "h1":  # the whole chapter: where it begins decides on blank pages
            near = heading.find_parent("section", class_="chapter")
        line = make(soup, "p", class_=f"to-{heading.name}")
        words = copy(heading)
        words.name, words.attrs = "span", {}
        line.append(words)
        line.append(make(soup, "a", "000", class_="page", href=f"#{near['id']}"))
        contents.append(line)
    return contents


def address_of(html: Path, page: str) -> str:
    """Return the address of the built book, as this page says; nothing where it is for a disk."""
    soup = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "lxml")
    own = soup.select_one("link[rel=canonical]")
    return own["href"].removesuffix(f"{page}.html") if own else ""


def join(html: Path, chosen: list[str]) -> list[Tag]:
    """The contents, the chosen pages and their answers, for a folder beside the built book.

    Raises:
        NotBuilt: A page is missing.
    """
    soup = BeautifulSoup("", "lxml")
    inside = {Path(page).name for page in chosen}
    sections = [take_page(html, page, inside) for page in chosen]
    if chosen[0] == "book/intro":  # its heading is the title of the book
        sections[0].h1.string = "Introduction"
    base = address_of(html, chosen[0])
    answers = make(soup, "section", id="answers", class_="chapter")
    answers.append(make(soup, "h1", "Answers"))
    for section in sections:
        answers.extend(list(gather_answers(soup, section)))
        name_figures(soup, section, base)
    sections.append(answers)
    number_links(soup, sections)
    for section in sections:
        note_links(soup, section)
    return [list_contents(soup, sections), *sections]
