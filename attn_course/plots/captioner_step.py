"""One word of a captioner as a diagram: image, grid of features, weights, context, state, word."""

from collections.abc import Callable, Iterable
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.text import Annotation, Text
from torch import Tensor

from attn_course.plots import (
    FAINT,
    FROM_NOTHING_TO_WEIGHT,
    INK,
    PAPER,
    ROLE,
    closed,
    ink_of,
    ink_over,
    style,
)
from attn_course.plots.vector import ON_PAPER

SIDE = 2.7  # of a grid, in the units of the diagram
IMAGE, GRID = -0.55, 4.2  # left edges of image and grids
OUTPUT, DECODER = 9.7, 11.3  # of context and states
GATE, RING = 8.35, 0.24  # where the gate multiplies the sum, and the radius of both rings
FEATURES, WEIGHTS = 4.7, 0.6  # heights of the two rows
ASKS = FEATURES + SIDE / 2  # of the state that asks
HALFWAY = (FEATURES + WEIGHTS + SIDE) / 2  # between them
LOW = WEIGHTS + SIDE / 2  # of context and new state
GIVEN, SAID = (6.6, -0.7), -0.7  # place of the word before, height of the next word


LARGE = 14  # letters with an index, which must be read on a phone


def captioner_step(
    image: Tensor, weights: Tensor, gate: float, given: str, said: str, steps: int = 4
) -> Figure:
    """Draw the steps of a captioner for one word; all pictures have the same size.

    Args:
        image: The image to describe, from 0 (paper) to 1 (ink), (height, width).
        weights: Weights of its cells at this word, (grid, grid).
        gate: How much of the weighted sum gets through, from 0 to 1.
        given: The word before.
        said: The written word.
        steps: The first so many steps are drawn: weights, context, state, word. The arrows of
            the last of them are thick.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.9))
        _picture(axes, image, len(weights))
        _features(axes, len(weights))
        _weights(axes, weights)
        _box(axes, (DECODER, ASKS), "query", "$s_{t-1}$")
        _arrow(axes, (DECODER - 0.7, ASKS - 0.2), (GRID + SIDE / 2 + 0.1, HALFWAY))
        axes.text(*GIVEN, given, ha="center", va="center", style="italic")
        axes.text(GIVEN[0] - 0.4, GIVEN[1], "word before:", ha="right", va="center")
        rest: list[Callable[[Axes], None]] = [partial(_context, gate=gate), _state, _word]
        for step, draw in enumerate(rest, 2):
            if step <= steps:
                before = len(axes.texts)
                draw(axes)
                if step == steps:
                    _thick(axes.texts[before:])
        word = said if steps > 3 else "?"
        axes.text(DECODER, SAID, word, ha="center", va="center", fontweight="bold")
        axes.set(xlim=(-0.75, 12.2), ylim=(-1.2, 8.0), aspect="equal")
        axes.axis("off")
    return closed(figure)


def _thick(texts: Iterable[Text]) -> None:
    """Make the arrows among these thick."""
    for text in texts:
        if isinstance(text, Annotation) and text.arrow_patch is not None:
            text.arrow_patch.set_linewidth(2.5)


def _picture(axes: Axes, image: Tensor, grid: int) -> None:
    """Draw the image with the lines of its cells."""
    extent = (IMAGE, IMAGE + SIDE, FEATURES, FEATURES + SIDE)
    axes.imshow(1 - image.numpy(), cmap="gray", vmin=0, vmax=1, extent=extent, gid=ON_PAPER)
    for line in range(grid + 1):
        at = line * SIDE / grid
        axes.plot([IMAGE, IMAGE + SIDE], [FEATURES + at] * 2, color=FAINT, linewidth=1)
        axes.plot([IMAGE + at] * 2, [FEATURES, FEATURES + SIDE], color=FAINT, linewidth=1)
    axes.text(IMAGE + SIDE / 2, FEATURES + SIDE + 0.4, "image", ha="center", va="center")
    _arrow(axes, (IMAGE + SIDE + 0.1, FEATURES + SIDE / 2), (GRID - 0.1, FEATURES + SIDE / 2))
    axes.text((IMAGE + SIDE + GRID) / 2, FEATURES + SIDE / 2 + 0.3, "CNN\n+ place", ha="center")


def _cell(axes: Axes, row: int, column: int, grid: int, height: float) -> Rectangle:
    """A cell of a grid at a height; row 0 is the uppermost."""
    side = SIDE / grid
    return Rectangle((GRID + column * side, height + (grid - 1 - row) * side), side, side)


def _features(axes: Axes, grid: int) -> None:
    """Draw the annotations: keys with the rim of a value."""
    for row in range(grid):
        for column in range(grid):
            box = _cell(axes, row, column, grid, FEATURES)
            box.set(facecolor=ROLE["key"], edgecolor=ROLE["value"], linewidth=2)
            axes.add_patch(box)
            x, y = box.get_center()
            text = f"$h_{{{row + 1},{column + 1}}}$"
            axes.text(x, y, text, ha="center", va="center", color="black", fontsize=12)
    axes.text(GRID + SIDE / 2, FEATURES + SIDE + 0.4, "annotations", ha="center", va="center")


def _weights(axes: Axes, weights: Tensor) -> None:
    """Draw the weights with their numbers, below the features."""
    grid = len(weights)
    for (row, column), weight in zip(
        ((row, column) for row in range(grid) for column in range(grid)),
        weights.flatten().tolist(),
        strict=True,
    ):
        box = _cell(axes, row, column, grid, WEIGHTS)
        colour = FROM_NOTHING_TO_WEIGHT(weight)
        box.set(facecolor=colour, edgecolor=FAINT)
        axes.add_patch(box)
        ink = ink_over(colour)
        x, y = box.get_center()
        axes.text(x, y, f"{weight:.2f}", ha="center", va="center", color=ink)
    middle = GRID + SIDE / 2
    _arrow(axes, (middle, FEATURES - 0.1), (middle, WEIGHTS + SIDE + 0.1))
    axes.text(middle - 0.3, HALFWAY, "scores,\none softmax", **_LEFT)
    axes.text(GRID - 0.3, LOW, "$\\alpha_{t,i,j}$", fontsize=LARGE, **_LEFT)


_LEFT = {"ha": "right", "va": "center"}


def _context(axes: Axes, gate: float) -> None:
    """Draw the weighted sum, the gate that multiplies it, and the context."""
    right = GRID + SIDE
    turn, end = right + 0.6, LOW + RING
    _arrow(axes, (right + 0.1, LOW), (turn - RING, LOW))
    _arrow(axes, (turn + RING, LOW), (GATE - RING, LOW))
    axes.text(right + 0.15, end - 2 * RING - 0.1, "weighted\nsum of $h$", ha="left", va="top")
    axes.plot([right + 0.1, turn], [FEATURES + 0.4] * 2, color=ROLE["value"], linewidth=1)
    _arrow(axes, (turn, FEATURES + 0.4), (turn, end), ink=ROLE["value"])
    _arrow(axes, (DECODER - 0.4, ASKS - 0.5), (GATE + 0.6 * RING, LOW + 0.8 * RING))
    for place, sign in ((turn, "$\\Sigma$"), (GATE, "$\\times$")):
        axes.add_patch(Circle((place, LOW), RING, facecolor=PAPER, edgecolor=INK, linewidth=1))
        axes.text(place, LOW, sign, ha="center", va="center")
    opening = f"$\\beta_t$ = {gate:.2f}"
    axes.text(GATE + 0.78, LOW + 0.85, opening, ha="left", va="center", fontsize=12)
    _arrow(axes, (GATE + RING, LOW), (OUTPUT - 0.65, LOW))
    _box(axes, (OUTPUT, LOW), "output", "$\\beta_t c_t$")


def _state(axes: Axes) -> None:
    """Draw the new state and its three inputs."""
    _box(axes, (DECODER, LOW), "state", "$s_t$")
    _arrow(axes, (DECODER, ASKS - 0.5), (DECODER, LOW + 0.5))
    _arrow(axes, (OUTPUT + 0.65, LOW), (DECODER - 0.4, LOW))
    _arrow(axes, (GIVEN[0] + 0.3, GIVEN[1] + 0.3), (DECODER - 0.5, LOW - 0.4))


def _word(axes: Axes) -> None:
    """Draw the next word and its three inputs."""
    _arrow(axes, (DECODER, LOW - 0.5), (DECODER, SAID + 0.35))
    _arrow(axes, (OUTPUT + 0.2, LOW - 0.5), (DECODER - 0.75, SAID + 0.3))
    _arrow(axes, (GIVEN[0] + 0.35, SAID), (DECODER - 0.8, SAID))


def _box(axes: Axes, place: tuple[float, float], role: str, text: str) -> None:
    """Draw a box in the colour of its role; a state that does not ask now has only a rim."""
    rim = PAPER if role in ROLE else INK
    box = {"boxstyle": "round,pad=0.3", "facecolor": ROLE.get(role, PAPER), "edgecolor": rim}
    ink = ink_of(role)
    axes.text(*place, text, ha="center", va="center", color=ink, bbox=box, fontsize=LARGE)


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    path: str = "arc3",
    ink: str = INK,
) -> None:
    look = {"arrowstyle": "->", "color": ink, "shrinkA": 0, "shrinkB": 0, "connectionstyle": path}
    axes.annotate("", end, start, arrowprops=look)
