"""The figures of chapter 11: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, FAINT, INK, PAPER, VIOLET, closed, style
from attn_course.plots.clock import draw_clock
from attn_course.plots.curves import draw_mean_and_range

ROAD, NORM, PART = 1.6, 4.1, 7.3  # of the diagram: the road, the norms and the parts beside it
EARLIER = (-1.6, 0.0)  # the roads of the tokens before


def stream(
    num_layers: int = 2, ends: tuple[str, str] = ("embedding of the tokens", "norm, then readout")
) -> Figure:
    """Draw a road for each token, and what works for the last one.

    Args:
        num_layers: Number of blocks.
        ends: What is written at the foot of the roads, and at their top.
    """
    top = 4.4 * num_layers + 1.2
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.52 * top + 0.9))
        for road in (*EARLIER, ROAD):
            axes.plot([road, road], [0, top], color=FAINT, linewidth=13, solid_capstyle="butt")
            axes.annotate("", (road, top + 0.5), (road, 0), arrowprops=_arrow(INK))
        _box(axes, 0, -0.45, ends[0], PAPER)
        _box(axes, 0, top + 0.95, ends[1], PAPER)
        for number in range(num_layers):
            low = 4.4 * number + 0.6
            axes.add_patch(
                plt.Rectangle((-2.3, low), 12.1, 4.0, fill=False, edgecolor=INK, linestyle=":")
            )
            name = f"block {number}" if num_layers > 1 else "block"
            axes.text(9.6, low + 3.75, name, ha="right", va="top")
            _part(axes, low + 0.55, "attention", VIOLET, (*EARLIER, ROAD))
            _part(axes, low + 2.35, "two maps", BROWN, (ROAD,))
        axes.set(xlim=(-2.9, 10), ylim=(-1, top + 1.5))
        axes.axis("off")
    return closed(figure)


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
        figure, panels = plt.subplots(1, 2, figsize=(5.2, 2.1))
        for axes, more in zip(panels, (0, later), strict=True):
            at = [place + more for place in places]
            hands = [
                (name, name, start + step * place, 1.0)
                for (name, start), place in zip(begin.items(), at, strict=True)
            ]
            draw_clock(axes, "key at {}, query at {}".format(*at), hands)
    return closed(figure)


def learning(
    curves: Mapping[str, Sequence[float]],
    minutes: Mapping[str, float],
    controls: Mapping[int, float],
    top: float = 2.0,
) -> Figure:
    """Draw bits a character by processor time, and what counting reaches.

    Args:
        curves: For each model, its bits at equal distances in time.
        minutes: For each model, the minutes from one number to the next.
        controls: For each number of characters before the next, the bits of who counts those.
        top: The end of the axis.
    """
    with style():
        figure, axes = plt.subplots()
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(curves.items(), COMPARED, marks, strict=False):
            at = minutes[name] * torch.arange(1, len(bits) + 1)
            axes.plot(at, bits, mark, color=colour, label=name, markersize=4)
        end = max(minutes[name] * len(bits) for name, bits in curves.items())
        for number, height in controls.items():
            axes.axhline(height, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            axes.text(1.05 * end, height, f"counting,\n{number} before", va="center")
        axes.set(xlim=(0, 1.03 * end), ylim=(None, top), xticks=range(math.ceil(end)))
        axes.set(xlabel="processor time in minutes", ylabel="bits a character, unseen text")
        axes.legend()
    return closed(figure)


def worth(
    runs: Mapping[str, Tensor],
    whole: float,
    later: Sequence[float],
    steps: tuple[int, int] = (200, 800),
) -> Figure:
    """Draw what is lost without each part, a row for each and a dot for each seed.

    Args:
        runs: For each part, the bits a character of the seeds without it, (num_seeds,).
        whole: The bits of the whole model.
        later: After a longer training, the bits of the whole model, and without attention.
        steps: Steps of the training, and of the longer one.
    """
    lost = {part: bits - whole for part, bits in runs.items()}
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.2 + 0.36 * len(lost)))
        axes.axvline(0, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        for row, bits in enumerate(lost.values()):
            height = row + torch.linspace(-0.2, 0.2, len(bits))
            axes.plot(bits, height, "o", color=VIOLET, markersize=6, label=f"{steps[0]} steps")
        full, without = later
        row = list(lost).index("attention")
        axes.plot(without - full, row, "D", color=BROWN, markersize=7, label=f"{steps[1]} steps")
        axes.set_yticks(range(len(lost)), list(lost))
        axes.set(ylim=(len(lost) - 0.5, -0.5))
        axes.set(xlabel="bits a character lost", ylabel="taken out")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
        named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(named.values(), named, loc="center right")
    return closed(figure)


def leak(runs: Mapping[str, Tensor], every: int) -> Figure:
    """Draw the loss by step of models of which one sees its answers.

    Args:
        runs: For each model, the losses of all seeds, (num_seeds, num_points).
        every: The steps from one loss to the next.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.6))
        for (name, losses), colour, mark in zip(runs.items(), COMPARED, ("-", "--"), strict=False):
            at = every * torch.arange(1, losses.shape[1] + 1)
            draw_mean_and_range(axes, at, losses, mark, color=colour, label=name)
        axes.set(xlim=(0, None), ylim=(0, None), xlabel="steps", ylabel="nats a piece")
        axes.legend()
    return closed(figure)


def by_position(found: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw bits a character by the number of tokens that have been read, for each model.

    Args:
        found: For each model, its bits by ranges of positions such as "3-4".
    """
    with style():
        figure, axes = plt.subplots()
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(found.items(), COMPARED, marks, strict=False):
            ends = [int(spans.partition("-")[2]) for spans in bits]
            axes.plot(ends, list(bits.values()), mark, color=colour, label=name, markersize=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ends, [str(end) for end in ends])
        axes.set(xlabel="pieces read, at most", ylabel="bits a character")
        axes.legend()
    return closed(figure)
