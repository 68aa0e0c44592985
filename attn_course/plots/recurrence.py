"""The figures of chapter 10: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FixedLocator, NullLocator
from torch import Tensor

from attn_course.plots import (
    BROWN,
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    GREY,
    INK,
    PAPER,
    VIOLET,
    closed,
    style,
)
from attn_course.plots.curves import draw_mean_and_range
from attn_course.plots.seq2seq import grey_beyond

# Mark, line and colour: each layer keeps its own throughout the chapter.
LOOKS = {
    "rnn": ("o:", GREY),
    "gru": ("s-", BROWN),
    "lstm": ("^-", INK),
    "attention": ("D-", VIOLET),
    "fast attention": ("d--", VIOLET),
    "attention alone": ("D-", VIOLET),
    "attention, before": ("D-", VIOLET),
    "attention, rate 0.03": ("D", VIOLET),
    "attention, rate 0.003": ("*", VIOLET),
}
OTHERS = (
    ("v--", INK),
    ("P-.", BROWN),
    ("X:", GREY),
    ("h-", INK),
    ("p-", VIOLET),
)
BOX = {"boxstyle": "round,pad=0.4", "facecolor": PAPER, "edgecolor": INK}
LANE, SEED = 0.18, 0.06  # between two layers at a distance, and between two seeds of a layer
EDGE = {"markeredgecolor": PAPER, "markeredgewidth": 0.7}  # where marks overlap
Lines = Mapping[str, Tensor]


# --- the path from one word to another ------------------------------------------------------------


def paths(length: int) -> Figure:
    """Draw the path from the first of some words to the last: from state to state, and at once."""
    last = length - 1
    look = {"ha": "center", "va": "center", "fontsize": 14}  # its index is small
    with style():
        figure, panels = plt.subplots(2, 1, figsize=(4.8, 4.6))
        for axes, kind in zip(panels, ("a recurrent network", "self-attention"), strict=True):
            for place in range(length):
                name = f"$h_{place + 1}$" if axes is panels[0] else f"$o_{place + 1}$"
                axes.text(place, 1, name, bbox=BOX, **look)
                turn = place + 1 if axes is panels[0] else 1
                axes.text(place, 1.3, f"turn {turn}", ha="center", va="bottom", color=VIOLET)
                axes.text(place, 0, f"$x_{place + 1}$", **look)
            axes.set_title(kind, loc="left")
            axes.set(xlim=(-0.5, length - 0.5), ylim=(-0.2, 1.6))
            axes.axis("off")
        for place in range(length):
            _arrow(panels[0], (place, 0.15), (place, 0.76), strong=not place)
        for place in range(last):
            _arrow(panels[0], (place + 0.25, 1), (place + 0.75, 1), strong=True)
        for start, end in product(range(length), repeat=2):
            _arrow(panels[1], (start, 0.15), (end, 0.76), strong=(start, end) == (0, last))
    return closed(figure)


def ways_back(factor: str, other: str) -> Figure:
    """Draw the two ways from one memory of an LSTM to the next: straight on, and by the state.

    Args:
        factor: What a step straight on multiplies by.
        other: What a step by the state multiplies by.
    """
    steps = 3
    look = {"ha": "center", "va": "center", "fontsize": 14}
    with style():
        figure, axes = plt.subplots(figsize=(4.8, 2.3))
        for place in range(steps + 1):
            axes.text(place, 1, f"$c_{place + 1}$", bbox=BOX, **look)
        for place in range(steps):
            axes.text(place, 0, f"$h_{place + 1}$", bbox=BOX, **look)
            _arrow(axes, (place + 0.22, 1), (place + 0.78, 1), strong=True, colour=INK)
            axes.text(place + 0.5, 1.12, factor, ha="center", va="bottom")
            axes.text(place + 0.64, 0.27, other, ha="center", va="center")
            _arrow(axes, (place, 0.77), (place, 0.23), strong=True, colour=GREY)
            _arrow(axes, (place + 0.2, 0.15), (place + 0.84, 0.77), strong=True, colour=GREY)
        for height, name in ((1, "memory"), (0, "state")):
            axes.text(-0.35, height, name, ha="right", va="center")
        axes.set(xlim=(-1.1, steps + 0.3), ylim=(-0.25, 1.4))
        axes.axis("off")
    return closed(figure)


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    strong: bool,
    colour: str = VIOLET,
) -> None:
    """Draw an arrow, a step of the path, or a line beside it."""
    look = {"color": colour, "linewidth": 3, "arrowstyle": "->", "zorder": 2}
    pale = {"color": FAINT, "linewidth": 1, "arrowstyle": "-", "zorder": 1}
    arrow = FancyArrowPatch(start, end, mutation_scale=12, **(look if strong else pale))
    axes.add_patch(arrow)


# --- what grows and what shrinks ------------------------------------------------------------------


def decay(
    at: Tensor,
    panels: Mapping[str, Lines],
    xlabel: str,
    ylabel: str,
    *,
    names: Sequence[object] | None = None,
) -> Figure:
    """Draw positive numbers that fall or rise by many powers of ten, a panel for each title.

    Args:
        at: Horizontal positions of the points, (num_points,).
        panels: For each title, the measurements by name, (num_seeds, num_points).
        xlabel: Label of `at`.
        ylabel: Label of the measurements.
        names: Labels of the points, if their positions are not to scale.
    """
    with style():
        size = (5.2, 1.1 + 2.6 * len(panels))
        figure, drawn = plt.subplots(len(panels), 1, figsize=size, sharex=True, squeeze=False)
        for axes, (title, lines) in zip(drawn.flat, panels.items(), strict=True):
            for name, (mark, colour) in _looks(lines):
                # a mark without a line: nothing is known between the points
                draw = _run_by_run if len(mark) == 1 else _geometric
                draw(axes, at, lines[name], mark, colour, name)
            axes.set(yscale="log", ylabel=ylabel)
            axes.set_title(title, loc="left")
            _mark_round_powers(axes)
            axes.grid(axis="y", color=FAINT, linewidth=0.5)
        drawn[-1, 0].set_xlabel(xlabel)
        if names is not None:
            drawn[-1, 0].set_xticks(at.tolist(), [str(name) for name in names])
        _legend(figure, drawn.flat)
    return closed(figure)


def _geometric(axes: Axes, at: Tensor, runs: Tensor, mark: str, colour: str, name: str) -> None:
    """Draw the geometric mean of some runs, and the range they span."""
    middle = runs.double().log().mean(0).exp()
    few = max(1, len(at) // 8)
    axes.fill_between(at.numpy(), runs.amin(0), runs.amax(0), color=colour, alpha=0.2, linewidth=0)
    axes.plot(at.numpy(), middle, mark, color=colour, markevery=few, markersize=5, label=name)


def _run_by_run(axes: Axes, at: Tensor, runs: Tensor, mark: str, colour: str, name: str) -> None:
    """Draw a mark for each point of each run; the first run has the name."""
    for number, run in enumerate(runs):
        label = "_" if number else name
        size = 12 if mark == "*" else 8  # a star has little ink
        look = {"color": colour, "markersize": size, "zorder": 3, **EDGE}
        axes.plot(at.numpy(), run, mark, label=label, **look)


def _mark_round_powers(axes: Axes) -> None:
    """Put ticks at powers of ten whose exponents are round, and at most seven of them."""
    low, high = (math.log10(end) for end in axes.get_ylim())
    step = next(step for step in (1, 2, 5, 10, 20, 50) if high - low <= 6 * step)
    exponents = range(math.ceil(low / step) * step, math.floor(high) + 1, step)
    axes.yaxis.set_major_locator(FixedLocator([10.0**exponent for exponent in exponents]))
    axes.yaxis.set_minor_locator(NullLocator())


def costs(lengths: Tensor, panels: Mapping[str, Lines], xlabel: str = "tokens") -> Figure:
    """Draw the cost of layers against the length, on log scales, a panel for each kind of cost.

    Args:
        lengths: Number of tokens, (num_lengths,).
        panels: For each kind of cost, which names its axis, the cost by layer, (num_lengths,).
        xlabel: Label of `lengths`.
    """
    with style():
        size = (5.2, 0.9 + 2.4 * len(panels))
        figure, drawn = plt.subplots(len(panels), 1, figsize=size, sharex=True, squeeze=False)
        for axes, (ylabel, lines) in zip(drawn.flat, panels.items(), strict=True):
            for name, (mark, colour) in _looks(lines):
                axes.plot(lengths, lines[name], mark, color=colour, markersize=5, label=name)
            axes.set(xscale="log", yscale="log", ylabel=ylabel)
            axes.set_xticks(lengths.tolist()[::2], [f"{n:,}" for n in lengths.tolist()[::2]])
            axes.xaxis.set_minor_locator(NullLocator())
            _mark_round_powers(axes)
            _name_at_ends(axes, {name: line[-1].item() for name, line in lines.items()})
        drawn[-1, 0].set_xlabel(xlabel)
    return closed(figure)


def milliseconds(lengths: Tensor, lines: Lines) -> Figure:
    """Draw the time that layers take against the length, both on log scales.

    Args:
        lengths: Number of tokens, (num_lengths,).
        lines: For each layer, its milliseconds, (num_lengths,); NaN where it was not measured.
    """
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 3.9))
        for name, (mark, colour) in _looks(lines):
            known = lines[name].isfinite()
            at, taken = lengths[known], lines[name][known]
            look = {"color": colour, "markersize": 5, "clip_on": False, "label": name}
            axes.plot(at, taken, mark, **look)
            end = at[-1].item(), taken[-1].item()
            look = {"va": "center", "color": colour, "annotation_clip": False}
            axes.annotate(name, end, (9, 0), textcoords="offset points", **look)
        axes.set(xscale="log", yscale="log", xlim=(lengths[0].item(), lengths[-1].item()))
        axes.set(xlabel="words in the text", ylabel="milliseconds, there and back")
        apart = lengths.tolist()[::-1][::2][::-1]
        axes.set_xticks(apart, [f"{n:,}" for n in apart])
        low, high = axes.get_ylim()
        round_times = [time for time in (0.5, 1, 2, 5, 10, 20, 50, 100) if low <= time <= high]
        axes.set_yticks(round_times, [f"{time:g}" for time in round_times])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_locator(NullLocator())
        axes.grid(axis="y", color=FAINT, linewidth=0.5)
    return closed(figure)


def _name_at_ends(axes: Axes, ends: Mapping[str, float], beyond: float = 0) -> None:
    """Write the name of each line beside its end, a little higher where another is in the way."""
    low, high = axes.get_ylim()
    free = low
    named = {str(line.get_label()): line for line in axes.lines}
    names = [name for name in named if not name.startswith("_")]
    for name in sorted(names, key=ends.__getitem__):
        line, height = named[name], max(free, ends[name])
        colour = INK if line.get_color() == GREY else line.get_color()  # grey letters are pale
        look = {"va": "center", "color": colour, "annotation_clip": False}
        end = (max(np.asarray(line.get_xdata())[-1], beyond), height)
        axes.annotate(name, end, (9, 0), textcoords="offset points", **look)
        free = height * (high / low) ** 0.062


# --- steps to learn -------------------------------------------------------------------------------


def near_and_far(near: Mapping[str, int], far: Mapping[str, int | None], most: int) -> Figure:
    """Draw the steps to learn at two distances, a row for each layer, joined by an arrow.

    Args:
        near: For each layer, the fastest on top, its steps at the smaller distance.
        far: The same at the greater one; None if it was not learned.
        most: The number of steps after which training was stopped.
    """
    edge, top = 1.35 * most, 5 * most
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 3.5))
        axes.axvspan(edge, top, color=FAINT, alpha=0.35, linewidth=0)
        middle = math.sqrt(edge * top)
        axes.text(middle, -0.95, f"not in {most:,}", ha="center", va="center")
        for row, (name, start) in enumerate(near.items()):
            (mark, colour), end = LOOKS.get(name, ("v", INK)), far[name]
            ink = INK if colour == GREY else colour  # grey letters are pale
            beside = {"ha": "right", "multialignment": "right", "va": "center", "color": ink}
            axes.text(8.6, row, name.replace(", ", ",\n"), **beside)
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 7}
            arrow |= {"shrinkB": 8, "mutation_scale": 15}
            axes.annotate("", (end or middle, row), (start, row), arrowprops=arrow)
            hollow = {"markerfacecolor": PAPER, "markeredgecolor": colour, "markeredgewidth": 2}
            axes.plot(start, row, mark[0], markersize=9, **hollow)
            axes.plot(end or middle, row, mark[0], color=colour, markersize=9)
            above = {"textcoords": "offset points", "ha": "center", "va": "bottom", "color": ink}
            for taken in (start, end):
                if taken:
                    axes.annotate(str(taken), (taken, row), (0, 8), **above)
        axes.set(xscale="log", xlim=(10, top), ylim=(len(near) - 0.5, -0.75))
        axes.set_xticks([10, 100, 1000], ["10", "100", "1,000"])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("optimiser steps until it has learned")
    return closed(figure)


def where_it_looks(looks: Mapping[str, Tensor], every: int) -> Figure:
    """Draw where the last token looks while a model learns, a panel for each model.

    Args:
        looks: For each model, by its title, the weights of the last token, (num_times, length);
            the first weight stands beside its row in numbers, too.
        every: Optimiser steps between two times.
    """
    with style():
        size = (4.7, 0.5 + 1.75 * len(looks))
        figure, panels = plt.subplots(len(looks), 1, figsize=size, sharex=True, squeeze=False)
        for axes, (title, weights) in zip(panels.flat, looks.items(), strict=True):
            times, length = weights.shape
            grid = {"edgecolors": FAINT, "linewidth": 0.5, "cmap": FROM_NOTHING_TO_WEIGHT}
            axes.pcolormesh(weights.numpy(), vmin=0, vmax=1, **grid)
            axes.set_title(title, loc="left", fontsize=11)
            for row, weight in enumerate(weights[:, 0].tolist()):
                axes.text(length + 0.4, row + 0.5, f"{weight:.1%}", va="center")
            axes.set(ylabel="optimiser steps", ylim=(times, 0))
            rows = range(times)
            axes.set_yticks([row + 0.5 for row in rows], [str(every * row) for row in rows])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        panels.flat[0].text(length + 3.4, -0.25, "on the digit", ha="right", va="bottom")
        ends = axes.set_xticks([0, length], ["the first digit", "itself"])
        for end, side in zip(ends, ("left", "right"), strict=True):
            end.label1.set_horizontalalignment(side)
        axes.set_xlabel("where the last token looks")
    return closed(figure)


def steps_to_learn(sizes: Tensor, steps: Lines, most: int) -> Figure:
    """Draw the steps to learn against the distance: a mark for each seed, a line for the medians.

    Each layer has a lane of its own at a distance, and each seed its place in the lane, so that no
    mark hides another.

    Args:
        sizes: Distances that the task bridges, (num_sizes,); they stand evenly.
        steps: For each layer, the steps that it took, NaN if it failed, (num_seeds, num_sizes).
        most: The number of steps after which training was stopped. What failed stands above,
            unjoined, in a row of its own for each layer.
    """
    edge, top = 1.4 * most, 16 * most
    ends: dict[str, float] = {}
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.4))
        axes.axhspan(edge, top, color=FAINT, alpha=0.35, linewidth=0)
        axes.text(-0.46, 1.1 * edge, f"not learned\nin {most:,}", va="bottom")
        levels = torch.logspace(math.log10(1.2 * edge), math.log10(0.85 * top), len(steps)).flip(0)
        for row, (name, (mark, colour)) in enumerate(_looks(steps)):
            never = levels[row].item()  # each layer fails at a height of its own
            taken = steps[name].double().nan_to_num(never)
            at = torch.arange(len(sizes)) + LANE * (row - (len(steps) - 1) / 2)
            for seed, run in enumerate(taken):
                beside = at + SEED * (seed - (len(taken) - 1) / 2)
                axes.plot(beside, run, mark[0], color=colour, markersize=5.5, label="_", **EDGE)
            middle = taken.median(0).values
            ends[name] = middle[-1].item()
            joined = middle.where(middle <= most, math.nan)
            axes.plot(at, joined, mark[1:], color=colour, linewidth=2, label=name)
            is_line = joined[1:].isfinite() & joined[:-1].isfinite()
            if joined[-1].isnan() and is_line.any():  # it ends before the others do
                last = int(is_line.nonzero()[-1]) + 1
                end = at[last].item(), joined[last].item()
                look = {"va": "center", "color": colour, "textcoords": "offset points"}
                paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
                axes.annotate(name.replace(", ", ",\n"), end, (7, 0), bbox=paper, **look)
        between = torch.arange(1, len(sizes)) - 0.5
        axes.vlines(between.tolist(), 10, edge, color=FAINT, linewidth=0.7, zorder=0)
        axes.set(yscale="log", xlim=(-0.5, len(sizes) - 0.5), ylim=(10, top))
        _name_at_ends(axes, ends, beyond=axes.get_xlim()[1])
        axes.set(xlabel="steps back to the first digit", ylabel="optimiser steps")
        axes.set_xticks(range(len(sizes)), [str(size) for size in sizes.tolist()])
        axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
        axes.yaxis.set_minor_locator(NullLocator())
    return closed(figure)


def how_good(
    at: Tensor, runs: Lines, xlabel: str, ylabel: str, longest_learned: float | None = None
) -> Figure:
    """Draw the quality of models, during training or by length.

    Args:
        at: The step, or the length, of each measurement, (num_points,).
        runs: For each model, the measurements of each seed, (num_seeds, num_points).
        xlabel: Label of `at`.
        ylabel: Label of the measurements.
        longest_learned: If `at` is a length, the greatest length in the training; beyond it the
            figure is grey.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        if longest_learned is not None:
            grey_beyond(axes, longest_learned, at.max().item())
        for name, (mark, colour) in _looks(runs):
            draw_mean_and_range(axes, at, runs[name], mark, color=colour, label=name)
        axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, None))
        _legend(figure, [axes])
    return closed(figure)


def _looks(lines: Lines) -> list[tuple[str, tuple[str, str]]]:
    """The mark and colour of every name; names without their own get the remaining ones."""
    others = iter(OTHERS)
    return [(name, LOOKS[name] if name in LOOKS else next(others)) for name in lines]


def _legend(figure: Figure, drawn: list[Axes]) -> None:
    """Add one legend for all panels, below them."""
    named: dict[str, Artist] = {}
    for axes in drawn:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    figure.legend(
        [*named.values()], [*named], loc="outside lower center", ncols=2, handlelength=3.2
    )
