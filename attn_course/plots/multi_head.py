"""The figures of chapter 09: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import (
    BROWN,
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    GREY,
    INK,
    PAPER,
    ROLE,
    VIOLET,
    closed,
    ink_of,
    ink_over,
    style,
)

# Each token has one of these, which are no role's colours; every cell has a number as well. The
# ground of the page shows through.
TOKENS, THIN = (VIOLET, BROWN, GREY), 0.25
NUM_BARS = 21  # an odd number, so that a half has a bar of its own
SLICE = 0.4  # the height of the slice of a head in the output projection

# --- why one is not enough ------------------------------------------------------------------------


def shares(drawn: Mapping[str, Tensor]) -> Figure:
    """Draw a histogram of the weight of a key, a panel for each kind of attention.

    Args:
        drawn: For each kind, the weight of the key in each draw, (num_draws,).
    """
    with style():
        figure, panels = plt.subplots(len(drawn), 1, figsize=(5.2, 1.0 + 1.35 * len(drawn)))
        for axes, (name, share) in zip(panels, drawn.items(), strict=True):
            edges = np.linspace(0, 1, NUM_BARS + 1)
            height, _ = np.histogram(share.double().numpy(), edges)
            percent = 100 * height / len(share)
            axes.bar(edges[:-1], percent, width=1 / NUM_BARS, align="edge", color=ROLE["weight"])
            axes.axvline(0.5, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            axes.set_title(name, loc="left")
            axes.set(xlim=(0, 1), ylim=(0, 100), ylabel="draws in %")
        for axes in panels[:-1]:
            axes.tick_params(labelbottom=False)
        panels[-1].set_xlabel("weight of key 0")
    return closed(figure)


def by_seed(runs: Mapping[str, Tensor], label: str, line: float | None = None) -> Figure:
    """Draw the result of each seed, a row for each kind of model.

    Args:
        runs: For each kind, the results of its seeds, (num_seeds,).
        label: The name of the result.
        line: Position of a vertical line; None for no line.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.0 + 0.55 * len(runs)))
        if line is not None:
            axes.axvline(line, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        for row, reached in enumerate(runs.values()):
            # seeds with equal results would hide each other
            height = row + np.linspace(-0.22, 0.22, len(reached))
            axes.plot(reached.numpy(), height, "o", color=VIOLET, markersize=6, alpha=0.8)
        axes.set_yticks(range(len(runs)), list(runs))
        axes.set(xlabel=label, ylabel="model")
        axes.set_ylim(len(runs) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
    return closed(figure)


def factors() -> Figure:
    """Draw which factors of two independent parts one head can reach, and their difference."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.3))
        for corner in (0, -2):
            axes.add_patch(Rectangle((corner, corner), 2, 2, facecolor=FAINT, alpha=0.6))
        axes.axhline(0, color=INK, linewidth=1)
        axes.axvline(0, color=INK, linewidth=1)
        axes.plot((1, 1, 0), (0, -1, -1), "--", color=ROLE["output"])
        axes.plot((1, 0), (0, -1), "o", color=INK, markersize=7, markerfacecolor=PAPER, zorder=4)
        axes.plot(1, -1, "o", color=ROLE["output"], markersize=9)
        axes.text(1.12, -0.5, "1", va="center")
        axes.text(1, 0.14, "A", ha="center", va="bottom")
        axes.text(-0.12, -1.15, "\u2212B", ha="right", va="top")
        axes.text(1, -1.2, "wanted: A \u2212 B", ha="center", va="top")
        for x in (1, -1):
            axes.text(x, x, "one head", ha="center", va="center")
        axes.set(xlim=(-2, 2), ylim=(-2, 2), aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))
        axes.set(xlabel="factor of A", ylabel="factor of B")
    return closed(figure)


# --- where heads look -----------------------------------------------------------------------------


def looks(words: Sequence[str], heads: Mapping[str, Tensor]) -> Figure:
    """Draw the weights of one query, a row for each head.

    Args:
        words: The keys.
        heads: The weights of each head, (len(words),).
    """
    table = np.array([weights.tolist() for weights in heads.values()])
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.25 + 0.42 * len(heads)))
        axes.imshow(table, cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(*table.shape):
            if table[row, column] >= 0.005:
                text = f"{table[row, column]:.2f}".removeprefix("0")
                ink = ink_over(FROM_NOTHING_TO_WEIGHT(table[row, column]))
                axes.text(column, row, text, ha="center", va="center", color=ink)
        axes.set_xticks(range(len(words)), words)
        axes.set_yticks(range(len(heads)), list(heads))
        axes.set(xlabel="word it looks at", ylabel="head")
        _frame(axes, len(words), len(heads))
    return closed(figure)


def _frame(axes: Axes, columns: int, rows: int) -> None:
    """Separate the cells of a map with thin lines."""
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=FAINT, linewidth=0.5)
    axes.tick_params(which="both", length=0)


def reach(distance: Tensor, special: Tensor, uniform: float) -> Figure:
    """Draw how far each head of a trained model looks, and how much goes to the marks.

    Args:
        distance: Mean distance from a piece to the pieces it looks at, (num_heads,).
        special: Share of the weight on the marks of beginning and end, (num_heads,).
        uniform: The distance for a head that looks at all pieces equally.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        axes.axvline(uniform, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        axes.text(uniform, 1.02, "all pieces alike", ha="center", va="bottom")
        axes.plot(distance, special, "o", color=ROLE["weight"], markersize=6, alpha=0.8)
        axes.set(
            xlabel="mean distance to the pieces it looks at", ylabel="weight on [CLS] and [SEP]"
        )
        axes.set(xlim=(0, max(uniform + 3, float(distance.max()) + 1)), ylim=(0, 1))
    return closed(figure)


def weight_pairs(groups: Mapping[str, Tensor], names: tuple[str, str]) -> Figure:
    """Draw two weights of each thing against each other, and the diagonal of equal weights.

    Args:
        groups: For each of one or two groups, the pairs of weights, (num_pairs, 2).
        names: Names of the first weight and of the second.
    """
    looks = ({"marker": ".", "color": ROLE["weight"]}, {"marker": "x", "color": INK})
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.2))
        axes.plot((0, 1), (0, 1), color=INK, linewidth=1, linestyle=(0, (3, 2)))
        for look, (name, pairs) in zip(looks, groups.items(), strict=False):
            axes.plot(*pairs.T.numpy(), linestyle="", markersize=4, alpha=0.7, label=name, **look)
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=names[0], ylabel=names[1], aspect="equal")
        if len(groups) > 1:
            axes.legend(loc="upper left")
    return closed(figure)


# --- the layer ------------------------------------------------------------------------------------


def split(tokens: Tensor, heads: Tensor, whole: bool = True) -> Figure:
    """Draw the tables into which tokens were cut, below the table of the tokens.

    A number has the colour of its token, wherever it is.

    Args:
        tokens: A number for each feature of each token, (length, d_model).
        heads: The part given to each head, (num_heads, length, d_head).
        whole: If False, the table of the tokens is left out.
    """
    colour = {int(number): TOKENS[row] for row, token in enumerate(tokens) for number in token}
    gap = heads.shape[-1] + 1
    widest = max(tokens.shape[1], gap * len(heads) - 1)
    with style():
        size = (5.2, 4.0 if whole else 2.3)
        figure, column = plt.subplots(1 + whole, 1, figsize=size, squeeze=False)
        *above, below = column[:, 0]
        for axes in above:
            left = (widest - tokens.shape[1]) / 2
            _table(axes, tokens, left, colour, "three projected tokens")
            for row in range(len(tokens)):
                axes.text(left - 0.2, row + 0.5, f"token {row + 1}", ha="right", va="center")
        for head, part in enumerate(heads):
            _table(below, part, head * gap, colour, f"head {head + 1}")
            held = [
                row for row, token in enumerate(tokens) if torch.isin(token, part.flatten()).any()
            ]
            if len(held) == 1:
                under = head * gap + part.shape[1] / 2, len(tokens) + 0.4
                below.text(*under, f"only token {held[0] + 1}", ha="center", va="center")
        for axes in column[:, 0]:
            foot = 0.1 if whole else 0.7
            axes.set(xlim=(-0.1, widest + 0.1), ylim=(len(tokens) + foot, -0.75))
            axes.axis("off")
    return closed(figure)


def _table(axes: Axes, table: Tensor, left: float, colour: Mapping[int, str], name: str) -> None:
    """Draw a table of numbers whose left edge is at `left`, with its name above it."""
    axes.text(left + table.shape[1] / 2, -0.2, name, ha="center", va="bottom", fontweight="bold")
    for row, column in np.ndindex(*table.shape):
        number, corner = int(table[row, column]), (left + column, row)
        look = {"facecolor": colour[number], "alpha": THIN, "linewidth": 0}
        axes.add_patch(Rectangle(corner, 1, 1, **look))
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=INK, linewidth=0.8))
        axes.text(left + column + 0.5, row + 0.5, f"{number}", ha="center", va="center")


def layer(num_heads: int = 3) -> Figure:
    """Draw the layer, from the tokens at the bottom to the output on top."""
    middle = (num_heads - 1) / 2
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.3))
        _box(axes, (middle, 0), "tokens")
        for head in range(num_heads):
            for role, shift in (("query", -0.28), ("key", 0.0), ("value", 0.28)):
                _arrow(axes, (middle, 0.24), (head + shift, 0.76))
                _arrow(axes, (head + shift, 1.24), (head + shift * 0.6, 1.76))
                _box(axes, (head + shift, 1), f"${role[0]}$", role)
            _box(axes, (head, 2), f"attention, head {head + 1}", "weight")
            piece = middle + 0.6 * (head - middle)
            _arrow(axes, (head, 2.24), (piece, 2.74))
            look = {"facecolor": ROLE["output"], "edgecolor": PAPER}
            axes.add_patch(Rectangle((piece - 0.3, 2.76), 0.6, 0.48, **look))
            name = {"ha": "center", "va": "center", "color": ink_of("output")}
            axes.text(piece, 3, f"$H_{head + 1}$", **name)
        axes.text(piece + 0.38, 3, "side by side", va="center")
        _arrow(axes, (middle, 3.24), (middle, 3.76))
        top = 3.76 + SLICE * num_heads
        for head in range(num_heads):
            low = top - SLICE * (head + 1)  # the slice of head 1 has the first rows
            look = {"facecolor": PAPER, "edgecolor": INK}
            axes.add_patch(Rectangle((middle - 0.35, low), 0.7, SLICE, **look))
            name = {"ha": "center", "va": "center"}
            axes.text(middle, low + SLICE / 2, f"$W_{head + 1}^O$", **name)
        axes.text(middle + 0.45, (3.76 + top) / 2, "output projection $W^O$", va="center")
        _arrow(axes, (middle, top + 0.02), (middle, top + 0.5))
        axes.text(middle, top + 0.57, "output", ha="center", va="bottom")
        axes.set(xlim=(-0.55, num_heads - 0.45), ylim=(-0.25, top + 0.85))
        axes.axis("off")
    return closed(figure)


def cache(words: Sequence[str], steps: int) -> Figure:
    """Draw the keys and values that each word meets, without a cache and with one.

    Those made in their step have a strong colour, those kept a pale one; a pair that no word has
    met yet is a dot.

    Args:
        words: All words.
        steps: How many of them have been written so far.
    """
    many = len(words)
    made = {"without a cache": steps * (steps + 1) // 2, "with a cache": steps}
    with style():
        figure, row = plt.subplots(1, 2, figsize=(5.2, 1.0 + 0.36 * many))
        for axes, (name, pairs) in zip(row, made.items(), strict=True):
            keeps = name == "with a cache"
            axes.text(-0.5, -1.7, name, va="center", fontweight="bold")
            axes.text(-0.5, -0.95, f"pairs made: {pairs}", va="center")
            for step, place in product(range(many), range(many)):
                if place <= step < steps:
                    _pair(axes, (place, step), is_new=not keeps or place == step)
                elif place <= step:
                    axes.plot(place, step, ".", color=FAINT, markersize=4)
            if not keeps:
                for step, word in enumerate(words[:steps]):
                    axes.text(-0.75, step, word, ha="right", va="center")
            left = -0.55 if keeps else -2.1
            axes.set(xlim=(left, many - 0.45), ylim=(many - 0.5, -2.1))
            axes.axis("off")
        row[0].get_gridspec().set_width_ratios((many + 1.65, many + 0.1))
    return closed(figure)


def _pair(axes: Axes, at: tuple[int, int], is_new: bool) -> None:
    """Draw a key and a value beside each other, in strong colours if new."""
    for role, left in (("key", at[0] - 0.44), ("value", at[0])):
        box = (left, at[1] - 0.38), 0.44, 0.76
        look = {"facecolor": ROLE[role], "linewidth": 0, "alpha": 1 if is_new else THIN}
        axes.add_patch(Rectangle(*box, **look))
        axes.add_patch(Rectangle(*box, fill=False, edgecolor=ROLE[role], linewidth=0.8))
        ink, middle = ink_of(role) if is_new else INK, (left + 0.22, at[1])
        axes.text(*middle, role[0], ha="center", va="center", color=ink)


def _box(axes: Axes, at: tuple[float, float], text: str, role: str = "") -> None:
    """Draw a box in the colour of its role, white if it has none, with text in it."""
    ink = ink_of(role)
    box = {"boxstyle": "round,pad=0.35", "facecolor": ROLE.get(role, PAPER)}
    box["edgecolor"] = ROLE.get(role, INK)
    axes.text(*at, text, ha="center", va="center", color=ink, bbox=box)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = {"arrowstyle": "->", "color": INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=arrow)
