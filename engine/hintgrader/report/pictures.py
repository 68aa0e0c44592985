"""The figures of the report, as SVG that stands in its page and takes its colours."""

import io
import re
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from hintgrader.report import figures
from hintgrader.report.tally import Tally

HARDEST = 10  # checks that are drawn; the table below the picture has all


def draw_points(tally: Tally) -> Markup:
    """The distribution of points."""
    figure = figures.points(tally.points, tally.of)
    low, high = min(tally.points), max(tally.points)
    alternative = f"Histogram of the points of {len(tally.points)}, from {low:g} to {high:g}."
    return to_svg(figure, "points", alternative)


def draw_exercises(tally: Tally) -> Markup:
    """The results of each exercise."""
    found = tally.exercises
    counts = [(each.full, each.some, each.none, each.unwritten) for each in found]
    figure = figures.exercises([shorten(each.name) for each in found], counts)
    return to_svg(figure, "exercises", "Bars of how each exercise went; the table has the numbers.")


def draw_checks(tally: Tally) -> Markup:
    """The checks that most students missed."""
    found = tally.checks[:HARDEST]
    labels = [f"{shorten(each.exercise)}: {each.label}".replace("`", "") for each in found]
    figure = figures.checks(labels, [each.share for each in found])
    return to_svg(figure, "checks", "Bars of the hardest checks; the table has the numbers.")


def shorten(exercise: str) -> str:
    """An exercise without the name of its chapter, in words."""
    return exercise.partition("/")[2].replace("_", " ") or exercise


def to_svg(figure: Figure, name: str, alternative: str) -> Markup:
    """A figure as an SVG element.

    Args:
        figure: With text in `INK`, which becomes the colour of the page's text.
        name: Goes before each id in it, since several pictures stand in one page.
        alternative: What it shows, for those who cannot see it.
    """
    file = io.StringIO()
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "savefig.bbox": "tight",
    }
    with mpl.rc_context(settings):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    svg = file.getvalue().partition("<svg")[2]
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\1{name}-", svg)
    svg = re.sub(figures.INK, "currentColor", svg, flags=re.IGNORECASE)
    return Markup(f'<svg role="img" aria-label="{escape(alternative)}"{svg}')
