"""The figure of memory and time draws what was measured, a line for each way."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from attn_course.plots import speed
from tests.figures.figure_laws import assert_laws
from tests.sampling import sampled

ROWS = [
    {"way": way, "length": length, "megabytes": scale * length, "seconds": scale * length**2}
    for way, scale in [("whole table", 3.0), ("in blocks", 2.0), ("in blocks, window", 1.0)]
    for length in (1024, 4096, 16384)
]


def memory() -> Figure:
    """Draw three ways at three lengths."""
    return speed.memory(ROWS)


@sampled
def test_figure_keeps_the_laws_of_all_figures() -> None:
    assert_laws(memory)


@pytest.mark.parametrize(("panel", "quantity"), [(0, "megabytes"), (1, "seconds")])
def test_every_way_is_a_line_through_what_was_measured(panel: int, quantity: str) -> None:
    axes = memory().axes[panel]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for line in axes.lines:
        measured = [(r["length"], r[quantity]) for r in ROWS if r["way"] == line.get_label()]
        assert list(zip(*line.get_data(), strict=True)) == measured


def test_ways_differ_in_more_than_colour() -> None:
    lines = memory().axes[0].lines
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines) == 3
