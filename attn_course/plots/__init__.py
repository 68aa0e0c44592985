"""The figures of the book, in one style: one module of figures a chapter, one colour a role."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib.pyplot as plt
from cycler import cycler

# One colour for each role through the whole book: from the palette of Okabe and Ito, which readers
# with any kind of colour vision can tell apart.
ROLE = {
    "query": "#0072B2",
    "key": "#E69F00",
    "value": "#009E73",
    "weight": "#CC79A7",
    "output": "#D55E00",
}
INK = "#333333"
FAINT = "#BBBBBB"

STYLE = {
    "figure.figsize": (5.2, 3.2),  # narrow, so that letters stay legible on a phone
    "figure.dpi": 160,
    "savefig.dpi": 160,
    "savefig.bbox": "tight",
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=[ROLE["query"], ROLE["output"], ROLE["value"], ROLE["key"]]),
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "image.cmap": "magma_r",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the book inside the `with` block, and leave other figures alone."""
    with plt.rc_context(STYLE):
        yield
