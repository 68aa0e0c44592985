"""The figures of chapter 07: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import BROWN, FAINT, INK, PAPER, ROLE, VIOLET, closed, style
from attn_course.plots.curves import draw_mean_and_range

# The line and the colour of each way to score or to scale, which tell them apart at a glance.
WAYS = (("-", VIOLET), ("--", INK), (":", BROWN))

# --- dot product and distance ---------------------------------------------------------------------


def louder(lengths: Tensor, weights: Mapping[str, Tensor], others: float) -> Figure:
    """Draw the weight of one key against its length, for each way to score.

    Args:
        lengths: Lengths given to the key.
        weights: Its weight at each length, by the name of the score.
        others: Length of all other keys.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.1))
        axes.axvline(others, color=FAINT, linestyle=":")
        axes.text(others - 0.06, 0.95, "as long as\nthe others", va="top", ha="right")
        for (mark, colour), (name, shares) in zip(WAYS, weights.items(), strict=False):
            axes.plot(lengths, shares, mark, color=colour, label=name)
        axes.set(xlim=(0, float(lengths.max())), ylim=(0, 1))
        axes.set(xlabel="length of the key", ylabel="its weight")
        axes.legend(loc="lower center", handlelength=3.2)
    return closed(figure)


# --- the square root ------------------------------------------------------------------------------


def variances(widths: Tensor, measured: Tensor) -> Figure:
    """Draw the variance of a dot product, (num_seeds, num_widths), against the width."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.0))
        axes.plot(widths, widths, color=FAINT, label="the width itself", zorder=0)
        for seed in measured:
            axes.plot(widths, seed, "o", color=INK, markersize=5, markerfacecolor="none")
        axes.plot([], [], "o", color=INK, markerfacecolor="none", label="measured, each seed")
        axes.set(xscale="log", yscale="log", xlabel="width of query and key, d")
        axes.set_ylabel("variance of their dot product")
        _plain_ticks(axes, widths)
        axes.legend()
    return closed(figure)


def slopes(widths: Tensor, norms: Mapping[str, Tensor]) -> Figure:
    """Draw the norm of the softmax's Jacobian, (num_seeds, num_widths), for each scaling."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        for (mark, colour), (name, runs) in zip(WAYS, norms.items(), strict=False):
            line = {"color": colour, "label": name}
            draw_mean_and_range(axes, widths, runs, f"o{mark}", **line)
        axes.set(xscale="log", ylim=(0, None), xlabel="width of query and key, d")
        axes.set_ylabel("norm of the Jacobian")
        _plain_ticks(axes, widths)
        figure.legend(loc="outside upper center", ncols=len(norms), handlelength=3.2)
    return closed(figure)


def learning(right: Mapping[str, Tensor], smooth: int) -> Figure:
    """Draw the share of right answers in training, (num_seeds, steps), for each scaling.

    Args:
        right: The shares measured at every step.
        smooth: Number of steps over which to take the mean.
    """
    with style(letters=12):
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        for (mark, colour), (name, runs) in zip(WAYS, right.items(), strict=False):
            windows = runs.unfold(-1, smooth, smooth).mean(-1)
            at = smooth * (1 + np.arange(windows.shape[-1]))
            for seed in windows:
                axes.plot(at, seed, mark, color=colour, linewidth=1.6)
            low, high = windows[:, -1].min(), windows[:, -1].max()
            end = {"ha": "right", "color": colour}
            if high > 0.9:  # there is no room above
                axes.text(at[-1], low - 0.03, name, va="top", **end)
            else:
                axes.text(at[-1], high + 0.02, name, va="bottom", **end)
        axes.set(xlim=(0, None), ylim=(0, 1.02), xlabel="step of training")
        axes.set_ylabel("share right")
    return closed(figure)


def _plain_ticks(axes: Axes, widths: Tensor) -> None:
    """Write widths as numbers, every second one."""
    axes.minorticks_off()
    some = [int(width) for width in widths[::2]]
    axes.set_xticks(some, [str(width) for width in some])


# --- masks ----------------------------------------------------------------------------------------


def masks(allowed: Mapping[str, Tensor]) -> Figure:
    """Draw masks, (query_len, key_len): purple where a query may attend, crossed where not."""
    with style():
        rows = -(-len(allowed) // 3)
        size = (5.2, 0.5 + 1.8 * rows)
        figure, panels = plt.subplots(
            rows, 3, figsize=size, sharex=True, sharey=True, squeeze=False
        )
        for axes, (name, mask) in zip(panels.flat, allowed.items(), strict=True):
            axes.imshow(
                mask.numpy(), cmap=ListedColormap(["white", ROLE["weight"]]), vmin=0, vmax=1
            )
            crossed = (~mask).nonzero()
            axes.plot(crossed[:, 1], crossed[:, 0], "x", color="black", markersize=4)
            axes.set_title(name, fontsize=11)
            axes.spines[:].set_visible(True)
            axes.set_xticks(range(mask.shape[1]))
            axes.set_yticks(range(mask.shape[0]))
        for axes in panels[-1]:
            axes.set_xlabel("key position")
        for axes in panels[:, 0]:
            axes.set_ylabel("query position")
    return closed(figure)


# --- a softmax in blocks --------------------------------------------------------------------------


def in_blocks(powers: Tensor, values: Tensor, block_len: int, states: Sequence[str]) -> Figure:
    """Draw a softmax that meets its keys a block at a time, and what it remembers in between.

    Args:
        powers: e to the score of each key, (key_len,).
        values: The value of each key, (key_len,).
        block_len: Keys in a block.
        states: The numbers remembered after each block, as they are printed.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.9))
        for place, (power, value) in enumerate(zip(powers, values, strict=True)):
            x = place + 0.8 * (place // block_len)
            _box(axes, x, 1.0, f"{power:g}", ROLE["weight"])
            _box(axes, x, 0.0, f"{value:g}", ROLE["value"])
        for block, state in enumerate(states):
            x = block * (block_len + 0.8) + (block_len - 1) / 2
            axes.text(x, 1.75, f"block {block + 1}", ha="center", fontweight="bold")
            axes.text(x, -1.75, state, ha="center", va="center", linespacing=1.5)
            arrow = {"arrowstyle": "->", "color": INK}
            axes.annotate("", (x, -1.05), (x, -0.5), arrowprops=arrow)
        _box_to_box(axes, block_len, len(states))
        for y, name in ((1.0, "power"), (0.0, "value"), (-1.75, "kept")):
            axes.text(-0.75, y, name, ha="right", va="center", fontweight="bold")
        axes.set(xlim=(-2.1, len(powers) + 0.8 * len(states) - 0.9), ylim=(-2.6, 2.1))
        axes.axis("off")
    return closed(figure)


def _box(axes: Axes, x: float, y: float, text: str, face: str) -> None:
    corner = (x - 0.42, y - 0.36)
    axes.add_patch(Rectangle(corner, 0.84, 0.72, facecolor=face, edgecolor=PAPER))
    axes.text(x, y, text, ha="center", va="center", color="black")


def _box_to_box(axes: Axes, block_len: int, blocks: int) -> None:
    """Draw an arrow from what one block leaves behind to the next."""
    for block in range(blocks - 1):
        middle = (block + 0.5) * (block_len + 0.8) + (block_len - 1) / 2
        arrow = {"arrowstyle": "->", "color": INK}
        axes.annotate("", (middle + 0.3, -1.75), (middle - 0.3, -1.75), arrowprops=arrow)
