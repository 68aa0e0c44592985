"""The figures of chapter 04: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Callable, Mapping, Sequence, Set

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import (
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    INK,
    ROLE,
    VIOLET,
    closed,
    signed,
    style,
)

DARK = 0.4  # the least weight of a dark cell

# --- why there is a tanh --------------------------------------------------------------------------


def hidden_unit(keys: tuple[float, float], queries: Mapping[str, float]) -> Figure:
    """Draw one hidden unit's output for two keys and two queries, with tanh and without.

    Args:
        keys: The inputs of the unit from the keys, the smaller first.
        queries: The input of the unit from each query, by name.
    """
    at = torch.linspace(-4.2, 2.2, 129)
    with style(letters=13):
        figure, panels = plt.subplots(2, 1, figsize=(5.2, 4.6), sharex=True)
        bends = {"with tanh": torch.tanh, "without": lambda inputs: inputs}
        for axes, (title, bend) in zip(panels, bends.items(), strict=True):
            axes.plot(at, bend(at), color=FAINT, zorder=0)
            for name, query in queries.items():
                _two_keys(axes, query + torch.tensor(keys), bend, name)
            axes.set_title(title, loc="left")
            axes.set(ylabel="unit's output", xlim=(-4.2, 2.6))
            axes.margins(y=0.25)
        panels[-1].set_xlabel("sum of the inputs from query and key")
    return closed(figure)


def deaf_and_listening(keys: tuple[float, float], **queries: float) -> Figure:
    """Draw two keys on a tanh, where it is flat and where it is steep.

    Args:
        keys: The inputs of the unit from the keys, the smaller first.
        queries: The input of the unit from each query, by name.
    """
    at = torch.linspace(-11.5, 3.5, 301)
    with style(letters=12):
        figure, axes = plt.subplots(figsize=(5.2, 2.5))
        axes.plot(at, at.tanh(), color=FAINT, zorder=0)
        for name, query in queries.items():
            inputs = query + torch.tensor(keys)
            low, high = inputs.tanh().tolist()
            axes.plot(inputs, inputs.tanh(), color=INK, linewidth=1.5)
            axes.plot(inputs, inputs.tanh(), "o", color=ROLE["key"], markersize=8)
            said = f"{name}: {_short(low)} to {_short(high)}"
            if high - low > 0.1:
                axes.text(inputs[0] - 0.4, (low + high) / 2, said, ha="right", va="center")
            else:
                axes.text(inputs.mean(), high + 0.15, said, ha="center", va="bottom")
        axes.set(xlabel="input of the unit", ylabel="tanh", ylim=(-1.25, 1.4), yticks=[-1, 0, 1])
    return closed(figure)


def _short(number: float) -> str:
    """A number with a digit, if it needs one."""
    return signed(torch.tensor(round(number, 1) + 0.0), "{:g}")


def _two_keys(axes: Axes, inputs: Tensor, bend: Callable[[Tensor], Tensor], name: str) -> None:
    """Mark two keys on the curve, and write the difference between the unit's outputs."""
    low, high = bend(inputs).tolist()
    left, right = inputs.tolist()
    axes.plot([left, right, right], [low, low, high], color=INK, linewidth=1.5)
    axes.plot([left, right], [low, high], "o", color=ROLE["key"], markersize=8)
    axes.text(right + 0.15, (low + high) / 2, f"{high - low:.2f}", ha="left", va="top")
    above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "right", "va": "bottom"}
    axes.annotate(name, (right, high), color=ROLE["query"], **above)


# --- weights as matrices --------------------------------------------------------------------------


def stage(
    weights: Tensor, rise: Tensor, source: Sequence[str], target: Sequence[str], most: Tensor
) -> Figure:
    """Draw a matrix of weights, and in each pale row a ring, the thicker the more the score rises.

    Args:
        weights: A row for each written word, (target_len, source_len).
        rise: By how much the loss falls with each score, (target_len, source_len).
        source: The words read.
        target: The words written.
        most: The largest rise of all pictures that are compared; its ring is the thickest.
    """
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        _matrix(axes, weights)
        pale = weights.amax(-1) < DARK  # once a key leads, there is little left to raise
        high, at = (each[pale] for each in rise.max(-1))
        ring = {"s": 144, "facecolors": "none", "edgecolors": INK}
        axes.scatter(at, pale.nonzero()[:, 0], **ring, linewidths=4 * (high / most).sqrt())
        axes.set_xticks(range(len(source)), source)
        axes.set_yticks(range(len(target)), target)
        axes.set(xlabel="read: key", ylabel="written: query")
        axes.tick_params(length=0)
    return closed(figure)


def alignment(
    weights: Tensor,
    source: Sequence[str],
    target: Sequence[str],
    sure: Set[tuple[int, int]] = frozenset(),
    possible: Set[tuple[int, int]] = frozenset(),
) -> Figure:
    """Draw a matrix of weights, (target_len, source_len), with the words on both axes.

    Args:
        weights: A row for each written word; there may be more columns than source words.
        source: The words read, and the mark of their end.
        target: The words written.
        sure: Links (source word, target word) that any translator would draw, in a solid frame.
        possible: Optional links, in a dotted frame.
    """
    height = 1.4 + 0.29 * len(target)
    with style(letters=12):
        figure, axes = plt.subplots(figsize=(5.2, height))
        image = _matrix(axes, weights)
        for link in sorted(possible):
            _frame(axes, *link, "-" if link in sure else ":")
        axes.set_xticks(range(len(source)), source, rotation=90)
        axes.set_yticks(range(len(target)), target)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0)
        axes.set(xlabel="read: key", ylabel="written: query")
        bar = figure.colorbar(image, ax=axes, location="bottom", aspect=40, pad=0.03)
        bar.set_label("weight")
    return closed(figure)


def _matrix(axes: Axes, weights: Tensor) -> object:
    """Draw weights from 0, the ground, to 1."""
    axes.spines[:].set_visible(True)
    return axes.imshow(
        weights.detach().numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1, aspect="auto"
    )


def _frame(axes: Axes, source: int, target: int, line: str) -> None:
    corner = (source - 0.42, target - 0.42)
    axes.add_patch(Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=INK, linestyle=line))


# --- what is measured -----------------------------------------------------------------------------


def bleu_bars(bleu: Mapping[str, float], changed: str) -> Figure:
    """Draw the BLEU of a translator after each of several changes to it."""
    with style(letters=13):
        figure, axes = plt.subplots(figsize=(5.2, 0.7 + 0.4 * len(bleu)))
        axes.barh(list(bleu), list(bleu.values()), height=0.6, color=VIOLET)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 100), xlabel="BLEU", ylabel=changed)
    return closed(figure)


def weight_and_need(
    words: Sequence[str],
    weights: Tensor,
    deleted: Tensor,
    replaced: Sequence[Tensor],
    written: str,
) -> Figure:
    """Draw, for one written word, where it looks, and two measurements of the words that it needs.

    Args:
        words: The source.
        weights: The weight of each source word, (source_len,).
        deleted: The fall of the written word's log-probability when each source word is deleted,
            in nats, (source_len,).
        replaced: The fall when each source word is replaced by others, one number for each of
            these; none for a word that nothing can replace.
        written: The written word.
    """
    at = range(len(words))
    with style(letters=13):
        figure, panels = plt.subplots(3, 1, figsize=(5.2, 6.0), sharex=True)
        looked, without, other = panels
        figure.set_layout_engine("constrained", hspace=0.08)
        looked.bar(at, weights.tolist(), color=ROLE["weight"])
        without.bar(at, deleted.tolist(), color=INK)
        for place, losses in zip(at, replaced, strict=True):
            dots = {"color": INK, "alpha": 0.5, "markersize": 5, "clip_on": False}
            other.plot([place] * len(losses), losses, "o", **dots)
        looked.set(ylim=(0, 1.05), ylabel="weight")
        without.set(ylabel="loss, deleted\n(nats)")
        other.set(ylabel="loss, replaced\n(nats)", ylim=without.get_ylim())
        for axes in (without, other):
            axes.set_yticks(range(0, int(deleted.max()) + 1, 5))
        looked.set_title(f"written word: {written}", loc="left")
        other.set_xticks(at, words, rotation=90)
        other.set_xlabel("word of the source")
        other.tick_params(axis="x", length=0)
    return closed(figure)
