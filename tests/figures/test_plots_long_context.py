"""The figures of chapter 13 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure

from attn_course.context.published import PUBLISHED
from attn_course.plots import long_context
from tests.figures.figure_laws import assert_laws

SHARES = {
    name: {
        test: torch.tensor([0.9, 0.8, 0.85]) - step / 3 - row / 20
        for step, test in enumerate(long_context.TESTS.values())
    }
    for row, name in enumerate(long_context.KINDS.values())
}
KILOBYTES = {name: model.kilobytes_a_token() for name, model in PUBLISHED.items()}
SHARING = {name: model.kind for name, model in PUBLISHED.items()}
PAGES, LENGTHS = {"a": [0, 3], "b": [1, 2, 5], "c": [4]}, {"a": 5, "b": 12, "c": 2}


def four_times() -> Figure:
    """Draw three kinds of sequences for six kinds of positions."""
    return long_context.four_times(SHARES)


def caches() -> Figure:
    """Draw all models."""
    return long_context.caches(KILOBYTES, SHARING)


def two_memories() -> Figure:
    """Draw the way of a tile."""
    return long_context.two_memories()


def rooms() -> Figure:
    """Draw three texts in pages, and two in rooms."""
    return long_context.rooms([5, 12], 12, PAGES, 4, LENGTHS, 6)


@pytest.mark.parametrize("draw", [four_times, caches, two_memories, rooms])
def test_figures_keep_the_laws(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (two_memories, rooms))


def test_marks_stand_at_the_shares() -> None:
    (axes,) = four_times().axes
    drawn = [line.get_xdata().tolist() for line in axes.lines]
    wanted = [(100 * shares).tolist() for tests in SHARES.values() for shares in tests.values()]
    assert drawn == wanted


def test_bars_are_as_long_as_the_caches() -> None:
    (axes,) = caches().axes
    assert [bar.get_width() for bar in axes.patches] == list(KILOBYTES.values())


def test_pages_are_full_but_for_the_last_of_each_text() -> None:
    below = rooms().axes[1]
    widths = [patch.get_width() for patch in below.patches if patch.get_fill()]
    assert sum(widths) == sum(LENGTHS.values())
    assert widths == [4, 1, 4, 4, 4, 2]
