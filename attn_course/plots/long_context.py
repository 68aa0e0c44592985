"""The figures of chapter 13: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle, Wedge
from torch import Tensor

from attn_course.plots import (
    BROWN,
    COMPARED,
    FAINT,
    GREY,
    INK,
    PAPER,
    VIOLET,
    closed,
    style,
)

MARKS, ROUND = "os^", 2 * np.pi
LEAST, MOST = 1e3, 1e11  # numbers in the figure of a text that grows
SMALLEST, GREATEST = 1e4, 1e12  # bytes in the figure of memories
# What the record calls kinds of positions, and tests, and what a reader calls them.
KINDS = {"rotary": "rotary", "linear": "ALiBi", "buckets": "T5's bias"}
KINDS |= {"sinusoids": "sines, added", "learned": "learned, added", "none": "none"}
TESTS = {"as in training": "64 letters", "longer": "256, as far apart"}
TESTS |= {"farther apart": "256, farther apart"}


def by_place(losses: Mapping[str, Tensor], trained: int, stretch: int = 64) -> Figure:
    """Draw what a model loses at each place of a text, a mark for each stretch of pieces.

    Args:
        losses: For each way of reading the mean loss at each place, (length,).
        trained: The length of the texts that the model has learned from.
        stretch: Number of places whose mean is a mark.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.0))
        axes.axvline(trained, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        axes.text(trained, 1.02, "trained up to here", ha="center", va="bottom",
                  transform=axes.get_xaxis_transform())  # fmt: skip
        for (name, found), colour, mark in zip(
            losses.items(), (VIOLET, INK, BROWN), MARKS, strict=False
        ):
            means = found.unflatten(0, (-1, stretch)).mean(-1).numpy()
            middles = stretch * (np.arange(len(means)) + 0.5)
            axes.plot(middles, means, f"{mark}-", color=colour, markersize=4)
            axes.text(len(found), means[-1], name, color=colour, va="center")
        axes.set(xlim=(0, len(found)), ylim=(2, 4.2), xlabel="place in the text, in pieces")
        axes.set(xticks=range(0, len(found) + 1, 128), ylabel="nats a piece")
    return closed(figure)


def clocks(met: Tensor, asked: Mapping[str, Tensor]) -> Figure:
    """Draw clocks in rows, with the angles that training has shown, and those that are new.

    Args:
        met: How far each clock turned at most in training, in radians, (num_clocks,).
        asked: For each row how far each clock is to turn, (num_clocks,).
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.5 + 0.55 * len(asked)))
        for row, (name, angles) in enumerate(asked.items()):
            axes.text(-0.65, row, name, ha="right", va="center")
            for column, known in enumerate(met.clamp(max=ROUND).tolist()):
                middle, new = (column, row), min(angles[column].item(), ROUND)
                _wedge(axes, middle, 0, known, GREY)
                _wedge(axes, middle, known, max(known, new), VIOLET)
                axes.add_patch(Circle(middle, 0.42, fill=False, edgecolor=INK, linewidth=1.2))
        shown = {"met in training": GREY, "never met": VIOLET, "not reached": "none"}
        for name, colour in shown.items():
            axes.add_patch(Circle((0, 0), 0, facecolor=colour, edgecolor=INK, label=name))
        axes.set(xlim=(-2.6, len(met) - 0.5), ylim=(len(asked) - 0.5, -0.55), aspect="equal")
        axes.axis("off")
        figure.legend(loc="outside upper center", ncols=3)
    return closed(figure)


def _wedge(axes: Axes, middle: tuple[float, float], begin: float, end: float, colour: str) -> None:
    """Fill a clock from one angle to another: the y axis points down, so they run clockwise."""
    degrees = np.rad2deg([begin, end]) - 90
    axes.add_patch(Wedge(middle, 0.42, *degrees, facecolor=colour, linewidth=0))


def four_times(rows: Mapping[str, Mapping[str, Tensor]]) -> Figure:
    """Draw the share of letters that are right, a row for each kind of positions.

    Args:
        rows: For each kind, and for each test, the shares of the seeds, (num_seeds,).
    """
    colours = (GREY, BROWN, VIOLET)
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.3 + 0.46 * len(rows)))
        for row, tests in enumerate(rows.values()):
            for step, (name, shares) in enumerate(tests.items()):
                height = row + 0.22 * (step - 1) + np.linspace(-0.05, 0.05, len(shares))
                label = name if row == 0 else None
                axes.plot(
                    100 * shares, height, MARKS[step], color=colours[step], label=label, alpha=0.85
                )
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set(
            xlim=(0, 100),
            ylim=(len(rows) - 0.5, -0.6),
            xlabel="letters right, %",
            ylabel="positions",
        )
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper center", ncols=3, handletextpad=0.1, columnspacing=1.0)
    return closed(figure)


def caches(kilobytes: Mapping[str, float], kinds: Mapping[str, str]) -> Figure:
    """Draw what published models keep of a token, as bars from zero.

    Args:
        kilobytes: For each model its kilobytes a token.
        kinds: For each model how its heads share: one of three words.
    """
    colours = dict(zip(dict.fromkeys(kinds.values()), COMPARED, strict=False))
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.9 + 0.36 * len(kilobytes)))
        seen = set()
        for row, (name, size) in enumerate(kilobytes.items()):
            kind = kinds[name]
            label = None if kind in seen else kind
            seen.add(kind)
            axes.barh(row, size, 0.62, color=colours[kind], label=label)
            axes.text(size + 60, row, f"{size:,.0f}", va="center")
            axes.text(-90, row, name, ha="right", va="center")
        axes.set_yticks([])
        axes.set(xlim=(0, 5600), ylim=(len(kilobytes) - 0.45, -0.6))
        axes.set_xticks(range(0, 5001, 1000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("kilobytes kept of each token")
        axes.legend(loc="lower right")
    return closed(figure)


def growing(
    model: int,
    length: Tensor,
    numbers: Mapping[str, Tensor],
    reads: int,
    outgrown: Mapping[str, int],
    before: Mapping[str, Tensor] | None = None,
) -> Figure:
    """Draw what a text that grows asks of one model, beside the numbers of the model itself.

    Args:
        model: Numbers of the model.
        length: Lengths of the text, (num_lengths,).
        numbers: For each thing that is kept or made its numbers at each length, (num_lengths,).
        reads: The longest text that the model reads well: mark 1.
        outgrown: For each other mark the length at which one of the things outgrows the model.
        before: The same as `numbers`, before a cure: drawn faintly.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        first, *_, last = along = length.tolist()
        for old in (before or {}).values():
            axes.plot(along, old.tolist(), color=FAINT, linewidth=1.5)
        axes.axhline(model, color=INK, linewidth=1.5, linestyle=(0, (4, 2)))
        axes.text(last * 1.15, model, "the model", va="center")
        for (name, drawn), colour in zip(numbers.items(), (VIOLET, BROWN), strict=True):
            axes.plot(along, drawn.tolist(), color=colour)
            axes.text(last * 1.15, drawn[-1].item(), name, color=colour, va="center")
        axes.axvline(reads, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        marks = {"1": (reads, MOST / 9)} | {name: (at, model) for name, at in outgrown.items()}
        for name, (x, y) in marks.items():
            axes.plot(x, y, "o", color=PAPER, markeredgecolor=INK, markersize=15)
            axes.text(x, y, name, ha="center", va="center_baseline", fontweight="bold")
        axes.set(xscale="log", yscale="log", xlim=(first, last), ylim=(LEAST, MOST))
        axes.set(xlabel="length of the text, in pieces", ylabel="numbers")
        axes.set_yticks(np.logspace(3, 11, 5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
    return closed(figure)


def memories(levels: Mapping[str, tuple[float, float]], wanted: Mapping[str, float]) -> Figure:
    """Draw the memories of a chip as bars, at the height of their speed, and what is to fit.

    Args:
        levels: For each memory its bytes, and its speed in bytes a second.
        wanted: For each thing that is to be kept its bytes.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.6))
        for name, (size, speed) in levels.items():
            low, high = speed / 1e12 / 1.22, speed / 1e12 * 1.22
            box = (SMALLEST, low), size - SMALLEST, high - low
            axes.add_patch(Rectangle(*box, facecolor=VIOLET, linewidth=0))
            axes.text(GREATEST * 1.3, speed / 1e12, name, va="center")
        for name, size in wanted.items():
            axes.axvline(size, color=INK, linewidth=1.2, linestyle=(0, (1, 2)))
            axes.text(size, 1.03, name, ha="center", va="bottom",
                      transform=axes.get_xaxis_transform())  # fmt: skip
        axes.set(xscale="log", yscale="log", xlim=(SMALLEST, GREATEST), ylim=(2, 50))
        axes.set_xlabel("bytes that it holds")
        axes.set_ylabel("terabytes a second", labelpad=9)
        axes.set_xticks(np.logspace(4, 12, 5))
        axes.set_yticks([speed / 1e12 for _, speed in levels.values()])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    return closed(figure)


def rooms(reserved: Sequence[int], longest: int, pages: Mapping[str, Sequence[int]], page_len: int,
          lengths: Mapping[str, int], num_pages: int) -> Figure:  # fmt: skip
    """Draw one memory twice: with room for the longest text for each, and in pages.

    Args:
        reserved: The lengths of the texts that fit when each has the room of the longest one.
        longest: That room, in tokens.
        pages: For each text the numbers of its pages.
        page_len: Tokens of a page.
        lengths: For each text its length.
        num_pages: Number of pages of the memory.
    """
    colours = dict(zip(pages, (VIOLET, BROWN, GREY, INK, FAINT), strict=False))
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 2.5))
        for number, length in enumerate(reserved):
            colour = [*colours.values()][number]
            above.add_patch(Rectangle((number * longest, 0), length, 1, facecolor=colour))
            above.add_patch(Rectangle((number * longest, 0), longest, 1, fill=False, edgecolor=INK))
        for text, own in pages.items():
            for order, page in enumerate(own):
                filled = min(page_len, lengths[text] - order * page_len)
                left = page * page_len
                below.add_patch(Rectangle((left, 0), filled, 1, facecolor=colours[text]))
                below.text(left + page_len / 2, 1.06, text, ha="center", va="bottom")
        for page in range(num_pages):
            below.add_patch(Rectangle((page * page_len, 0), page_len, 1, fill=False, edgecolor=INK))
        for number, text in enumerate([*pages][: len(reserved)]):
            above.text((number + 0.5) * longest, 1.06, text, ha="center", va="bottom")
        for axes, name in ((above, "room for the longest"), (below, "pages")):
            axes.set(xlim=(-1, num_pages * page_len + 1), ylim=(-0.05, 1.5))
            axes.set_title(name, loc="left")
            axes.axis("off")
    return closed(figure)
