"""The attention layer as tables that meet: a weight stands where its query crosses its key."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import GREY, INK, ROLE, closed, ink_over, style

# The width of a cell of each table.
QUERY, WEIGHT, VALUE = 0.85, 1.75, 1.45
LEFT, ASIDE = -1.35, 0.7  # where the picture begins; room between tables
TO_VALUES = 2.3  # room before the values, which their words take
HEADS = 0.35  # from a table to the words at its edge
FIRST_STRENGTH = 0.12  # of the colour of a cell that holds 0
BELOW = 0.3  # from the scores down to the weights that are made of them


class Lookup(NamedTuple):
    """The numbers that a layer reads and makes, with a name for each row and column.

    Attributes:
        askers: A name for each query.
        words: A name for each key and its value.
        traits: A name for each number of a query and a key.
        handed: A name for each number of a value.
        query: The queries, (query_len, d_key).
        key: The keys, (key_len, d_key).
        weights: The weights, (query_len, key_len).
        value: The values, (key_len, d_value).
        output: The outputs, (query_len, d_value).
    """

    askers: Sequence[str]
    words: Sequence[str]
    traits: Sequence[str]
    handed: Sequence[str]
    query: Tensor
    key: Tensor
    weights: Tensor
    value: Tensor
    output: Tensor


def crossed(
    lookup: Lookup,
    letters: Sequence[str],
    note: str,
    *,
    rows: int,
    columns: int,
    scores: Tensor | None = None,
) -> Figure:
    """Draw the keys above the weights and the values above the outputs, the queries at the left.

    All pictures of as many rows and columns have one size, so that the next shows what is new.

    Args:
        lookup: The numbers and their names.
        letters: What is written for the tables of queries, keys and values, and below those of
            weights and outputs.
        note: What is new in this picture, in a few lines of a dozen letters.
        rows: Number of queries to leave room for.
        columns: Width of a value to leave room for.
        scores: The scores, (query_len, key_len), to be drawn where the queries meet the keys, with
            the weights and the outputs below.
    """
    _, width = lookup.query.shape
    middle = width * QUERY + ASIDE
    right = middle + len(lookup.words) * WEIGHT + TO_VALUES
    tall = len(lookup.words)
    made = 0.0 if scores is None else -len(scores) - BELOW
    low = rows + 2.3 if scores is None else 2 * rows + BELOW + 1.0
    high = width + HEADS + 1.0
    with style(letters=11.5):
        figure, axes = plt.subplots(figsize=(4.9, 0.352 * (low + high)))
        tables = (
            ("query", lookup.query, 0.0, 0.0, QUERY, "{:g}"),
            ("key", lookup.key.T, middle, width + HEADS, WEIGHT, "{:g}"),
            ("weight", lookup.weights, middle, made, WEIGHT, "{:.2f}"),
            ("value", lookup.value, right, tall + HEADS, VALUE, "{:g}"),
            ("output", lookup.output, right, made, VALUE, "{:.2f}"),
        )
        for role, table, x, top, wide, form in tables:
            _table(axes, (x, top), ROLE[role], table, wide, form)
        if scores is not None:
            _table(axes, (middle, 0.0), GREY, scores, WEIGHT, "{:g}")
            beside = middle + tall * WEIGHT + 0.15
            for name, top in (("score", 0.0), ("weight", made)):
                axes.text(beside, top - 0.03 - len(scores) / 2, name, va="center")
        _heads(axes, lookup, (middle, right), letters, made)
        for row, name in enumerate(lookup.askers):
            axes.text(-0.15, -row - 0.5, name, style="italic", ha="right", va="center")
        axes.text(LEFT, width + HEADS + 0.95, note, va="top", linespacing=1.3)
        end = right + columns * VALUE
        axes.set(xlim=(LEFT, end + 0.1), ylim=(-low, high))
        axes.axis("off")
    return closed(figure)


def _table(
    axes: Axes, at: tuple[float, float], colour: str, table: Tensor, wide: float, form: str
) -> None:
    """Write numbers into cells; the larger a number, the stronger its colour."""
    x, top = at
    most = max(1.0, float(table.max()))
    last = 0.85 if colour == ROLE["output"] else 1.0  # in the dark, its full colour suits no ink
    for row, numbers in enumerate(table.tolist()):
        for column, number in enumerate(numbers):
            strength = FIRST_STRENGTH + (last - FIRST_STRENGTH) * number / most
            face = to_rgba(colour, strength)
            corner = (x + column * wide, top - row - 1)
            look = {"facecolor": face, "edgecolor": INK, "linewidth": 0.6}
            axes.add_patch(Rectangle(corner, wide, 1, **look))
            place = (corner[0] + wide / 2, corner[1] + 0.47)
            ink = "white" if colour == ROLE["query"] and strength > 0.6 else ink_over(face)
            axes.text(*place, form.format(number), ha="center", va="center", color=ink)


def _heads(
    axes: Axes, lookup: Lookup, starts: tuple[float, float], letters: Sequence[str], made: float
) -> None:
    """Name columns and keys at their edges, and each table in bold type.

    `made` is the top of weights and outputs.
    """
    (middle, right), (width, tall) = starts, (len(lookup.traits), len(lookup.words))
    above, lower = HEADS + 0.15, -len(lookup.query) - 0.2
    side = {"ha": "right", "va": "center"}
    upright = {"rotation": 90, "ha": "center"}
    bold = {"fontweight": "bold", "ha": "center"}
    for place, name in enumerate(lookup.traits):
        axes.text((place + 0.5) * QUERY, lower, name, va="top", **upright)
        axes.text(middle - 0.15, width + HEADS - place - 0.5, name, **side)
    for place, name in enumerate(lookup.words):
        x = middle + (place + 0.5) * WEIGHT
        axes.text(x, width + above, name, style="italic", ha="center", va="bottom")
        axes.text(right - 0.15, tall + HEADS - place - 0.5, name, style="italic", **side)
    for place, name in enumerate(lookup.handed):
        x = right + (place + 0.5) * VALUE
        axes.text(x, tall + above, name, va="bottom", **upright)
    query, key, value, weights, outputs = letters
    axes.text(0, 0.3, query, va="bottom", fontweight="bold")
    axes.text(middle - 0.15, width + above, key, va="bottom", ha="right", fontweight="bold")
    axes.text(right - 0.15, tall + above, value, va="bottom", ha="right", fontweight="bold")
    axes.text(middle + tall * WEIGHT / 2, lower + made, weights, va="top", **bold)
    axes.text(right + len(lookup.handed) * VALUE / 2, lower + made, outputs, va="top", **bold)
