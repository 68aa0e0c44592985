"""The figures of chapter 05 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import INK, PAPER, ROLE, luong
from tests.figures.figure_laws import MINUS, assert_laws, contrast, words_in
from tests.sampling import sampled

WEIGHTS = torch.tensor([0.0, 0.0, 0.08, 0.61, 0.22, 0.09, 0.0])
BELL = torch.tensor([0.0, 0.06, 0.38, 0.92, 0.84, 0.28, 0.03])
SHARES = {
    "dot": torch.tensor([0.004, 0.01, 0.114, 0.818, 0.026, 0.012, 0.007, 0.009]),
    "general": torch.tensor([0.02, 0.04, 0.1, 0.69, 0.1, 0.02, 0.01, 0.02]),
}
KINDS = ["additive", "dot", "general", "concat", "dot, fed", "general, fed", "local-m", "local-p"]
MEASURED = {
    kind: (
        torch.tensor([98.0, 97.0, 96.0]) + place / 4,
        torch.tensor([0.1, 0.2, 0.15]) + place / 99,
    )
    for place, kind in enumerate(KINDS)
}


def two_decoders() -> Figure:
    """Draw both decoders."""
    return luong.two_decoders()


READINGS = {"one": ["a", ",", "but", "b"], "other": ["a", ",", "whereas", "b"]}
MIXED = {"alors": {1}, "mais": {0, 2, 3}}
LOOKED = {"circles": torch.tensor([0, 1, 6, 4, 5, 6, 4]), "once": torch.tensor([0, 2, 3, 5, 8])}


def mixtures() -> Figure:
    """Draw two mixtures of two readings."""
    return luong.mixtures(READINGS, 1, MIXED)


def walks() -> Figure:
    """Draw the ways of two models through three clauses."""
    return luong.walks(LOOKED, [2, 5, 8])


def window() -> Figure:
    """Draw a window of two words to either side of 3.4."""
    return luong.window(WEIGHTS, BELL, 3.4, 2.0)


def beside() -> Figure:
    """Draw the offsets of two models."""
    return luong.beside(SHARES)


def quality_and_alignment() -> Figure:
    """Draw three runs of eight kinds of models."""
    return luong.quality_and_alignment(MEASURED)


FIGURES = [two_decoders, mixtures, walks, window, beside, quality_and_alignment]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (two_decoders, mixtures))


# --- two decoders ---------------------------------------------------------------------------------


def arrows(axes: Axes, nodes: dict[str, luong.Node]) -> dict[tuple[str, str], object]:
    """Return the arrows of a diagram by the names of their ends, each with its line style."""
    names = {node[:2]: name for name, node in nodes.items()}
    found = [text for text in axes.texts if isinstance(text, Annotation)]
    return {
        (names[tuple(arrow.xyann)], names[tuple(arrow.xy)]): arrow.arrow_patch.get_linestyle()
        for arrow in found
    }


def colour(role: str) -> tuple[float, ...]:
    """Return the colour of a role as three numbers."""
    return to_rgb(ROLE[role])


def drawn_arrows() -> list[dict[tuple[str, str], object]]:
    """Return the arrows of both decoders."""
    pairs = zip(two_decoders().axes, (luong.BAHDANAU, luong.LUONG), strict=True)
    return [arrows(axes, nodes) for axes, nodes in pairs]


def behind(pairs: set[tuple[str, str]], end: str) -> set[str]:
    """Return all from which arrows lead to `end`, over any number of steps."""
    starts = {start for start, here in pairs if here == end}
    return starts.union(*(behind(pairs, start) for start in starts))


def test_one_decoder_asks_with_the_old_state_and_the_other_with_the_new() -> None:
    first, second = map(set, drawn_arrows())
    for t in luong.STEPS:
        assert {start for start, end in first if end == f"c{t}"} == {f"s{t - 1}", "annotations"}
        assert {start for start, end in second if end == f"c{t}"} == {f"s{t}", "annotations"}
        assert {(f"c{t}", f"joined{t}"), (f"s{t}", f"joined{t}")} < second


def test_the_states_that_ask_are_those_in_the_colour_of_a_query() -> None:
    for nodes, pairs in zip((luong.BAHDANAU, luong.LUONG), drawn_arrows(), strict=True):
        asks = {start for start, end in pairs if start[0] == "s" and end[0] == "c"}
        assert asks == {name for name, node in nodes.items() if node.role == "query"}


def test_every_context_waits_for_those_before_in_the_one_and_for_none_in_the_other() -> None:
    first, second = drawn_arrows()
    solid = {pair for pair, style in second.items() if style == "-"}
    for t in luong.STEPS:
        earlier = {f"c{before}" for before in range(1, t)}
        assert behind(set(first), f"c{t}") >= earlier
        assert not behind(solid, f"c{t}") & set(map("c{}".format, luong.STEPS))
        assert behind(set(second), f"c{t}") >= earlier  # with input feeding


def test_only_input_feeding_is_dashed_and_only_what_waits_is_red() -> None:
    first, second = drawn_arrows()
    assert set(first.values()) == {"-"}
    dashed = {ends for ends, style in second.items() if style != "-"}
    assert dashed == {("joined1", "s2"), ("joined2", "s3")}
    above, below = two_decoders().axes
    red = [
        [t for t in axes.texts if isinstance(t, Annotation) and t.arrow_patch.get_linewidth() > 2]
        for axes in (above, below)
    ]
    assert [len(some) for some in red] == [2 * len(luong.STEPS), 0]
    assert {to_rgb(one.arrow_patch.get_edgecolor()) for one in red[0]} == {colour("output")}


def test_boxes_have_the_colours_of_their_roles_with_legible_ink() -> None:
    for axes in two_decoders().axes:
        boxes = [text for text in axes.texts if text.get_bbox_patch()]
        filled = [to_rgb(box.get_bbox_patch().get_facecolor()) for box in boxes]
        assert [filled.count(colour(role)) for role in ("key", "output")] == [1, 3]
        for box, fill in zip(boxes, filled, strict=True):
            assert contrast(box.get_color(), fill) >= 4.5, box.get_text()
        (key,) = (box for box in boxes if "h_i" in box.get_text())
        assert to_rgb(key.get_bbox_patch().get_edgecolor()) == colour("value")


# --- what a neighbour knows, and ways through a sentence ------------------------------------------


def test_mixtures_fill_the_boxes_of_one_reading_and_name_the_words_of_each() -> None:
    figure = mixtures()
    for axes, (word, second) in zip(figure.axes, MIXED.items(), strict=True):
        boxes = [text for text in axes.texts if text.get_bbox_patch()]
        hollow = {
            place
            for place, text in enumerate(boxes)
            if to_rgb(text.get_bbox_patch().get_facecolor()) == to_rgb(PAPER)
        }
        assert hollow == second
        said = [READINGS["other" if place in second else "one"][place] for place in range(4)]
        assert [text.get_text() for text in boxes] == said
        (above,) = (text for text in axes.texts if not text.get_bbox_patch())
        assert (above.get_text(), above.get_position()[0]) == (word, 1)


def test_walks_show_every_step_and_number_the_clauses() -> None:
    figure = walks()
    for axes, (name, places) in zip(figure.axes, LOOKED.items(), strict=True):
        assert axes.get_title(loc="left") == name
        for line in axes.lines:
            assert_near(line.get_ydata(), places)
        assert_near(axes.get_yticks(), [1, 4, 7])
        assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3"]


# --- the others -----------------------------------------------------------------------------------


def test_window_draws_the_weights_before_and_after_the_bell_around_its_centre() -> None:
    (axes,) = window().axes
    before, after = axes.containers
    assert_near([bar.get_height() for bar in before], WEIGHTS)
    assert_near([bar.get_height() for bar in after], WEIGHTS * BELL)
    assert {to_rgb(bar.get_facecolor()) for bar in after} == {colour("weight")}
    curve, bell, centre = axes.lines
    assert_near(bell.get_ydata(), BELL)
    assert_near(np.interp(range(len(BELL)), *curve.get_data()), BELL, atol=0.006)
    assert abs(curve.get_xdata()[np.argmax(curve.get_ydata())] - 3.4) < 0.02
    assert set(centre.get_xdata()) == {3.4}
    area = axes.patches[0]
    assert_near([area.get_x(), area.get_x() + area.get_width()], [1.4, 5.4])


def test_beside_has_a_bar_for_each_offset_and_one_for_all_that_is_farther() -> None:
    panels = beside().axes
    for axes, (name, shares) in zip(panels, SHARES.items(), strict=True):
        assert axes.get_title(loc="left") == name
        assert_near([bar.get_height() for bar in axes.patches], 100 * shares, rtol=1e-6)
        middles = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
        assert_near(middles, np.arange(-3, 5), atol=1e-9)
    ticks = [label.get_text() for label in panels[-1].get_xticklabels()]
    assert ticks == [f"{MINUS}3", f"{MINUS}2", f"{MINUS}1", "0", "+1", "+2", "+3", "farther"]
    assert {"82", "11", "69"} < set(words_in(beside()))


def test_every_run_has_a_mark_and_no_two_kinds_share_one() -> None:
    figure = quality_and_alignment()
    (axes,) = figure.axes
    marks = set()
    for line, (kind, (bleu, aer)) in zip(axes.lines, MEASURED.items(), strict=True):
        assert line.get_label() == kind
        assert_near(line.get_xydata(), torch.stack([aer, bleu], 1))
        assert line.get_linestyle() == "None"
        marks.add((line.get_marker(), line.get_markerfacecolor()))
        assert line.get_markerfacecolor() in (INK, PAPER)
    assert len(marks) == len(MEASURED)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == KINDS
    assert axes.get_xlim()[0] == 0
