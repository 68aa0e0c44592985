"""The figures of chapter 06: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
Images are from 0 (paper) to 1 (ink), as `attn_course.data.captions` makes them.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.captions.image_grid import over_pixels
from attn_course.plots import (
    BROWN,
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    GREY,
    INK,
    ROLE,
    STARK,
    VIOLET,
    closed,
    ink_over,
    style,
)
from attn_course.plots.vector import ON_PAPER

GAP = 0.08  # between grids side by side, in widths of a grid: they must not look like one

# --- images and their cells -----------------------------------------------------------------------


def captioned(images: Sequence[Tensor], said: Sequence[str], grid: int = 3) -> Figure:
    """Draw images, (height, width) each, above what is said of each."""
    with style():
        figure, row = plt.subplots(1, len(images), figsize=(5.2, 2.8))
        figure.set_layout_engine("constrained", wspace=GAP)
        for axes, image, caption in zip(row, images, said, strict=True):
            _image(axes, image, torch.zeros(grid, grid))
            lines = fill(caption.replace(" ,", ","), 18)
            axes.text(0, -0.05, lines, ha="left", va="top", transform=axes.transAxes)
    return closed(figure)


def word_by_word(
    image: Tensor, words: Sequence[str], weights: Tensor, cells: Sequence[int], columns: int = 5
) -> Figure:
    """Draw an image once for each word, with the weights at that word laid over it.

    Beside the word stands the largest weight, if there is one.

    Args:
        image: The image to describe, (height, width).
        words: The words of the caption.
        weights: Weights at each word, (num_words, grid, grid).
        cells: The cell that each word names, counted from 0 in reading order; it is framed. A
            negative number frames none.
        columns: Number of pictures in a row.
    """
    rows = -(-len(words) // columns)
    with style():
        height = rows * (5.2 / columns + 0.22)
        figure, panels = plt.subplots(rows, columns, figsize=(5.2, height), squeeze=False)
        for axes in panels.flat:
            axes.axis("off")
        named = zip(panels.flat, words, weights, map(int, cells), strict=False)
        for axes, word, shares, cell in named:
            _image(axes, image, shares)
            # a comma by itself would be lost
            axes.set_title(word.replace(",", "comma"), loc="left", fontsize=11, pad=3)
            if shares.any():
                axes.set_title(f"{shares.max():.2f}", loc="right", fontsize=11, pad=3, color=GREY)
            if cell >= 0:
                _frame(axes, cell, image.shape[-1] // weights.shape[-1], weights.shape[-1])
    return closed(figure)


def _image(axes: Axes, image: Tensor, weights: Tensor) -> None:
    """Draw black ink on paper: the more weight a cell has, the more purple its paper."""
    grid, cell = len(weights), image.shape[-1] // len(weights)
    paper = over_pixels(weights.detach().float(), cell) * cell**2
    colours = 1 - paper.unsqueeze(-1) * (1 - torch.tensor(to_rgb(ROLE["weight"])))
    drawn = (colours * (1 - image.unsqueeze(-1))).numpy()
    axes.imshow(drawn, interpolation="nearest", gid=ON_PAPER)
    for line in range(1, grid):
        for draw in (axes.axhline, axes.axvline):
            draw(line * cell - 0.5, color=FAINT, linewidth=0.8)
    axes.set(xticks=[], yticks=[])
    axes.axis("on")
    axes.spines[:].set_visible(True)


def _frame(axes: Axes, number: int, cell: int, grid: int) -> None:
    """Frame the cell with this number."""
    row, column = divmod(number, grid)
    corner = (column * cell - 0.2, row * cell - 0.2)
    side = cell - 0.6
    axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=STARK, linewidth=1.5))


def reach(seen: Tensor, cell: int, grid: int, number: int) -> Figure:
    """Draw which pixels can move the feature of one cell, and by how much.

    Args:
        seen: The magnitude of the derivative by each pixel, (height, width).
        cell: Side of a cell, in pixels.
        grid: Number of cells in a row.
        number: The cell to which the feature belongs; it is framed.
    """
    with style():
        figure, axes = plt.subplots(figsize=(3.6, 3.8))
        axes.imshow(seen.numpy() / seen.max().item(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1)
        for line in range(1, grid):
            for draw in (axes.axhline, axes.axvline):
                draw(line * cell - 0.5, color=INK, linewidth=0.8)
        row, column = divmod(number, grid)
        corner = (column * cell - 0.5, row * cell - 0.5)
        axes.add_patch(Rectangle(corner, cell, cell, fill=False, edgecolor=STARK, linewidth=3))
        ticks = [*range(0, seen.shape[-1], cell), seen.shape[-1] - 1]
        axes.set(xticks=ticks, yticks=ticks, xlabel="pixel column", ylabel="pixel row")
        axes.spines[:].set_visible(True)
    return closed(figure)


# --- weights as numbers ---------------------------------------------------------------------------


def heard(weights: Tensor, names: Sequence[Sequence[str]], context: Tensor) -> Figure:
    """Draw a grid of weights, and beside it the context as bars.

    Args:
        weights: Weights of the cells, (grid_height, grid_width).
        names: What is in each cell; the bars have these names, from the upper right corner on.
        context: How much the decoder hears of each, (num_names,).
    """
    bars = [name for row in names for name in row if name]
    with style():
        figure, (grid, right) = plt.subplots(1, 2, figsize=(5.2, 2.3), width_ratios=(1, 1.25))
        grid.imshow(weights.numpy(), cmap=FROM_NOTHING_TO_WEIGHT, vmin=0, vmax=1)
        for row, shares in enumerate(weights):
            for column, share in enumerate(shares):
                name = names[row][column]
                ink = ink_over(FROM_NOTHING_TO_WEIGHT(share.item()))
                text = f"{share:.2f}\n{name}" if name else f"{share:.2f}"
                grid.text(column, row, text, ha="center", va="center", color=ink, fontsize=12)
        _lines(grid, weights)
        grid.set_title(f"weights, sum {weights.sum():.2f}", fontsize=11)
        drawn = right.barh(range(len(bars)), context.tolist(), height=0.5, color=ROLE["output"])
        for place, name in enumerate(bars):
            right.text(-0.15, place, name, ha="right", va="center", fontsize=12)
        right.bar_label(drawn, [f"{number:.2f}" for number in context], padding=4, fontsize=12)
        right.invert_yaxis()
        right.set(xlim=(-1.4, 5.4), xticks=[], yticks=[])
        right.axvline(0, color=INK, linewidth=0.8)
        right.spines[:].set_visible(False)
        right.set_title("hears", fontsize=11, loc="left")
    return closed(figure)


def _lines(axes: Axes, numbers: Tensor) -> None:
    for line in range(1, numbers.shape[0]):
        axes.axhline(line - 0.5, color=FAINT, linewidth=0.8)
    for line in range(1, numbers.shape[1]):
        axes.axvline(line - 0.5, color=FAINT, linewidth=0.8)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)


# --- hard attention -------------------------------------------------------------------------------

# The marker of each baseline, and the colour.
BASELINES = {
    "none": ("o", INK),
    "expected": ("^", VIOLET),
    "best": ("v", BROWN),
}


def learners(weight: Tensor, last: int) -> Figure:
    """Draw how the weight of the best cell grows from draw to draw.

    Args:
        weight: A line for each learner, (num_learners, num_draws + 1); the start alone is a dot.
        last: The draw at which the axis ends.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.7))
        look = {"marker": "o", "clip_on": False} if weight.shape[1] == 1 else {"alpha": 0.7}
        axes.plot(weight.T, color=ROLE["weight"], linewidth=1.2, **look)
        axes.axhline(0.5, color=FAINT, linewidth=0.8, zorder=0)
        axes.set(xlabel="draws", ylabel="weight of cell 1", xlim=(0, last), ylim=(0.3, 1.02))
        axes.set_yticks([0.5, 1.0])
    return closed(figure)


def by_baseline(at: Tensor, variance: Tensor, marked: Mapping[str, float]) -> Figure:
    """Draw the variance of an estimate against the baseline, and mark some baselines.

    Args:
        at: Baselines, (num_baselines,).
        variance: The variance with each of them, (num_baselines,).
        marked: Baselines that have a name, each near one of `at`.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.0))
        axes.plot(at, variance, color=GREY)
        for name, baseline in marked.items():
            height = variance[(at - baseline).abs().argmin()].item()
            mark, colour = BASELINES[name]
            axes.plot(baseline, height, mark, color=colour, markersize=8, label=name)
        axes.set(xlabel="baseline", ylabel="variance", ylim=(0, None))
        axes.legend()
    return closed(figure)


# --- photographs ----------------------------------------------------------------------------------


def photograph(
    image: Tensor, weights: Tensor, cell: int, asked: tuple[int, int], smooth: Tensor
) -> Figure:
    """Draw a photograph, the weights of its cells, and the photograph with its brightness scaled.

    Args:
        image: Red, green and blue from 0 to 1, (3, height, width).
        weights: Weights of the cells, (grid_height, grid_width); they scale the brightness.
        cell: Side of a cell, in pixels.
        asked: Row and column of the cell to frame.
        smooth: Weights blurred to the size of the photograph, (height, width).
    """
    laid = over_pixels(weights, cell)
    with style():
        figure, panels = plt.subplots(2, 2, figsize=(5.2, 4.2))
        _photo(panels[0, 0], image, "asked")
        corner = (asked[1] * cell, asked[0] * cell)
        box = {"fill": False, "edgecolor": "white", "linewidth": 2.5}
        panels[0, 0].add_patch(Rectangle(corner, cell, cell, **box))
        panels[0, 1].imshow(weights.numpy(), cmap=FROM_NOTHING_TO_WEIGHT)
        panels[0, 1].set_title("weights of the cells", fontsize=11)
        panels[0, 1].set(xticks=[], yticks=[])
        panels[0, 1].spines[:].set_visible(True)
        _photo(panels[1, 0], _lit(image, laid), "laid over pixels")
        _photo(panels[1, 1], _lit(image, smooth), "the same, blurred")
    return closed(figure)


def _lit(image: Tensor, weights: Tensor) -> Tensor:
    """Darken an image where there is little weight."""
    return image * (0.12 + 0.88 * (weights / weights.max()).clamp(0, 1).sqrt())


def _photo(axes: Axes, image: Tensor, title: str) -> None:
    axes.imshow(image.permute(1, 2, 0).numpy())
    axes.set_title(title, fontsize=11)
    axes.axis("off")
