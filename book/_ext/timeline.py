"""`:::{timeline}` is the picture of the history page: a row a work, a column for what it looks at.

It does not use matplotlib: it is SVG inside the page, so that it has the page's colours and its
rows can be links.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attn_course.data.history import KINDS, LANES, WORKS, Work
from attn_course.interactive.markup import tag
from attn_course.plots import ROLE

WIDTH, ROW, TOP = 360, 24, 142
HEIGHT = TOP + ROW * len(WORKS)
MONTH, LABEL = 40, 172  # where they begin; years begin at 0
COLUMN = {lane: 80 + 19.5 * place for place, lane in enumerate(LANES)}
RADIUS = {"content": 5.5, "hard": 4, "anew": 2.5}

STYLE = f"""
.timeline {{ margin: 1.5rem auto; max-width: 30rem; }}
.timeline svg {{ display: block; width: 100%; height: auto; overflow: visible; }}
.timeline text {{ fill: var(--pst-color-text-base, #222);
  font: 400 12px var(--pst-font-family-base, sans-serif); }}
.timeline a {{ text-decoration: none; }}
.timeline .year {{ font-weight: 600; }}
.timeline .month {{ fill: var(--pst-color-text-muted, #555); }}
.timeline .label {{ fill: var(--pst-color-link, #0b5fa5); }}
.timeline .turn .label {{ font-weight: 600; }}
.timeline .work:hover .label, .timeline .work:focus-visible .label {{ text-decoration: underline; }}
.timeline .row {{ fill: none; pointer-events: all; }}
.timeline .turn .row {{ fill: {ROLE["weight"]}; fill-opacity: 0.2; }}
.timeline .work:focus-visible {{ outline: none; }}
.timeline .work:focus-visible .row {{ stroke: var(--pst-color-link, #0b5fa5); stroke-width: 2; }}
.timeline .lane, .timeline .rule {{ stroke: var(--pst-color-text-muted, #555); opacity: 0.35; }}
.timeline .bar {{ stroke: {ROLE["weight"]}; stroke-width: 3; }}
.timeline .bar.anew {{ stroke: var(--pst-color-text-muted, #555); stroke-width: 1; }}
.timeline .content, .timeline .place {{ fill: {ROLE["weight"]}; }}
.timeline .hard {{ stroke: {ROLE["weight"]}; stroke-width: 3;
  fill: var(--pst-color-background, #fff); }}
.timeline .anew {{ fill: var(--pst-color-text-muted, #555); }}
.timeline figcaption {{ margin-top: 0.75rem; font-size: 0.9rem; text-align: left; }}
"""
ALT = (
    f"{len(WORKS)} works from 1964 to 2024, in the order in which they became public. Each row "
    "says what the work looks at, and whether softly by content, softly by place, or at one place."
)
CAPTION = """
Soft weights by content are in the oldest rows. In networks, looks at one place at a time and a
window that moves by place came first. In 2017 two of the five columns are all that joins the words
of a translator; most later rows make this cheaper, or examine it. A date is when the first preprint
appeared, or the printed work if there was none; a year in brackets is the year of a later
publication. Of three or more authors only the first is named. Rows are in order, not to scale; each
links to its place in the text.
"""


def timeline() -> str:
    """The picture as HTML: a figure with its style, its SVG and its caption."""
    rows = "".join(_row(number, work) for number, work in enumerate(WORKS))
    picture = tag(
        "svg",
        f"{_legend()}{_heads()}{_lanes()}{rows}\n",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label=ALT,
        xmlns="http://www.w3.org/2000/svg",
    )
    caption = tag("figcaption", CAPTION, id="timeline-caption")
    parts = "\n".join(["", tag("style", STYLE), picture, caption, ""])
    return tag("figure", parts, class_="timeline", role="group", aria_labelledby="timeline-caption")


def _middle(number: int) -> float:
    """The vertical position of the middle of a row."""
    return TOP + ROW * (number + 0.5)


def _row(number: int, work: Work) -> str:
    """One work: a link with its date, its marks and its label."""
    y = _middle(number)
    month, _, year = work.date.rpartition(" ")
    parts = [tag("rect", class_="row", x=0, y=y - ROW / 2, width=WIDTH, height=ROW)]
    if number == 0 or not WORKS[number - 1].date.endswith(year):
        parts += [_line("rule", f"M0 {y - ROW / 2:g}H{WIDTH}"), _text(year, 0, y, "year")]
    if month:
        parts.append(_text(month, MONTH, y, "month"))
    parts += [*_marks(work, y), _text(work.label, LABEL, y, "label")]
    look = "work turn" if work.key == "vaswani2017attention" else "work"
    told = {"href": f"#history-{work.told}", "aria_label": in_words(work)}
    return "\n" + tag("a", "".join(parts), class_=look, **told)


def in_words(work: Work) -> str:
    """One row as a sentence, for screen readers."""
    looks = [f"{LANES[lane]}, {KINDS[kind]}" for lane, kind in work.seen]
    return f"{work.date}, {work.label}. Looks at: {'; '.join(looks)}."


def _marks(work: Work, y: float) -> list[str]:
    """The marks of a work: side by side in one column, joined by a bar over several."""
    columns = [COLUMN[lane] for lane, _ in work.seen]
    parts = []
    if columns[0] != columns[-1]:
        look = "bar anew" if work.seen[0][1] == "anew" else "bar"
        parts.append(_line(look, f"M{columns[0]} {y:g}H{columns[-1]}"))
    for place, (column, (_, kind)) in enumerate(zip(columns, work.seen, strict=True)):
        beside = 12 * place - 6 if columns.count(column) > 1 else 0
        parts.append(_mark(kind, column + beside, y))
    return parts


def _mark(kind: str, x: float, y: float) -> str:
    """A square, a disc, a ring or a dot."""
    if kind == "place":
        return tag("rect", class_=kind, x=x - 4.5, y=y - 4.5, width=9, height=9)
    return tag("circle", class_=kind, cx=x, cy=y, r=RADIUS[kind])


def _line(look: str, d: str) -> str:
    return tag("path", class_=look, d=d)


def _text(words: str, x: float, y: float, look: str, **more: object) -> str:
    """Words that begin at x, in the middle of a line of height y."""
    return tag("text", escape(words, quote=False), class_=look, x=x, y=y + 4.5, **more)


def _legend() -> str:
    """The legend of the marks, in two columns of two."""
    parts = []
    for place, (kind, words) in enumerate(KINDS.items()):
        x, y = 8 + 150 * (place % 2), 10 + 22 * (place // 2)
        parts += [_mark(kind, x, y), _text(words, x + 12, y, "head")]
    return "".join(parts)


def _heads() -> str:
    """The names of the columns, slanted so that they fit."""
    y = TOP - 10
    heads = (
        _text(LANES[lane], x, y - 4.5, "head", transform=f"rotate(-45 {x} {y})")
        for lane, x in COLUMN.items()
    )
    return "".join(heads)


def _lanes() -> str:
    """A line down each column, from its first work to its last."""
    parts = []
    for lane, x in COLUMN.items():
        rows = [number for number, work in enumerate(WORKS) if lane in dict(work.seen)]
        parts.append(_line("lane", f"M{x} {_middle(rows[0]):g}V{_middle(rows[-1]):g}"))
    return "".join(parts)


class Timeline(SphinxDirective):
    """Put the picture into the page."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", timeline(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the directive."""
    app.add_directive("timeline", Timeline)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
