"""The figures of the book, in one style: one module for each chapter, one colour for each role."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
import torch
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots.vector import store_as_vector

# One colour for each role through the whole book: from the palette of Okabe and Ito, which readers
# with any kind of colour vision can tell apart.
ROLE = {
    "query": "#0072B2",
    "key": "#E69F00",
    "value": "#009E73",
    "weight": "#CC79A7",
    "output": "#D55E00",
}
# It follows the letters of the page. On an image draw in black; in STARK, if its ground turns dark.
INK = "#333333"
# For what has no role and is compared, each with a mark or a dash of its own: hues far apart, and
# far from those of the roles and from paper.
VIOLET, BROWN, GREY = "#7030C0", "#8B5A2B", "#808080"
COMPARED = (VIOLET, INK, BROWN, GREY)
FAINT = "#BBBBBB"
# Nearly white, so that it can be told from ink on a colour: it follows the ground of the page.
PAPER = "#FEFEFE"
# Nearly black: white on a dark page, for what stands on a colour through which the ground shows.
STARK = "#111111"
DARK_GROUND = 0x12 / 255  # each of red, green and blue

STYLE: dict[str, Any] = {
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
    "axes.prop_cycle": cycler(color=COMPARED),
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "image.cmap": "magma_r",
}


def from_nothing_to(colour: str, below: str | None = None) -> Colormap:
    """A map from the ground of the page, light or dark, to a colour; half way, if one is below."""
    shades = [(0.0, to_rgba(colour, 0)), (1.0, to_rgba(colour))]
    if below is not None:
        turn = [(0.5, to_rgba(below, 0)), (0.5, to_rgba(colour, 0))]
        shades = [(0.0, to_rgba(below)), *turn, shades[-1]]
    return LinearSegmentedColormap.from_list("ramp", shades)


FROM_NOTHING_TO_WEIGHT = from_nothing_to(ROLE["weight"])


@contextmanager
def style(letters: float = STYLE["font.size"]) -> Iterator[None]:
    """Draw in the style of the book inside the `with` block, and leave other figures alone.

    Args:
        letters: Their size in points; with 12, they have 11 pixels on a phone.
    """
    with plt.rc_context(STYLE | {"font.size": letters}):
        yield


def closed(figure: Figure) -> Figure:
    """Remove a figure from pyplot's open ones: a notebook shows the figure that a cell returns."""
    plt.close(figure)
    store_as_vector()
    return figure


def ink_of(role: str) -> str:
    """Ink for a box in the colour of a role; a box of no role has the ground of the page."""
    return {"query": "white"}.get(role, "black") if role in ROLE else INK


def ink_on(colour: Tensor) -> str:
    """Black or white, the one with more contrast to a colour: WCAG 2, relative luminance."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.tolist()]
    luminance = sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "black" if luminance > 0.179 else "white"


def ink_over(colour: Sequence[float]) -> str:
    """Ink for a colour, red to alpha, through which the ground shows: one for both grounds."""
    *shade, alpha = colour
    in_the_dark = alpha * torch.tensor(shade) + (1 - alpha) * DARK_GROUND
    return "black" if ink_on(in_the_dark) == "black" else STARK


def signed(number: Tensor, form: str) -> str:
    """Return a number as text, with a minus sign as long as a plus."""
    return form.format(float(number)).replace("-", "\N{MINUS SIGN}")


def write_numbers(axes: Axes, table: Tensor, form: str) -> None:
    """Write its number into every cell of an image that has one, and no NaN."""
    (image,) = axes.images
    shown = image.get_array()
    assert shown is not None  # an image that is drawn has numbers
    for row, column in (~table.isnan()).nonzero().tolist():
        ink = ink_over(image.to_rgba(shown[row, column]))
        text = signed(table[row, column], form)
        axes.text(column, row, text, ha="center", va="center", color=ink)
