"""The figure of two memories: a state of fixed size that blurs, and rows that stay exact.

The reader writes pairs, a name and its colour, and asks for a name. The numbers are those of
`memory.py`, the pairs those of `pairs.py`.
"""

from attn_course.interactive.associative_memory.memory import DECAY, RULES, SHARP, SURE
from attn_course.interactive.associative_memory.pairs import (
    COLOURS,
    NAMES,
    WIDTHS,
    favourites,
    keys_and_codes,
)
from attn_course.interactive.controls import choice, head, kept, more, option, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS as PICTURES
from attn_course.interactive.markup import tag

BEGUN, MOST = 6, 24  # rows that are written at first, and at most


def associative_memory_explorer() -> InteractiveFigure:
    """The memory of chapter 14, a matrix into which a reader writes pairs until it blurs.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk. The reader writes pairs one by one or all, asks for a name, gives it
    another colour, looks at the vectors, and changes the rule by which the state is written.
    """
    keys, codes = keys_and_codes()
    return InteractiveFigure(
        name="associative-memory",
        label="A state into which pairs are written, until it blurs",
        controls=_controls(),
        data={
            "stops": {"d": list(WIDTHS)},
            "width": PICTURES["wide"],
            "names": list(NAMES),
            "colours": list(COLOURS.items()),
            "keys": keys.tolist(),
            "codes": codes.tolist(),
            "favourites": favourites().tolist(),
            "most": MOST,
            "decay": DECAY,
            "sharp": SHARP,
            "sure": SURE,
        },
    )


def _controls() -> str:
    written = "_".join(f"{name}_{colour}" for name, colour in enumerate(favourites()[:BEGUN]))
    acts = {"one": "write one", "all": "write all \u25b8"}
    again = tag("button", "another colour", type="button", data_act="again")
    vectors = (option("radio", "vectors", one, one, one == "hidden") for one in ("hidden", "shown"))
    rules = (option("radio", "rule", one, one, one == "add") for one in RULES)
    return (
        head("Write pairs. Click a name to ask.")
        + kept(rows=written, asked="0")
        + "".join(tag("button", text, type="button", data_act=act) for act, text in acts.items())
        + more(
            "vectors, width and rules",
            choice("vectors", *vectors),
            slider("d", "key", 0, len(WIDTHS) - 1, WIDTHS.index(8), label="width d"),
            choice("rule", *rules),
            again,
        )
    )
