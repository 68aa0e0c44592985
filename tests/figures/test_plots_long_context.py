"""The figures of chapter 13 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Wedge
from torch.testing import assert_close

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
LOSSES = {name: torch.linspace(2.6, end, 512) for name, end in (("as it is", 3.9), ("window", 2.7))}
BEFORE = {"it guesses": 128.0, "its table is small": 339.0, "its keys are few": 903.0}
AFTER = dict(zip(BEFORE, (256.0, math.inf, 3612.0), strict=True))
LEVELS = {"own": (2e5, 3e13), "shared": (5e7, 1e13), "large": (8e10, 3e12)}
WANTED = {"a tile": 3e4, "a table": 5e8}
MET = torch.tensor([9.0, 3.0, 1.0])
ASKED = {"as trained": 4 * MET, "slower": torch.tensor([36.0, 6.0, 1.0])}


def by_place() -> Figure:
    """Draw two ways of reading."""
    return long_context.by_place(LOSSES, trained=128)


def clocks() -> Figure:
    """Draw three clocks twice."""
    return long_context.clocks(MET, ASKED, (5, 7, 9))


def four_times() -> Figure:
    """Draw three kinds of sequences for six kinds of positions."""
    return long_context.four_times(SHARES)


def caches() -> Figure:
    """Draw all models."""
    return long_context.caches(KILOBYTES, SHARING, dict.fromkeys(KILOBYTES, "8 for 64"))


def walls() -> Figure:
    """Draw three walls after a cure that leaves two of them."""
    return long_context.walls(AFTER, BEFORE)


def memories() -> Figure:
    """Draw three memories, and two things that are to fit."""
    return long_context.memories(LEVELS, WANTED)


def rooms() -> Figure:
    """Draw three texts in pages, and two in rooms."""
    return long_context.rooms([5, 12], 12, PAGES, 4, LENGTHS, 6)


FIGURES = [by_place, clocks, four_times, caches, walls, memories, rooms]


@pytest.mark.parametrize("draw", FIGURES)
def test_figures_keep_the_laws(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (clocks, rooms))


def test_marks_stand_at_the_means_of_stretches_of_64_places() -> None:
    (axes,) = by_place().axes
    for line, losses in zip(axes.lines, LOSSES.values(), strict=True):
        assert line.get_xdata().tolist() == list(range(32, 512, 64))
        assert_close(torch.tensor(line.get_ydata()), losses.view(8, 64).mean(1).exp())


def test_a_clock_shows_what_was_met_and_what_is_new_up_to_once_round() -> None:
    (axes,) = clocks().axes
    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    assert [text.get_text() for text in axes.texts][-3:] == ["clock 5", "clock 7", "clock 9"]
    degrees = torch.tensor([wedge.theta2 - wedge.theta1 for wedge in wedges])
    sizes = degrees.float().deg2rad().view(2, 3, 2)
    once = 2 * torch.pi
    assert_close(sizes[..., 0], torch.tensor([[once, 3.0, 1.0]] * 2))
    assert_close(sizes[..., 1], torch.tensor([[0, once - 3, 3], [0, 3, 0]]), atol=1e-6, rtol=0)


def test_marks_stand_at_the_shares() -> None:
    (axes,) = four_times().axes
    drawn = [line.get_xdata().tolist() for line in axes.lines]
    wanted = [(100 * shares).tolist() for tests in SHARES.values() for shares in tests.values()]
    assert drawn == wanted


def test_bars_are_as_long_as_the_caches() -> None:
    (axes,) = caches().axes
    assert [bar.get_width() for bar in axes.patches] == list(KILOBYTES.values())


def test_tracks_end_at_walls_and_one_without_a_wall_at_the_end() -> None:
    (axes,) = walls().axes
    tracks = [(track.get_x(), track.get_x() + track.get_width()) for track in axes.patches]
    assert tracks == [(30, 256), (30, 10_000), (30, 3612)]
    stand = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "None"]
    assert stand == [128, 256, 339, 903, 3612]
    said = [text.get_text() for text in axes.texts]
    assert [text for text in said if text[0] not in "123"] == ["no wall"]
    assert {"256", "3,612"} < set(said)


def test_memories_reach_as_far_as_they_hold_and_lie_at_their_speed() -> None:
    (axes,) = memories().axes
    for box, (size, speed) in zip(axes.patches, LEVELS.values(), strict=True):
        (_, low), (right, high) = box.get_bbox().get_points()
        assert right == pytest.approx(size)
        assert low * high == pytest.approx((speed / 1e12) ** 2)  # in the middle, by a logarithm
    assert [line.get_xdata()[0] for line in axes.lines] == list(WANTED.values())


def test_pages_are_full_but_for_the_last_of_each_text() -> None:
    below = rooms().axes[1]
    widths = [patch.get_width() for patch in below.patches if patch.get_fill()]
    assert sum(widths) == sum(LENGTHS.values())
    assert widths == [4, 1, 4, 4, 4, 2]
