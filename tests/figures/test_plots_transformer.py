"""The figures of chapter 11 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Wedge
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import transformer
from tests.figures.figure_laws import angle_of, assert_laws
from tests.sampling import sampled

CURVES = {
    "Transformer": [2.3, 1.9, 1.8, 1.7, 1.6, 1.5],
    "GRU": [2.1, 1.8],
}
MINUTES = {"Transformer": 0.5, "GRU": 0.4}
WITHOUT = {
    name: (torch.tensor([2.9, 3.0, 3.1]) - part / 5, torch.tensor([2.5, 2.6, 2.8]) - part / 5)
    for part, name in enumerate(("residual", "scale", "attention", "norm"))
}
LOSSES = {
    name: torch.stack([torch.linspace(6, end, 8) + seed / 20 for seed in range(3)])
    for name, end in (("without", 0.1), ("with", 4))
}
WRITTEN = torch.tensor([9.1, 9.3, 9.4])
FOUND = {
    "moves along": {"1-1": 3.0, "2-2": 2.5, "3-4": 2.1, "5-8": 1.9},
    "everything": {"1-1": 3.0, "2-2": 2.5, "3-4": 2.1, "5-8": 2.4},
}


def stream() -> Figure:
    """Draw the model of the chapter."""
    return transformer.stream()


def turned() -> Figure:
    """Draw a key and a query at two places."""
    return transformer.turned()


def learning() -> Figure:
    """Draw how two models learn."""
    return transformer.learning(CURVES, MINUTES)


def worth() -> Figure:
    """Draw what four parts are worth."""
    return transformer.worth(WITHOUT, (2.2, 1.8), 3.0)


def leak() -> Figure:
    """Draw the losses with the mask and without."""
    return transformer.leak(LOSSES, 25, WRITTEN)


def by_position() -> Figure:
    """Draw two models by position."""
    return transformer.by_position(FOUND)


FIGURES = [stream, turned, learning, worth, leak, by_position]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (stream, turned))


def test_a_block_has_two_parts_that_read_a_norm_and_add_and_the_other_is_the_same() -> None:
    words = [text.get_text() for text in stream().axes[0].texts]
    for part in ("norm", "attention", "two maps", "+"):
        assert words.count(part) == (2 if part in ("norm", "+") else 1)
    blocks = [word for word in words if word.startswith("block")]
    assert blocks == ["block 0", "block 1, the same again"]
    assert {"reading every road, adding to one", "reading one road, adding to it"} < {*words}


def test_the_angle_between_a_key_and_a_query_hangs_on_their_distance_alone() -> None:
    between, keys, filled = [], [], []
    for axes in turned().axes:
        (wedge,) = [patch for patch in axes.patches if isinstance(patch, Wedge)]
        filled.append(math.radians(wedge.theta2 - wedge.theta1) % math.tau)
        key, query = (angle_of(line) for line in axes.lines)
        keys.append(key)
        between.append((query - key) % math.tau)
    assert between[0] == pytest.approx(between[1])
    assert filled == pytest.approx(between)
    assert keys[0] != pytest.approx(keys[1])


def test_learning_shows_the_bits_of_each_model() -> None:
    (axes,) = learning().axes
    for line, (name, bits) in zip(axes.lines, CURVES.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_xdata(), MINUTES[name] * torch.arange(1, len(bits) + 1))
        assert_near(line.get_ydata(), bits)


def test_worth_shows_what_each_seed_loses_early_and_late() -> None:
    panels = worth().axes
    assert [label.get_text() for label in panels[0].get_yticklabels()] == list(WITHOUT)
    assert [axes.get_title() for axes in panels] == ["after 200 steps", "after 800 steps"]
    for which, (whole, axes) in enumerate(zip((2.2, 1.8), panels, strict=True)):
        *rows, _, frequencies = axes.lines
        assert frequencies.get_xdata()[0] == pytest.approx(3.0 - whole)
        assert axes.get_xlabel() == f"bits above {whole:.2f}"
        for row, bar, bits in zip(rows, axes.patches, WITHOUT.values(), strict=True):
            assert_near(row.get_xdata(), bits[which] - whole, rtol=1e-6)
            assert bar.get_width() == pytest.approx(bits[which].mean().item() - whole, rel=1e-5)


def test_leak_shows_the_mean_loss_of_each_model() -> None:
    (axes,) = leak().axes
    knowing, *curves = axes.lines
    assert knowing.get_ydata()[0] == pytest.approx(math.log(512))
    for line, (name, losses) in zip(curves, LOSSES.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_ydata(), losses.mean(0))
        assert_near(line.get_xdata(), 25 * torch.arange(1, 9))
    (written,) = (one for one in axes.collections if isinstance(one, PathCollection))
    assert_near(written.get_offsets()[:, 1], WRITTEN)
    named = {text.get_text(): text.get_color() for text in axes.texts}
    del named["knowing nothing"], named["when it has to write"]
    assert named == {line.get_label(): line.get_color() for line in curves}


def test_positions_stand_at_the_ends_of_their_ranges() -> None:
    (axes,) = by_position().axes
    for line, (name, bits) in zip(axes.lines, FOUND.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_xdata(), [1, 2, 4, 8])
        assert_near(line.get_ydata(), list(bits.values()))
