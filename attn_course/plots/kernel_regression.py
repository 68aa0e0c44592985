"""The figures of chapter 02: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, FAINT, GREY, INK, ROLE, VIOLET, closed, style

# Beside their hues, for readers who see few of them.
LINES = ["-", (0, (1, 1)), (0, (5, 2)), (0, (5, 2, 1, 2))]
# Other than those of the kernels, since readers would take a judge for one.
JUDGES = [("-", BROWN), ((0, (1, 1)), GREY), ((0, (5, 2)), INK)]
# At a distance of u widths.
FORMULAS = {
    "Gaussian": r"$\exp(-\frac{1}{2}u^2)$",
    "boxcar": r"1 if $u \leq 1$, else 0",
    "triangular": r"$\max(0, 1 - u)$",
    "Epanechnikov": r"$\max(0, 1 - u^2)$",
}
# From a tint of the ground, since the blank of a mask must differ from a small weight.
WEIGHTS = LinearSegmentedColormap.from_list(
    "weight", [to_rgba(ROLE["weight"], 0.2), to_rgba(ROLE["weight"])]
)
OBSERVED = {"color": ROLE["value"], "s": 16, "alpha": 0.6, "linewidths": 0}


def one_estimate(
    query: float,
    key: Tensor,
    value: Tensor,
    counts: Tensor,
    output: float,
    kernel: tuple[Tensor, Tensor],
) -> Figure:
    """Draw soundings along a river, and what each counts in the estimate at one query.

    Args:
        query: Where the depth is wanted.
        key: Where it was measured.
        value: The depths measured.
        counts: What each counts; their shares are the weights.
        output: The estimate.
        kernel: Places along the river, and what a sounding there would count.
    """
    with _drawn(2, 4.3, height_ratios=[3, 2], sharex=True) as (figure, (river, share)):
        places, depths, each = key.numpy(), value.numpy(), counts.numpy()
        for axes in (river, share):
            axes.axvline(query, color=ROLE["query"], linestyle="--")
        share.plot(places, 0 * places, "^", color=ROLE["key"], ms=10, clip_on=False)
        river.scatter(places, depths, color=ROLE["value"], s=70)
        share.fill_between(*kernel, color=ROLE["query"], alpha=0.22, linewidth=0)
        share.plot(*kernel, color=ROLE["query"], linewidth=2)
        share.bar(places, each, width=0.35, color=ROLE["weight"])
        river.scatter(query, output, color=ROLE["output"], s=150, marker="*")
        beside = {"textcoords": "offset points", "va": "center"}
        river.annotate(f"output {output:.0f} cm", (query, output), (11, 0), **beside)
        for place, depth in zip(places.tolist(), depths.tolist(), strict=True):
            is_close = 0 < query - place < 1  # its right side is for the output
            ends = {"ha": "right"} if is_close else {}
            side = -9 if is_close else 9
            river.annotate(f"value {depth:.0f}", (place, depth), (side, 0), **beside, **ends)
        river.annotate(f"query {query:g}", (query, 5), (6, 0), **beside)
        for place, count in zip(places.tolist(), each.tolist(), strict=True):
            side = -1 if place < query else 1  # away from the slope of the kernel
            aligned = "right" if side < 0 else "left"
            said = f"{count:g}\nshare {count / each.sum():g}"
            share.text(place + 0.05 * side, count + 0.04, said, ha=aligned)
        share.annotate("tent", (3.25, 0.65), (7, 0), **beside)
        share.text(4.6, 0.05, "keys")
        river.set(ylabel="depth in cm", ylim=(92, 0), yticks=range(0, 81, 20))
        share.set(xlabel="metres from the bank", ylabel="count", ylim=(0, 1.1), xlim=(0, 5))
    return figure


def kernels(distance: Tensor, heights: Mapping[str, Tensor]) -> Figure:
    """Draw how much a key counts at each distance, a panel for each kernel, two in a row."""
    rows = -(-len(heights) // 2)
    with _drawn(rows, 0.8 + 1.3 * rows, ncols=2, sharex=True, sharey=True) as (figure, panels):
        for axes, (name, height) in zip(panels.flat, heights.items(), strict=True):
            axes.fill_between(distance, height, color=ROLE["weight"], alpha=0.35, linewidth=0)
            axes.plot(distance, height, color=ROLE["weight"])
            axes.set_title(name, loc="left")
            axes.text(2.95, 0.72, FORMULAS[name], ha="right")
            axes.set(ylim=(0, 1.08), yticks=[0, 0.5, 1], xlim=(0, float(distance.max())))
        for axes in panels[-1]:
            axes.set_xlabel("distance $u$, in widths")
            axes.set_xticks([0, 1, 2])
        for axes in panels[:, 0]:
            axes.set_ylabel("kernel")
    return figure


def fits(
    key: Tensor, value: Tensor, query: Tensor, truth: Tensor, outputs: Mapping[str, Tensor]
) -> Figure:
    """Draw estimates over the same points and the same true curve, one panel each."""
    rows = len(outputs)
    with _drawn(rows, 0.7 + 1.6 * rows, sharex=True, sharey=True) as (figure, panels):
        for axes, (name, output) in zip(panels, outputs.items(), strict=True):
            axes.scatter(key, value, **OBSERVED, label="values")
            axes.plot(query, truth, color=INK, linestyle="--", linewidth=1.3, label="true curve")
            axes.plot(query, output, color=ROLE["output"], label="output")
            axes.set_title(name, loc="left")
            axes.set_ylabel("value")
        panels[-1].set_xlabel("position")
        panels[0].legend(loc="lower right", ncols=3, columnspacing=1, handlelength=1.5)
    return figure


def weight_matrices(
    weights: Mapping[str, Tensor], scores: Mapping[str, Tensor], reach: float
) -> Figure:
    """Draw matrices of weights, two in a row; what a score of minus infinity masks stays blank."""
    with _drawn(2, 5.4, ncols=2, sharex=True, sharey=True) as (figure, panels):
        top = max(float(matrix.max()) for matrix in weights.values())
        for axes, (name, matrix) in zip(panels.flat, weights.items(), strict=True):
            shown = np.ma.masked_where(scores[name].isinf().numpy(), matrix.numpy())
            extent = (0, matrix.shape[-1], reach, 0)
            look = {"cmap": WEIGHTS, "extent": extent, "interpolation": "nearest"}
            image = axes.imshow(shown, vmin=0, vmax=top, aspect="auto", **look)
            axes.set_title(name, loc="left")
        figure.supxlabel("key, from left to right", fontsize="medium")
        figure.supylabel("query position, from top to bottom", fontsize="medium")
        bar = figure.colorbar(image, ax=panels, location="top", aspect=40)
        bar.set_label("weight (blank: masked)")
    return figure


def errors_by_width(
    widths: Tensor, errors: Mapping[str, Tensor], spreads: Mapping[str, float]
) -> Figure:
    """Draw errors to the truth against the width, and against it times the kernel's spread."""
    with _drawn(2, 5.6) as (figure, (plain, scaled)):
        for line, hue, (name, error) in zip(LINES, COMPARED, errors.items(), strict=False):
            drawing = {"linestyle": line, "color": hue, "label": name}
            plain.plot(widths, error, **drawing)
            scaled.plot(widths * spreads[name], error, **drawing)
        for axes in (plain, scaled):
            axes.set(xscale="log", yscale="log", ylabel="error to the truth", xlim=(0.05, 3))
            axes.set_xticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
            axes.set_yticks([0.1, 0.3, 1], ["0.1", "0.3", "1"])
            axes.minorticks_off()
        plain.axvline(1, color=FAINT, linewidth=1)
        plain.set_xlabel("width of the kernel")
        scaled.set_xlabel("standard deviation of the kernel at that width")
        names = plain.get_legend_handles_labels()
        figure.legend(*names, handlelength=3.2, loc="outside upper center", ncols=2)
    return figure


def errors_by_judge(widths: Tensor, errors: Mapping[str, Tensor], chosen: float) -> Figure:
    """Draw what several ways to measure an error say about each width."""
    with _drawn(1, 3.4) as (figure, axes):
        for (line, hue), (name, error) in zip(JUDGES, errors.items(), strict=True):
            axes.plot(widths, error, linestyle=line, color=hue, label=name)
            above = 32 if error[1] > error[0] else 6  # else a rising line crosses its name
            start = float(widths[0]), float(error[0])
            axes.annotate(name, start, (4, above), textcoords="offset points", color=hue)
        axes.axvline(chosen, color=FAINT, linewidth=1)
        axes.set(xscale="log", xlabel="width", ylabel="mean squared error", ylim=(0, 1.6))
        axes.set_xticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
        axes.minorticks_off()
    return figure


def exam(widths: Tensor, right: Mapping[str, Tensor]) -> Figure:
    """Draw how many digits each judge calls right at each width, in percent, and where most."""
    with _drawn(1, 3.9) as (figure, axes):
        looks = {"new digits": ("-", INK), "itself left out": ((0, (5, 2)), VIOLET)}
        looks["itself too"] = (0, (1, 1)), BROWN
        for name, (line, hue) in looks.items():
            axes.plot(widths, right[name], linestyle=line, color=hue, label=name)
            most = int(right[name].argmax())
            at = float(widths[most]), float(right[name][most])
            axes.plot(*at, "o", color=hue, ms=8, clip_on=False, zorder=5)
        peaks = {name: float(right[name].max()) for name in looks}
        chosen = float(widths[right["itself left out"].argmax()])
        axes.plot([chosen] * 2, [0, peaks["new digits"]], color=FAINT, linewidth=1, zorder=0)
        named = {
            "new digits": (chosen * 1.12, peaks["new digits"] + 2, "left"),
            "itself left out": (chosen * 1.08, peaks["itself left out"] - 27, "left"),
            "itself too": (float(widths[0]) * 1.1, peaks["itself too"] + 4, "left"),
        }
        said = {
            "new digits": f"new digits: {peaks['new digits']:.0f}%",
            "itself left out": f"itself left out: {peaks['itself left out']:.0f}%",
            "itself too": "itself too: 100%",
        }
        for name, (x, y, side) in named.items():
            axes.text(x, y, said[name], color=looks[name][1], ha=side, va="bottom")
        axes.set(xscale="log", xlabel="width", ylabel="right, in %", ylim=(0, 112), xlim=(0.05, 4))
        axes.set_yticks([0, 25, 50, 75, 100])
        axes.set_xticks([0.05, 0.1, 0.3, 0.8, 2, 4], ["0.05", "0.1", "0.3", "0.8", "2", "4"])
        axes.minorticks_off()
    return figure


def agreement(searched: Tensor, learned: Tensor, named: Sequence[int]) -> Figure:
    """Draw the width learned by gradient against the one found by search, and name some samples."""
    with _drawn(1, 4.0) as (figure, axes):
        axes.plot([0, 0.42], [0, 0.42], color=FAINT, linewidth=1, zorder=0)
        axes.scatter(searched, learned, color=VIOLET, s=36, alpha=0.8)
        for sample in named:
            axes.text(searched[sample] + 0.012, learned[sample], f"sample {sample}", va="center")
        axes.set(xlabel="width found by search", ylabel="width learned by gradient")
        axes.set(xlim=(0, 0.42), ylim=(0, 0.42), aspect="equal")
    return figure


def river_flow(year: Tensor, flow: Tensor, outputs: Mapping[str, tuple[Tensor, Tensor]]) -> Figure:
    """Draw the flow of the Nile, with estimates by name: the years they are for, and the flows."""
    with _drawn(1, 3.6) as (figure, axes):
        axes.scatter(year, flow, **OBSERVED)
        lines = zip(["-", "--"], [ROLE["output"], INK], outputs.items(), strict=True)
        for line, colour, (name, (at, output)) in lines:
            axes.plot(at, output, linestyle=line, color=colour, label=name)
        axes.set(xlabel="year", ylabel="flow in 10⁸ m³ a year", ylim=(400, 1500))
        axes.legend(loc="upper right", ncols=2)
    return figure


@contextmanager
def _drawn(nrows: int, height: float, **layout: Any) -> Iterator[tuple[Figure, Any]]:
    """Give a figure of the book's width with its panels; lay it out and close it at the end."""
    with style():
        figure, axes = plt.subplots(nrows, figsize=(5.2, height), **layout)
        yield figure, axes
        _closed(figure)


def _closed(figure: Figure) -> Figure:
    """Lay the figure out under the book's style, and take it from pyplot's list of open ones."""
    with style():
        figure.draw_without_rendering()
    return closed(figure)
