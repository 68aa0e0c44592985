"""Figures of a class: its points, its exercises, and the checks that it missed.

The words in these figures are the course's; none is a student's. The colours come from Okabe and
Ito; readers with any kind of colour vision can tell them apart.
"""

import math
from collections.abc import Sequence
from statistics import median
from textwrap import wrap
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

BLUE, ORANGE, RED = "#0072B2", "#E69F00", "#D55E00"
INK, FAINT = "#333333", "#BBBBBB"
STYLE: Any = {  # the stubs of matplotlib know each key by name, and no dict of them
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
}
WIDTH = 4.4  # inches; the letters must be legible on a phone
MAX_BARS = 13
BELOW = 0.49  # points
LETTERS = 47  # that fit beside each other


def points(earned: Sequence[float], of: float) -> Figure:
    """Draw a histogram of the students' points.

    Args:
        earned: Points of each student, at least one.
        of: Points there are to earn.
    """
    ticks = MaxNLocator(MAX_BARS, steps=[1, 2, 5, 10], integer=True).tick_values(0, of)
    step = ticks[1] - ticks[0]
    # a whole number stands in the middle of its bar; a half counts below, where full points are not
    edges = [step * place - BELOW for place in range(math.floor(of / step) + 2)]
    middle = median(earned)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 2.6))
        axes.hist(earned, edges, color=BLUE, rwidth=0.9)
        axes.axvline(middle, color=RED, linestyle="--")
        axes.annotate(f"median {middle:g}", (middle, 1), (4, -4), va="top", **TOP)
        axes.set(xlabel=f"points, of {of:g}", ylabel="students", xlim=(edges[0], edges[-1]))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axes.margins(y=0.2)
        return _closed(figure)


NARROW: dict[str, Any] = {
    "handlelength": 1,
    "columnspacing": 1,
    "handletextpad": 0.4,
    "fontsize": 10,
}
TOP: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}


def exercises(names: Sequence[str], counts: Sequence[tuple[int, int, int, int]]) -> Figure:
    """Draw bars of the students with all points of an exercise, some, none, or no answer.

    Args:
        names: Of the exercises.
        counts: Those four numbers of each.
    """
    kinds = ("all points", "some", "none", "not written")
    colours = (BLUE, ORANGE, RED, FAINT)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 0.8 + 0.55 * len(names)))
        _label(axes, names)
        left = [0] * len(names)
        for kind, colour, widths in zip(kinds, colours, zip(*counts, strict=True), strict=True):
            axes.barh(range(len(names)), widths, 0.4, left, label=kind, color=colour)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_xlim(0, max(left))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        axes.set_xlabel("students")
        figure.legend(loc="outside upper left", ncols=4, **NARROW)
        return _closed(figure)


def checks(labels: Sequence[str], shares: Sequence[float]) -> Figure:
    """Draw the share of students who passed each check, the hardest on top.

    Args:
        labels: Of the checks, in words.
        shares: From 0 to 1.
    """
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(WIDTH, 0.6 + 0.65 * len(labels)))
        _label(axes, labels)
        places = range(len(labels))
        axes.barh(places, [1] * len(labels), 0.3, color=FAINT, alpha=0.5)
        axes.barh(places, shares, 0.3, color=BLUE)
        axes.set(xlim=(0, 1), xlabel="share of students who got it right")
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        return _closed(figure)


def _closed(figure: Figure) -> Figure:
    """Take a figure from pyplot's list of open ones, which would keep it."""
    plt.close(figure)
    return figure


def _label(axes: Axes, labels: Sequence[str]) -> None:
    """Write each label over its bar, where a phone has room for it, the first on top."""
    for place, label in enumerate(labels):
        lines = wrap(label, LETTERS, max_lines=2, placeholder=" …")
        at: dict[str, Any] = {"va": "bottom", "linespacing": 1, "color": INK, "parse_math": False}
        axes.text(0, place - 0.23, "\n".join(lines), fontsize=10, **at)
    axes.set_ylim(len(labels) - 0.7, -0.9)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
