"""The figures of chapter 02 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import kernel_regression
from tests.figures.figure_laws import assert_laws, words_in
from tests.sampling import sampled

DISTANCE = torch.linspace(0, 3, 31)
HEIGHTS = {
    "Gaussian": torch.exp(-(DISTANCE**2) / 2),
    "boxcar": (DISTANCE <= 1).float(),
    "triangular": (1 - DISTANCE).clamp(min=0),
    "Epanechnikov": (1 - DISTANCE**2).clamp(min=0),
}
WIDTHS = torch.logspace(-1.3, 0.4, 17)
ERRORS = {name: 0.1 + (WIDTHS - 0.2 * n).square() for n, name in enumerate(HEIGHTS, start=1)}
SPREADS = dict(zip(HEIGHTS, [1, 0.58, 0.41, 0.45], strict=True))
JUDGES = {
    "leave-one-out": 1 + WIDTHS,
    "without the mask": WIDTHS,
    "error to the truth": 0.1 / WIDTHS,
}
EXAM = {
    "new digits": 94 - 50 * (WIDTHS - WIDTHS[9]).square(),
    "itself left out": 52 - 30 * (WIDTHS - WIDTHS[9]).square(),
    "itself too": 100 - 20 * (WIDTHS - WIDTHS[0]),
}


def kernels() -> Figure:
    """Draw a panel for each of four kernels."""
    return kernel_regression.kernels(DISTANCE, HEIGHTS)


def errors_by_width() -> Figure:
    """Draw four errors, twice."""
    return kernel_regression.errors_by_width(WIDTHS, ERRORS, SPREADS)


def errors_by_judge() -> Figure:
    """Draw what three judges say."""
    return kernel_regression.errors_by_judge(WIDTHS, JUDGES, 0.3)


def exam() -> Figure:
    """Draw the marks of three judges."""
    return kernel_regression.exam(WIDTHS, EXAM)


def one_estimate() -> Figure:
    """Draw three soundings."""
    key, value = torch.tensor([1.0, 2, 4]), torch.tensor([20.0, 40, 70])
    metres, counts = torch.linspace(0, 5, 11), torch.tensor([0.25, 0.75, 0.25])
    kernel = metres, (1 - (metres - 2.5).abs() / 2).clamp(min=0)
    return kernel_regression.one_estimate(2.5, key, value, counts, 42, kernel)


FIGURES = [kernels, errors_by_width, errors_by_judge, exam, one_estimate]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw)


def test_each_kernel_has_a_panel_of_its_own() -> None:
    panels = kernels().axes
    assert [axes.get_title(loc="left") for axes in panels] == list(HEIGHTS)
    for axes, height in zip(panels, HEIGHTS.values(), strict=True):
        (line,) = axes.lines
        assert_near(line.get_ydata(), height)


@pytest.mark.parametrize(
    ("draw", "names"),
    [(errors_by_width, ERRORS), (errors_by_judge, JUDGES)],
)
def test_lines_that_are_compared_differ_in_hue_and_in_dashes(
    draw: Callable[[], Figure], names: dict
) -> None:
    assert set(names) <= set(words_in(draw()))
    for axes in draw().axes:
        lines = [line for line in axes.lines if not line.get_label().startswith("_")]
        if lines:
            assert [line.get_label() for line in lines] == list(names)
            assert len({line.get_color() for line in lines}) == len(names)
            assert len({str(line._dash_pattern) for line in lines}) == len(names)


def test_errors_are_drawn_over_the_width_and_over_the_spread() -> None:
    plain, scaled = errors_by_width().axes
    for (name, error), line, other in zip(ERRORS.items(), plain.lines, scaled.lines, strict=False):
        assert_near(line.get_xdata(), WIDTHS)
        assert_near(other.get_xdata(), WIDTHS * SPREADS[name], rtol=1e-6)
        assert_near(line.get_ydata(), error)


def test_each_judge_is_marked_where_it_is_highest() -> None:
    (axes,) = exam().axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    for dot, right in zip(dots, EXAM.values(), strict=True):
        assert_near(dot.get_data(), [[WIDTHS[right.argmax()]], [right.max()]], rtol=1e-6)
    assert {"new digits: 94%", "itself left out: 52%"} <= {text.get_text() for text in axes.texts}
