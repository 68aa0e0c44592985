"""The figures of chapter 01: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Sequence
from itertools import groupby

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from torch import Tensor

from attn_course.plots import FAINT, INK, ROLE, style

PAPER = "#FFFFFF"
FROM_PAPER_TO_WEIGHT = LinearSegmentedColormap.from_list("weight", [PAPER, ROLE["weight"]])
FROM_LOSS_TO_GAIN = LinearSegmentedColormap.from_list("change", [FAINT, PAPER, ROLE["weight"]])


def attention_layer(
    query: str, keys: Sequence[str], scores: Tensor, weights: Tensor, values: Tensor, output: float
) -> Figure:
    """Draw one query's way through attention, a row for each key: score, softmax, weighted mean.

    Args:
        query: What to write into the box of the query.
        keys: What to write into the box of each key.
        scores: Score of each key, (key_len,).
        weights: Weight of each key, (key_len,).
        values: Value of each key, a number, (key_len,).
        output: The weighted mean of the values.
    """
    middle = (len(keys) - 1) / 2
    columns = {"query": 0.6, "key": 2.4, "score": 4.1, "weight": 5.7, "value": 7.9, "output": 9.6}
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.0))
        for row, (key, weight) in enumerate(zip(keys, weights.tolist(), strict=True)):
            axes.plot([0.6, 2.4], [middle, row], color=FAINT, linewidth=1, zorder=0)
            share = {"color": ROLE["weight"], "linewidth": 0.5 + 9 * weight, "zorder": 0}
            axes.plot([7.9, 9.6], [row, middle], **share)
            _box(axes, (2.4, row), key, ROLE["key"])
            axes.text(4.1, row, _number(scores[row], "{:.0f}"), ha="center", va="center")
            axes.barh(row, 1.3 * weight, left=5.1, height=0.5, color=ROLE["weight"])
            axes.text(5.2 + 1.3 * weight, row, f"{weight:.2f}", va="center")
            _box(axes, (7.9, row), f"{values[row]:g}", ROLE["value"])
        _box(axes, (0.6, middle), query, ROLE["query"])
        _box(axes, (9.6, middle), f"{output:.1f}", ROLE["output"])
        for name, x in columns.items():
            axes.text(x, -0.9, name, ha="center", fontweight="bold")
        steps = {"compare": (2.4, 4.1), "softmax": (4.1, 5.7), "mean": (7.9, 9.6)}
        for name, (start, end) in steps.items():
            arrow = {"arrowstyle": "->", "color": INK}
            y = len(keys) - 0.25
            axes.annotate("", (end - 0.1, y), (start + 0.1, y), arrowprops=arrow)
            axes.text((start + end) / 2, y + 0.45, name, ha="center", style="italic")
        axes.set(xlim=(-0.1, 10.3), ylim=(len(keys) + 0.35, -1.3))
        axes.axis("off")
    return _closed(figure)


def walk(
    asked: Tensor, nearest: Tensor, blend: Tensor, words: Sequence[str], swatches: Tensor
) -> Figure:
    """Draw the answers of two lookups along a straight way through the colours.

    Args:
        asked: The colours on the way, red, green and blue from 0 to 1, (steps, 3).
        nearest: Which word the nearest colour has at each step, (steps,).
        blend: The share of each word in the soft answer, (steps, len(words)).
        words: The words.
        swatches: A colour for each word, (len(words), 3).
    """
    ends = [words[nearest[0]], words[nearest[-1]]]
    with style():
        figure, (top, middle, bottom) = plt.subplots(
            3, 1, figsize=(5.2, 4.4), sharex=True, height_ratios=[1, 1, 5]
        )
        top.imshow(asked[None], extent=(0, 1, 0, 1), aspect="auto")
        top.set_title("the colour asked about", loc="left")
        middle.imshow(swatches[nearest][None], extent=(0, 1, 0, 1), aspect="auto")
        middle.set_title("word of the nearest colour", loc="left")
        _name_runs(middle, nearest, words, swatches)
        at = np.linspace(0, 1, len(asked))
        bottom.stackplot(at, blend.T.numpy(), colors=swatches.tolist(), edgecolor=PAPER)
        bottom.set_title("soft answer", loc="left")
        _name_areas(bottom, at, blend.numpy(), words, swatches)
        bottom.set(xlim=(0, 1), ylim=(0, 1), yticks=[0, 0.5, 1], ylabel="share of each word")
        bottom.set_xticks([0, 1], ends)
        bottom.set_xlabel(f"colours on the straight line from {ends[0]} to {ends[1]}")
        for axes in (top, middle):
            axes.set_yticks([])
            axes.tick_params(bottom=False)
            axes.spines[:].set_visible(False)
    return _closed(figure)


def temperatures(taus: Tensor, weights: Tensor, names: dict[int, str]) -> Figure:
    """Draw the weight of every key, (len(taus), key_len), against the temperature.

    Args:
        taus: Temperatures, rising.
        weights: A row of weights for each of them.
        names: What to call the two keys that stand out, by their place in a row, best first.
    """
    key_len = weights.shape[-1]
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.4))
        axes.axhline(1 / key_len, color=FAINT, linestyle=":", zorder=0)
        axes.text(taus[0] * 1.1, 1 / key_len + 0.02, f"1/{key_len}")
        axes.plot(taus, weights, color=ROLE["weight"], linewidth=1.2)
        step = int(0.36 * len(taus))
        for (index, name), side in zip(names.items(), ("left", "right"), strict=True):
            axes.plot(taus, weights[:, index], color=ROLE["weight"], linewidth=3.5)
            spot = taus[step], weights[step, index] + 0.05
            axes.text(*spot, name, ha=side, fontweight="bold")
        axes.text(taus[-1] / 1.1, 0.06, "the other keys", ha="right")
        axes.set(xscale="log", xlim=(taus[0], taus[-1]), ylim=(-0.02, 1.02))
        axes.set(xlabel="temperature", ylabel="weight of the key", yticks=[0, 0.5, 1])
        axes.xaxis.set_major_formatter("{x:g}")
    return _closed(figure)


def hull(values: Tensor, blends: Tensor, half_rules: dict[str, Tensor]) -> Figure:
    """Draw values in the plane, their hull, and what two kinds of weights make of them.

    Args:
        values: Points in convex position, (key_len, 2).
        blends: Convex combinations of them, (draws, 2).
        half_rules: Combinations whose weights keep one half of the rule; the label says which.
    """
    points, centre = values.numpy(), values.mean(0).numpy()
    around = points[np.argsort(np.arctan2(*(points - centre).T))]
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 5.2))
        axes.add_patch(Polygon(around, facecolor="#EDF5F1", edgecolor=ROLE["value"], zorder=0))
        for marker, (label, broken) in zip("x+", half_rules.items(), strict=True):
            axes.scatter(*broken.T, s=22, marker=marker, color=INK, linewidth=0.9, label=label)
        axes.scatter(*blends.T, s=7, color=ROLE["output"], label="weights that keep both rules")
        axes.scatter(*points.T, s=110, color=ROLE["value"], zorder=3, label="the values themselves")
        axes.set(xlabel="first number of a value", ylabel="second number of a value")
        axes.set_aspect("equal")
        axes.locator_params(integer=True)
        figure.legend(loc="outside lower left", handletextpad=0.3)
    return _closed(figure)


def jacobian(derivatives: Tensor) -> Figure:
    """Draw by how much each weight (a row) grows as each score (a column) does."""
    places = range(len(derivatives))
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        reach = float(derivatives.abs().max())
        axes.imshow(derivatives, cmap=FROM_LOSS_TO_GAIN, vmin=-reach, vmax=reach)
        _write_numbers(axes, derivatives, "{:+.2f}")
        axes.set(xlabel="raise this score ...", ylabel="... and this weight moves by")
        axes.set_xticks(places, [f"score {1 + place}" for place in places])
        axes.set_yticks(places, [f"weight {1 + place}" for place in places])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return _closed(figure)


def axis_mistake(right: Tensor, wrong: Tensor) -> Figure:
    """Draw two tables of weights, (query_len, key_len): softmax over keys, and over queries."""
    with style():
        figure, pair = plt.subplots(2, 1, figsize=(5.2, 5.0))
        titles = ("over the keys: every row sums to 1", "over the queries: every column does")
        for axes, weights, title in zip(pair, (right, wrong), titles, strict=True):
            axes.imshow(weights, cmap=FROM_PAPER_TO_WEIGHT, vmin=0, vmax=1, aspect="auto")
            _write_numbers(axes, weights, "{:.2f}")
            axes.set_title(title, loc="left")
            axes.set_xticks(range(weights.shape[1]), range(1, 1 + weights.shape[1]))
            axes.set_yticks(range(weights.shape[0]), range(1, 1 + weights.shape[0]))
            axes.set(xlabel="key", ylabel="query")
    return _closed(figure)


def painted_keys(steps: Sequence[int], history: Tensor, words: Sequence[str]) -> Figure:
    """Draw keys that are colours, (len(steps), len(words), 3), as they were at some steps."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.0))
        axes.imshow(history.clamp(0, 1).transpose(0, 1), aspect="auto")
        axes.set_xticks(range(len(steps)), steps)
        axes.set_yticks(range(len(words)), words)
        axes.set(xlabel="steps of gradient descent", ylabel="key whose value is the word")
        axes.set_yticks(np.arange(0.5, len(words) - 1), minor=True)
        axes.grid(which="minor", axis="y", color=PAPER, linewidth=4)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
    return _closed(figure)


def _closed(figure: Figure) -> Figure:
    """Take a figure from pyplot's list of open ones: the notebook shows what a cell returns."""
    plt.close(figure)
    return figure


def _box(axes: Axes, centre: tuple[float, float], text: str, colour: str) -> None:
    """Draw a box in the colour of its role, and write into it."""
    ink = PAPER if colour == ROLE["query"] else "black"
    box = {"boxstyle": "round,pad=0.45", "facecolor": colour, "edgecolor": PAPER, "linewidth": 2}
    axes.text(*centre, text, ha="center", va="center", color=ink, bbox=box)


def _ink_on(colour: Tensor) -> str:
    """Black or white, whichever stands out more on a colour: WCAG 2, relative luminance."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.tolist()]
    luminance = sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "black" if luminance > 0.179 else "white"


def _name_runs(axes: Axes, nearest: Tensor, words: Sequence[str], swatches: Tensor) -> None:
    """Write each word once on the stretch of the strip that it covers, where it fits."""
    start = 0
    for index, run in groupby(nearest.tolist()):
        length = len(list(run))
        if length > 0.09 * len(nearest):
            x = (start + length / 2) / len(nearest)
            ink = _ink_on(swatches[index])
            axes.text(x, 0.45, words[index], ha="center", va="center", color=ink)
        start += length


def _name_areas(
    axes: Axes, at: np.ndarray, blend: np.ndarray, words: Sequence[str], swatches: Tensor
) -> None:
    """Write each word where its area is highest; above it, with a line, where that is too low."""
    tops = blend.cumsum(-1)
    for index, word in enumerate(words):
        share = np.where((at > 0.08) & (at < 0.92), blend[:, index], 0)
        best = int(share.argmax())
        spot = at[best], tops[best, index] - share[best] / 2
        centred = {"ha": "center", "va": "center"}
        if share[best] > 0.15:
            axes.text(*spot, word, color=_ink_on(swatches[index]), **centred)
        elif share[best] > 0.03:
            above, ink = (spot[0], tops[best, index] + 0.1), {"color": PAPER}
            axes.annotate(word, spot, above, arrowprops=ink | {"arrowstyle": "-"}, **ink, **centred)


def _write_numbers(axes: Axes, table: Tensor, form: str) -> None:
    """Write the number of every cell into it."""
    for row, column in np.ndindex(*table.shape):
        text = _number(table[row, column], form)
        axes.text(column, row, text, ha="center", va="center", color="black")


def _number(number: Tensor, form: str) -> str:
    """Return a number as text, with a minus sign as long as a plus."""
    return form.format(float(number)).replace("-", "\N{MINUS SIGN}")
