"""The figures of chapter 11 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import transformer
from tests.figures.figure_laws import assert_laws, words_in
from tests.sampling import sampled

CURVES = {
    "Transformer": torch.tensor([2.3, 1.9, 1.8, 1.7, 1.6, 1.5]),
    "GRU": torch.tensor([2.1, 1.8]),
}
MINUTES = {"Transformer": 0.5, "GRU": 0.4}
CONTROLS = {"counting 4 before": 1.74, "counting 6 before": 1.58}
WITHOUT = {
    name: torch.stack([torch.linspace(6, 3 + part / 5, 8) + seed / 20 for seed in range(3)])
    for part, name in enumerate(
        ("nothing", "residual", "norm", "norm before", "maps", "attention", "positions", "mask")
    )
}
PIECES = [" the", " a", ".", " her"]
LAWS = {name: torch.tensor([0.4, 0.3, 0.2, 0.1]) ** power for power, name in enumerate("ABC", 1)}
FOUND = {
    "moves along": {"1-1": 3.0, "2-2": 2.5, "3-4": 2.1, "5-8": 1.9},
    "everything": {"1-1": 3.0, "2-2": 2.5, "3-4": 2.1, "5-8": 2.4},
}


def stream() -> Figure:
    """Draw the model of the chapter."""
    return transformer.stream()


def learning() -> Figure:
    """Draw how two models learn."""
    return transformer.learning(CURVES, MINUTES, CONTROLS)


def worth() -> Figure:
    """Draw the losses without seven parts."""
    return transformer.worth(WITHOUT, 25)


def laws() -> Figure:
    """Draw three laws of the next piece."""
    return transformer.laws(PIECES, LAWS)


def by_position() -> Figure:
    """Draw two models by position."""
    return transformer.by_position(FOUND)


FIGURES = [stream, learning, worth, laws, by_position]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw is stream)


@pytest.mark.parametrize("num_layers", [1, 3])
def test_every_block_has_two_parts_that_read_a_norm_and_add(num_layers: int) -> None:
    words = [text.get_text() for text in transformer.stream(num_layers).axes[0].texts]
    for part in ("norm", "attention", "two maps", "+"):
        assert words.count(part) == num_layers * (2 if part in ("norm", "+") else 1)
    assert [f"block {number}" in words for number in range(4)] == [n < num_layers for n in range(4)]


def test_learning_shows_the_bits_of_each_model_and_control() -> None:
    (axes,) = learning().axes
    curves = axes.lines[: len(CURVES)]
    for line, (name, bits) in zip(curves, CURVES.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_xdata(), MINUTES[name] * torch.arange(1, len(bits) + 1))
        assert_near(line.get_ydata(), bits)
    heights = [line.get_ydata()[0] for line in axes.lines[len(CURVES) :]]
    assert heights == list(CONTROLS.values())
    assert set(CONTROLS) <= {text.get_text() for text in axes.texts}


def test_worth_shows_each_part_beside_the_whole() -> None:
    panels = [axes for axes in worth().axes if axes.axison]
    (_, whole), *others = WITHOUT.items()
    for axes, (name, losses) in zip(panels, others, strict=True):
        assert axes.get_title(loc="left") == name
        assert_near(axes.lines[0].get_ydata(), whole.mean(0))
        assert_near(axes.lines[1].get_ydata(), losses.mean(0))
        assert_near(axes.lines[1].get_xdata(), 25 * torch.arange(1, 9))


def test_laws_show_shares_in_percent_and_spaces_that_can_be_seen() -> None:
    panels = laws().axes
    assert "\N{OPEN BOX}the" in words_in(laws())
    for axes, (name, law) in zip(panels, LAWS.items(), strict=True):
        assert axes.get_title(loc="left") == name
        assert_near([bar.get_width() for bar in axes.patches], 100 * law)


def test_positions_stand_at_the_ends_of_their_ranges() -> None:
    (axes,) = by_position().axes
    for line, (name, bits) in zip(axes.lines, FOUND.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_xdata(), [1, 2, 4, 8])
        assert_near(line.get_ydata(), list(bits.values()))
