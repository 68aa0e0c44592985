"""The figures of chapter 01: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import (
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    GREY,
    INK,
    ROLE,
    closed,
    from_nothing_to,
    style,
    write_numbers,
)

FROM_LOSS_TO_GAIN = from_nothing_to(ROLE["weight"], below=GREY)


def hull(values: Tensor, blends: Tensor, others: Sequence[tuple[float, float]]) -> Figure:
    """Draw blends of values in the plane, and what other weights make of the first two.

    Args:
        values: Corners of their convex hull, one after the other, (key_len, 2).
        blends: Means of them, (query_len, 2).
        others: Pairs of weights that are no softmax's.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.0))
        axes.fill(*values.T, color=FAINT, alpha=0.4, linewidth=0)
        axes.scatter(blends[:, 0], blends[:, 1], s=7, color=ROLE["output"], alpha=0.7, linewidths=0)
        axes.plot(*values.T, "o", color=ROLE["value"], markersize=11)
        for number, (x, y) in enumerate(values.tolist(), start=1):
            up, side = (0.14, "bottom") if y > values[:, 1].mean() else (-0.14, "top")
            axes.text(x, y + up, f"value {number}", ha="center", va=side)
        for weights in others:
            x, y = (torch.tensor(weights) @ values[:2]).tolist()
            axes.plot(x, y, "x", color=INK, markersize=9, markeredgewidth=2.5)
            said = "weights\n" + ", ".join(f"{weight:g}" for weight in weights)
            axes.text(x, y - 0.14, said.replace("-", "\N{MINUS SIGN}"), ha="center", va="top")
        axes.set(xlim=(-0.9, 4.0), ylim=(0.1, 2.8), aspect="equal")
        axes.axis("off")
    return closed(figure)


def jacobian(derivatives: Tensor) -> Figure:
    """Draw the rate at which each weight (a row) grows with each score (a column)."""
    places = range(len(derivatives))
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        reach = float(derivatives.abs().max())
        axes.imshow(derivatives.numpy(), cmap=FROM_LOSS_TO_GAIN, vmin=-reach, vmax=reach)
        write_numbers(axes, derivatives, "{:+.2f}")
        axes.set(xlabel="raise this score ...", ylabel="... and this weight moves by")
        axes.set_xticks(places, [f"score {1 + place}" for place in places])
        axes.set_yticks(places, [f"weight {1 + place}" for place in places])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return closed(figure)


def axis_mistake(right: Tensor, wrong: Tensor) -> Figure:
    """Draw two tables of weights, (query_len, key_len): softmax over keys, and over queries."""
    with style():
        figure, pair = plt.subplots(2, 1, figsize=(5.2, 5.0))
        titles = ("over the keys: every row sums to 1", "over the queries: every column does")
        for axes, weights, title in zip(pair, (right, wrong), titles, strict=True):
            axes.imshow(weights.numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1, aspect="auto")
            axes.spines[:].set_visible(True)
            write_numbers(axes, weights, "{:.2f}")
            axes.set_title(title, loc="left")
            axes.set_xticks(range(weights.shape[1]), range(1, 1 + weights.shape[1]))
            axes.set_yticks(range(weights.shape[0]), range(1, 1 + weights.shape[0]))
            axes.set(xlabel="key", ylabel="query")
    return closed(figure)
