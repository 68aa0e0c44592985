"""The figure of kernel regression in its first state, for print."""

import math

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attn_course.interactive.figure import png_of
from attn_course.interactive.kernel_regression_picture import RADII
from attn_course.interactive.kernel_regression_state import State
from attn_course.plots import INK, ROLE, style


def png(state: State, key_name: str, value_name: str) -> bytes:
    """The picture for print."""
    with style():
        figure = Figure(figsize=(6.4, 4.9))
        above, below = figure.subplots(2, sharex=True, height_ratios=[3, 1])
        _print_values(above, state, value_name)
        _print_weights(below, state)
        below.set(xlim=(state.low, state.high), xlabel=key_name, ylabel="weight", ylim=(0, None))
        figure.suptitle(state.sentence.replace(": ", ":\n"), fontsize=10)
        return png_of(figure, dpi=110)


def _print_values(axes: Axes, state: State, value_name: str) -> None:
    share = (state.weights / (state.weights.max().item() or 1)).sqrt()
    sizes = (2 * (RADII[0] + (RADII[1] - RADII[0]) * share)).square()
    axes.scatter(state.key, state.value, s=sizes, c=ROLE["value"], alpha=0.85, label="values")
    if state.truth is not None:
        axes.plot(*zip(*state.true_curve, strict=True), "--", color=INK, lw=1.2, label="truth")
    estimates = [math.nan if y is None else y for y in state.curve]
    axes.plot(state.positions, estimates, color=ROLE["output"], label="output")
    face = "none" if state.empty else ROLE["output"]
    axes.plot(state.query, state.output, "o", ms=9, color=ROLE["output"], mfc=face)
    axes.axvline(state.query, color=ROLE["query"], lw=1.2)
    axes.set_ylabel(value_name)
    axes.legend(fontsize=9)


def _print_weights(axes: Axes, state: State) -> None:
    keys = state.key.flatten()
    axes.vlines(keys, 0, state.weights, color=ROLE["weight"], lw=1.8)
    axes.plot(keys, torch.zeros_like(keys), "|", color=ROLE["key"], ms=8)
    axes.axvline(state.query, color=ROLE["query"], lw=1.2)
