"""The figure of tiles: a softmax that meets its keys tile by tile, and what crosses meanwhile.

One query is followed through its row of tiles: best score, total, blend and output. The tile walks
over the whole table, and the numbers that cross between the two memories are counted.
"""

from attn_course.interactive.controls import head, kept, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.markup import tag

# Of one query; the best comes late.
SCORES = (0.9, -0.4, 0.3, 1.2, -0.8, 1.6, 0.1, -1.3, 0.5, 3.4, -0.2, 0.7)
VALUES = (30, 60, 20, 45, 70, 25, 55, 80, 40, 95, 10, 65)  # of each key's value the first number
WIDE = 4  # numbers of a query, a key and a value
REACH = (-2.0, 4.0)  # of a score
SIZES = (1, 2, 3, 4, 6, 12)  # of a tile
BEGUN = 4  # keys that have passed at first


def tile_explorer() -> InteractiveFigure:
    """The table of chapter 13, tile by tile, with the sums that one of its queries keeps.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk. The reader goes from tile to tile and back, drags a score of the first
    query, and changes the size of the tiles.
    """
    return InteractiveFigure(
        name="tiles",
        label="A softmax that meets its keys tile by tile",
        controls=_controls(),
        data={
            "stops": {"B": list(SIZES)},
            "width": WIDTHS["wide"],
            "values": list(VALUES),
            "wide": WIDE,
            "reach": list(REACH),
        },
    )


def _controls() -> str:
    acts = {"back": "\u25c2 back", "next": "next tile \u25b8", "all": "all tiles \u25b8"}
    return (
        head("Drag a score: what if the best comes first?")
        + kept(scores="_".join(map(str, SCORES)), at=BEGUN)
        + "".join(tag("button", text, type="button", data_act=act) for act, text in acts.items())
        + slider("B", "", 0, len(SIZES) - 1, SIZES.index(4), label="tile length")
    )
