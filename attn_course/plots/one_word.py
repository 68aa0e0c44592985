"""One word of a sentence as it asks, is answered, and gets its new vector, with all numbers."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import INK, PAPER, ROLE, closed, ink_of, signed, style

# The columns of the figure: the word above each, and its place.
COLUMNS = {"word": 0.0, "key": 1.35, "score": 2.5, "weight": 3.3, "value": 4.6}
ASKING = -1.0  # above the words


def follow_one(
    words: Sequence[str],
    asking: int,
    vectors: Tensor,
    query: Tensor,
    key: Tensor,
    scores: Tensor,
    value: Tensor,
) -> Figure:
    """Draw the way that one word takes through self-attention.

    Args:
        words: The sentence.
        asking: Which of the words is followed.
        vectors: Vectors of all words, (length, d_model).
        query: Query of the word that asks, (d_key,).
        key: Keys of all words, (length, d_key).
        scores: Scores of all words for the one that asks, (length,).
        value: Values of all words, (length, d_value).
    """
    weights, last = scores.softmax(-1), len(words)
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.62 * (last + 3)))
        for row, word in enumerate(words):
            axes.text(-0.5, row, word, ha="right", va="center")
            _box(axes, "word", row, vectors[row], "")
            _box(axes, "key", row, key[row], "key")
            axes.text(
                COLUMNS["score"], row, signed(scores[row], "{:.2f}"), ha="center", va="center"
            )
            _bar(axes, row, float(weights[row]))
            _box(axes, "value", row, value[row], "value")
        _box(axes, "key", ASKING, query, "query")
        _box(axes, "value", last, weights @ value, "output")
        _arrow(axes, (COLUMNS["word"] + 0.46, asking), (COLUMNS["key"] - 0.47, ASKING))
        for name, across in COLUMNS.items():
            axes.text(across, ASKING + 0.5, name, ha="center", va="center")
        axes.text(COLUMNS["key"] + 0.55, ASKING, f"the query of {words[asking]}", va="center")
        axes.text(COLUMNS["value"] - 0.6, last, "the sum, its output:", ha="right", va="center")
        axes.set(xlim=(-1.5, 5.25), ylim=(last + 0.45, ASKING - 0.45))
        axes.axis("off")
    return closed(figure)


def _box(axes: Axes, column: str, row: float, numbers: Tensor, role: str) -> None:
    """Draw a vector as a box in the colour of its role."""
    fill = {"facecolor": ROLE.get(role, PAPER), "edgecolor": ROLE.get(role, INK)}
    axes.add_patch(Rectangle((COLUMNS[column] - 0.45, row - 0.34), 0.9, 0.68, **fill))
    text = ", ".join(signed(number, "{:.3g}") for number in numbers)
    ink = ink_of(role)
    axes.text(COLUMNS[column], row, text, ha="center", va="center", color=ink)


def _bar(axes: Axes, row: float, weight: float) -> None:
    """Draw a weight as a bar, with its number behind it."""
    start = COLUMNS["weight"] - 0.32
    axes.add_patch(Rectangle((start, row - 0.2), 0.6 * weight, 0.4, color=ROLE["weight"]))
    axes.text(start + 0.6 * weight + 0.05, row, f"{weight:.2f}", va="center")


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw the way from a word to its query."""
    line = {"arrowstyle": "->", "color": ROLE["query"], "linewidth": 2}
    axes.annotate("", end, start, arrowprops=line | {"shrinkA": 0, "shrinkB": 0})
