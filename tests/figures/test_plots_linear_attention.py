"""The figures of chapter 14 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import VIOLET, linear_attention
from tests.figures.figure_laws import assert_laws
from tests.sampling import sampled

RIGHT = {
    name: torch.stack([torch.linspace(1, end, 3) - seed / 50 for seed in range(3)])
    for name, end in (("softmax, 4", 1.0), ("linear, 16", 0.7), ("linear, 8", 0.3))
}
SIZES, TURNS, MILLIONS = (1, 16, 64, 4096), (4102, 262, 70, 8), (34.0, 42.0, 67.0, 2181.0)
ENDS = {
    "SSSS": torch.tensor([0.4, 0.6, 0.9]),
    "RRRS": torch.tensor([0.3, 0.3, 1.5]),
    "RRRR": torch.tensor([2.5, 2.7, 3.2]),
}


def chunk_costs() -> Figure:
    """Draw four lengths of chunks."""
    return linear_attention.chunk_costs(SIZES, TURNS, MILLIONS, chosen=64)


def recall() -> Figure:
    """Draw three layers by the number of pairs, and one point of another."""
    chance = torch.tensor([0.4, 0.3, 0.2])
    return linear_attention.recall((4, 8, 32), RIGHT, chance, others={"GRU": (8, 0.5)})


def orders_of_layers() -> Figure:
    """Draw three orders of layers."""
    return linear_attention.orders_of_layers(ENDS, 3.3)


def fading() -> Figure:
    """Draw what two factors leave."""
    return linear_attention.fading((0.5, 0.9), length=4)


def by_age() -> Figure:
    """Draw two layers by age."""
    return linear_attention.by_age({name: RIGHT[name] for name in list(RIGHT)[:2]}, 4)


def three_forms() -> Figure:
    """Draw the three forms."""
    return linear_attention.three_forms()


FIGURES = [three_forms, chunk_costs, recall, fading, orders_of_layers, by_age]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw)


@pytest.mark.parametrize(
    ("draw", "shown", "at"),
    [
        (recall, RIGHT, [4, 8, 32]),
        (by_age, {name: RIGHT[name] for name in list(RIGHT)[:2]}, [1.5, 5.5, 9.5]),
    ],
)
def test_curves_are_the_means_of_the_seeds(
    draw: Callable[[], Figure], shown: dict, at: list
) -> None:
    (axes,) = draw().axes
    for line, runs in zip(axes.lines, shown.values(), strict=False):
        assert_near(line.get_xdata(), at)
        assert_near(line.get_ydata(), runs.mean(0))


def test_dots_stand_at_the_last_losses_beside_the_layers_of_their_order() -> None:
    left, axes = orders_of_layers().axes
    for line, ends in zip(axes.lines, ENDS.values(), strict=False):
        assert_near(line.get_xdata(), ends)
    softmax = [patch.get_facecolor() == to_rgba(VIOLET) for patch in left.patches[:12]]
    names = ["all softmax", "softmax on top", "all linear", "lowest", "top"]
    assert [text.get_text() for text in left.texts] == names
    assert softmax == [layer == "S" for order in ENDS for layer in order]


def test_squares_are_full_within_a_chunk_and_faint_where_the_state_stands_for_them() -> None:
    told = {"1 chunk of 8": 36, "8 chunks of 1": 8, "2 chunks of 4": 20}
    for axes, (chunks, within) in zip(three_forms().axes, told.items(), strict=True):
        assert len(axes.patches) == 36
        assert sum(patch.get_alpha() == 1 for patch in axes.patches) == within
        assert axes.get_xlabel() == f"keys\n{chunks}"


def test_squares_fade_by_their_factor_at_each_step() -> None:
    (axes,) = fading().axes
    left = [patch.get_alpha() for patch in axes.patches]
    assert_near(left, [0.5**age for age in range(4)] + [0.9**age for age in range(4)])


def test_a_layer_of_one_point_is_a_cross_there() -> None:
    (axes,) = recall().axes
    assert [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "x"] == [
        [[8, 0.5]]
    ]


def test_points_stand_at_what_a_chunk_costs() -> None:
    (axes,) = chunk_costs().axes
    assert_near(axes.lines[0].get_xdata(), TURNS)
    assert_near(axes.lines[0].get_ydata(), MILLIONS)
    named = [text.get_text() for text in axes.texts]
    assert named == ["one by one", "chunks of 16", "chunks of 64", "all pairs"]
