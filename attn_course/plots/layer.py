"""The attention layer as a diagram: one query, a row for each key, an output."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import FAINT, INK, PAPER, ROLE, closed, ink_of, signed, style

# The centre of each column.
COLUMNS = {"query": 0.6, "key": 2.4, "score": 4.1, "weight": 5.7, "value": 7.9, "output": 9.6}
STEPS = {"compare": ("key", "score"), "softmax": ("score", "weight"), "mean": ("value", "output")}


def attention_layer(
    query: str, keys: Sequence[str], scores: Tensor, weights: Tensor, values: Tensor, output: float
) -> Figure:
    """Draw one query's way through attention: score, softmax, weighted mean.

    Args:
        query: Text in the box of the query.
        keys: Text in the box of each key.
        scores: Score of each key, (key_len,).
        weights: Weight of each key, (key_len,).
        values: Value of each key, a number, (key_len,).
        output: The weighted mean of the values.
    """
    middle = (len(keys) - 1) / 2
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.0))
        for row, key in enumerate(keys):
            _box(axes, "key", row, key)
            axes.text(
                COLUMNS["score"], row, signed(scores[row], "{:.0f}"), ha="center", va="center"
            )
            _weight(axes, row, float(weights[row]), middle)
            _box(axes, "value", row, f"{values[row]:g}")
        _box(axes, "query", middle, query)
        _box(axes, "output", middle, f"{output:.1f}")
        _name_columns(axes, len(keys))
        axes.set(xlim=(-0.1, 10.3), ylim=(len(keys) + 0.35, -1.3))
        axes.axis("off")
    return closed(figure)


def _box(axes: Axes, role: str, row: float, text: str) -> None:
    """Draw a box in the column and colour of its role, with text in it."""
    ink = ink_of(role)
    box = {"boxstyle": "round,pad=0.45", "facecolor": ROLE[role], "edgecolor": PAPER}
    axes.text(COLUMNS[role], row, text, ha="center", va="center", color=ink, bbox=box)


def _weight(axes: Axes, row: int, weight: float, middle: float) -> None:
    """Draw a weight as a bar with its number, and as the strength of the line to the output."""
    axes.plot([COLUMNS["query"], COLUMNS["key"]], [middle, row], color=FAINT, lw=1, zorder=0)
    line = {"color": ROLE["weight"], "linewidth": 0.5 + 9 * weight, "zorder": 0}
    axes.plot([COLUMNS["value"], COLUMNS["output"]], [row, middle], **line)
    left = COLUMNS["weight"] - 0.6
    axes.barh(row, 1.3 * weight, left=left, height=0.5, color=ROLE["weight"])
    axes.text(left + 0.1 + 1.3 * weight, row, f"{weight:.2f}", va="center")


def _name_columns(axes: Axes, rows: int) -> None:
    """Write the roles above the columns, and the operations between them below."""
    for name, x in COLUMNS.items():
        axes.text(x, -0.9, name, ha="center", fontweight="bold")
    for name, (source, target) in STEPS.items():
        start, end = COLUMNS[source] + 0.1, COLUMNS[target] - 0.1
        arrow = {"arrowstyle": "->", "color": INK}
        axes.annotate("", (end, rows - 0.25), (start, rows - 0.25), arrowprops=arrow)
        axes.text((start + end) / 2, rows + 0.2, name, ha="center", style="italic")
