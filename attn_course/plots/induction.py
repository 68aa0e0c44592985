"""The figures of chapter 12: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path as MatplotlibPath
from torch import Tensor

from attn_course.plots import (
    BROWN,
    COMPARED,
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    INK,
    PAPER,
    ROLE,
    VIOLET,
    closed,
    ink_of,
    style,
)
from attn_course.plots.clock import draw_clock
from attn_course.plots.curves import draw_mean_and_range

LINES = ("-", "--", ":", "-.")
PHONE = 4.55  # inches, of a figure whose letters have 11 pixels on a phone


def two_looks(letters: str = "xabya") -> Figure:
    """Draw what two heads do: each letter notes the one before, and the last one finds its own.

    Args:
        letters: The sequence, whose last letter stands in it once before.
    """
    last, found = len(letters) - 1, letters.index(letters[-1]) + 1
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.7))
        for at, letter in enumerate(letters):
            role = "value" if at == found else ""
            _letter(axes, at, 0.0, letter)
            _letter(axes, at, 1.75, letter, role)
            _arrow(axes, (at, 0.3), (at, 1.45), FAINT)
            if at:
                _note(axes, (at, 1.2), f"after {letters[at - 1]}", "key" if role else "")
                _arrow(axes, (at - 0.9, 0.3), (at - 0.2, 0.94), ROLE["weight"])
        axes.text(-0.55, 0.6, "layer 0\nlooks one\nplace back", ha="right", va="center")
        axes.text(-0.55, 2.7, "layer 1\nlooks for\nthe label", ha="right", va="center")
        _note(axes, (last, 2.55), f"after {letters[last]}?", "query")
        gap, edge = found + 0.5, found + 0.42  # between two letters, down to the label
        corners = [last - 0.5, gap, gap, edge], [2.55, 2.55, 1.2, 1.2]
        axes.plot(*corners, color=INK, linewidth=1.8, linestyle=(0, (1, 1.5)))
        axes.plot(edge, 1.2, "o", color=INK, markersize=5, zorder=6)
        _arrow(axes, (last, 2.05), (last, 2.29), FAINT)
        _arrow(axes, (last, 2.8), (last, 3.1), FAINT)
        _letter(axes, last, 3.4, letters[-1])
        _note(axes, (last, 3.86), letters[found], "output")
        bow = {"connectionstyle": "arc3,rad=-0.25"}
        _arrow(axes, (found, 2.05), (last - 0.3, 3.4), ROLE["weight"], **bow)
        axes.text(last - 0.3, 3.86, "next:", ha="right", va="center")
        axes.set(xlim=(-2.2, last + 0.6), ylim=(-0.35, 4.1))
        axes.axis("off")
    return closed(figure)


def compartments(letters: str = "xabya") -> Figure:
    """Draw the three boxes of each letter, and what the two layers copy into them.

    Args:
        letters: The sequence, whose last letter stands in it once before.
    """
    last, found = len(letters) - 1, letters.index(letters[-1]) + 1
    rows = {"next": 3.4, "after": 1.7, "letter": 0.0}
    left = [1.45 * at for at in range(len(letters))]  # with gaps, through which arrows go
    roles = {("letter", last): "query", ("after", found): "key", ("letter", found): "value"}
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.3))
        for at, letter in enumerate(letters):
            before = letters[at - 1] if at else ""
            answer = letters[found] if at == last else ""
            for name, part in zip(rows, (answer, before, letter), strict=True):
                role = "output" if name == "next" else roles.get((name, at), "")
                _compartment(axes, (left[at], rows[name]), part, role)
            if at:
                look = {"alpha": 1.0 if at == found else 0.4}
                start, end = (left[at - 1] + 0.8, 0.36), (left[at] + 0.4, 1.32)
                _arrow(axes, start, end, ROLE["weight"], **look)
        for name, height in rows.items():
            axes.text(-0.25, height, name, ha="right", va="center")
        alike = {"arrowstyle": "-", "linestyle": (0, (1, 1.5)), "linewidth": 2.2}
        _arrow(axes, (left[last] + 0.3, 0.38), (left[found] + 0.8, 1.32), INK, **alike)
        beside = [(left[found] + x, y) for x, y in ((0.6, 0.36), (1.15, 1.1), (1.0, 2.7))]
        gap = MatplotlibPath([*beside, (left[last] + 0.2, 3.02)], [1, 4, 4, 4])
        copied = {"arrowstyle": "->", "mutation_scale": 11, "color": ROLE["weight"]}
        axes.add_patch(FancyArrowPatch(path=gap, linewidth=1.8, **copied))
        axes.text(left[last] + 1.2, 2.55, "layer 1\ncopies", va="center")
        axes.text(left[last] + 1.2, 0.85, "layer 1\nmatches", va="center")
        axes.text(-0.25, 0.85, "layer 0\ncopies", ha="right", va="center")
        axes.set(xlim=(-2.3, left[last] + 3.6), ylim=(-0.45, 3.85))
        axes.axis("off")
    return closed(figure)


def two_letters(text: str = "sand wine san") -> Figure:
    """Draw labels of two letters, one large and one small, and the question that one of them fits.

    Args:
        text: The sequence, whose last letter stands in it twice before, once after the same letter.
    """
    last, asked = len(text) - 1, text[-2:][::-1]  # the nearer letter first
    found = [at + 1 for at, letter in enumerate(text[:last]) if letter == asked[0]]
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.3))
        for at, letter in enumerate(text):
            role = "value" if text[at - 2 : at] == asked[::-1] and at < last else ""
            if letter != " ":
                _letter(axes, at, 0.0, letter, role)
        for at in [*found, last]:
            _arrow(axes, (at, 0.45), (at, 1.05), FAINT)
            _two_parts(axes, (at, 1.45), text[at - 1], text[at - 2], "key" if at < last else "")
        # The question has its small letter from the label, its large one from the letter itself.
        _arrow(axes, (last - 0.3, 1.85), (last + 0.5, 2.95), FAINT)
        axes.plot([last + 0.4, last + 1.5, last + 1.5], [0, 0, 3.35], color=FAINT, linewidth=1.6)
        _arrow(axes, (last + 1.5, 3.35), (last + 1.02, 3.35), FAINT)
        _two_parts(axes, (last, 3.35), asked[0], asked[1], "query")
        for at in found:
            alike = sum(text[at - back] == asked[back - 1] for back in (1, 2))
            for line in range(alike):
                start, end = (last - 1, 3.6 - 0.45 * line), (at - 0.3 + 0.8 * line, 1.83)
                look = {"linestyle": (0, (1, 1.5)), "arrowstyle": "-", "linewidth": 2.2 - line}
                _arrow(axes, start, end, INK, **look)
            axes.text(at - 0.35, 0.75, ("", "one fits", "both fit")[alike], ha="right", va="center")
        for height, name in ((0.0, "letter"), (1.45, "label"), (3.35, "question")):
            axes.text(-0.9, height, name, ha="right", va="center")
        axes.set(xlim=(-3.6, last + 1.7), ylim=(-0.45, 3.9))
        axes.axis("off")
    return closed(figure)


def _two_parts(axes: Axes, at: tuple[float, float], large: str, small: str, role: str) -> None:
    """Draw a box with two letters, of which one weighs more, in the colour of its role."""
    face, low = ROLE.get(role, PAPER), at[1] - 0.38
    axes.add_patch(Rectangle((at[0] - 1, low), 2, 0.76, facecolor=face, edgecolor=INK, zorder=4))
    for x, part, size in ((-0.3, large, "xx-large"), (0.5, small, "medium")):
        axes.text(at[0] + x, low + 0.17, part, ha="center", va="baseline", fontsize=size,
                  fontweight="bold", color=ink_of(role), zorder=5)  # fmt: skip


def one_step_back(letters: str = "xab", step: float = 1.0) -> Figure:
    """Draw how a query finds the letter before: it begins one step back, and both are turned.

    Args:
        letters: The first letters of a sequence; the query is that of the last one.
        step: The angle by which a place turns a hand.
    """
    last = len(letters) - 1
    begin = [("every key", "key", 0.0, 1.0), ("every query", "query", -step, 0.7)]
    keys = [(f"key of {letter}", "key", step * at, 1.0) for at, letter in enumerate(letters)]
    name, role, turn, length = keys[last - 1]
    keys[last - 1] = (f"{name},\nquery of {letters[last]}", role, turn, length)
    query = ("", "query", step * last - step, 0.7)
    with style():
        figure, panels = plt.subplots(1, 2, figsize=(PHONE, 2.0))
        draw_clock(panels[0], "not turned yet", begin)
        draw_clock(panels[1], "turned by place", [*keys, query])
    return closed(figure)


def _compartment(axes: Axes, at: tuple[float, float], part: str, role: str) -> None:
    """Draw one part of a stream in its box, in the colour of its role if there is something."""
    face = ROLE.get(role, PAPER) if part else PAPER
    axes.add_patch(Rectangle((at[0], at[1] - 0.36), 1, 0.72, facecolor=face, edgecolor=INK))
    axes.text(at[0] + 0.5, at[1], part, ha="center", va="center", fontweight="bold",
              color=ink_of(role))  # fmt: skip


def _letter(axes: Axes, at: float, height: float, letter: str, role: str = "") -> None:
    """Draw a letter in its box, in the colour of its role."""
    look = {"boxstyle": "round,pad=0.3", "facecolor": ROLE.get(role, PAPER), "edgecolor": INK}
    axes.text(at, height, letter, ha="center", va="center", fontweight="bold", bbox=look,
              color=ink_of(role), zorder=4)  # fmt: skip


def _note(axes: Axes, at: tuple[float, float], note: str, role: str) -> None:
    """Draw a label, in the colour of its role; without one, as nobody finds it, it is pale."""
    face, edge = (ROLE[role], "none") if role else (PAPER, FAINT)
    look = {"boxstyle": "round,pad=0.2", "facecolor": face, "edgecolor": edge}
    axes.text(*at, note, ha="center", va="center", color=ink_of(role), bbox=look, zorder=5)


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, **look: object
) -> None:
    line = {"arrowstyle": "->", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=line | look)


def drop(
    losses: Mapping[str, Tensor],
    scores: Mapping[str, Tensor],
    every: int = 10,
    chance: float = math.log(27),
) -> Figure:
    """Draw the loss by step, and below it how far the heads are: one seed, and the others pale.

    Args:
        losses: For two kinds of model the losses of all seeds, (num_seeds, num_points); of the
            first it is written beside its fall, of the second below its end.
        scores: For each score, that of the best head of each seed, (num_seeds, num_points).
        every: The steps from one number to the next.
        chance: The loss of one who knows nothing.
    """
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(PHONE, 4.9), sharex=True, height_ratios=(3, 2)
        )
        above.axhline(chance, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        end = every * (max(values.shape[1] for values in losses.values()) - 1)
        above.text(end, chance + 0.05, "knowing nothing", ha="right", va="bottom")
        for axes, runs, inks in ((above, losses, (VIOLET, BROWN)), (below, scores, (INK, VIOLET))):
            for (name, values), colour, mark in zip(runs.items(), inks, LINES, strict=False):
                at = every * torch.arange(values.shape[1])
                first, *others = values
                axes.plot(at, first, mark, color=colour, label=name, zorder=3)
                for other in others:
                    axes.plot(at, other, color=colour, alpha=0.35, linewidth=1)
        (name, fallen), (other, flat) = losses.items()
        half = every * int((fallen < chance / 2).all(0).nonzero()[0])
        above.text(half + 0.06 * end, chance / 2, name, color=VIOLET, va="center")
        under = flat[:, -1].min().item() - 0.1
        above.text(end, under, other, color=BROWN, ha="right", va="top")
        sides = {"va": "top"}, {"va": "bottom"}  # the lower one below, the upper one above
        named = [line for line in below.lines if line.get_label() in scores]
        for line, side, away in zip(named, sides, (-0.13, 0.03), strict=True):
            height, colour = float(line.get_ydata()[-1]) + away, line.get_color()
            below.text(end, height, line.get_label(), color=colour, ha="right", **side)
        above.set(ylim=(0, 1.2 * chance), ylabel="loss at repeats, nats")
        below.set(
            ylim=(0, 1.1), yticks=(0, 0.5, 1), xlim=(0, None), xlabel="steps", ylabel="weight"
        )
    return closed(figure)


def one_place_off(weights: Tensor, scores: Mapping[int, float]) -> Figure:
    """Draw the weights of a second copy, and the diagonals on which two scores are read.

    Args:
        weights: From each letter of the second copy to those of both, (length, 2 * length).
        scores: For each number of places back, the mean weight on that diagonal.
    """
    length = len(weights)
    looks = zip(scores.items(), (BROWN, VIOLET), ("--", "-"), strict=True)
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 2.9))
        axes.imshow(weights.numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1)
        axes.axvline(length - 0.5, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        for number, ((back, score), colour, mark) in enumerate(looks):
            rows = torch.arange(length)
            axes.plot(rows + length - back, rows, mark, color=colour, linewidth=1.2)
            words = f"{back} back: {score:.2f}"
            axes.text(1.05 * length, length * (1 + number) / 5, words, color=colour, va="center")
        axes.spines[:].set_visible(True)
        middles = (length / 2 - 0.5, 1.5 * length - 0.5)
        axes.set_xticks(middles, ["first copy", "second copy"])
        axes.set_yticks([])
        axes.tick_params(length=0)
        axes.set(xlabel="the letter looked at", ylabel="from the second copy")
    return closed(figure)


def patterns(text: str, steps: Mapping[int, Tensor]) -> Figure:
    """Draw the weights of two heads after several steps of their training.

    Args:
        text: The letters.
        steps: For each step the weights of both layers, (2, len(text), len(text)).
    """
    letters = [letter.replace(" ", "\N{OPEN BOX}") for letter in text]
    with style():
        figure, panels = plt.subplots(
            2, len(steps), figsize=(PHONE, 4.5), sharex=True, sharey=True, squeeze=False
        )
        for column, (step, weights) in zip(panels.T, steps.items(), strict=True):
            for axes, table in zip(column, weights, strict=True):
                axes.imshow(table.numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1)
                axes.spines[:].set_visible(True)
                axes.set_xticks(range(len(text)), letters)
                axes.set_yticks(range(len(text)), letters)
                axes.tick_params(length=0, pad=1)
            column[0].set_title(f"step {step}")
        for layer, axes in enumerate(panels[:, 0]):
            axes.set_ylabel(f"layer {layer}, from")
        for axes in panels[-1]:
            axes.set_xlabel("to")
    return closed(figure)


def losses(rows: Mapping[str, Tensor], lines: Mapping[str, float]) -> Figure:
    """Draw the loss of each seed, a row for each change.

    Args:
        rows: For each change the losses of the seeds, (num_seeds,).
        lines: Losses to compare with, each with a name.
    """
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 1.1 + 0.42 * len(rows)))
        for name, loss in lines.items():
            axes.axvline(loss, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            axes.text(loss, -0.75, name, ha="center", va="bottom")
        for row, values in enumerate(rows.values()):
            height = row + np.linspace(-0.2, 0.2, len(values))
            mean = values.mean().item()
            axes.barh(row, mean, height=0.62, color=VIOLET, alpha=0.25, linewidth=0)
            axes.plot(values, height, "o", color=VIOLET, markersize=5, alpha=0.8)
            axes.text(values.max().item() + 0.12, row, f"{mean:.2f}", va="center")
        axes.set_yticks(range(len(rows)), list(rows))
        most = max(values.max().item() for values in rows.values())
        axes.set(xlim=(0, 1.2 * most), ylim=(len(rows) - 0.5, -0.6), xlabel="loss at repeats, nats")
        axes.tick_params(axis="y", length=0)
    return closed(figure)


def heads(points: Mapping[str, Sequence[Tensor]]) -> Figure:
    """Draw heads by two scores.

    Args:
        points: For each group of heads, their previous-token and induction scores, (num_heads,).
    """
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.2))
        for (name, scores), colour, mark in zip(points.items(), COMPARED, "ox+", strict=False):
            axes.plot(*scores, mark, color=colour, label=name, markersize=8, markeredgewidth=2)
        axes.set(xlim=(-0.03, 1), ylim=(-0.05, 1))
        axes.set(xlabel="previous-token score", ylabel="induction score")
        axes.legend(loc="upper right")
    return closed(figure)


def by_distance(losses: Mapping[str, Tensor], edges: Sequence[int], learned: int) -> Figure:
    """Draw the loss by the distance of the repeat.

    Args:
        losses: For each model the losses of the seeds, (num_seeds, len(edges) - 1).
        edges: Where the ranges of distances begin, and where the last one ends.
        learned: The greatest distance in training.
    """
    middles = (torch.tensor(edges[1:]) + torch.tensor(edges[:-1])) / 2
    with style():
        figure, axes = plt.subplots(figsize=(PHONE, 3.0))
        axes.axvline(learned, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        axes.annotate("farthest in training", (learned, 0.1), (7, 3), textcoords="offset points")
        for (name, values), colour, mark in zip(losses.items(), COMPARED, LINES, strict=False):
            draw_mean_and_range(axes, middles, values, f"o{mark}", color=colour, label=name)
        axes.set(xlim=(0, None), ylim=(0, None), xlabel="distance of the repeat")
        axes.set(ylabel="loss at repeats, nats")
        axes.legend(loc="upper left")
    return closed(figure)
