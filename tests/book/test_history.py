"""The history page: its dates agree with the bibliography, its picture is legible."""

from __future__ import annotations

import itertools
import re
import sys
from calendar import month_abbr, month_name

import pytest
from playwright.sync_api import Browser
from pybtex.database import Entry, parse_file

from attn_course.data.history import WORKS, Work
from tests.conftest import ROOT
from tests.figures.figure_laws import PHONE

sys.path.append(str(ROOT / "book" / "_ext"))
from timeline import in_words, timeline

PAGE = (ROOT / "book" / "history.md").read_text(encoding="utf-8")
ENTRIES = parse_file(str(ROOT / "book" / "references.bib")).entries
SECTIONS = re.split(r"^(?:\((\S+)\)=\n)?## ", PAGE, flags=re.M)
TOLD = dict(zip(SECTIONS[1::2], SECTIONS[2::2], strict=True))
EVERY_WORK = pytest.mark.parametrize("work", WORKS, ids=lambda work: work.key)
EVERY_SECTION = pytest.mark.parametrize(
    "section", SECTIONS[2::2], ids=lambda text: text.splitlines()[0]
)


def first_public(entry: Entry) -> tuple[int, int, str]:
    """The year and the month (0 if unknown) in which a work became public, and its number."""
    number = entry.fields.get("eprint", "")
    if number:
        return 2000 + int(number[:2]), int(number[2:4]), number
    months = [name.lower() for name in month_name]
    month = months.index(entry.fields.get("month", "").lower())
    return int(entry.fields.get("year", 0)), month, ""


def cited(text: str) -> list[str]:
    """The entries that a text cites."""
    return [key for keys in re.findall(r"\{cite:[pt]\}`([^`]+)`", text) for key in keys.split(",")]


# --- dates and names ------------------------------------------------------------------------------


@EVERY_WORK
def test_work_has_the_dates_of_its_entry(work: Work) -> None:
    entry = ENTRIES[work.key]
    year, month, _ = first_public(entry)
    assert work.date == f"{month_abbr[month]} {year}".strip()
    assert work.printed == ("" if int(entry.fields["year"]) == year else entry.fields["year"])


@EVERY_WORK
def test_work_is_named_by_its_one_or_two_authors_or_the_first_of_more(work: Work) -> None:
    people = ENTRIES[work.key].persons["author"]
    names = [" ".join(person.last_names).strip("{}") for person in people]  # a company has braces
    assert work.who == ", ".join(names if len(names) < 3 else names[:1])


def test_works_stand_in_the_order_in_which_they_became_public() -> None:
    dates = [first_public(ENTRIES[work.key]) for work in WORKS]
    assert dates == sorted(dates)
    assert len({work.key for work in WORKS}) == len(WORKS) == 33


@EVERY_WORK
def test_work_is_told_of_where_its_row_leads(work: Work) -> None:
    assert work.key in cited(TOLD[f"history-{work.told}"])


@EVERY_SECTION
def test_years_in_the_text_are_those_of_what_is_cited_beside_them(section: str) -> None:
    keys = cited(section)
    if section.startswith("First"):
        keys += [work.key for work in WORKS]
    known = {first_public(ENTRIES[key])[0] for key in keys}
    known |= {int(ENTRIES[key].fields.get("year", 0)) for key in keys}
    said = re.sub(r'"[^"]*"|`[^`]*`|<[^>]*>', "", section)  # quotations, keys, links
    assert {int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", said)} - known == set()


@EVERY_SECTION
def test_months_in_the_text_are_those_of_what_is_cited_beside_them(section: str) -> None:
    months = "|".join(month_name[1:])
    for paragraph in section.split("\n\n"):
        known = {first_public(ENTRIES[key])[:2] for key in cited(paragraph)}
        for month, year in re.findall(rf"({months})\s+(\d{{4}})", paragraph):
            assert (int(year), list(month_name).index(month)) in known, (month, year)


def test_month_before_a_name_is_that_of_its_preprint() -> None:
    pattern = rf"({'|'.join(month_name[1:])})\s+(\d{{4}})\s+\{{cite:t\}}`(\w+)`"
    found = re.findall(pattern, PAGE)
    assert len(found) > 8
    for month, year, key in found:
        assert first_public(ENTRIES[key])[:2] == (int(year), list(month_name).index(month)), key


# --- the picture ----------------------------------------------------------------------------------


def test_row_is_said_in_words() -> None:
    by_key = {work.key: in_words(work) for work in WORKS}
    assert by_key["bahdanau2015neural"] == (
        "Sep 2014, Bahdanau: soft search (2015). Looks at: another sequence, soft, by content."
    )
    assert by_key["xu2015show"].endswith(
        "Looks at: an image, soft, by content; an image, one place at a time."
    )


LOOK = """() => {
  const box = e => { const {left, right, top, bottom} = e.getBoundingClientRect();
    return [left, top, right, bottom]; };
  const svg = document.querySelector('.timeline svg');
  const texts = [...svg.querySelectorAll('text')];
  const flat = texts.filter(text => !text.hasAttribute('transform'));
  return {
    edges: box(svg),
    sizes: texts.map(t => parseFloat(getComputedStyle(t).fontSize) * svg.getScreenCTM().a),
    texts: flat.map(text => [text.textContent, box(text)]),
    slanted: texts.filter(text => text.hasAttribute('transform')).map(box),
    marks: [...svg.querySelectorAll('circle, rect:not(.row)')].map(mark => ['a mark', box(mark)]),
  }
}"""


def overlap(one: list[float], other: list[float]) -> bool:
    """Return True if two boxes (left, top, right, bottom) share more than their rims."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    return across > 0 and min(one[3], other[3]) - max(one[1], other[1]) > 3


@pytest.mark.browser
def test_letters_on_a_phone_are_legible_and_clear_of_each_other_and_of_the_marks(
    browser: Browser,
) -> None:
    with browser.new_context(viewport={"width": PHONE, "height": 844}) as window:
        page = window.new_page()
        wide = "margin: 0; --pst-font-family-base: 'DejaVu Sans', sans-serif"  # a broad one
        page.set_content(f'<body style="{wide}">{timeline()}')
        seen = page.evaluate(LOOK)
    assert min(seen["sizes"]) >= 10
    left, top, right, bottom = seen["edges"]
    assert round(right - left) == PHONE
    for words, (x0, y0, x1, y1) in seen["texts"]:
        assert left <= x0 + 1 <= x1 <= right, words
        assert top <= y0 <= y1 <= bottom, words
    pairs = [*itertools.combinations(seen["texts"], 2)]
    pairs += itertools.product(seen["texts"], seen["marks"])
    assert [(a, b) for (a, one), (b, other) in pairs if overlap(one, other)] == []
    assert len(seen["slanted"]) == 5
    assert all(not overlap(one, box) for one in seen["slanted"] for _, box in seen["texts"])
