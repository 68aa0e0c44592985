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

from attn_course.plots import BROWN, FAINT, INK, PAPER, ROLE, VIOLET, closed, ink_of, style
from attn_course.plots.curves import draw_mean_and_range

# The line and the colour of each way to score or to scale, which tell them apart at a glance.
WAYS = (("-", VIOLET), ("--", INK), (":", BROWN))
UNIT = 0.46  # of a box, for one position or one feature

# --- shapes ---------------------------------------------------------------------------------------


def one_table(query_len: int, key_len: int, d_key: int) -> Figure:
    """Draw the products of the layer as boxes, each axis as long as it is, of a table used twice.

    The rows are one query and many queries.
    """
    rows = [("1   one query", ("q", "X\u1d40", "a", "X", "o"), 1)]
    rows.append(("2   many queries", ("Q", "X\u1d40", "A", "X", "O"), query_len))
    tall = UNIT * max(query_len, key_len, d_key) + 2.1
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.4))
        ends = []
        for place, (title, letters, queries) in enumerate(rows):
            shapes = [(queries, d_key), (d_key, key_len), (queries, key_len)]
            shapes += [(key_len, d_key), (queries, d_key)]
            ends.append(_product(axes, -tall * place, letters, shapes))
            axes.text(-0.6, tall * (0.5 - place) + 0.15, title, va="center", fontweight="bold")
        axes.set(
            xlim=(-0.6, max(ends) + 0.1), ylim=(0.8 - tall * (len(rows) - 0.5), 0.5 * tall + 0.4)
        )
        axes.set_aspect("equal")
        axes.axis("off")
    return closed(figure)


TOP, MIDDLE, BOTTOM = 2.5, 0.0, -2.5  # of who_asks: the heights of queries, keys and values
SIZES = 0.45  # the room before a box for the length of its axis


def who_asks(
    query_len: int, key_len: int, d_key: int, d_value: int, widths: Sequence[int]
) -> Figure:
    """Draw the layer between two sequences: what each of them makes, and what becomes of it.

    Args:
        query_len: Number of queries.
        key_len: Number of keys.
        d_key: Width of queries and keys.
        d_value: Width of a value.
        widths: Of a state of the decoder, which asks, and of the encoder, which answers.
    """
    made = UNIT * max(widths) + 2.2
    blend = made + UNIT * max(d_key, d_value) + 1.5
    at_output, end = blend + UNIT * key_len + 1.5, UNIT * d_value
    weights, outputs = (TOP + MIDDLE) / 2, (3 * MIDDLE + BOTTOM) / 4
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.1))
        _made(axes, "decoder asks", "Y", (query_len, widths[0]), {"Q": (TOP, d_key)}, made)
        shape, both = (key_len, widths[1]), {"K": (MIDDLE, d_key), "V": (BOTTOM, d_value)}
        _made(axes, "encoder answers", "X", shape, both, made)
        _matrix(axes, (blend, weights), "weight", "A", (query_len, key_len))
        _matrix(axes, (at_output, outputs), "output", "O", (query_len, d_value))
        for y in (TOP, MIDDLE):
            _arrow(axes, (made + UNIT * d_key, y), (blend, weights))
        _arrow(axes, (blend + UNIT * key_len, weights), (at_output, outputs))
        _arrow(axes, (made + end, BOTTOM), (at_output, outputs))
        above = UNIT * query_len / 2 + 0.75
        softmax = f"softmax(QK\u1d40 \u00f7 \u221a{d_key})"
        axes.text(blend - 0.3, weights + above, softmax, va="bottom")
        axes.text(at_output + end / 2, outputs + above, "AV", ha="center", va="bottom")
        axes.set(xlim=(-0.6, at_output + end + 0.1), ylim=(-3.3, 4.4))
        axes.set_aspect("equal")
        axes.axis("off")
    return closed(figure)


def _made(
    axes: Axes,
    title: str,
    name: str,
    shape: tuple[int, int],
    parts: Mapping[str, tuple[float, int]],
    x: float,
) -> None:
    """Draw a table, and at `x` what its matrices make of it: the height and the width of each."""
    roles = {"Q": "query", "K": "key", "V": "value"}
    y = sum(height for height, _ in parts.values()) / len(parts)
    _matrix(axes, (0, y), "table", name, shape)
    above = y + UNIT * shape[0] / 2 + 0.75
    axes.text(-0.35, above, title, va="bottom", fontweight="bold")
    for part, (height, width) in parts.items():
        _matrix(axes, (x, height), roles[part], part, (shape[0], width))
        _arrow(axes, (UNIT * shape[1], y), (x, height), f"$W_{part}$")


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str = ""
) -> None:
    """Draw an arrow between two boxes; beside its middle, on the outer side, write what it does."""
    look = {"arrowstyle": "->", "color": INK, "shrinkA": 2, "shrinkB": 0}
    (x, y), (to_x, to_y) = start, (end[0] - SIZES, end[1])
    axes.annotate("", (to_x, to_y), start, arrowprops=look)
    at, side = ((x + to_x) / 2, (y + to_y) / 2), -1 if to_y < y else 1
    across, along = ("center", 0.0) if to_y == y else ("right", -0.1)
    axes.text(
        at[0] + along, at[1] + 0.15 * side, text, ha=across, va="top" if side < 0 else "bottom"
    )


def _product(
    axes: Axes, y: float, names: Sequence[str], shapes: Sequence[tuple[int, int]]
) -> float:
    """Draw a row: query, keys, an arrow to the weights, values, output; return where it ends."""
    roles = ("query", "key", "weight", "value", "output")
    x = 0.0
    for number, (role, name, shape) in enumerate(zip(roles, names, shapes, strict=True)):
        is_table = name.startswith("X")
        if number == 2:
            root = f"\u00f7 \u221a{shapes[0][1]},"
            axes.text(x + 1.5, y + 0.15, root, ha="center", va="bottom")
            axes.text(x + 1.5, y - 0.15, "softmax", ha="center", va="top")
            arrow = {"arrowstyle": "->", "color": INK}
            axes.annotate("", (x + 2.4, y), (x + 0.6, y), arrowprops=arrow)
            x += 3.4
        elif number:
            x = _sign(axes, x, y, "=" if number == 4 else "\u00b7")
        x = _matrix(axes, (x, y), "table" if is_table else role, name, shape)
    return x


def _sign(axes: Axes, x: float, y: float, text: str, gap: float = 1.35) -> float:
    """Write a sign behind a matrix; return where the next one begins, its length before it."""
    axes.text(x + (gap - 0.45) / 2, y, text, ha="center", va="center")
    return x + gap


def _matrix(
    axes: Axes, at: tuple[float, float], role: str, name: str, shape: tuple[int, int]
) -> float:
    """Draw a box from `x` to what is returned, with its name and its axes' lengths."""
    x, y = at
    height, width = UNIT * shape[0], UNIT * shape[1]
    look = {"facecolor": ROLE.get(role, PAPER), "edgecolor": INK, "linewidth": 1}
    axes.add_patch(Rectangle((x, y - height / 2), width, height, **look))
    if shape[0] > 1:
        axes.text(x + width / 2, y, name, color=ink_of(role), ha="center", va="center", fontsize=13)
    else:  # a letter is taller than one row
        axes.text(x + width / 2, y - height / 2 - 0.1, name, ha="center", va="top", fontsize=13)
    axes.text(x + width / 2, y + height / 2 + 0.1, shape[1], ha="center", va="bottom")
    axes.text(x - 0.1, y, shape[0], ha="right", va="center")
    return x + width


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
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        for (mark, colour), (name, runs) in zip(WAYS, right.items(), strict=False):
            windows = runs.unfold(-1, smooth, smooth).mean(-1)
            at = smooth * (1 + np.arange(windows.shape[-1]))
            for number, seed in enumerate(windows):
                label = name if number == 0 else None
                axes.plot(at, seed, mark, color=colour, linewidth=1.6, label=label)
        axes.set(xlim=(0, None), ylim=(0, 1.02), xlabel="step of training")
        axes.set_ylabel("share right")
        figure.legend(loc="outside upper center", ncols=len(right), handlelength=3.2)
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
