"""The figures of chapter 14 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import linear_attention
from tests.figures.figure_laws import assert_laws
from tests.sampling import sampled

TOKENS = torch.arange(10)
KEPT = {"cache": 4 * TOKENS, "state": torch.full((10,), 20)}
RIGHT = {
    name: torch.stack([torch.linspace(1, end, 3) - seed / 50 for seed in range(3)])
    for name, end in (("softmax, 4", 1.0), ("linear, 16", 0.7), ("linear, 8", 0.3))
}
LOSSES = {
    name: torch.stack([torch.linspace(3.3, end, 5) + seed / 20 for seed in range(3)])
    for name, end in (("four of softmax", 0.3), ("four linear", 2.9))
}


def memory() -> Figure:
    """Draw two kinds of memory."""
    return linear_attention.memory(TOKENS, KEPT)


def recall() -> Figure:
    """Draw three layers by the number of pairs."""
    return linear_attention.recall((4, 8, 32), RIGHT, torch.tensor([0.4, 0.3, 0.2]))


def losses_by_step() -> Figure:
    """Draw two orders of layers."""
    return linear_attention.losses_by_step(LOSSES, 50, 3.3)


def by_age() -> Figure:
    """Draw two layers by age."""
    return linear_attention.by_age({name: RIGHT[name] for name in list(RIGHT)[:2]}, 4)


def three_forms() -> Figure:
    """Draw the three forms."""
    return linear_attention.three_forms()


FIGURES = [three_forms, memory, recall, losses_by_step, by_age]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw is three_forms)


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


def test_losses_are_a_line_for_each_seed() -> None:
    (axes,) = losses_by_step().axes
    for line, run in zip(axes.lines, torch.cat([*LOSSES.values()]), strict=False):
        assert_near(line.get_xdata(), [0, 50, 100, 150, 200])
        assert_near(line.get_ydata(), run)


def test_forms_compare_pairs_within_a_chunk_and_leave_the_others_to_the_state() -> None:
    for axes, within in zip(three_forms().axes, (36, 20, 8), strict=True):
        assert len(axes.patches) == 36
        assert sum(patch.get_alpha() == 1 for patch in axes.patches) == within


def test_memory_shows_the_numbers_kept() -> None:
    (axes,) = memory().axes
    for line, kept in zip(axes.lines, KEPT.values(), strict=True):
        assert_near(line.get_xdata(), TOKENS)
        assert_near(line.get_ydata(), kept)
