"""The page of errata: each printed form fails, each right one passes, and the page says which."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

import pytest

from tests.conftest import ROOT, chapters, toc_pages
from tests.errata import CHECKS, layer, retrieval, translation
from tests.test_coverage import COVERAGE, ROW, page_anchors

# Each of these registers its slips as it is imported.
THEMES = (retrieval, translation, layer)
PAGE = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| [")]
NAMES = [re.findall(r"\[([SP]\d[\d-]*)\]\{#[a-z\d-]+\}", row[0]) for row in ROWS]


@pytest.mark.parametrize("row", CHECKS)
def test_printed_form_fails(row: str) -> None:
    case = CHECKS[row].make()
    with pytest.raises(Exception, match=re.escape(CHECKS[row].says)):
        case.judge(case.printed())


@pytest.mark.parametrize("row", CHECKS)
def test_right_form_passes(row: str) -> None:
    case = CHECKS[row].make()
    case.judge(case.right())


def test_page_says_which_rows_are_checked_and_how_many() -> None:
    marked = [names for names, row in zip(NAMES, ROWS, strict=True) if "checked" in row[0]]
    assert set(chain(*marked)) == set(CHECKS)
    assert f"Of {len([*chain(*NAMES)])} slips, {len(CHECKS)} are checked." in PAGE


def test_rows_have_names_of_their_own_and_no_empty_cell() -> None:
    assert all(NAMES)
    assert [name for name, count in Counter(chain(*NAMES)).items() if count > 1] == []
    assert [row for row in ROWS if len(row) != 4 or not all(map(str.strip, row))] == []
    anchors = re.findall(r"\[([SP]\d[\d-]*)\]\{#([\w-]+)\}", PAGE)
    assert [pair for pair in anchors if pair[0].lower() != pair[1]] == []


def test_every_slip_of_the_five_texts_is_on_the_page() -> None:
    lines = COVERAGE.read_text(encoding="utf-8").splitlines()
    slips = {row[1] for row in map(ROW.fullmatch, lines) if row and row[2].startswith("slip: ")}
    assert len(slips) > 50
    assert slips - set(chain(*NAMES)) == set()


def places(page: str) -> dict[str, str]:
    """Return the headings of a chapter, or of another page, by anchor."""
    text = ROOT / "book" / "text" / f"{page}.md"
    return page_anchors(text if text.exists() else ROOT / "book" / f"{page}.md")


def test_every_row_leads_to_the_place_that_shows_it() -> None:
    pages = {f"Chapter {name[:2]}": name for name in chapters()}
    pages |= {"History": "history"} if "book/history" in toc_pages() else {}
    for *_, where in ROWS:
        named = re.findall(r"Chapter \d\d|History", where)
        assert named, where
        links = re.findall(r"\]\((\w+)\.(?:ipynb|md)#([\w-]+)\)", where)
        assert {pages[name] for name in named if name in pages} == {page for page, _ in links}, (
            where
        )
        assert [link for link in links if link[1] not in places(link[0])] == []
