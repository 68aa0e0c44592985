"""The figures of chapter 01: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import (
    FAINT,
    PAPER,
    ROLE,
    closed,
    style,
    write_numbers,
)

FROM_PAPER_TO_WEIGHT = LinearSegmentedColormap.from_list("weight", ["white", ROLE["weight"]])
FROM_LOSS_TO_GAIN = LinearSegmentedColormap.from_list("change", [FAINT, "white", ROLE["weight"]])


def temperatures(taus: Tensor, weights: Tensor, names: dict[int, str]) -> Figure:
    """Draw the weight of every key, (len(taus), key_len), against the temperature.

    Args:
        taus: Temperatures, rising.
        weights: A row of weights for each of them.
        names: Names of the two keys to highlight, by their place in a row, best first.
    """
    key_len, at, height = weights.shape[-1], taus.numpy(), weights.numpy()
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.4))
        axes.axhline(1 / key_len, color=FAINT, linestyle=":", zorder=0)
        axes.text(at[0] * 1.1, 1 / key_len + 0.02, f"1/{key_len}")
        axes.plot(at, height, color=ROLE["weight"], linewidth=1.2)
        step = int(0.36 * len(at))
        for (index, name), side in zip(names.items(), ("left", "right"), strict=True):
            axes.plot(at, height[:, index], color=ROLE["weight"], linewidth=3.5)
            spot = at[step], height[step, index] + 0.05
            axes.text(*spot, name, ha=side, fontweight="bold")
        axes.text(at[-1] / 1.1, 0.06, "the other keys", ha="right")
        axes.set(xscale="log", xlim=(at[0], at[-1]), ylim=(-0.02, 1.02))
        axes.set(xlabel="temperature", ylabel="weight of the key", yticks=[0, 0.5, 1])
        axes.xaxis.set_major_formatter("{x:g}")
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
            axes.imshow(weights.numpy(), cmap=FROM_PAPER_TO_WEIGHT, vmin=0, vmax=1, aspect="auto")
            write_numbers(axes, weights, "{:.2f}")
            axes.set_title(title, loc="left")
            axes.set_xticks(range(weights.shape[1]), range(1, 1 + weights.shape[1]))
            axes.set_yticks(range(weights.shape[0]), range(1, 1 + weights.shape[0]))
            axes.set(xlabel="key", ylabel="query")
    return closed(figure)


def painted_keys(steps: Sequence[int | str], history: Tensor, words: Sequence[str]) -> Figure:
    """Draw keys that are colours, (len(steps), len(words), 3), as they were at some steps.

    A step may have a name, for keys that were not learned.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.0))
        axes.imshow(history.clamp(0, 1).transpose(0, 1).numpy(), aspect="auto")
        axes.set_xticks(range(len(steps)), steps)
        axes.set_yticks(range(len(words)), words)
        axes.set(xlabel="steps of gradient descent", ylabel="key of")
        axes.set_yticks(np.arange(0.5, len(words) - 1), minor=True)
        axes.grid(which="minor", axis="y", color=PAPER, linewidth=4)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
    return closed(figure)
