"""The figures of chapter 04 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose as assert_near
from torch import Tensor

from attn_course.plots import INK, ROLE, bahdanau
from attn_course.plots.decoder_step import CONTEXT_AND_WORD, SCORES_TO_CONTEXT, DecoderStep
from attn_course.plots.decoder_step import walk as draw_walk
from tests.figures.figure_laws import MINUS, assert_laws, contrast, texts, words_in
from tests.sampling import sampled

WORDS = ["European", "Economic", "Area"]
ANNOTATIONS = torch.tensor([[1.1, 0, 0], [0, 1.2, 0], [0, 0, 1.3]])
STEP = DecoderStep(
    number=2,
    before=torch.tensor([-1.0, -1, 1]),
    scores=torch.tensor([-5.2, -4.1, -3.11]),
    weights=torch.tensor([0.07, 0.2, 0.73]),
    context=torch.tensor([0.08, 0.24, 0.95]),
    after=torch.tensor([-1.0, 0.999, -1]),
    said="zone",
)
TARGET = ["la", "zone", "économique", "européenne"]
SURE, POSSIBLE = {(2, 1), (1, 2)}, {(2, 1), (1, 2), (2, 0)}


def weights() -> Tensor:
    """Return a row of four weights for each of four words; the fourth column is the end."""
    return torch.softmax(torch.arange(16.0).reshape(4, 4).sin() * 3, -1)


def begun() -> Tensor:
    """Return weights of which two rows are still even."""
    shares = weights()
    shares[1:3] = 1 / 4
    return shares


def walk() -> Figure:
    """Draw a step to its end."""
    return draw_walk(WORDS, ANNOTATIONS, STEP)


def hidden_unit() -> Figure:
    """Draw what a unit makes of two keys."""
    return bahdanau.hidden_unit((0.0, 1.1), {"query 0": 0.0, "query −3": -3.0})


def deaf_and_listening() -> Figure:
    """Draw a unit that hears nothing and one that does."""
    return bahdanau.deaf_and_listening((0.0, 1.1), deaf=-10.0, listens=0.0)


def stage() -> Figure:
    """Draw a matrix of weights, with rings in other columns than the darkest cells."""
    return bahdanau.stage(begun(), weights().roll(1, -1), "ABCD", "DCBA", torch.tensor(1.0))


def alignment() -> Figure:
    """Draw one matrix with its links."""
    return bahdanau.alignment(weights(), [*WORDS, "EOS"], TARGET, SURE, POSSIBLE)


TAMPERED = {"as learned": 98.0, "permuted": 3.5, "all alike": 1.9}
DELETED = torch.tensor([5.5, 0.1, -0.2, 7.0])
REPLACED = [torch.tensor([4.0, 6.5, 5.0]), torch.tensor([0.2]), torch.zeros(0), torch.zeros(2)]


def bleu_bars() -> Figure:
    """Draw three bars."""
    return bahdanau.bleu_bars(TAMPERED, "weights")


def weight_and_need() -> Figure:
    """Draw a row of weights above two rows of losses."""
    words = [*WORDS, "was"]
    return bahdanau.weight_and_need(words, weights()[1], DELETED, REPLACED, "zone")


FIGURES = [
    walk,
    deaf_and_listening,
    hidden_unit,
    stage,
    alignment,
    bleu_bars,
    weight_and_need,
]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw is walk)


# --- the walk ------------------------------------------------------------------------------------


def test_walk_shows_every_number_of_the_step() -> None:
    shown = words_in(walk())
    assert {MINUS + "5.2", MINUS + "4.1", MINUS + "3.1", "0.07", "0.20", "0.73"} < set(shown)
    assert {"(1.1, 0, 0)", "(0, 1.2, 0)", "(0, 0, 1.3)", "(0.08, 0.24, 0.95)"} < set(shown)
    assert {f"({MINUS}1, {MINUS}1, 1)", f"({MINUS}1, 1, {MINUS}1)"} < set(shown)
    assert {*WORDS, "zone", "$s_1$", "$s_2$", "$c_2$", "$e_{2,i}$"} < set(shown)


def test_walk_draws_weights_as_bars_and_as_lines_to_the_context() -> None:
    (axes,) = walk().axes
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert_near([bar.get_height() for bar in bars], STEP.weights)
    lines = [line for line in axes.lines if line.get_color() == ROLE["weight"]]
    assert_near([(line.get_linewidth() - 0.5) / 8 for line in lines], STEP.weights)
    for bar, line in zip(bars, lines, strict=True):
        assert line.get_xdata()[0] == pytest.approx(bar.get_x() + bar.get_width() / 2)
        assert line.get_ydata()[0] == pytest.approx(bar.get_y() + bar.get_height())
    assert len({(line.get_xdata()[1], line.get_ydata()[1]) for line in lines}) == 1


def test_walk_draws_each_role_in_its_colour_with_legible_ink() -> None:
    boxes = [text for text in texts(walk()) if text.get_bbox_patch()]
    filled = [to_rgb(text.get_bbox_patch().get_facecolor()) for text in boxes]
    roles = ["key"] * 3 + ["query"] * 2 + ["output"]
    assert sorted(filled) == sorted(to_rgb(ROLE[role]) for role in roles)
    for text, colour in zip(boxes, filled, strict=True):
        assert contrast(text.get_color(), colour) >= 4.5, text.get_text()
    rims = [to_rgb(text.get_bbox_patch().get_edgecolor()) for text in boxes]
    assert rims.count(to_rgb(ROLE["value"])) == 3  # an annotation is key and value


def test_walk_grows_piece_by_piece_and_keeps_its_scale() -> None:
    so_far = [DecoderStep(2, STEP.before, STEP.scores)]
    so_far.append(so_far[-1]._replace(weights=STEP.weights))
    so_far.append(so_far[-1]._replace(context=STEP.context))
    drawn = [draw_walk(WORDS, ANNOTATIONS, step) for step in [*so_far, STEP]]
    shown = [set(words_in(figure)) for figure in drawn]
    to_come = {"next state", "word"}
    assert to_come < shown[0]
    assert not to_come & shown[-1]
    for before, after in itertools.pairwise(shown):
        assert before - to_come < after
    new = [after - before for before, after in itertools.pairwise([set(), *shown])]
    assert {"scores", "$e_{2,i}$", "weights"} < new[0]
    assert new[1] == {"$\\alpha_{2,i}$", "0.07", "0.20", "0.73"}
    assert new[2] == {"$c_2$", "(0.08, 0.24, 0.95)"}
    assert new[3] == {"$s_2$", "zone", f"({MINUS}1, 1, {MINUS}1)"}
    scales = []
    for figure in drawn:
        low, high = figure.axes[0].get_ylim()
        scales.append(figure.get_figheight() / (high - low))
    assert_near(scales, scales[0])


def test_part_of_a_walk_names_its_columns_and_has_no_ends_of_lines_from_below() -> None:
    step = STEP._replace(after=None, said="")
    part = draw_walk(WORDS, ANNOTATIONS, step, SCORES_TO_CONTEXT)
    assert {*WORDS, "scores", "weights", "context", "$s_1$"} < set(words_in(part))
    (axes,) = part.axes
    assert {line.get_color() for line in axes.lines} == {ROLE["weight"]}
    upper = set(words_in(draw_walk(WORDS, ANNOTATIONS, STEP, CONTEXT_AND_WORD)))
    assert {"context", "$c_2$", "$s_2$", "zone"} <= upper
    assert not upper & {*WORDS, "scores", "weights"}


def test_walk_draws_an_arrow_from_the_context_to_the_state_and_to_the_word() -> None:
    (axes,) = walk().axes
    at = {text.get_text(): text.get_position() for text in axes.texts if text.get_text()}
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    ends = [at[name] for name in (f"({MINUS}1, 1, {MINUS}1)", "zone")]
    for arrow, (x, y) in zip(arrows, ends, strict=True):
        assert arrow.xy[1] == pytest.approx(y, abs=0.01)
        assert arrow.xy[0] == pytest.approx(x, abs=1.2)
        assert arrow.xyann[1] == pytest.approx(at["(0.08, 0.24, 0.95)"][1], abs=0.5)


# --- the others -----------------------------------------------------------------------------------


def test_a_deaf_unit_says_the_same_of_both_keys_and_a_listening_one_does_not() -> None:
    (axes,) = deaf_and_listening().axes
    assert {f"deaf: {MINUS}1 to {MINUS}1", "listens: 0 to 0.8"} <= set(words_in(axes.figure))
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    for dot, query in zip(dots, (-10, 0), strict=True):
        assert_near(dot.get_xdata(), [query, query + 1.1], rtol=1e-6)
        assert_near(dot.get_ydata(), np.tanh(dot.get_xdata()), rtol=1e-6)


def test_hidden_unit_measures_the_keys_where_they_lie_on_the_curve() -> None:
    bent, straight = hidden_unit().axes
    for axes, bend in ((bent, np.tanh), (straight, np.positive)):
        curve, *marks = axes.lines
        assert_near(curve.get_ydata(), bend(np.asarray(curve.get_xdata())), atol=1e-6)
        dots = [line for line in marks if line.get_marker() == "o"]
        assert_near([dot.get_xdata() for dot in dots], [[0, 1.1], [-3, -1.9]], atol=1e-6)
        for dot in dots:
            assert_near(dot.get_ydata(), bend(np.asarray(dot.get_xdata())), atol=1e-6)
    assert {"0.80", "0.04"} < {text.get_text() for text in bent.texts}
    assert [text.get_text() for text in straight.texts].count("1.10") == 2


def test_matrices_show_their_weights_on_one_scale_from_nothing_to_all() -> None:
    for figure, shares in ((stage(), begun()), (alignment(), weights())):
        image = figure.axes[0].images[0]
        assert_near(image.get_array(), shares)
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
        assert image.cmap(0.0) == to_rgba(ROLE["weight"], 0)  # the ground shows


def test_alignment_has_words_on_both_axes_and_frames_around_the_links() -> None:
    axes = alignment().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == [*WORDS, "EOS"]
    assert [label.get_text() for label in axes.get_yticklabels()] == TARGET
    frames = {}
    for patch in axes.patches:
        left, top = patch.get_xy()
        link = (left + patch.get_width() / 2, top + patch.get_height() / 2)
        frames[tuple(round(place) for place in link)] = patch.get_linestyle()
        assert_near(link, np.round(link), atol=1e-9)
    assert frames == {(2, 1): "-", (1, 2): "-", (2, 0): ":"}


def test_stage_names_its_letters_and_rings_where_the_loss_falls_most_in_pale_rows() -> None:
    (axes,) = stage().axes
    assert [label.get_text() for label in axes.get_xticklabels()] == list("ABCD")
    assert [label.get_text() for label in axes.get_yticklabels()] == list("DCBA")
    (rings,) = axes.collections
    most, at = weights().roll(1, -1).max(-1)
    pale = torch.tensor([1, 2])
    assert_near(rings.get_offsets(), torch.stack([at[pale], pale], 1))
    assert_near(rings.get_linewidths(), 4 * most[pale].sqrt())


def test_there_is_a_bar_for_each_change_the_first_on_top() -> None:
    (axes,) = bleu_bars().axes
    assert_near([bar.get_width() for bar in axes.patches], list(TAMPERED.values()))
    assert [label.get_text() for label in axes.get_yticklabels()] == list(TAMPERED)
    assert axes.yaxis_inverted()


def test_weight_and_both_needs_stand_above_each_other_over_the_words() -> None:
    looked, without, other = weight_and_need().axes
    assert_near([bar.get_height() for bar in looked.patches], weights()[1])
    assert_near([bar.get_height() for bar in without.patches], DELETED)
    assert {bar.get_facecolor() for bar in looked.patches} == {to_rgba(ROLE["weight"])}
    assert {bar.get_facecolor() for bar in without.patches} == {to_rgba(INK)}
    assert [label.get_text() for label in other.get_xticklabels()] == [*WORDS, "was"]
    assert "zone" in looked.get_title(loc="left")


def test_every_replacement_is_a_dot_over_its_word_on_the_scale_of_the_deletions() -> None:
    _, without, other = weight_and_need().axes
    for place, (line, losses) in enumerate(zip(other.lines, REPLACED, strict=True)):
        assert_near(line.get_ydata(), losses)
        assert set(line.get_xdata()) <= {place}
    assert other.get_ylim() == without.get_ylim()
