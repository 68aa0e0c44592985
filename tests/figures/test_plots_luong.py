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


def window() -> Figure:
    """Draw a window of two words to either side of 3.4."""
    return luong.window(WEIGHTS, BELL, 3.4, 2.0)


def beside() -> Figure:
    """Draw the offsets of two models."""
    return luong.beside(SHARES)


def quality_and_alignment() -> Figure:
    """Draw three runs of eight kinds of models."""
    return luong.quality_and_alignment(MEASURED)


FIGURES = [two_decoders, window, beside, quality_and_alignment]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw is two_decoders)


# --- two decoders ---------------------------------------------------------------------------------


def arrows(axes: Axes, nodes: dict[str, luong.Node]) -> dict[tuple[str, str], object]:
    """Return the arrows of a diagram by the names of their ends, each with its line style."""
    names = {node[:2]: name for name, node in nodes.items()}
    found = [text for text in axes.texts if isinstance(text, Annotation)]
    return {
        (names[tuple(arrow.xyann)], names[tuple(arrow.xy)]): arrow.arrow_patch.get_linestyle()
        for arrow in found
    }


def test_one_decoder_asks_with_the_old_state_and_the_other_with_the_new() -> None:
    left, right = two_decoders().axes
    for axes, asking in ((left, "$s_{t-1}$"), (right, "$s_t$")):
        boxes = [text for text in axes.texts if text.get_bbox_patch()]
        blue = [box for box in boxes if box.get_bbox_patch().get_facecolor()[:3] == colour("query")]
        assert [box.get_text() for box in blue] == [asking]
        (attention,) = (
            text.get_position() for text in axes.texts if text.get_text() == "attention"
        )
        starts = [
            tuple(text.xyann)
            for text in axes.texts
            if isinstance(text, Annotation) and tuple(text.xy) == attention
        ]
        assert blue[0].get_position() in starts


def colour(role: str) -> tuple[float, ...]:
    """Return the colour of a role as three numbers."""
    return to_rgb(ROLE[role])


def test_context_enters_the_cell_of_the_one_and_is_joined_afterwards_in_the_other() -> None:
    left, right = two_decoders().axes
    first = arrows(left, luong.BAHDANAU)
    second = arrows(right, luong.LUONG)
    assert ("context", "state") in first
    assert ("context", "state") not in second
    assert {("context", "joined"), ("state", "joined"), ("joined", "word")} < set(second)
    assert ("word before", "state") in first
    assert ("word before", "state") in second
    read_off = [{start for start, end in found if end == "word"} for found in (first, second)]
    assert read_off == [{"state", "context", "word before"}, {"joined"}]


def test_only_input_feeding_is_dashed() -> None:
    left, right = two_decoders().axes
    styles = arrows(left, luong.BAHDANAU) | arrows(right, luong.LUONG)
    dashed = {ends for ends, style in styles.items() if style != "-"}
    assert dashed == {("fed", "state")}


def test_boxes_have_the_colours_of_their_roles_with_legible_ink() -> None:
    for axes in two_decoders().axes:
        boxes = [text for text in axes.texts if text.get_bbox_patch()]
        filled = [to_rgb(box.get_bbox_patch().get_facecolor()) for box in boxes]
        for role in ("query", "key", "weight", "output"):
            assert filled.count(colour(role)) == 1
        for box, fill in zip(boxes, filled, strict=True):
            assert contrast(box.get_color(), fill) >= 4.5, box.get_text()
        (key,) = (box for box in boxes if box.get_text() == "$h_i$")
        assert to_rgb(key.get_bbox_patch().get_edgecolor()) == colour("value")


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
