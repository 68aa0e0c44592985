"""A block of the Transformer as a diagram: two parts, and a way past each of them."""

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Patch

from attn_course.plots import INK, PAPER, closed, style

# What stands along the way: its place, its name, and what it does.
STATIONS = (
    (-0.1, "tokens", ""),
    (1.0, "norm", ""),
    (2.1, "self-\nattention", "tokens meet"),
    (3.1, "+", ""),
    (4.0, "norm", ""),
    (5.1, "two linear\nmaps", "each alone"),
    (6.1, "+", ""),
)
BOX = {"boxstyle": "round,pad=0.35", "facecolor": PAPER, "edgecolor": INK}
WAY = {"arrowstyle": "->", "mutation_scale": 11, "color": INK, "linewidth": 1}
# From the tokens to the first sum, and from there to the second.
PAST = ((0.45, 3.1), (3.48, 6.1))


def block() -> Figure:
    """Draw the way of the tokens through a block, and the two ways past its parts."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.7))
        named = {place: _station(axes, place, *said) for place, *said in STATIONS}
        for start, end in pairwise(named):
            ends = {"patchA": named[start], "patchB": named[end], "shrinkA": 1, "shrinkB": 1}
            axes.add_patch(FancyArrowPatch((start, 0), (end, 0), **WAY | ends))
        axes.add_patch(FancyArrowPatch((6.3, 0), (6.8, 0), **WAY))
        for start, end in PAST:
            _past(axes, start, end)
        axes.set(xlim=(-0.65, 6.85), ylim=(-0.7, 0.75))
        axes.axis("off")
    return closed(figure)


def _station(axes: Axes, place: float, name: str, does: str) -> Patch:
    """Write a name in its box, below it what the box does; return the box."""
    look = BOX | {"edgecolor": "none"} if name == "tokens" else BOX
    text = axes.text(place, 0, name, ha="center", va="center", bbox=look)
    axes.text(place, -0.45, does, ha="center", va="top", style="italic")
    return text.get_bbox_patch()


def _past(axes: Axes, start: float, end: float) -> None:
    """Draw a way past a part: up, along and down into the sum."""
    line = {"color": INK, "linewidth": 2.5}
    axes.plot([start, start, end], [0, 0.62, 0.62], solid_capstyle="round", **line)
    down = WAY | line | {"shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch((end, 0.62), (end, 0.2), **down))
