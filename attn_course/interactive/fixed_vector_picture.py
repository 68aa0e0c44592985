"""The vector of a sentence and the beginnings that a beam has tried, before a script takes over."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from attn_course.interactive.figure import png_of
from attn_course.interactive.markup import tag
from attn_course.plots.beam import tried

SHOWN = 4  # beginnings at each step, and the widest beam
# The vector in lines of `across` cells, and below it a row of beginnings for each step.
LAYOUT = {"left": 4, "top": 74, "wide": 116, "tall": 48, "across": 64, "cell": 7.25, "high": 9}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONG = 12  # letters; a longer word is pressed together


class Tried(NamedTuple):
    """A beginning: its last word, and the probability of all its words together."""

    word: str
    share: float


def percent(share: float) -> str:
    """A probability, however small: 35%, 0.35%, 3·10⁻³%."""
    if share >= 0.0001:
        return f"{100 * share:.0f}%" if share >= 0.01 else f"{100 * share:.2f}%"
    first, power = f"{100 * share:.0e}".split("e")
    return f"{first}·10{str(int(power)).translate(_RAISED)}%"


def svg(vector: Sequence[float], steps: Sequence[Sequence[Tried]], sentence: str) -> str:
    """The vector, and the steps of a beam of one: at each, the first of four is kept."""
    left, top, wide, tall = (LAYOUT[name] for name in ("left", "top", "wide", "tall"))
    name = tag("text", f"the vector: {len(vector)} numbers", x=left, y=16, class_="attn-name")
    rows = [
        beginning(one, i, t, kept=i == 0)
        for t, row in enumerate(steps)
        for i, one in enumerate(row)
    ]
    return tag(
        "svg",
        name + "".join(map(_cell, range(len(vector)), vector)) + "".join(rows),
        viewBox=f"0 0 {2 * left + wide * SHOWN} {top + tall * len(steps)}",
        role="img",
        aria_label=sentence,
    )


def _cell(k: int, number: float) -> str:
    across, cell, high = (LAYOUT[name] for name in ("across", "cell", "high"))
    x, y = LAYOUT["left"] + cell * (k % across), 26 + high * (k // across)
    sign = "attn-above" if number >= 0 else "attn-below"
    return tag("rect", x=x, y=y, width=cell, height=high, class_=sign,
               fill_opacity=f"{abs(number):.2f}")  # fmt: skip


def beginning(one: Tried, i: int, t: int, kept: bool) -> str:
    """The way from the beginning before, the word and its probability, at place `i` of step `t`."""
    x, y = LAYOUT["left"] + LAYOUT["wide"] * (i + 0.5), LAYOUT["top"] + LAYOUT["tall"] * t
    start = LAYOUT["left"] + LAYOUT["wide"] * 0.5
    way = f"M{start:.1f},{y - 11}L{x:.1f},{y + 2}" if t else ""
    known = "attn-best" if kept else "attn-dropped"
    pressed = {"textLength": LAYOUT["wide"] - 6, "lengthAdjust": "spacingAndGlyphs"}
    long = pressed if len(one.word) > _LONG else {}
    return tag(
        "g",
        (tag("path", d=way) if way else "")
        + tag("text", escape(one.word), x=x, y=y + 17, **long)
        + tag("text", percent(one.share), x=x, y=y + 33),
        class_=known,
    )


def png(steps: Sequence[Sequence[Tried]]) -> bytes:
    """The words that are kept and those that are dropped, for print."""
    figure = tried([[(one.word, percent(one.share)) for one in row] for row in steps])
    return png_of(figure, dpi=160)
