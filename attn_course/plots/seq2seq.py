"""The figures of chapter 03: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence, Set

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from attn_course.plots import (
    BROWN,
    COMPARED,
    FAINT,
    INK,
    PAPER,
    ROLE,
    VIOLET,
    closed,
    ink_of,
    style,
)
from attn_course.plots.curves import draw_mean_and_range

Prefix = tuple[str, ...]
Place = tuple[float, float]

# From pale to dark where curves have an order, such as the width of a vector.
SHADES = ("#CDB5EA", "#A57CDC", VIOLET, "#3F1670")
MOST_NAMED = 3  # lines that have room for their names
MARKS = ("o-", "s--", "^:", "D-.")
STATE = {"boxstyle": "round,pad=0.4", "facecolor": PAPER, "edgecolor": INK}
VECTOR = {"boxstyle": "round,pad=0.5", "facecolor": ROLE["output"], "edgecolor": ROLE["output"]}
READ = STATE | {"facecolor": ROLE["key"], "edgecolor": ROLE["key"]}
WRITES = STATE | {"facecolor": ROLE["query"], "edgecolor": ROLE["query"]}
ON_PAPER = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
GATE: dict[str, object] = {"boxstyle": "circle,pad=0.35", "facecolor": PAPER, "edgecolor": VIOLET}
GATE |= {"linewidth": 2.5}
SUM = {"boxstyle": "circle,pad=0.1", "facecolor": PAPER, "edgecolor": INK}
BOTTOM, TOP = 0.7, 2.5  # of a state whose numbers are shown
MIDDLE = (BOTTOM + TOP) / 2


# --- networks ---------------------------------------------------------------------------------


def recurrence(words: Sequence[str], states: Tensor) -> Figure:
    """Draw a recurrent network twice: with its loop, and unrolled over the words it reads.

    Args:
        words: The words read.
        states: The numbers of the state before the first word and after each, (1 + num_words, d).
    """
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(4.8, 3.0))
        _read(axes, 0.1, "$h_i$", torch.zeros_like(states[0]), "$x_i$")
        loop = {"arrowstyle": "->", "color": INK, "mutation_scale": 14}
        loop |= {"connectionstyle": "arc3,rad=-1.1"}
        axes.add_patch(FancyArrowPatch((0.42, 1.95), (0.42, 1.25), **loop))
        axes.text(1.3, MIDDLE, "=", ha="center", va="center", fontsize=18)
        for place, (word, numbers) in enumerate(zip(["", *words], states, strict=True)):
            x = 2.1 + 1.1 * place
            _read(axes, x, f"$h_{place}$", numbers / states.abs().max(), word)
            if place:
                _arrow(axes, (x - 0.82, MIDDLE), (x - 0.28, MIDDLE))
        axes.text(0.1, 3.15, "the network", ha="center")
        axes.text(2.1 + 0.55 * len(words), 3.15, "the same, step by step", ha="center")
        axes.set(xlim=(-0.7, 2.5 + 1.1 * len(words)), ylim=(-0.2, 3.4))
        axes.axis("off")
    return closed(figure)


def encoder_decoder(source: Sequence[str], target: Sequence[str]) -> Figure:
    """Draw how words are read into one vector, and how words are written from it.

    The colours are those of chapter 04, where the states are keys and queries.

    Args:
        source: The words read, including the mark of their end.
        target: The words written, including the mark of their end.
    """
    step, width = 1.25, 1.25 * (len(target) - 1)
    vector = (width / 2, 2.6)
    start = vector[0] - step * (len(source) - 1)
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(4.8, 4.4))
        for place, word in enumerate(source, start=1):
            x = start + step * (place - 1)
            axes.text(x, 4.9, word, ha="center", va="center", style="italic")
            _box(axes, (x, 3.9), f"$h_{place}$", READ, ink_of("key"))
            _arrow(axes, (x, 4.7), (x, 4.2))
            if place > 1:
                _arrow(axes, (x - step + 0.3, 3.9), (x - 0.3, 3.9))
        _arrow(axes, (x, 3.6), (x, 2.95))
        _write(axes, target, vector, step)
        _box(axes, vector, "$c$", VECTOR, ink_of("output"))
        for y, name in ((4.9, "read"), (3.9, "encoder"), (2.6, "vector"), (1.1, "decoder")):
            axes.text(-3.4, y, name, ha="left", va="center", fontweight="bold")
        axes.text(-3.4, -0.3, "write", ha="left", va="center", fontweight="bold")
        axes.set(xlim=(-3.45, width + 0.6), ylim=(-0.6, 5.2))
        axes.axis("off")
    return closed(figure)


def gru() -> Figure:
    """Draw the two gates of a GRU: what each multiplies."""
    with style(letters=14):
        figure, axes = plt.subplots(figsize=(4.8, 3.6))
        _arrow(axes, (0.5, 2.5), (5.9, 2.5))
        _arrow(axes, (0.15, 2.15), (1.25, 0.85))
        _arrow(axes, (1.85, 0.6), (2.85, 0.6))
        _arrow(axes, (3.3, -0.75), (3.3, 0.2))
        _arrow(axes, (3.7, 0.9), (4.88, 2.28))
        for place, name in (((0, 2.5), "$h_{i{-}1}$"), ((3.3, 0.6), "h\u0303\u1d62")):
            _box(axes, place, name, STATE)
        _box(axes, (6.3, 2.5), "$h_i$", STATE)
        for place, name in (((2.5, 2.5), "$z$"), ((1.55, 0.6), "$r$"), ((4.3, 1.6), "$1{-}z$")):
            _box(axes, place, name, GATE)
        axes.text(3.7, -1.0, "$x_i$, the word", ha="center", va="center")
        axes.text(0.4, 1.35, "$U$", ha="center", va="center")
        axes.text(3.1, -0.3, "$W$", ha="center", va="center")
        axes.text(2.5, 3.3, "update gate: what stays", ha="center", va="center")
        axes.text(4.95, 1.6, "what is new", ha="left", va="center")
        axes.text(0.75, -0.5, "reset gate: what\nthe proposal sees", ha="center", va="center")
        axes.text(4.0, 0.6, "proposal", va="center")
        _box(axes, (5.0, 2.5), "+", SUM)
        axes.set(xlim=(-1.2, 6.8), ylim=(-1.3, 3.6))
        axes.axis("off")
    return closed(figure)


def _read(axes: Axes, x: float, name: str, numbers: Tensor, word: str) -> None:
    """Draw a state, whose numbers are from -1 to 1, and the word that goes into it, if any."""
    _strip(axes, x, BOTTOM, TOP, numbers)
    axes.text(x, TOP + 0.08, name, ha="center", va="bottom")
    if word:
        axes.text(x, 0, word, ha="center", va="center", style="italic")
        _arrow(axes, (x, 0.2), (x, BOTTOM - 0.05))


def _strip(axes: Axes, x: float, bottom: float, top: float, numbers: Tensor) -> None:
    """Draw numbers from -1 to 1 as a column of cells, the first on top.

    The colours are those of the vector in the live figure: violet above 0, brown below.
    """
    tall = (top - bottom) / len(numbers)
    for row, number in enumerate(numbers.tolist()):
        colour = VIOLET if number > 0 else BROWN, abs(number)
        place = (x - 0.2, top - (row + 1) * tall)
        look = {"facecolor": colour, "edgecolor": FAINT, "linewidth": 0.7}
        axes.add_patch(Rectangle(place, 0.4, tall, **look))


def _write(axes: Axes, target: Sequence[str], vector: Place, step: float) -> None:
    """Draw the states of the decoder; the vector goes into each, and each word into the next."""
    axes.text(-step, -0.3, "BOS", ha="center", va="center")
    thick = {"color": ROLE["output"], "linewidth": 2.5, "zorder": 0}
    axes.plot([-step, step * (len(target) - 1)], [vector[1]] * 2, **thick)
    for place in range(len(target) + 1):
        x = step * (place - 1)
        _arrow(axes, (x, vector[1]), (x, 1.4), **thick)
        _box(axes, (x, 1.1), f"$s_{place}$", WRITES, ink_of("query"))
    for place, word in enumerate(target):
        x = step * place
        axes.text(x, -0.3, word, ha="center", va="center", fontweight="bold")
        _arrow(axes, (x, 0.8), (x, -0.1))
        _arrow(axes, (x - step + 0.2, -0.05), (x - 0.3, 0.85), linestyle=(0, (3, 2)))
        _arrow(axes, (x - step + 0.3, 1.1), (x - 0.3, 1.1))


def _box(axes: Axes, place: Place, text: str, box: Mapping[str, object], ink: str = INK) -> None:
    axes.text(*place, text, ha="center", va="center", color=ink, style="italic", bbox=dict(box))


def _arrow(axes: Axes, start: Place, end: Place, **line: object) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK} | line)


# --- what a state keeps -------------------------------------------------------------------------


def traces(
    since: Sequence[int], difference: Mapping[str, Tensor], left: Mapping[str, Tensor]
) -> Figure:
    """Draw what is left of a difference between two states, a row for each network.

    Args:
        since: How many words have been read since the difference arose.
        difference: For each network, some numbers of it, (len(since), num_shown); each network has
            a scale of its own.
        left: For each network, the share that is left, (len(since),).
    """
    high, places = 2.6, range(len(since))  # of a row
    with style(letters=12):
        figure, axes = plt.subplots(figsize=(5.2, 0.5 + 1.25 * len(left)))
        for row, (name, numbers) in enumerate(difference.items()):
            low = -high * row
            axes.text(-0.6, low + 0.9, name, ha="right", va="center")
            for x, strip, share in zip(places, numbers, left[name].tolist(), strict=True):
                _strip(axes, x, low, low + 1.8, strip / numbers.abs().max())
                axes.text(x, low - 0.12, f"{share:.0%}", ha="center", va="top")
        axes.text(-0.6, 2.3, "words since", ha="right", va="center")
        for x, words in zip(places, since, strict=True):
            axes.text(x, 2.3, str(words), ha="center", va="center")
        axes.set(xlim=(-2.7, len(since) - 0.5), ylim=(low - 0.7, 2.6))
        axes.axis("off")
    return closed(figure)


# --- beam search --------------------------------------------------------------------------------


def beam_tree(
    probability: Mapping[Prefix, float], kept: Set[Prefix], ends: Mapping[str, Prefix]
) -> Figure:
    """Draw all beginnings of sentences that a beam search has considered, with those kept in bold.

    Args:
        probability: The probability of every beginning. If a beginning has more than one word, the
            same beginning without its last word must be included too.
        kept: The beginnings that were in the beam.
        ends: Sentences by the names that they get; the way to the most probable one is violet.
    """
    rows = _rows(probability)
    best = max(ends.values(), key=lambda words: probability[words])
    depth, height = max(map(len, probability)), max(rows.values())

    def beside(prefix: Prefix) -> float:  # where an edge ends, free of the letters
        return 0.08 + 0.046 * max(len(prefix[-1]), len(f"{probability[prefix]:.3g}"))

    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.55 * (height + 1) + 0.6))
        for prefix, share in probability.items():
            x, y = len(prefix), rows[prefix]
            ink = VIOLET if prefix == best[:x] else INK
            weight, alpha = ("bold", 1) if prefix in kept else ("normal", 0.7)
            line = {"color": ink if prefix in kept else FAINT, "zorder": 0}
            line["linewidth"] = 2.5 if prefix in kept else 1.2
            before = prefix[:-1]
            start = x - 1 + beside(before) if before else 0.3
            axes.plot([start, x - beside(prefix)], [rows[before], y], **line)
            place = {"ha": "center", "va": "center", "bbox": ON_PAPER}
            axes.text(
                x,
                y,
                f"{prefix[-1]}\n{share:.3g}",
                color=ink,
                fontweight=weight,
                alpha=alpha,
                **place,
            )
        axes.text(0.3, rows[()], "BOS", ha="center", va="center", bbox=ON_PAPER)
        for name, prefix in ends.items():
            ink = VIOLET if prefix == best else INK
            axes.text(len(prefix) + 0.35, rows[prefix], name, color=ink, va="center")
        axes.set(xlim=(0.05, depth + 0.95), ylim=(height + 0.6, -0.6))
        axes.axis("off")
    return closed(figure)


def _rows(probability: Mapping[Prefix, float]) -> dict[Prefix, float]:
    """The vertical position of each beginning: in the middle of its continuations."""
    rows: dict[Prefix, float] = {}
    free = iter(range(len(probability)))

    def place(prefix: Prefix) -> float:
        longer = [other for other in probability if other[:-1] == prefix]
        middle = sum(place(other) for other in longer) / len(longer) if longer else next(free)
        rows[prefix] = float(middle)
        return rows[prefix]

    place(())
    return rows


# --- what comes through the vector --------------------------------------------------------------


def copied(lengths: Tensor, exact: Mapping[int, Tensor], longest_learned: int) -> Figure:
    """Draw the share of sequences that pass through vectors of several widths without a mistake.

    Args:
        lengths: Lengths of the sequences, (num_lengths,).
        exact: For each width, the share at each length, (num_seeds, num_lengths).
        longest_learned: The greatest length in the training.
    """
    longest = float(lengths.max())
    with style():
        figure, axes = plt.subplots(figsize=(4.8, 3.5))
        grey_beyond(axes, longest_learned, longest)
        shades = SHADES[-len(exact) :]
        for mark, shade, (width, runs) in zip(MARKS, shades, exact.items(), strict=False):
            label = f"{width} numbers"
            draw_mean_and_range(axes, lengths, 100 * runs, mark, color=shade, label=label)
            if width == max(exact):
                _name_on(axes, lengths, 100 * runs.mean(0), label, "left")
            else:
                _name_on(axes, lengths, 100 * runs.mean(0), str(width), "right")
        axes.axhline(50, color=FAINT, linestyle=":", zorder=0)
        axes.set(xlim=(1, longest), ylim=(0, 102))
        axes.set(xlabel="symbols in the sequence", ylabel="copied exactly, in %")
    return closed(figure)


def _name_on(axes: Axes, at: Tensor, curve: Tensor, name: str, side: str) -> None:
    """Write a name beside a falling curve, and mark where half of the sequences come through."""
    half, low = np.interp([50, 20], curve.flip(0), at.flip(0))
    axes.plot(half, 50, "o", color=INK, markersize=5, zorder=4)
    beside = {"xytext": (-5 if side == "right" else 5, 0), "textcoords": "offset points"}
    axes.annotate(name, (low, 20), ha=side, va="center", **beside)


def _name_lines(axes: Axes, lines: Mapping[str, tuple[Tensor, Tensor]]) -> None:
    """Write the name of each of some lines on its free side, far to the right.

    It stands where the line is at least 0.6 times as far from the others as it ever is.

    Args:
        axes: The axes, with the lines and in their final scale.
        lines: Horizontal and vertical positions of each line's points, by its name.
    """
    for hue, (name, (at, line)) in zip(COMPARED, lines.items(), strict=False):
        others = [pair for other, pair in lines.items() if other != name]
        free: list[tuple[float, Place, Place]] = []
        for place, (x, y) in enumerate(zip(at.tolist(), line.tolist(), strict=True)):
            gap = min((y - other for other in _heights(x, others)), key=abs, default=1.0)
            up = 1 if gap > 0 else -1
            right = up if line[-1] < line[0] else -up  # where the line leaves the name room
            if 0 <= place + right < len(at):
                free.append((abs(gap), (x, y), (4 * right, 5 * up)))
        enough = 0.6 * max(gap for gap, *_ in free)
        spot, (aside, above) = [places for gap, *places in free if gap >= enough][-1]
        look = {"ha": "left" if aside > 0 else "right", "va": "bottom" if above > 0 else "top"}
        axes.annotate(name, spot, (aside, above), textcoords="offset points", color=hue, **look)


def _heights(x: float, lines: Sequence[tuple[Tensor, Tensor]]) -> list[float]:
    """The heights of lines at a place, of those that reach it."""
    return [float(np.interp(x, at, line)) for at, line in lines if at[0] <= x <= at[-1]]


def reach(widths: Tensor, lengths: Mapping[str, Tensor]) -> Figure:
    """Draw the length up to which half of the sequences survive, against the vector's width.

    Args:
        widths: Widths of the vectors, (num_widths,).
        lengths: For each way to train, (num_seeds, as many of the first widths as were tried).
    """
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        for mark, hue, (name, runs) in zip(MARKS, COMPARED, lengths.items(), strict=False):
            tried = widths[: runs.shape[1]]
            draw_mean_and_range(axes, tried, runs, mark, color=hue, label=name)
        axes.set(xscale="log", xlabel="numbers in the vector", ylabel="reach, in symbols")
        axes.set_xticks(widths.tolist(), [str(width) for width in widths.tolist()])
        axes.set_ylim(bottom=0)
        axes.minorticks_off()
        means = {name: runs.mean(0) for name, runs in lengths.items()}
        _name_lines(axes, {name: (widths[: len(mean)], mean) for name, mean in means.items()})
    return closed(figure)


def by_position(shares: Mapping[str, Mapping[str, Tensor]], chance: float) -> Figure:
    """Draw the share of right symbols for each position of the source, a line for each task.

    Args:
        shares: For each panel, by its title, and each task, (num_seeds, num_positions).
        chance: The share right by guessing.
    """
    with style(letters=13):
        size = (5.2, 0.8 + 2.4 * len(shares))
        figure, panels = plt.subplots(len(shares), sharex=True, squeeze=False, figsize=size)
        for axes, (title, tasks) in zip(panels[:, 0], shares.items(), strict=True):
            for mark, hue, (name, runs) in zip(MARKS, COMPARED, tasks.items(), strict=False):
                at = 1 + torch.arange(runs.shape[1])
                draw_mean_and_range(axes, at, 100 * runs, mark, color=hue, label=name)
            axes.axhline(100 * chance, color=FAINT, linestyle=":")
            axes.text(1, 100 * chance + 2, "guessing")
            axes.set(title=title, ylabel="right, in %", ylim=(0, 102))
            axes.set_xticks(at.tolist())
        axes.set_xlabel("position in the source")
        drawn = axes.get_legend_handles_labels()
        figure.legend(*drawn, loc="outside lower center", ncols=2, handlelength=3.2)
    return closed(figure)


def bleu_by_length(
    lengths: Tensor, bleu: Mapping[str, Tensor], longest_learned: float, highest: float = 100
) -> Figure:
    """Draw BLEU against the length of the source.

    Args:
        lengths: Words in the source, the middle of each bucket, (num_buckets,).
        bleu: For each translator, (num_seeds, num_buckets).
        longest_learned: Number of words in the longest source in the training.
        highest: BLEU at the upper end of the axis.
    """
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        grey_beyond(axes, longest_learned, 100)
        for mark, hue, (name, runs) in zip(MARKS, COMPARED, bleu.items(), strict=False):
            draw_mean_and_range(axes, lengths, runs, mark, color=hue, label=name)
        axes.set(
            xlim=(0, 100), ylim=(0, 1.02 * highest), xlabel="words in the source", ylabel="BLEU"
        )
        if len(bleu) > MOST_NAMED:
            figure.legend(loc="outside lower center", ncols=1, handlelength=3.2)
        else:
            _name_lines(axes, {name: (lengths, runs.mean(0)) for name, runs in bleu.items()})
    return closed(figure)


def grey_beyond(axes: Axes, longest_learned: float, end: float) -> None:
    """Shade the lengths that are in no model's training, with a label."""
    axes.axvspan(longest_learned, end, color=FAINT, alpha=0.3, linewidth=0)
    above = {"transform": axes.get_xaxis_transform(), "va": "bottom", "ha": "right"}
    axes.text(end, 1.01, "longer than any\nit learned from", **above)
