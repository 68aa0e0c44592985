"""The figures of chapter 12: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import (
    BROWN,
    COMPARED,
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    GREY,
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


def two_looks(letters: str = "xabya") -> Figure:
    """Draw what two heads do: each letter notes the one before, and the last one finds its own.

    Args:
        letters: The sequence, whose last letter stands in it once before.
    """
    last, found = len(letters) - 1, letters.index(letters[-1]) + 1
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.5))
        for at, letter in enumerate(letters):
            _letter(axes, at, 0.0, letter)
            _letter(axes, at, 1.5, letter, letters[at - 1] if at else "", is_found=at == found)
            _arrow(axes, (at, 0.3), (at, 1.2), FAINT)
            if at:
                _arrow(axes, (at - 0.9, 0.3), (at - 0.25, 1.2), ROLE["weight"])
        axes.text(-0.5, 0.75, "layer 0:\nprevious-token\nhead", ha="right", va="center")
        axes.text(-0.5, 2.4, "layer 1:\ninduction\nhead", ha="right", va="center")
        axes.text(last + 0.35, 1.5, f"who comes\nafter {letters[last]}?", va="center")
        _letter(axes, last, 3.0, letters[-1], answer=letters[found])
        _arrow(axes, (last, 2.2), (last, 2.7), FAINT)
        match = {"boxstyle": "round,pad=0.3", "facecolor": ROLE["query"], "edgecolor": "none"}
        axes.text(last, 1.5, letters[last], ha="center", va="center", fontweight="bold",
                  color="white", bbox=match, zorder=4)  # fmt: skip
        bow = {"connectionstyle": "angle3,angleA=82,angleB=20"}  # between the labels
        _arrow(axes, (found + 0.31, 1.5), (last - 0.3, 2.95), ROLE["weight"], **bow)
        axes.text(last - 0.3, 3.46, "next:", ha="right", va="center")
        axes.set(xlim=(-2.3, last + 1.8), ylim=(-0.45, 3.85))
        axes.axis("off")
    return closed(figure)


def compartments(letters: str = "xabya") -> Figure:
    """Draw the four parts of the stream of two letters, as they come in and after each layer.

    Args:
        letters: The sequence, whose last letter stands in it once before.
    """
    last, found = len(letters) - 1, letters.index(letters[-1]) + 1
    rows = {"comes in": 3.5, "after layer 0": 2.2, "after layer 1": 0.0}
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.3))
        for left, at in ((0.0, found), (4.9, last)):
            for place, part in enumerate(("letter", "after", "next", "one")):
                axes.text(left + place + 0.5, 4.05, part, ha="center")
            for layer, height in enumerate(rows.values()):
                for place, (part, role) in enumerate(_stream(letters, at, layer)):
                    _compartment(axes, (left + place, height), part, role)
        for name, height in rows.items():
            axes.text(-0.25, height, name, ha="right", va="center")
        alike = {"arrowstyle": "-", "linestyle": (0, (1, 1.5)), "connectionstyle": "arc3,rad=-0.1"}
        _arrow(axes, (5.4, 1.8), (1.5, 1.8), INK, **alike)
        _arrow(axes, (0.5, 1.8), (7.4, 0.45), ROLE["weight"])
        axes.text(5.4, 1.35, f"both {letters[last]}", ha="center", va="center")
        axes.text(2.9, 0.85, f"so {letters[found]} comes over", ha="center", va="center")
        axes.set(xlim=(-2.6, 9), ylim=(-0.45, 4.4))
        axes.axis("off")
    return closed(figure)


def one_step_back(letters: str = "xab", step: float = 0.8) -> Figure:
    """Draw how a query finds the letter before: it begins one step back, and both are turned.

    Args:
        letters: The first letters of a sequence; the query is that of the last one.
        step: The angle by which a place turns a hand.
    """
    last = len(letters) - 1
    begin = [("every key", "key", 0.0, 1.0), ("every query", "query", -step, 0.7)]
    keys = [(f"key of {letter}", "key", step * at, 1.0) for at, letter in enumerate(letters)]
    name, *found = keys[last - 1]
    keys[last - 1] = (f"{name},\nquery of {letters[last]}", *found)
    query = ("", "query", step * last - step, 0.7)
    with style():
        figure, panels = plt.subplots(1, 2, figsize=(5.2, 2.1))
        draw_clock(panels[0], "before they are turned", begin)
        draw_clock(panels[1], "turned by their places", [*keys, query])
    return closed(figure)


def _stream(letters: str, at: int, layer: int) -> list[tuple[str, str]]:
    """Contents and roles of the compartments at a position, as a layer reads them.

    Layer 2 is the readout.
    """
    is_last, found = at == len(letters) - 1, letters.index(letters[-1]) + 1
    before = letters[at - 1] if layer else ""
    answer = letters[found] if layer == 2 and is_last else ""
    first, second = ("query", "") if is_last else ("value", "key")
    read = (first, second) if layer == 1 else ("", "")
    return [(letters[at], read[0]), (before, read[1]), (answer, "output"), ("1", "")]


def _compartment(axes: Axes, at: tuple[float, float], part: str, role: str) -> None:
    """Draw one part of a stream in its box, in the colour of its role if there is something."""
    face = ROLE.get(role, PAPER) if part else PAPER
    axes.add_patch(Rectangle((at[0], at[1] - 0.36), 1, 0.72, facecolor=face, edgecolor=INK))
    axes.text(at[0] + 0.5, at[1], part, ha="center", va="center", fontweight="bold",
              color=ink_of(role))  # fmt: skip


def _letter(
    axes: Axes,
    at: float,
    height: float,
    letter: str,
    before: str = "",
    answer: str = "",
    is_found: bool = True,
) -> None:
    """Draw a letter's box with what has been written into it: the one before, or the answer.

    What nobody finds is pale.
    """
    frame = {"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": INK}
    note, colour = (f"after {before}", "key") if before else (answer, "output")
    axes.text(at, height, letter, ha="center", va="center", fontweight="bold", bbox=frame, zorder=4)
    if note:
        ground, ink = (ROLE[colour], "black") if is_found else (PAPER, INK)
        edge = "none" if is_found else FAINT
        look = {"boxstyle": "round,pad=0.2", "facecolor": ground, "edgecolor": edge}
        axes.text(at, height + 0.46, note, ha="center", va="center", fontsize=10,
                  color=ink, bbox=look, zorder=5)  # fmt: skip


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, **look: object
) -> None:
    line = {"arrowstyle": "->", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=line | look)


def drop(
    losses: Mapping[str, Tensor], scores: Mapping[str, Tensor], every: int, chance: float
) -> Figure:
    """Draw the loss by step, and below it how far the heads are.

    Args:
        losses: For each kind of model the losses of all seeds, (num_seeds, num_points).
        scores: For each score, that of the best head of each seed, (num_seeds, num_points).
        every: The steps from one number to the next.
        chance: The loss of one who knows nothing.
    """
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(5.2, 4.9), sharex=True, height_ratios=(3, 2)
        )
        above.axhline(chance, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        end = every * (max(values.shape[1] for values in losses.values()) - 1)
        above.text(end, chance + 0.05, "knowing nothing", ha="right", va="bottom")
        colours = (VIOLET, BROWN, GREY)
        for axes, runs, inks in ((above, losses, colours), (below, scores, (INK, INK))):
            for (name, values), colour, mark in zip(runs.items(), inks, LINES, strict=False):
                at = every * torch.arange(values.shape[1])
                draw_mean_and_range(axes, at, values, mark, color=colour, label=name)
        above.set(ylim=(0, 1.2 * chance), ylabel="loss at repeats, nats")
        below.set(ylim=(0, 1), xlim=(0, None), xlabel="steps", ylabel="weight where\nit should be")
        above.legend(loc="center right")  # between what falls and what stays
        below.legend(loc="lower right")
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
            2, len(steps), figsize=(5.2, 4.0), sharex=True, sharey=True, squeeze=False
        )
        for column, (step, weights) in zip(panels.T, steps.items(), strict=True):
            for axes, table in zip(column, weights, strict=True):
                axes.imshow(table.numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1)
                axes.spines[:].set_visible(True)
                axes.set_xticks(range(len(text)), letters, fontsize=7)
                axes.set_yticks(range(len(text)), letters, fontsize=7)
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
        figure, axes = plt.subplots(figsize=(5.2, 1.2 + 0.36 * len(rows)))
        for name, loss in lines.items():
            axes.axvline(loss, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            axes.text(loss, -0.75, name, ha="center", va="bottom")
        for row, values in enumerate(rows.values()):
            height = row + np.linspace(-0.2, 0.2, len(values))
            axes.plot(values, height, "o", color=VIOLET, markersize=6, alpha=0.8)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set(xlim=(0, None), ylim=(len(rows) - 0.5, -0.6), xlabel="loss at repeats, nats")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
    return closed(figure)


def heads(points: Mapping[str, Sequence[Tensor]]) -> Figure:
    """Draw heads by two scores.

    Args:
        points: For each group of heads, their previous-token and induction scores, (num_heads,).
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.4))
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
        figure, axes = plt.subplots()
        axes.axvline(learned, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        axes.annotate("farthest in training", (learned, 0.1), (7, 3), textcoords="offset points")
        for (name, values), colour, mark in zip(losses.items(), COMPARED, LINES, strict=False):
            draw_mean_and_range(axes, middles, values, f"o{mark}", color=colour, label=name)
        axes.set(xlim=(0, None), ylim=(0, None), xlabel="distance of the repeat")
        axes.set(ylabel="loss at repeats, nats")
        axes.legend(loc="upper left")
    return closed(figure)
