"""The figure of rotary positions: a query and a key turn, and only their distance counts.

The same two vectors of two numbers stand in each pair of a head. Each pair turns them by their
positions at its own speed; the score of the head is the sum of the dot products of its pairs.
"""

from attn_course.interactive.controls import head, kept, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.markup import tag

PAIRS, LAST = 8, 63  # pairs of numbers in a head; the last position
BASES = (10, 100, 1_000, 10_000, 500_000)
LONGEST = 2.0  # the greatest length of a query and of a key


def rotary_explorer() -> InteractiveFigure:
    """A query and a key of chapter 13, which turn with their positions.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk. The reader drags both arrows, moves either position or both, looks at
    each of the eight pairs of the head, and changes the base from which their speeds come.
    """
    return InteractiveFigure(
        name="rotary",
        label="A query and a key that turn with their positions",
        controls=_controls(),
        data={
            "stops": {"base": list(BASES)},
            "width": WIDTHS["wide"],
            "pairs": PAIRS,
            "last": LAST,
            "longest": LONGEST,
        },
    )


def _controls() -> str:
    return (
        head("Drag an arrow or a position, or move both together.")
        + kept(query="1.8_0.6", key="1.6_1", pair="2")
        + slider("m", "query", 0, LAST, 24, label="query at")
        + slider("n", "key", 0, LAST, 17, label="key at")
        + slider("base", "", 0, len(BASES) - 1, BASES.index(10_000), label="base")
        + tag("button", "move both \u25b8", type="button", data_act="both")
    )
