"""`docs/coverage.md` is whole, and each of its rows leads to a section that exists.

Five published texts are taken apart in it, row by row. A row is taught in one section or more; or
it waits for a page that `_toc.yml` does not have yet; or it is dropped, and says why. A chapter on
what none of the five treats says so in its header: it teaches no row.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, toc_pages

COVERAGE = ROOT / "docs" / "coverage.md"
# The texts, and how many rows each has.
LENGTHS = {"S0": 41, "S1": 44, "S2": 56, "S3": 53, "S4": 45}
ROW = re.compile(r"\| (S\d-\d\d) \| ([^|]+) \| ([^|]+) \|")
LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+)(?:#([^)]+))?\)")
PLANNED = re.compile(r"planned: (?:chapter (\d\d)|the (\w+) page)")
DROPPED = re.compile(r"dropped: \w+( \S+){2,}")


def rows() -> dict[str, list[str]]:
    """Return, for each row, the places that its last column names."""
    lines = COVERAGE.read_text(encoding="utf-8").splitlines()
    return {row[1]: row[3].split("; ") for row in map(ROW.fullmatch, lines) if row}


def headings(text: str) -> list[str]:
    """Return the headings of a Markdown text, without what looks like one in a block of code."""
    found, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and re.match(r"#{1,6} ", line):
            found.append(line.lstrip("#").strip())
    return found


def anchors(text: str) -> dict[str, str]:
    """Return each heading of a Markdown text by the anchor that GitHub gives it."""
    found: dict[str, str] = {}
    for heading in headings(text):
        first = anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = 0
        while anchor in found:
            again += 1
            anchor = f"{first}-{again}"
        found[anchor] = heading
    return found


@functools.cache
def page_anchors(path: Path) -> dict[str, str]:
    """Return the headings of a page by anchor, read once."""
    return anchors(path.read_text(encoding="utf-8"))


def broken_link(words: str, file: str, anchor: str | None) -> str | None:
    """Say what is wrong with a link, if anything."""
    path = COVERAGE.parent / file
    if not path.is_file():
        return f"no file {file}"
    if path.suffix != ".md":
        return None if words == path.name else f"{words!r} leads to {path.name}"
    heading = page_anchors(path).get(anchor or "")
    if heading is None:
        return f"{file} has no heading #{anchor}"
    page = path.stem[:2] if path.parent.name == "text" else path.stem
    return None if words == f"{page} · {heading}" else f"{words!r} leads to {heading!r} of {page}"


def fault(place: str) -> str | None:
    """Say what is wrong with a place that a row names, if anything."""
    if link := LINK.fullmatch(place):
        return broken_link(*link.groups())
    if planned := PLANNED.fullmatch(place):
        number, page = planned.groups()
        start = f"book/{number}_" if number else f"book/{page}"
        there = [name for name in toc_pages() if name.startswith(start)]
        return f"{there[0]} is there, link to it" if there else None
    return None if DROPPED.fullmatch(place) else f"neither link, planned nor dropped: {place}"


def test_every_row_is_there_once_and_in_order() -> None:
    lines = COVERAGE.read_text(encoding="utf-8").splitlines()
    found = [line[2:7] for line in lines if line.startswith("| S")]
    assert found == [f"{text}-{n:02}" for text, last in LENGTHS.items() for n in range(1, last + 1)]
    assert list(rows()) == found, "a row has other than three columns, or an empty one"


@pytest.mark.parametrize("text", LENGTHS)
def test_every_row_leads_somewhere(text: str) -> None:
    places = [(row, place) for row, named in rows().items() for place in named]
    faults = [(row, fault(place)) for row, place in places if row.startswith(text)]
    assert [f"{row}: {wrong}" for row, wrong in faults if wrong] == []


def test_no_row_is_taught_and_dropped_or_names_a_place_twice() -> None:
    for row, named in rows().items():
        assert len(set(named)) == len(named), row
        assert len(named) == 1 or not any(place.startswith("dropped") for place in named), row


def test_anchors_are_those_of_github() -> None:
    text = """# Is the network "very slow"?
```{code-cell}
# no heading
```
## Read, then *write*: one-hot
## Read, then write: one-hot
"""
    assert anchors(text) == {
        "is-the-network-very-slow": 'Is the network "very slow"?',
        "read-then-write-one-hot": "Read, then *write*: one-hot",
        "read-then-write-one-hot-1": "Read, then write: one-hot",
    }


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("[01 · Temper](../book/text/01_retrieval.md#temper)", "no heading #temper"),
        ("[01 · Heat](../book/text/01_retrieval.md#temperature)", "leads to 'Temperature' of 01"),
        (
            "[02 · Temperature](../book/text/01_retrieval.md#temperature)",
            "leads to 'Temperature' of 01",
        ),
        ("[01 · Temperature](../book/text/01_retrieval.md)", "no heading #None"),
        ("[01 · Temperature](../book/text/01_nowhere.md#temperature)", "no file"),
        ("planned: chapter 01", "book/01_retrieval is there"),
        ("planned: the notation page", "book/notation is there"),
        ("dropped", "neither"),
        ("dropped: no", "neither"),
    ],
)
def test_a_wrong_place_is_named(place: str, said: str) -> None:
    assert said in (fault(place) or "")
