"""The figures of chapter 10 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import GREY, INK, VIOLET, recurrence
from tests.figures.figure_laws import MINUS, assert_laws, words_in
from tests.sampling import sampled

NEVER = float("nan")
DISTANCE = torch.arange(201)
SEEDS = torch.tensor([[0.99], [1.0], [1.02]], dtype=torch.float64)
FALLING = (0.5 * SEEDS) ** DISTANCE
FLAT = torch.full((3, 201), 0.003, dtype=torch.float64)
RISING = (1.1 * SEEDS) ** DISTANCE
SIZES = torch.tensor([10, 20, 50, 100])
STEPS = {
    "rnn": torch.tensor([[690, 350, 1350, NEVER], [590, NEVER, 1740, NEVER]]),
    "gru": torch.tensor([[20.0, 30, 40, 40], [20, 30, 40, 40]]),
    "lstm": torch.tensor([[120, 520, NEVER, NEVER], [260, NEVER, NEVER, NEVER]]),
    "lstm, forget bias 3": torch.tensor([[40, 40, 570, NEVER], [30, 160, 460, NEVER]]),
    "attention": torch.tensor([[20.0, 20, 30, 70], [40, NEVER, 60, 110]]),
}
LENGTHS = torch.tensor([16, 32, 64, 128, 256, 512, 1024, 2048, 4096])
COSTS = {
    "million multiplications": {"gru": 0.8 * LENGTHS, "attention": 0.4 * LENGTHS + LENGTHS**2},
    "milliseconds": {
        "gru": 0.2 * LENGTHS,
        "lstm": 0.1 * LENGTHS,
        "attention": 0.02 * LENGTHS + 1e-4 * LENGTHS**2,
        "fast attention": 0.02 * LENGTHS + 5e-5 * LENGTHS**2,
    },
}
CLOCK = {"gru": 0.002 * LENGTHS, "lstm": 0.004 * LENGTHS, "attention": 0.001 * LENGTHS}
CLOCK["fast attention"] = torch.cat([LENGTHS[:-1], torch.tensor([math.nan])])  # not to the end
NEAR = {"gru": 20, "lstm, gate open": 40, "rnn": 590}
FAR = {"gru": 40, "lstm, gate open": None, "rnn": None}
LOOKED = {
    "one": torch.linspace(0, 1, 126).reshape(6, 21),
    "other": torch.linspace(1, 0, 126).reshape(6, 21),
}
AT = torch.arange(1, 16) * 100
BLEU = {
    "fixed vector": torch.linspace(1, 30, 15) * torch.ones(3, 1),
    "recurrent with attention": torch.linspace(2, 99, 15) * torch.tensor([[1.0], [0.9], [1.0]]),
    "attention alone": torch.linspace(3, 98, 15) * torch.ones(3, 1),
}


def paths() -> Figure:
    """Draw both paths from the first of six tokens."""
    return recurrence.paths(6)


def ways_back() -> Figure:
    """Draw the two ways back through an LSTM."""
    return recurrence.ways_back("\u00d7 0.97", "\u00d7 0.04")


def decay() -> Figure:
    """Draw what falls, what stays and what rises."""
    first = {"rnn": FALLING, "gru": FALLING**0.7, "lstm": FALLING**0.6, "attention": FLAT}
    other = {"gain 2": RISING, "forget bias 1": FALLING**0.2, "forget bias 5": FLAT}
    return recurrence.decay(DISTANCE, {"one": first, "other": other}, "distance", "gradient norm")


def samples() -> Figure:
    """Draw two runs at one rate and one at another, a mark for each point."""
    lines = {"attention, rate 0.03": FALLING[:2, ::20], "attention, rate 0.003": FLAT[:1, ::20]}
    return recurrence.decay(DISTANCE[::20], {"after": lines}, "distance", "gradient norm")


def not_to_scale() -> Figure:
    """Draw three points that stand evenly, whatever their distances."""
    before = {"gru": FALLING[:, [0, 1, 200]], "attention, before": FLAT[:, [0, 1, 200]]}
    after = {"gru": FALLING[:, [0, 1, 200]], "attention, rate 0.03": FALLING[:2, [0, 1, 200]]}
    panels = {"before": before, "after": after}
    return recurrence.decay(torch.arange(3), panels, "distance", "gradient norm", names=(0, 1, 200))


def costs() -> Figure:
    """Draw a count and a time."""
    return recurrence.costs(LENGTHS, COSTS)


def steps_to_learn() -> Figure:
    """Draw the steps of five layers."""
    return recurrence.steps_to_learn(SIZES, STEPS, 2000)


def milliseconds() -> Figure:
    """Draw the times of three layers."""
    return recurrence.milliseconds(LENGTHS, CLOCK)


def near_and_far() -> Figure:
    """Draw the steps of three layers at two distances."""
    return recurrence.near_and_far(NEAR, FAR, 2000)


def where_it_looks() -> Figure:
    """Draw the weights of two models."""
    return recurrence.where_it_looks(LOOKED, 10)


def while_learning() -> Figure:
    """Draw the BLEU of three translators."""
    return recurrence.how_good(AT, BLEU, "optimiser steps", "BLEU")


def by_length() -> Figure:
    """Draw the BLEU of three translators for sentences longer and longer."""
    falling = {name: runs.flip(1) for name, runs in BLEU.items()}
    return recurrence.how_good(AT / 15, falling, "words in the source", "BLEU", longest_learned=59)


FIGURES = [
    paths, decay, samples, not_to_scale, costs, steps_to_learn, while_learning, by_length,
    milliseconds, near_and_far, where_it_looks, ways_back,
]  # fmt: skip


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (paths, ways_back))


def line(axes: Axes, name: str) -> Line2D:
    """Return the line of that name."""
    (found,) = [line for line in axes.lines if line.get_label() == name]
    return found


# --- the path from one word to another ------------------------------------------------------------


def strong_arrows(axes: Axes, colour: str = VIOLET) -> list[FancyArrowPatch]:
    """Return the arrows of the path that is shown, or of one in another colour."""
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    return [arrow for arrow in arrows if to_rgb(arrow.get_edgecolor()) == to_rgb(colour)]


@pytest.mark.parametrize("length", [2, 3, 6])
def test_the_path_has_an_arrow_for_each_token_through_states_and_one_through_attention(
    length: int,
) -> None:
    states, attention = recurrence.paths(length).axes
    assert len(strong_arrows(states)) == length
    assert len(strong_arrows(attention)) == 1
    every = [patch for patch in attention.patches if isinstance(patch, FancyArrowPatch)]
    assert len(every) == length**2  # from each to each


def test_each_step_of_a_memory_has_a_factor_and_a_second_way_of_two_arrows() -> None:
    (axes,) = ways_back().axes
    straight, round_about = (strong_arrows(axes, colour) for colour in (INK, GREY))
    written = [text.get_text() for text in axes.texts]
    assert (len(straight), len(round_about)) == (3, 6)
    assert [written.count(f"\u00d7 {factor}") for factor in ("0.97", "0.04")] == [3, 3]


# --- what grows and what shrinks ------------------------------------------------------------------


def test_a_decay_is_drawn_as_the_geometric_mean_in_a_band_over_the_seeds() -> None:
    (axes,) = recurrence.decay(DISTANCE, {"": {"rnn": FALLING}}, "distance", "norm").axes
    assert axes.get_yscale() == "log"
    assert_near(line(axes, "rnn").get_ydata(), FALLING.prod(0) ** (1 / 3), rtol=1e-9)
    band = axes.collections[0].get_paths()[0].vertices
    assert_near(band[:, 1].min(), FALLING.min(), rtol=1e-9)
    assert {FALLING[0, 100].item(), FALLING[2, 100].item()} <= set(band[:, 1])


def test_a_layer_with_a_mark_alone_is_drawn_run_by_run_and_named_once() -> None:
    (axes,) = samples().axes
    assert not axes.collections
    drawn = [run for run in axes.lines if run.get_color() == VIOLET]
    expected = [*FALLING[:2, ::20], FLAT[0, ::20]]
    for run, values in zip(drawn, expected, strict=True):
        assert run.get_linestyle() == "None"
        assert_near(run.get_ydata(), values)
    assert [run.get_label().startswith("_") for run in drawn] == [False, True, False]


def test_points_that_are_not_to_scale_are_named_and_evenly_apart() -> None:
    _, axes = not_to_scale().axes
    assert axes.get_xticks().tolist() == [0, 1, 2]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "200"]


@pytest.mark.parametrize("rate", [0.9, 0.6, 0.45, 1.3])
def test_powers_of_ten_that_are_named_are_evenly_apart_and_few(rate: float) -> None:
    runs = (rate * SEEDS) ** DISTANCE
    (axes,) = recurrence.decay(DISTANCE, {"": {"rnn": runs}}, "distance", "norm").axes
    exponents = [round(math.log10(tick)) for tick in axes.get_yticks()]
    gaps = {b - a for a, b in itertools.pairwise(exponents)}
    assert 3 <= len(exponents) <= 7
    (gap,) = gaps
    assert gap in (1, 2, 5, 10, 20, 50)
    assert all(exponent % gap == 0 for exponent in exponents)


def test_a_layer_looks_the_same_in_every_figure_and_no_two_lines_of_one_look_alike() -> None:
    looks = {}
    for draw in (decay, samples, not_to_scale, costs, while_learning, by_length, milliseconds):
        for axes in draw().axes:
            named = [line for line in axes.lines if not line.get_label().startswith("_")]
            here = {
                line.get_label(): (line.get_marker(), line.get_linestyle(), line.get_color())
                for line in named
            }
            assert len(set(here.values())) == len(here)
            for name in recurrence.LOOKS.keys() & here:
                assert looks.setdefault(name, here[name]) == here[name]
    assert looks.keys() == recurrence.LOOKS.keys()


def test_costs_are_drawn_as_given_and_each_panel_says_what_it_counts() -> None:
    panels = costs().axes
    assert [axes.get_ylabel() for axes in panels] == list(COSTS)
    for axes, lines in zip(panels, COSTS.values(), strict=True):
        for name, cost in lines.items():
            assert_near(line(axes, name).get_ydata(), cost)
            assert_near(line(axes, name).get_xdata(), LENGTHS)
    assert "4,096" in words_in(costs())


def test_a_name_stands_beside_the_end_of_its_line_and_none_covers_another() -> None:
    for axes, lines in zip(costs().axes, COSTS.values(), strict=True):
        named = {text.get_text(): text for text in axes.texts}
        assert named.keys() == lines.keys()
        low, high = axes.get_ylim()
        heights = sorted(text.xy[1] for text in named.values())
        assert all(b >= a * (high / low) ** 0.06 for a, b in itertools.pairwise(heights))
        for name, cost in lines.items():
            at, height = named[name].xy
            assert at == LENGTHS[-1]
            assert float(cost[-1]) <= height <= float(cost[-1]) * (high / low) ** 0.2
            assert named[name].get_color() == line(axes, name).get_color()


def test_milliseconds_have_log_scales_and_each_line_is_named_at_its_end() -> None:
    (axes,) = milliseconds().axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for name, times in CLOCK.items():
        known = times.isfinite()
        assert_near(line(axes, name).get_xdata(), LENGTHS[known])
        assert_near(line(axes, name).get_ydata(), times[known])
        (named,) = [text for text in axes.texts if text.get_text() == name]
        assert_near(named.xy, (LENGTHS[known][-1], times[known][-1]))


# --- steps to learn -------------------------------------------------------------------------------


def test_an_arrow_leads_from_near_to_far_and_into_the_grey_where_it_was_not_learned() -> None:
    (axes,) = near_and_far().axes
    (grey,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert grey.get_x() > 2000
    marks = [float(drawn.get_xdata()[0]) for drawn in axes.lines]
    assert marks[::2] == list(NEAR.values())
    assert marks[1] == FAR["gru"]
    assert min(marks[3::2]) > grey.get_x()
    written = {text.get_text() for text in axes.texts}
    assert {"gru", "lstm,\ngate open", "rnn", "20", "40", "590", "not in 2,000"} < written


def test_where_it_looks_has_a_row_for_each_time_the_first_on_top() -> None:
    for axes, (title, weights) in zip(where_it_looks().axes, LOOKED.items(), strict=True):
        (drawn,) = axes.collections
        assert axes.get_title(loc="left") == title
        assert_near(drawn.get_array(), weights)
        written = {text.get_text() for text in axes.texts} - {"on the digit"}
        assert written == {f"{each:.1%}" for each in weights[:, 0]}
        assert drawn.get_clim() == (0, 1)
        assert axes.get_ylim() == (6, 0)


def test_every_seed_has_a_mark_and_failures_lie_in_the_grey() -> None:
    (axes,) = steps_to_learn().axes
    (grey,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert grey.get_y() > 2000
    for name, taken in STEPS.items():
        marks = [
            drawn
            for drawn in axes.lines
            if drawn.get_marker() == recurrence.LOOKS.get(name, "v")[0][0]
        ]
        assert len(marks) == len(taken)
        for drawn, wanted in zip(marks, taken, strict=True):
            shown = torch.as_tensor(drawn.get_ydata())
            assert (shown[wanted.isnan()] > grey.get_y()).all()
            assert_near(shown[~wanted.isnan()], wanted[~wanted.isnan()])


def test_no_mark_of_the_race_hides_another() -> None:
    figure = steps_to_learn()
    (axes,) = figure.axes
    figure.draw_without_rendering()
    marks = [run for run in axes.lines if run.get_marker() != "None" and run.get_label() == "_"]
    places = [axes.transData.transform(run.get_xydata()) for run in marks]
    nearest = min(
        abs(one - other).max() for one, other in itertools.combinations(np.concatenate(places), 2)
    )
    assert nearest > 0.5 * marks[0].get_markersize() * figure.dpi / 72


def test_the_line_of_a_layer_joins_its_medians_and_each_fails_at_its_own_height() -> None:
    (axes,) = steps_to_learn().axes
    named = [text for text in axes.texts if text.get_text() in STEPS]
    ends = [text.xy[1] for text in named if text.xy[0] >= axes.get_xlim()[1]]
    assert len(set(ends)) == len(STEPS)
    assert line(axes, "gru").get_ydata().tolist() == [20, 30, 40, 40]
    three = {"gru": torch.tensor([[20.0, NEVER], [90, NEVER], [30, 50]])}
    (axes,) = recurrence.steps_to_learn(SIZES[:2], three, 2000).axes
    learned, failed = line(axes, "gru").get_ydata()
    assert learned == 30
    assert math.isnan(failed)


@pytest.mark.parametrize(
    ("first", "heights"), [(40.0, [300.0]), (NEVER, [])], ids=["a line", "a single point"]
)
def test_a_line_that_ends_early_is_named_at_its_end(first: float, heights: list[float]) -> None:
    steps = {
        "gru": torch.tensor([[20.0, 30, 40, 40]] * 3),
        "lstm": torch.tensor([[first, 300, NEVER, NEVER]] * 3),
    }
    (axes,) = recurrence.steps_to_learn(SIZES, steps, 2000).axes
    named = [text.xy for text in axes.texts if text.get_text() == "lstm"]
    assert [height for at, height in named if 0.5 < at < 1.5] == heights


def test_distances_and_layers_of_the_race_are_named() -> None:
    (axes,) = steps_to_learn().axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "20", "50", "100"]
    assert {*STEPS} < {text.get_text() for text in axes.texts}
    assert "not learned\nin 2,000" in words_in(steps_to_learn())


def test_grey_are_the_lengths_that_were_not_learned_from_and_no_others() -> None:
    (axes,) = by_length().axes
    (grey,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert (grey.get_x(), grey.get_x() + grey.get_width()) == (59, 100)
    assert not while_learning().axes[0].patches


def test_while_learning_draws_means_and_begins_at_zero() -> None:
    (axes,) = while_learning().axes
    for name, runs in BLEU.items():
        assert_near(line(axes, name).get_ydata(), runs.mean(0), rtol=1e-6)
    assert axes.get_ylim()[0] == 0
    assert not any(MINUS in word for word in words_in(while_learning()))
