"""The figure of the digits: draw one, and the kernel regression of chapter 02 reads it.

The page holds the keys and their labels; its script computes all numbers, and the tests compare
them with those of the package.
"""

from torch import Tensor

from attn_course.interactive.captioning import ink_of
from attn_course.interactive.controls import button, choice, hint, kept, option, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS as PICTURES
from attn_course.interactive.markup import tag

WIDTHS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0, 4.0)
START = 0.3
LABELS = {"true": "all true", "told": "half random"}


def digit_explorer(key: Tensor, label: Tensor, told: Tensor, query: Tensor) -> InteractiveFigure:
    """Kernel regression with handwritten digits as keys, and a query that the reader draws.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk.

    Args:
        key: Images of 8 x 8 pixels, `(key_len, 64)`, each pixel a multiple of a sixteenth.
        label: The digit that each key shows, `(key_len,)`.
        told: The digit that each key is said to show under the choice *half random*.
        query: Images to start from, `(query_len, 64)`; the first is shown first.
    """
    # the page is lighter with the same pixel of all keys side by side, and like keys together
    order = label.argsort(stable=True)
    return InteractiveFigure(
        name="digits",
        label="A digit to draw, and how a table of digits reads it",
        controls=_controls(),
        data={
            "stops": list(WIDTHS),
            "width": PICTURES["wide"],
            "keys": ink_of(key[order].mT),
            "labels": {
                name: "".join(map(str, given[order].tolist()))
                for name, given in (("true", label), ("told", told))
            },
            "samples": [ink_of(image) for image in query],
        },
    )


def _controls() -> str:
    head = hint("Draw in the square.") + button("other", "another digit")
    labels = (option("radio", "labels", one, text, one == "true") for one, text in LABELS.items())
    return (
        tag("div", head + button("clear", "clear"), class_="attn-head")
        + kept(strokes="", sample=0)
        + choice("labels", *labels)
        + slider("width", "", 0, len(WIDTHS) - 1, WIDTHS.index(START))
    )
