"""The figures of chapter 08: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence, Set

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import (
    FAINT,
    GREY,
    INK,
    PAPER,
    ROLE,
    STARK,
    closed,
    from_nothing_to,
    ink_over,
    signed,
    style,
    write_numbers,
)

# --- words and words ------------------------------------------------------------------------------


def table(
    words: Sequence[str],
    numbers: Tensor,
    decimals: int,
    most: float,
    labels: tuple[str, str] = ("key", "query"),
    colour: str = ROLE["weight"],
    framed: int | None = None,
) -> Figure:
    """Draw a square table of words and words, with its numbers.

    Args:
        words: A row and a column each; a word may come twice.
        numbers: The numbers, (num_words, num_words); cells of 0 or less have no colour.
        decimals: Number of decimals to write.
        most: The number that has the full colour.
        labels: Labels of the columns and of the rows.
        colour: The full colour; the colour of the role if the numbers are weights.
        framed: A row to frame, from 0.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.2 + 0.27 * len(words)))
        _cells(axes, numbers, most, colour)
        # a 0 is added to make -0 a plain 0
        write_numbers(axes, numbers.round(decimals=decimals) + 0.0, f"{{:.{decimals}f}}")
        if framed is not None:
            corner = (-0.5, framed - 0.5)
            box = Rectangle(corner, len(words), 1, fill=False, edgecolor=STARK, linewidth=2)
            axes.add_patch(box)
        axes.set_xticks(range(len(words)), words, rotation=90)
        axes.set_yticks(range(len(words)), words)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.tick_params(length=0)
    return closed(figure)


def panels(
    words: Sequence[str],
    tables: Mapping[str, Tensor],
    links: Set[tuple[int, int]] = frozenset(),
    labels: tuple[str, str] = ("key", "query"),
    colour: str = ROLE["weight"],
) -> Figure:
    """Draw square tables of words and words side by side, on one scale from 0 to 1.

    Weights have their numbers, in per cent: all of one table, of more those in a frame. A table
    of NaN stays empty.

    Args:
        words: A row and a column each.
        tables: A title and the numbers of each, (num_words, num_words).
        links: Cells (row, column) to frame.
        labels: Labels of the columns and of the rows.
        colour: The colour of a 1; the colour of the role if the numbers are weights.
    """
    with style():
        height = 1.35 + 2.1 * len(words) / 9
        figure, grid = plt.subplots(
            1, len(tables), figsize=(5.2, height), sharey=True, squeeze=False
        )
        row = grid[0]
        for axes, (title, numbers) in zip(row, tables.items(), strict=True):
            image = _cells(axes, numbers, 1.0, colour)
            if colour == ROLE["weight"]:
                kept = torch.full_like(numbers, len(tables) == 1, dtype=torch.bool)
                for link in links:
                    kept[link] = True
                percent = (100 * numbers.detach()).where(kept, torch.nan)
                write_numbers(axes, percent, "{:.0f}")
            for query, key in sorted(links):
                corner = (key - 0.42, query - 0.42)
                ink = ink_over(image.to_rgba(numbers[query, key].nan_to_num().item()))
                axes.add_patch(Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=ink))
            axes.set_title(title)
            axes.set_xticks(range(len(words)), words, rotation=90)
            axes.set_xlabel(labels[0])
            axes.tick_params(length=0)
        row[0].set_yticks(range(len(words)), words)
        row[0].set_ylabel(labels[1])
    return closed(figure)


def _cells(axes: Axes, numbers: Tensor, most: float, colour: str) -> AxesImage:
    axes.spines[:].set_visible(True)
    look = {"cmap": from_nothing_to(colour), "vmin": 0, "vmax": most, "aspect": "auto"}
    return axes.imshow(numbers.detach().numpy(), **look)


def asks(
    words: Sequence[str],
    asking: int,
    looks: Mapping[str, Tensor],
    strong: Set[int] = frozenset(),
) -> Figure:
    """Draw a sentence, and above each word the weight that one of them gives it.

    Args:
        words: The sentence.
        asking: The place of the word that asks, whose name is set in bold.
        looks: A title and the weights of each, (num_words,); if all are 0, they are to be guessed.
        strong: The places whose bars have the full colour; without any, that of the largest.
    """
    heights = [1.2 * float(weights.max()) or 1.0 for weights in looks.values()]  # on one scale
    unit = 1.2 / max(heights)  # inches
    with style():
        size = (5.2, unit * sum(heights) + 0.75 * len(looks))
        grid = {"height_ratios": heights, "hspace": 0.1}
        figure, column = plt.subplots(len(looks), 1, figsize=size, squeeze=False, gridspec_kw=grid)
        drawn = zip(column[:, 0], heights, looks.items(), strict=True)
        for axes, height, (title, weights) in drawn:
            full = strong or {int(weights.argmax())} if weights.any() else set()
            for place, weight in enumerate(weights.tolist()):
                alpha = 1.0 if place in full else 0.4
                axes.bar(place, weight, width=0.7, color=ROLE["weight"], alpha=alpha)
                look = {"fontweight": "bold"} if place in full else {}
                share = f"{100 * weight:.0f}%" if weights.any() else "?"
                axes.text(place, weight + 0.04 / unit, share, ha="center", va="bottom", **look)
            for place, word in enumerate(words):
                look = {"fontweight": "bold"} if place == asking else {}
                axes.text(place, -0.07 / unit, word, ha="center", va="top", **look)
            axes.axhline(0, color=INK, linewidth=1)
            axes.set_title(title, loc="left")
            axes.set(ylim=(0, height), xlim=(-0.6, len(words) - 0.4))
            axes.axis("off")
    return closed(figure)


def lessons(words: Sequence[str]) -> Figure:
    """Draw what a sentence teaches under a causal mask: from each beginning, the next word."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.32 * len(words)))
        for row in range(1, len(words)):
            for column, word in enumerate(words[: row + 1]):
                is_next = column == row
                corner = (column - 0.47, row - 0.42)
                look = {"edgecolor": INK, "fill": False, "linewidth": 1.6}
                if not is_next:
                    look = {"facecolor": FAINT, "alpha": 0.4, "linewidth": 0}
                axes.add_patch(Rectangle(corner, 0.94, 0.84, **look))
                bold = {"fontweight": "bold"} if is_next else {}
                axes.text(column, row, word, ha="center", va="center", **bold)
        axes.text(1.6, 1, "the next word", va="center")
        axes.set(xlim=(-0.55, len(words) - 0.45), ylim=(len(words) - 0.5, 0.5))
        axes.axis("off")
    return closed(figure)


# --- a blend of vectors ---------------------------------------------------------------------------


def blend(words: Sequence[str], weights: Tensor, vectors: Tensor) -> Figure:
    """Draw vectors, their weights, the vectors times their weights, and the sum of these.

    Args:
        words: The words to which the vectors belong.
        weights: The share of each word, (num_words,).
        vectors: The numbers of each vector that are shown, (num_words, num_shown).
    """
    parts = weights[:, None] * vectors
    total = parts.sum(0, keepdim=True)
    with style():
        figure = plt.figure(figsize=(5.2, 4.6))
        size = {"width_ratios": (3, 2, 3), "height_ratios": (len(words), 1)}
        grid = figure.add_gridspec(2, 3, **size)
        before, shares, after = (figure.add_subplot(grid[0, column]) for column in range(3))
        _strips(before, vectors, "value", vectors, "$x_j$")
        _strips(after, parts, "value", total, "$\\alpha_{1j} x_j$")
        _strips(figure.add_subplot(grid[1, 2]), total, "output", total, "")
        before.set_yticks(range(len(words)), words)
        before.set_ylabel("word")
        _bars(shares, weights, "$\\alpha_{1j}$")
        words_for_it = figure.add_subplot(grid[1, :2])
        words_for_it.text(1, 0.5, "their sum, the output $o_1$:", ha="right", va="center")
        words_for_it.axis("off")
    return closed(figure)


def _bars(axes: Axes, weights: Tensor, name: str) -> None:
    """Draw a bar for each row, from above, with its number."""
    axes.barh(range(len(weights)), weights.tolist(), height=0.6, color=ROLE["weight"])
    for row, weight in enumerate(weights.tolist()):
        axes.text(weight + 0.02, row, f"{weight:.2f}", va="center")
    axes.set_title(name)
    axes.set(xlim=(0, 1.9 * weights.max().item()), ylim=(len(weights) - 0.5, -0.5), yticks=[])
    axes.axis("off")


def _strips(axes: Axes, numbers: Tensor, role: str, strongest: Tensor, name: str) -> None:
    """Draw a row of coloured cells for each vector, with paper between the rows."""
    reach = strongest.abs().max().item()
    # grey for the negative, the ground for 0, the colour of the role for the positive
    look = {
        "cmap": from_nothing_to(ROLE[role], below=GREY),
        "vmin": -reach,
        "vmax": reach,
        "aspect": "auto",
    }
    axes.imshow(numbers.detach().numpy(), **look)
    for edge in range(1, len(numbers)):
        axes.axhline(edge - 0.5, color=PAPER, linewidth=3)
    axes.set_title(name)
    axes.set(xticks=[], yticks=[])
    axes.tick_params(length=0)


# --- a leak ---------------------------------------------------------------------------------------


def losses(runs: Mapping[str, Tensor], best: float) -> Figure:
    """Draw the loss of models in training, (steps,) each, and the best that is possible."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.6))
        axes.axhline(best, color=FAINT, linestyle=":")
        longest = max(len(run) for run in runs.values())
        axes.text(longest, best + 0.05, "best possible", ha="right", va="bottom")
        for look, (name, run) in zip(("-", "--"), runs.items(), strict=True):
            axes.plot(range(1, len(run) + 1), run, look, label=name)
        axes.set(xlabel="step of training", ylabel="loss, nats", ylim=(0, None))
        figure.legend(loc="outside upper center", ncols=len(runs), handlelength=3.2)
    return closed(figure)


# --- what is in a block ---------------------------------------------------------------------------


def shares(parts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw the share of a model's parameters in each part.

    Args:
        parts: For each model, the number of parameters of each part, attention first.
    """
    fills = (ROLE["weight"], FAINT, PAPER)
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 1.3 + 0.55 * len(parts)))
        for row, counts in enumerate(parts.values()):
            left, total = 0.0, sum(counts.values())
            for fill, (part, number) in zip(fills, counts.items(), strict=False):
                share = 100 * number / total
                label = part if row == 0 else None
                look = {"color": fill, "edgecolor": INK, "linewidth": 0.8, "label": label}
                axes.barh(row, share, left=left, height=0.6, **look)
                if share > 8:
                    text = signed(torch.tensor(share), "{:.0f}")
                    ink = "black" if fill == ROLE["weight"] else INK
                    axes.text(left + share / 2, row, text, ha="center", va="center", color=ink)
                left += share
        axes.set_yticks(range(len(parts)), parts)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 100), xlabel="parameters, in %", ylabel="model")
        figure.legend(loc="outside lower center", ncols=3)
    return closed(figure)
