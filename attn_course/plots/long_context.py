"""The figures of chapter 13: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle, Wedge
from torch import Tensor

from attn_course.plots import (
    BROWN,
    COMPARED,
    FAINT,
    GREY,
    INK,
    PAPER,
    ROLE,
    VIOLET,
    closed,
    style,
)

MARKS, ROUND = "os^", 2 * np.pi
SMALLEST, GREATEST = 1e4, 1e12  # bytes in the figure of memories
# What the record calls kinds of positions, and tests, and what a reader calls them.
KINDS = {"rotary": "rotary", "linear": "ALiBi", "buckets": "T5's bias"}
KINDS |= {"sinusoids": "sines, added", "learned": "learned, added", "none": "none"}
TESTS = {"as in training": "64 letters", "longer": "256, as far apart"}
TESTS |= {"farther apart": "256, farther apart"}


def by_place(losses: Mapping[str, Tensor], trained: int, stretch: int = 64) -> Figure:
    """Draw among how many pieces a model wavers at each place, a mark for each stretch of pieces.

    Args:
        losses: For each way of reading the mean loss at each place, (length,).
        trained: The length of the texts that the model has learned from.
        stretch: Number of places whose mean is a mark.
    """
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 2.8))
        axes.axvspan(0, trained, color=FAINT, alpha=0.3, linewidth=0)
        axes.text(trained / 2, 1.02, "trained", ha="center", va="bottom",
                  transform=axes.get_xaxis_transform())  # fmt: skip
        for (name, found), colour, mark in zip(
            losses.items(), (VIOLET, INK, BROWN), MARKS, strict=False
        ):
            among = found.unflatten(0, (-1, stretch)).mean(-1).exp().numpy()
            middles = stretch * (np.arange(len(among)) + 0.5)
            axes.plot(middles, among, f"{mark}-", color=colour, markersize=4)
            axes.text(len(found) - 20, among[-1], name, color=colour, va="center")
        axes.set(xlim=(0, len(found)), ylim=(0, 55), xlabel="place in the text, in pieces")
        axes.set(xticks=range(0, len(found) + 1, 128), ylabel="a guess among \u2026 pieces")
    return closed(figure)


def clocks(met: Tensor, asked: Mapping[str, Tensor], numbers: Iterable[int]) -> Figure:
    """Draw clocks in rows: the angles that training has shown, and new ones.

    Args:
        met: How far each clock turned at most in training, in radians, (num_clocks,).
        asked: For each row, by its title, how far each clock is to turn, (num_clocks,).
        numbers: Which clock of the head each of them is.
    """
    high = 1.1  # of a row, in clocks
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 0.8 + 0.75 * high * len(asked)))
        for row, (title, angles) in enumerate(asked.items()):
            axes.text(-0.65, high * row, title, va="center", ha="right")
            for column, known in enumerate(met.clamp(max=ROUND).tolist()):
                middle, new = (column, high * row), min(angles[column].item(), ROUND)
                _wedge(axes, middle, 0, known, FAINT)
                _wedge(axes, middle, known, max(known, new), VIOLET)
                axes.add_patch(Circle(middle, 0.42, fill=False, edgecolor=INK, linewidth=1.2))
        names = {"met in training": FAINT, "new": VIOLET}
        keys = [Patch(facecolor=of, edgecolor=INK, label=name) for name, of in names.items()]
        figure.legend(handles=keys, loc="outside upper center", ncols=2, handlelength=1)
        below = high * (len(asked) - 1) + 0.56
        for column, number in enumerate(numbers):
            axes.text(column, below, f"clock {number}", va="top", ha="center")
        axes.set(xlim=(-2.2, len(met) - 0.5), ylim=(below + 0.35, -0.5), aspect="equal")
        axes.axis("off")
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


def sharing(ways: Mapping[str, int], bytes_a_pair: int, num_queries: int = 64) -> Figure:
    """Draw heads of queries over the heads of keys and values that they share, in rows.

    Args:
        ways: For each way, by its name, how many keys there are.
        bytes_a_pair: What a head of keys and values keeps of a token.
        num_queries: Number of heads of queries.
    """
    high = 9.5  # of a row, in heads
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 3.2))
        for row, (name, num_keys) in enumerate(ways.items()):
            top, group, size = high * row, num_queries // num_keys, num_keys * bytes_a_pair
            axes.text(0, top - 1.1, name, va="bottom")
            axes.text(num_queries, top - 1.1, f"{size / 1000:,.0f} kB a token", va="bottom",
                      ha="right", fontweight="bold")  # fmt: skip
            for head in range(num_queries):
                middle = (head // group + 0.5) * group
                axes.plot((head + 0.5, middle), (top + 0.8, top + 3.2), color=GREY, linewidth=0.5)
                axes.add_patch(Rectangle((head + 0.1, top), 0.8, 0.8, color=ROLE["query"]))
            for key in range(num_keys):
                left = (key + 0.5) * group - 0.4
                for step, role in enumerate(("key", "value")):
                    at = left, top + 3.2 + step
                    axes.add_patch(Rectangle(at, 0.8, 0.8, color=ROLE[role]))
        for place, role in ((0.4, "query"), (3.3, "key"), (5.1, "value")):
            letter = {"query": "q", "key": "k", "value": "v"}[role]
            axes.text(-1, place, letter, color=ROLE[role], ha="right", va="center",
                      fontweight="bold")  # fmt: skip
        axes.set(xlim=(-3, num_queries), ylim=(high * (len(ways) - 1) + 5.4, -4))
        axes.axis("off")
    return closed(figure)


def caches(
    kilobytes: Mapping[str, float], kinds: Mapping[str, str], kept: Mapping[str, str]
) -> Figure:
    """Draw what published models keep of a token, as bars from zero.

    Args:
        kilobytes: For each model its kilobytes a token.
        kinds: For each model how its heads share: a colour for each kind.
        kept: For each model what it keeps, in words, beside its bar or within it.
    """
    colours = dict(zip(dict.fromkeys(kinds.values()), COMPARED, strict=False))
    with style():
        figure, axes = plt.subplots(figsize=(4.8, 0.9 + 0.36 * len(kilobytes)))
        for row, (name, size) in enumerate(kilobytes.items()):
            axes.barh(row, size, 0.68, color=colours[kinds[name]])
            axes.text(size + 60, row, f"{size:,.0f}", va="center")
            at, ink = (120, PAPER) if size > 2000 else (1350, colours[kinds[name]])
            axes.text(at, row, kept[name], va="center", color=ink)
            axes.text(-90, row, name, ha="right", va="center")
        axes.set_yticks([])
        axes.set(xlim=(0, 5800), ylim=(len(kilobytes) - 0.45, -0.6))
        axes.set_xticks(range(0, 5001, 1000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("kilobytes kept of each token")
    return closed(figure)


def walls(
    reach: Mapping[str, float], before: Mapping[str, float] | None = None, longest: float = 10_000
) -> Figure:
    """Draw how long a text may be before each trouble, as tracks that end at walls.

    Args:
        reach: For each thing that goes well up to a length, in words, that length; infinite if
            there is no such length any more.
        before: For each of them the same before a cure.
        longest: Where the picture ends.
    """
    least = 30
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 0.75 + 0.68 * len(reach)))
        for row, (name, end) in enumerate(reach.items()):
            old = (before or {}).get(name)
            axes.text(least, row - 0.36, f"{row + 1}: {name}", va="center")
            track = Rectangle((least, row - 0.11), min(end, longest) - least, 0.22)
            track.set(facecolor=VIOLET, linewidth=0)
            axes.add_patch(track)
            if old is not None:
                axes.plot([old, old], [row - 0.16, row + 0.16], color=FAINT, linewidth=5)
            if end < longest:
                axes.plot([end, end], [row - 0.18, row + 0.18], color=INK, linewidth=5)
                axes.text(end * 1.12, row, f"{end:,.0f}", va="center", fontweight="bold")
            else:
                axes.plot(1.08 * longest, row, ">", color=VIOLET, markersize=13, clip_on=False)
                axes.text(longest, row - 0.36, "no wall", va="center", ha="right",
                          fontweight="bold")  # fmt: skip
        axes.set(xscale="log", xlim=(least, longest), ylim=(len(reach) - 0.6, -0.62))
        axes.set(xlabel="length of the text, in pieces", yticks=[], xticks=[100, 1000, 10_000])
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        axes.spines["left"].set_visible(False)
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
