"""The figure of the attention layer in its first state, for print."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attn_course.interactive.figure import png_of
from attn_course.interactive.scaled_dot_product_state import State
from attn_course.plots import INK, ROLE, style
from attn_course.plots.retrieval import FROM_PAPER_TO_WEIGHT


def png(state: State) -> bytes:
    """The picture for print."""
    size = len(state.words)
    with style():
        figure = Figure(figsize=(6.4, 6.6))
        above, below = figure.subplots(2, sharex=True, height_ratios=[4, 1])
        _print_grid(above, state)
        below.bar(range(size), state.weights[state.row].tolist(), color=ROLE["weight"])
        below.set(ylim=(0, 1), ylabel="weight", xlabel="key")
        below.set_xticks(range(size), state.words, rotation=90)
        below.set_title(f"weights of query {state.words[state.row]}", loc="left", fontsize=10)
        figure.suptitle(state.sentence.replace(". Query", ".\nQuery"), fontsize=9)
        return png_of(figure, dpi=110)


def _print_grid(axes: Axes, state: State) -> None:
    size = len(state.words)
    axes.imshow(state.weights.numpy(), cmap=FROM_PAPER_TO_WEIGHT, vmin=0, vmax=1, aspect="auto")
    if state.mask is not None:
        for i, j in np.argwhere(~state.mask.numpy()):
            axes.plot(j, i, "x", color=INK, markersize=5, markeredgewidth=0.8)
    axes.set_yticks(range(size), state.words)
    axes.tick_params(length=0, labelbottom=False)
    axes.set_ylabel("query")
    left, below = state.column - 0.5, state.row - 0.5
    axes.plot([left, left + 1, left + 1, left, left], np.add(below, [0, 0, 1, 1, 0]), color=INK)
