"""Laws for every figure of the book, and the means by which tests look at figures."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from attn_course.plots.vector import OF_PAGE
from tests.conftest import ROOT
from tests.sampling import takes_all

mpl.use("agg")

PHONE = 350  # pixels that a figure has on a phone
MINUS = "\N{MINUS SIGN}"
# The grounds of the theme, and what course.css makes of the page's colours in the dark.
GROUND = {"light": "#ffffff", "dark": "#121212"}
CSS = (ROOT / "book" / "_static" / "course.css").read_text(encoding="utf-8")
IN_THE_DARK = dict(re.findall(r"(--attn-[\w-]+): (#\w+)", CSS))


def assert_laws(draw: Callable[[], Figure], is_diagram: bool = False) -> None:
    """Hold a figure to all laws; a diagram is one whose axes have no numbers."""
    figure = assert_closed_and_the_same_twice(draw)
    figure.set_layout_engine("none")  # it has been laid out
    assert_letters_are_legible_and_clear_of_each_other(figure)
    assert_axes_are_named(figure, is_diagram)


def assert_closed_and_the_same_twice(draw: Callable[[], Figure]) -> Figure:
    """A figure left open would be shown twice; one that changes would change its notebook.

    That it does not change is for the proofs: to draw it takes longer than to look at it.
    """
    before, pictures = plt.get_fignums(), []
    for _ in range(2 if takes_all() else 1):
        canvas = FigureCanvasAgg(draw())
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba()))
    assert plt.get_fignums() == before, "the figure is not closed"
    assert all(np.array_equal(pictures[0], other) for other in pictures[1:]), "not the same twice"
    return canvas.figure


def assert_letters_are_legible_and_clear_of_each_other(figure: Figure) -> None:
    """On a phone a letter has 10 pixels or more, and no two pieces of text overlap."""
    shrunk = PHONE / (figure.get_figwidth() * 72)  # pixels a point
    found = texts(figure)
    small = {text.get_text(): text.get_fontsize() * shrunk for text in found}
    assert {text: size for text, size in small.items() if size < 10} == {}
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in found]
    pairs = itertools.combinations(boxes, 2)
    assert [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)] == []


def assert_axes_are_named(figure: Figure, is_diagram: bool) -> None:
    """An axis with numbers or words at its ticks says what they mean."""
    figure.draw_without_rendering()
    labelled = 0
    for axis in (axis for axes in figure.axes if axes.axison for axis in (axes.xaxis, axes.yaxis)):
        if any(label.get_text() for label in axis.get_ticklabels() if label.get_visible()):
            assert len(axis.get_label().get_text()) > 2, axis
            labelled += 1
    assert is_diagram == (labelled == 0)


def texts(figure: Figure) -> list[Text]:
    """Return every piece of text that a figure shows."""
    figure.draw_without_rendering()
    found = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    edges = figure.get_window_extent().padded(1)
    return [
        text
        for text in found
        if text.get_text().strip() and edges.overlaps(text.get_window_extent())
    ]


def words_in(figure: Figure) -> list[str]:
    """Return what the pieces of text say."""
    return [text.get_text() for text in texts(figure)]


def contrast(one: str | tuple[float, ...], other: str | tuple[float, ...]) -> float:
    """Return the contrast ratio of two colours, from 1 to 21: WCAG 2.2, section 1.4.3."""
    light, dark = sorted((luminance(to_rgb(c)) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def least_contrast(ink: str | tuple[float, ...], colour: tuple[float, ...]) -> float:
    """Return the contrast of ink with a colour, red to alpha, on the ground where it is less."""
    *shade, alpha = colour
    var = re.search(r"--[\w-]+", OF_PAGE.get(to_hex(ink), ""))
    inks = {"light": ink, "dark": IN_THE_DARK[var[0]] if var else ink}
    return min(
        contrast(
            inks[scheme], tuple(alpha * np.array(shade) + (1 - alpha) * np.array(to_rgb(ground)))
        )
        for scheme, ground in GROUND.items()
    )


def linear(colour: tuple[float, ...]) -> np.ndarray:
    """Undo the gamma of sRGB."""
    part = np.asarray(colour)
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def luminance(colour: tuple[float, ...]) -> float:
    """Return the relative luminance of a colour."""
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def angle_of(hand: Line2D) -> float:
    """Radians clockwise from twelve of a hand that begins at the middle of its clock."""
    return math.atan2(hand.get_xdata()[-1], hand.get_ydata()[-1]) % math.tau
