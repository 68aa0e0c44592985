"""The figures of chapter 11: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, FAINT, INK, PAPER, ROLE, VIOLET, closed, style
from attn_course.plots.clock import draw_clock
from attn_course.plots.curves import draw_mean_and_range

ROAD, NORM, PART = 1.6, 4.1, 7.3  # of the diagram: the road, the norms and the parts beside it
EARLIER = (-1.6, 0.0)  # the roads of the tokens before
PHONE = 4.55  # inches, of a figure whose letters have 11 pixels on a phone


def stream() -> Figure:
    """Draw a road for each token, and what works for the last one.

    Of two blocks the first is drawn with its parts, and says what each does; the other is a box.
    """
    top = 8.0
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 4.3))
        for road in (*EARLIER, ROAD):
            axes.plot([road, road], [0, top], color=FAINT, linewidth=13, solid_capstyle="butt")
            axes.annotate("", (road, top + 0.5), (road, 0), arrowprops=_arrow(INK))
        _box(axes, 0, -0.45, "embedding of the tokens", PAPER)
        _box(axes, 0, top + 0.95, "norm, then readout", PAPER)
        for name, low, high, inset in (
            ("block 0", 0.6, 5.4, 0.25),
            ("block 1, the same again", 6.4, 1.1, 0.35),
        ):
            frame = Rectangle((-2.3, low), 12.1, high, fill=False, edgecolor=INK, linestyle=":")
            axes.add_patch(frame)
            axes.text(9.6, low + high - inset, name, ha="right", va="top")
        _part(axes, 1.85, "attention", VIOLET, (*EARLIER, ROAD))
        _part(axes, 4.35, "two maps", BROWN, (ROAD,))
        _say(axes, 1.85, "reading every road, adding to one", VIOLET)
        _say(axes, 4.35, "reading one road, adding to it", BROWN)
        axes.set(xlim=(-2.9, 10), ylim=(-1, top + 1.5))
        axes.axis("off")
    return closed(figure)


def _say(axes: Axes, low: float, words: str, colour: str) -> None:
    """Write under what reads at a height what it does."""
    axes.text(9.6, low - 0.72, words, ha="right", va="center", color=colour)


def _part(axes: Axes, low: float, name: str, colour: str, roads: Sequence[float]) -> None:
    """Draw what reads from roads at a height, and writes to the last of them a little higher."""
    axes.annotate("", (NORM - 0.68, low), (roads[0], low), arrowprops=_arrow(colour))
    axes.plot(roads, [low] * len(roads), "o", color=colour, markersize=7)
    _box(axes, NORM, low, "norm", PAPER)
    axes.annotate("", (PART - 1.12, low), (NORM + 0.68, low), arrowprops=_arrow(colour))
    _box(axes, PART, low, name, PAPER, colour)
    axes.plot([PART, PART], [low + 0.35, low + 0.95], color=colour, linewidth=1.6)
    axes.annotate("", (ROAD + 0.32, low + 0.95), (PART, low + 0.95), arrowprops=_arrow(colour))
    circle = {"boxstyle": "circle,pad=0.15", "facecolor": PAPER, "edgecolor": colour}
    axes.text(ROAD, low + 0.95, "+", ha="center", va="center", bbox=circle, zorder=5)


def _box(axes: Axes, x: float, y: float, text: str, colour: str, edge: str = INK) -> None:
    frame = {"boxstyle": "round,pad=0.3", "facecolor": colour, "edgecolor": edge, "linewidth": 1.6}
    axes.text(x, y, text, ha="center", va="center", bbox=frame, zorder=4)


def _arrow(colour: str) -> dict[str, object]:
    return {"arrowstyle": "->", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}


def turned(places: Sequence[int] = (1, 4), later: int = 10, step: float = 0.3) -> Figure:
    """Draw a key and a query as hands, turned by their places, and both again further on.

    Args:
        places: Where the key and the query stand.
        later: How much further on they stand the second time.
        step: The angle by which a place turns a hand.
    """
    begin = {"key": 0.0, "query": 0.7}
    with style():
        figure, panels = plt.subplots(1, 2, figsize=(PHONE, 2.0))
        for axes, more in zip(panels, (0, later), strict=True):
            at = [place + more for place in places]
            hands = [
                (name, f"{name} at {place}", start + step * place)
                for (name, start), place in zip(begin.items(), at, strict=True)
            ]
            draw_clock(axes, "", [(name, role, angle, 1.0) for role, name, angle in hands])
            if not more:  # where the hands began, and a dot for each step since, with its number
                for (role, start), place in zip(begin.items(), at, strict=True):
                    steps = [start + step * n for n in range(place + 1)]
                    dots = [(math.sin(angle), math.cos(angle)) for angle in steps]
                    pale = LineCollection([[(0, 0), dots[0]]], colors=ROLE[role], alpha=0.4)
                    axes.add_collection(pale)
                    axes.scatter(*zip(*dots[1:], strict=True), s=22, color=ROLE[role], zorder=3)
                    for number, (x, y) in enumerate(dots[1:-1], 1):  # the last has the hand's name
                        axes.text(1.17 * x, 1.17 * y, str(number), ha="center", va="center")
            from_twelve = [90 - math.degrees(angle) for *_, angle in hands]
            axes.add_patch(Wedge((0, 0), 0.55, *reversed(from_twelve), color=FAINT, zorder=0))
            ends = (-1.25, 2.45) if math.sin(hands[-1][-1]) > 0 else (-2.45, 1.25)
            axes.set(xlim=ends, ylim=(-1.5, 1.5))  # room beside the query for its name
        figure.text(0.5, 0.82, f"{later} places on \N{RIGHTWARDS ARROW}", ha="center")
    return closed(figure)


def learning(
    curves: Mapping[str, Sequence[float]],
    minutes: Mapping[str, float],
    top: float = 2.0,
) -> Figure:
    """Draw bits a character by processor time.

    Args:
        curves: For each model, its bits at equal distances in time.
        minutes: For each model, the minutes from one number to the next.
        top: The end of the axis.
    """
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.0))
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(curves.items(), COMPARED, marks, strict=False):
            at = minutes[name] * torch.arange(1, len(bits) + 1)
            axes.plot(at, bits, mark, color=colour, label=name, markersize=4)
        end = max(minutes[name] * len(bits) for name, bits in curves.items())
        axes.set(xlim=(0, 1.03 * end), ylim=(None, top), xticks=range(round(end) + 1))
        axes.set(xlabel="processor time in minutes", ylabel="bits a character, unseen text")
        axes.legend()
    return closed(figure)


def worth(
    runs: Mapping[str, tuple[Tensor, Tensor]],
    whole: Sequence[float],
    frequencies: float,
    steps: tuple[int, int] = (200, 800),
) -> Figure:
    """Draw what is lost without each part, early beside late: a bar is the mean, a dot a seed.

    Args:
        runs: For each part, the bits a character of the seeds without it, (num_seeds,), after a
            short training and after a longer one.
        whole: The bits of the whole model after each.
        frequencies: The bits of a model that knows how frequent each piece is, and nothing else.
        steps: Steps of each.
    """
    with style():
        size = (PHONE, 0.9 + 0.4 * len(runs))
        figure, panels = plt.subplots(1, 2, figsize=size, sharex=True, sharey=True)
        for which, (axes, number, bits) in enumerate(zip(panels, steps, whole, strict=True)):
            for row, of_seeds in enumerate(runs.values()):
                lost = of_seeds[which] - bits
                axes.barh(row, lost.mean().item(), height=0.62, color=VIOLET, alpha=0.25, lw=0)
                height = row + torch.linspace(-0.2, 0.2, len(lost))
                axes.plot(lost, height, "o", color=VIOLET, markersize=4, alpha=0.8)
            axes.axvline(0, color=INK, linewidth=1)
            axes.axvline(frequencies - bits, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            axes.set(title=f"after {number} steps", xlabel=f"bits above {bits:.2f}")
            axes.tick_params(axis="y", length=0)
        beside = frequencies - whole[-1] - 0.04, len(runs) // 2 - 0.5
        panels[-1].text(*beside, "frequencies\nonly", ha="right", va="center")
        panels[0].set_yticks(range(len(runs)), list(runs))
        panels[0].set(ylim=(len(runs) - 0.5, -0.5), ylabel="without", xticks=(0, 0.5, 1))
    return closed(figure)


def leak(
    runs: Mapping[str, Tensor], every: int, written: Tensor, chance: float = math.log(512)
) -> Figure:
    """Draw the loss by step of models of which one sees its answers.

    Args:
        runs: For each model, the losses of all seeds, (num_seeds, num_points).
        every: The steps from one loss to the next.
        written: What the first of them pays at last where it cannot see, (num_seeds,).
        chance: The loss of one who knows nothing.
    """
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 2.8))
        axes.axhline(chance, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        end = every * max(losses.shape[1] for losses in runs.values())
        axes.text(end, chance + 0.1, "knowing nothing", ha="right", va="bottom")
        for (name, losses), colour, mark in zip(runs.items(), COMPARED, ("-", "--"), strict=False):
            at = every * torch.arange(1, losses.shape[1] + 1)
            draw_mean_and_range(axes, at, losses, mark, color=colour, label=name)
            mean = losses.mean(0)
            middle = (mean[0] + mean[-1]) / 2  # where it has fallen half way, to the right of it
            half = int((mean < middle).nonzero()[0])
            beside = float(at[half]) + 5, float(mean[half]) + 0.15
            axes.text(*beside, name, color=colour, va="bottom")
        axes.scatter([end] * len(written), written, color=COMPARED[0], s=16)
        beside = 0.96 * end, written.mean().item()
        axes.text(*beside, "when it has to write", color=COMPARED[0], ha="right", va="center")
        top = 1.1 * max(chance, written.max().item())
        axes.set(xlim=(0, 1.03 * end), ylim=(0, top), xlabel="steps", ylabel="nats a piece")
    return closed(figure)


def by_position(found: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw bits a character by the number of tokens that have been read, for each model.

    Args:
        found: For each model, its bits by ranges of positions such as "3-4".
    """
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.0))
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(found.items(), COMPARED, marks, strict=False):
            ends = [int(spans.partition("-")[2]) for spans in bits]
            axes.plot(ends, list(bits.values()), mark, color=colour, label=name, markersize=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ends, [str(end) for end in ends])
        axes.set(xlabel="pieces read, at most", ylabel="bits a character")
        axes.legend()
    return closed(figure)
