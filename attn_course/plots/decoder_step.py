"""One step of a decoder with attention as a diagram, which can be drawn piece by piece."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import FAINT, INK, ROLE, closed, ink_of, signed, style

# The height of each row, and the place of the decoder next to the rows.
WORDS, ANNOTATIONS, SCORES, WEIGHTS, CONTEXT, SAID = 0.0, 1.0, 2.15, 3.1, 4.75, 6.25
# Parts of the picture, from the lowest place to the highest.
ALL_ROWS, SCORES_TO_CONTEXT, CONTEXT_AND_WORD = (-0.4, 6.7), (1.15, 5.3), (4.45, 6.7)
LEFT, APART, DECODER = 1.75, 1.9, 8.0
SYMBOL = 15  # points: on a phone an index has then 10 pixels
NAMED = {"ha": "center", "va": "center", "fontsize": SYMBOL}
LINE = {"color": FAINT, "linewidth": 1.2, "zorder": 0}


class DecoderStep(NamedTuple):
    """The numbers of one step, as far as they have been computed.

    Attributes:
        number: Number of the step, from 1.
        before: The state before the step, the query, (d_hidden,).
        scores: One score for each source word, (source_len,).
        weights: The softmax of the scores, (source_len,).
        context: The mean of the annotations under the weights, (d_annotation,).
        after: The state after the step, (d_hidden,).
        said: The written word.
    """

    number: int
    before: Tensor
    scores: Tensor
    weights: Tensor | None = None
    context: Tensor | None = None
    after: Tensor | None = None
    said: str = ""


def walk(
    words: Sequence[str],
    annotations: Tensor,
    step: DecoderStep,
    rows: tuple[float, float] = ALL_ROWS,
) -> Figure:
    """Draw a step of the decoder: the scores, and everything else that has been computed.

    All pictures have the same scale, so that the next one shows what is new; dashed outlines keep
    the places of what is still to come.

    Args:
        words: The source words.
        annotations: Their annotations, (source_len, d_annotation).
        step: The numbers of the step.
        rows: The lowest and the highest place of a part to draw, such as `SCORES_TO_CONTEXT`.
    """
    low, high = rows
    share = (high - low) / (ALL_ROWS[1] - ALL_ROWS[0])
    with style(letters=12):
        figure, axes = plt.subplots(figsize=(5.2, 3.6 * share))
        if low < ANNOTATIONS:
            _source(axes, words, annotations)
        elif low < SCORES:
            _words(axes, words, low + 0.25)
        _scores(axes, step)
        middle = _column(0) + (len(words) - 1) * APART / 2
        if step.weights is None:
            for index in range(len(words)):
                _outline(axes, _column(index), WEIGHTS, 0.45)
            _name(axes, WEIGHTS, word="weights")
        else:
            _weights(axes, step)
        if step.context is None:
            _outline(axes, middle, CONTEXT, 2.5, "context")
        else:
            _context(axes, step)
        if step.after is None:
            _outline(axes, DECODER, CONTEXT, 2.0, "next state")
            _outline(axes, DECODER, SAID, 1.4, "word")
        else:
            _output(axes, step)
        for text in [*axes.texts]:
            if not low < text.get_position()[1] < high:
                text.remove()
        axes.set(xlim=(0.1, 9.2), ylim=rows)
        axes.axis("off")
    return closed(figure)


def _column(index: int) -> float:
    """The horizontal position of a source word's column."""
    return LEFT + APART * index


def _vector(numbers: Tensor) -> str:
    """Format a vector with few digits: (0, 0, 1.1)."""
    rounded = [round(number, 2) + 0.0 for number in numbers.tolist()]
    return "(" + ", ".join(signed(torch.tensor(number), "{:g}") for number in rounded) + ")"


def _box(axes: Axes, x: float, y: float, role: str, text: str) -> None:
    """Write into a box in the colour of a role; an annotation is a key with the rim of a value."""
    rim = ROLE["value"] if role == "key" else ROLE[role]
    box = {"boxstyle": "round,pad=0.25", "facecolor": ROLE[role], "edgecolor": rim, "linewidth": 3}
    ink = ink_of(role)
    axes.text(x, y, text, ha="center", va="center", color=ink, bbox=box)


def _outline(axes: Axes, x: float, y: float, width: float, name: str = "") -> None:
    """Draw the dashed outline of a piece that is still to come, with its name."""
    corner = (x - width / 2, y - 0.3)
    look = {"fill": False, "edgecolor": FAINT, "linestyle": (0, (4, 3)), "linewidth": 1.2}
    axes.add_patch(Rectangle(corner, width, 0.6, **look))
    axes.text(x, y - 0.03, name, ha="center", va="center")


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], **line: object
) -> None:
    look = {"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look | line)


def _name(axes: Axes, y: float, symbol: str = "", word: str = "") -> None:
    """Write the symbol of a row at its left end, with a word above it."""
    axes.text(0.3, y - (0.19 if word else 0), symbol, ha="left", va="center", fontsize=SYMBOL)
    axes.text(0.3, y + 0.21, word, ha="left", va="center")


def _words(axes: Axes, words: Sequence[str], y: float) -> None:
    for index, word in enumerate(words):
        axes.text(_column(index), y, word, ha="center", va="center", style="italic")


def _source(axes: Axes, words: Sequence[str], annotations: Tensor) -> None:
    """Draw the annotations over their words, and join each with the state and its score."""
    _name(axes, ANNOTATIONS, "$h_i$")
    _words(axes, words, WORDS)
    bend = SCORES - 0.5
    axes.plot([_column(0), DECODER - 0.6], [bend, bend], **LINE)
    axes.plot([DECODER - 0.6, DECODER - 0.6], [bend, SCORES], **LINE)
    for index, annotation in enumerate(annotations):
        x = _column(index)
        _box(axes, x, ANNOTATIONS, "key", _vector(annotation))
        axes.plot([x, x], [ANNOTATIONS, SCORES - 0.25], **LINE)


def _scores(axes: Axes, step: DecoderStep) -> None:
    """Write the scores, and beside them the state that they compare with the annotations."""
    _name(axes, SCORES, f"$e_{{{step.number},i}}$", "scores")
    _box(axes, DECODER, SCORES, "query", _vector(step.before))
    axes.text(DECODER, SCORES - 0.75, f"$s_{step.number - 1}$", **NAMED)
    for index, score in enumerate(step.scores):
        axes.text(_column(index), SCORES, signed(score, "{:.1f}"), ha="center", va="center")


def _weights(axes: Axes, step: DecoderStep) -> None:
    """Draw the weights as bars of their height, each with its number beside it."""
    assert step.weights is not None
    _name(axes, WEIGHTS, f"$\\alpha_{{{step.number},i}}$", "weights")
    for index, weight in enumerate(step.weights.tolist()):
        x = _column(index)
        axes.bar(x, weight, width=0.45, bottom=WEIGHTS - 0.3, color=ROLE["weight"])
        # low enough for the first bar's line to the context
        axes.text(x + 0.4, WEIGHTS - 0.2, f"{weight:.2f}", ha="left", va="center")


def _context(axes: Axes, step: DecoderStep) -> None:
    """Draw the context; the lines to it are as strong as the weights."""
    assert step.weights is not None
    _name(axes, CONTEXT, f"$c_{step.number}$", "context")
    middle = _column(0) + (len(step.weights) - 1) * APART / 2
    for index, weight in enumerate(step.weights.tolist()):
        top = WEIGHTS - 0.3 + weight
        line = {"color": ROLE["weight"], "linewidth": 0.5 + 8 * weight, "zorder": 0}
        axes.plot([_column(index), middle], [top, CONTEXT], **line)
    _box(axes, middle, CONTEXT, "output", _vector(step.context))


def _output(axes: Axes, step: DecoderStep) -> None:
    """Draw the next state and the word, both made from the context."""
    middle = _column(0) + (len(step.weights) - 1) * APART / 2
    corner = {"connectionstyle": "angle,angleA=90,angleB=0"}
    _arrow(axes, (middle + 1.5, CONTEXT), (DECODER - 1.1, CONTEXT))
    _arrow(axes, (middle, CONTEXT + 0.4), (DECODER - 1.0, SAID), **corner)
    _box(axes, DECODER, CONTEXT, "query", _vector(step.after))
    axes.text(DECODER + 0.4, CONTEXT + 0.65, f"$s_{step.number}$", **NAMED)
    axes.text(DECODER, SAID, step.said, ha="center", va="center", fontweight="bold")
