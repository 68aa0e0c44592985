"""The figures of chapter 04: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import FAINT, INK, PAPER, ROLE, closed, signed, style
from attn_course.plots.retrieval import FROM_PAPER_TO_WEIGHT

# --- one step of the decoder, piece by piece ------------------------------------------------------

PIECES = ("scores", "weights", "context", "output")
# The height of each row of the walk, and the place of the decoder beside it.
WORDS, ANNOTATIONS, SCORES, WEIGHTS, CONTEXT, SAID = 0.0, 1.0, 2.15, 3.1, 5.0, 6.2
LEFT, APART, DECODER = 1.75, 1.9, 8.0
TOP = {"scores": 2.6, "weights": 4.0, "context": 5.5, "output": 6.5}
LINE = {"color": FAINT, "linewidth": 1.2, "zorder": 0}


class DecoderStep(NamedTuple):
    """The numbers of one step.

    Attributes:
        number: Which step it is, from 1.
        before: The state before the step, the query, (d_hidden,).
        scores: One for each source word, (source_len,).
        weights: Their softmax, (source_len,).
        context: The mean of the annotations under the weights, (d_annotation,).
        after: The state after the step, (d_hidden,).
        given: The word before.
        said: The word that is written.
    """

    number: int
    before: Tensor
    scores: Tensor
    weights: Tensor
    context: Tensor
    after: Tensor
    given: str
    said: str


def walk(
    words: Sequence[str], annotations: Tensor, step: DecoderStep, last: str = "output"
) -> Figure:
    """Draw a step of the decoder as far as the piece `last`: scores, weights, context or output.

    All pictures have one scale, so that the next one shows what came on top.
    """
    shown = PIECES[: PIECES.index(last) + 1]
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.51 * (TOP[last] + 0.4)))
        _source(axes, words, annotations)
        _scores(axes, step)
        if "weights" in shown:
            _weights(axes, step)
        if "context" in shown:
            _context(axes, step)
        if "output" in shown:
            _output(axes, step)
        axes.set(xlim=(0.1, 9.2), ylim=(-0.4, TOP[last]))
        axes.axis("off")
    return closed(figure)


def _column(index: int) -> float:
    """Where the column of a source word stands."""
    return LEFT + APART * index


def _vector(numbers: Tensor) -> str:
    """Write a vector with few digits: (0, 0, 1.1)."""
    rounded = [round(number, 2) + 0.0 for number in numbers.tolist()]
    return "(" + ", ".join(signed(torch.tensor(number), "{:g}") for number in rounded) + ")"


def _box(axes: Axes, x: float, y: float, role: str, text: str) -> None:
    """Write into a box of the colour of a role; an annotation is a key with the rim of a value."""
    rim = ROLE["value"] if role == "key" else ROLE[role]
    box = {"boxstyle": "round,pad=0.35", "facecolor": ROLE[role], "edgecolor": rim, "linewidth": 3}
    ink = PAPER if role == "query" else "black"
    axes.text(x, y, text, ha="center", va="center", color=ink, bbox=box)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK})


def _name(axes: Axes, y: float, symbol: str) -> None:
    """Write the symbol of a row at its left end."""
    axes.text(0.3, y, symbol, ha="left", va="center")


def _source(axes: Axes, words: Sequence[str], annotations: Tensor) -> None:
    _name(axes, ANNOTATIONS, "$h_i$")
    for index, (word, annotation) in enumerate(zip(words, annotations, strict=True)):
        axes.text(_column(index), WORDS, word, ha="center", va="center", style="italic")
        _box(axes, _column(index), ANNOTATIONS, "key", _vector(annotation))


def _scores(axes: Axes, step: DecoderStep) -> None:
    """Write the scores, and join each with the annotation and the state that it compares."""
    _name(axes, SCORES, f"$e_{{{step.number},i}}$")
    _box(axes, DECODER, SCORES, "query", _vector(step.before))
    axes.text(DECODER, SCORES - 0.75, f"$s_{step.number - 1}$", ha="center", va="center")
    bend = SCORES - 0.5
    axes.plot([_column(0), DECODER - 0.6], [bend, bend], **LINE)
    axes.plot([DECODER - 0.6, DECODER - 0.6], [bend, SCORES], **LINE)
    for index, score in enumerate(step.scores):
        x = _column(index)
        axes.plot([x, x], [ANNOTATIONS, SCORES - 0.25], **LINE)
        axes.text(x, SCORES, signed(score, "{:.1f}"), ha="center", va="center")


def _weights(axes: Axes, step: DecoderStep) -> None:
    """Draw the weights as bars of their height, each with its number beside it."""
    _name(axes, WEIGHTS, f"$\\alpha_{{{step.number},i}}$")
    for index, weight in enumerate(step.weights.tolist()):
        x = _column(index)
        axes.bar(x, weight, width=0.45, bottom=WEIGHTS - 0.3, color=ROLE["weight"])
        axes.text(x + 0.35, WEIGHTS, f"{weight:.2f}", ha="left", va="center")


def _context(axes: Axes, step: DecoderStep) -> None:
    """Draw the context; the lines to it are as strong as the weights."""
    _name(axes, CONTEXT, f"$c_{step.number}$")
    middle = _column(0) + (len(step.weights) - 1) * APART / 2
    for index, weight in enumerate(step.weights.tolist()):
        top = WEIGHTS - 0.3 + weight
        line = {"color": ROLE["weight"], "linewidth": 0.5 + 8 * weight, "zorder": 0}
        axes.plot([_column(index), middle], [top, CONTEXT], **line)
    _box(axes, middle, CONTEXT, "output", _vector(step.context))


def _output(axes: Axes, step: DecoderStep) -> None:
    """Draw the next state, what goes into it, and the word that comes out."""
    middle = _column(0) + (len(step.weights) - 1) * APART / 2
    _arrow(axes, (middle + 1.35, CONTEXT), (DECODER - 1.1, CONTEXT))
    _arrow(axes, (DECODER, SCORES + 0.4), (DECODER, CONTEXT - 0.4))
    _arrow(axes, (DECODER, CONTEXT + 0.4), (DECODER, SAID - 0.2))
    axes.text(DECODER + 0.15, (SCORES + CONTEXT) / 2, step.given, style="italic", va="center")
    _box(axes, DECODER, CONTEXT, "query", _vector(step.after))
    axes.text(DECODER - 1.1, CONTEXT + 0.55, f"$s_{step.number}$", ha="center", va="center")
    axes.text(DECODER, SAID, step.said, ha="center", va="center", fontweight="bold")


# --- why there is a tanh --------------------------------------------------------------------------


def hidden_unit(keys: tuple[float, float], queries: Mapping[str, float]) -> Figure:
    """Draw what one hidden unit makes of two keys, for two queries, with tanh and without.

    Args:
        keys: What the keys bring to the unit, the smaller first.
        queries: What each query brings to it, by name.
    """
    at = torch.linspace(-4.2, 2.2, 129)
    with style():
        figure, panels = plt.subplots(2, 1, figsize=(5.2, 4.6), sharex=True)
        bends = {"with tanh": torch.tanh, "without": lambda inputs: inputs}
        for axes, (title, bend) in zip(panels, bends.items(), strict=True):
            axes.plot(at, bend(at), color=FAINT, zorder=0)
            for name, query in queries.items():
                _two_keys(axes, query + torch.tensor(keys), bend, name)
            axes.set_title(title, loc="left")
            axes.set(ylabel="unit's output", xlim=(-4.2, 2.6))
            axes.margins(y=0.25)
        panels[-1].set_xlabel("what query and key bring to the unit, added")
    return closed(figure)


def _two_keys(axes: Axes, inputs: Tensor, bend: object, name: str) -> None:
    """Mark two keys on the curve, and write by how much the unit tells them apart."""
    low, high = bend(inputs).tolist()
    left, right = inputs.tolist()
    axes.plot([left, right, right], [low, low, high], color=ROLE["weight"], linewidth=1.5)
    axes.plot([left, right], [low, high], "o", color=ROLE["key"], markersize=8)
    axes.text(right + 0.15, (low + high) / 2, f"{high - low:.2f}", ha="left", va="top")
    above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "right", "va": "bottom"}
    axes.annotate(name, (right, high), color=ROLE["query"], **above)


# --- weights as matrices --------------------------------------------------------------------------


def stages(weights: Mapping[str, Tensor], source: Sequence[str], target: Sequence[str]) -> Figure:
    """Draw matrices of weights, (target_len, source_len), side by side: how they came about."""
    with style():
        figure, panels = plt.subplots(1, len(weights), figsize=(5.2, 2.5), sharey=True)
        for axes, (title, matrix) in zip(panels, weights.items(), strict=True):
            _matrix(axes, matrix)
            axes.set_title(title)
            axes.set_xticks(range(len(source)), source)
            axes.set_xlabel("read")
            axes.tick_params(length=0)
        panels[0].set_yticks(range(len(target)), target)
        panels[0].set_ylabel("written")
    return closed(figure)


def alignment(
    weights: Tensor,
    source: Sequence[str],
    target: Sequence[str],
    sure: Set[tuple[int, int]],
    possible: Set[tuple[int, int]],
) -> Figure:
    """Draw a matrix of weights, (target_len, source_len), with the words on both axes.

    Args:
        weights: A row for each word that is written; its columns may go on behind the words.
        source: The words that are read, and what stands for their end.
        target: The words that are written.
        sure: Links (source word, target word) that a translator would draw: a full frame.
        possible: Links that one may draw: a dotted frame.
    """
    height = 1.4 + 0.29 * len(target)
    with style():
        figure, axes = plt.subplots(figsize=(5.2, height))
        image = _matrix(axes, weights)
        for link in sorted(possible):
            _frame(axes, *link, "-" if link in sure else ":")
        axes.set_xticks(range(len(source)), source, rotation=90)
        axes.set_yticks(range(len(target)), target)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0)
        axes.set(xlabel="read: key", ylabel="written: query")
        bar = figure.colorbar(image, ax=axes, location="bottom", aspect=40, pad=0.03)
        bar.set_label("weight")
    return closed(figure)


def _matrix(axes: Axes, weights: Tensor) -> object:
    """Draw weights from 0, the paper, to 1."""
    axes.spines[:].set_visible(True)
    return axes.imshow(
        weights.detach().numpy(), cmap=FROM_PAPER_TO_WEIGHT, vmin=0, vmax=1, aspect="auto"
    )


def _frame(axes: Axes, source: int, target: int, line: str) -> None:
    corner = (source - 0.42, target - 0.42)
    axes.add_patch(Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=INK, linestyle=line))


# --- quality against length -----------------------------------------------------------------------

MARKS = ("o-", "s--", "^:")


def bleu_by_length(
    lengths: Sequence[float], bleu: Mapping[str, Tensor], longest_learned: float
) -> Figure:
    """Draw BLEU against the length of the source: the mean over the seeds, and their range.

    Args:
        lengths: Words in the source, the middle of each bucket.
        bleu: For each model, (num_seeds, num_buckets).
        longest_learned: Words in the longest source that the models have learned from.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        axes.axvspan(longest_learned, 100, color=FAINT, alpha=0.3, linewidth=0)
        for mark, (name, runs) in zip(MARKS, bleu.items(), strict=False):
            low, high = np.asarray(runs.amin(0)), np.asarray(runs.amax(0))
            axes.fill_between(lengths, low, high, color=ROLE["output"], alpha=0.25, linewidth=0)
            drawing = {"color": ROLE["output"], "markersize": 5, "label": name}
            axes.plot(lengths, runs.mean(0), mark, **drawing)
        axes.text(longest_learned + 1.5, 103, "longer than any\nit learned from", va="bottom")
        axes.set(xlim=(0, 100), ylim=(0, 102), xlabel="words in the source", ylabel="BLEU")
        figure.legend(loc="outside lower center", ncols=1, handlelength=3.2)
    return closed(figure)
