"""The figures of chapter 08 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from numpy.testing import assert_allclose as assert_near
from torch import Tensor

from attn_course.plots import FAINT, PAPER, ROLE, self_attention
from attn_course.plots.one_word import follow_one
from attn_course.plots.three_roles import three_roles as draw_three_roles
from tests.figures.figure_laws import (
    MINUS,
    assert_laws,
    contrast,
    least_contrast,
    texts,
    words_in,
)
from tests.sampling import sampled

SENTENCE = ["Bark", "is", "very", "cute", "and", "he", "is", "a", "dog"]
COSINES = torch.tensor([[1.0, 0.627, -0.054], [0.627, 1.0, -0.003], [-0.054, -0.003, 1.0]])
LINKS = {(0, 8), (5, 0), (8, 3)}
HE = {
    "at first": torch.arange(1.0, 10) / 45,
    "trained": torch.tensor([0.377, 0.118, 0.042, 0.027, 0.009, 0.024, 0.017, 0.008, 0.17]),
}
COUNTS = {
    "a layer": {"attention": 1_000, "feed-forward": 2_000, "rest": 4},
    "all of it": {"attention": 30, "feed-forward": 60, "rest": 110},
}


def weights() -> Tensor:
    """Return a row of nine weights for each of nine words, no two alike."""
    return torch.softmax(torch.arange(81.0).reshape(9, 9).sin() * 3, -1)


def vectors() -> Tensor:
    """Return nine vectors of six numbers, of both signs."""
    return torch.arange(54.0).reshape(9, 6).cos()


def table() -> Figure:
    """Draw the weights of a sentence in per cent."""
    return self_attention.table(SENTENCE, 100 * weights(), decimals=0, most=50, framed=5)


def cosines() -> Figure:
    """Draw cosines, which may be negative."""
    names = ["king", "queen", "zebra"]
    look = {"labels": ("word", "word"), "colour": FAINT}
    return self_attention.table(names, COSINES, decimals=2, most=1.0, **look)


def panels() -> Figure:
    """Draw two tables with three links."""
    tables = {"before": weights() / 2, "after": weights()}
    return self_attention.panels(SENTENCE, tables, LINKS)


def asks() -> Figure:
    """Draw the weights of one query, twice."""
    return self_attention.asks(SENTENCE, 5, HE, {0, 8})


def lessons() -> Figure:
    """Draw what a sentence teaches."""
    return self_attention.lessons(SENTENCE)


def blend() -> Figure:
    """Draw the sum of nine vectors."""
    return self_attention.blend(SENTENCE, weights()[0], vectors())


def three_roles() -> Figure:
    """Draw the diagram, with four different sizes."""
    return draw_three_roles(length=9, d_model=384, d_key=64, d_value=48)


def one_word() -> Figure:
    """Draw the way of the second of three words."""
    key, value = torch.tensor([[0.0, 2], [1, 1], [2, 0]]), torch.tensor([[-2.0], [0], [2]])
    scores = torch.tensor([0.0, 1, 3])
    return follow_one(["river", "bank", "money"], 1, key / 2, key[2], key, scores, value)


RUNS = {"no mask": torch.linspace(3, 0, 50), "causal mask": torch.linspace(3, 2, 50)}


def losses() -> Figure:
    """Draw two runs, one of which falls below the best possible."""
    return self_attention.losses(RUNS, 1.79)


def shares() -> Figure:
    """Draw what two models consist of."""
    return self_attention.shares(COUNTS)


DIAGRAMS = [three_roles, one_word, lessons, asks]
FIGURES = [*DIAGRAMS, table, cosines, panels, blend, losses, shares]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


def ticks(axes: Axes, axis: str) -> list[str]:
    """Return the words at the ticks of an axis."""
    return [label.get_text() for label in getattr(axes, f"get_{axis}ticklabels")()]


# --- words and words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "numbers", "most", "colour"),
    [(table, 100 * weights(), 50, ROLE["weight"]), (cosines, COSINES, 1, FAINT)],
    ids=["weights", "cosines"],
)
def test_table_colours_each_cell_by_its_number_from_the_ground_on(
    draw: Callable[[], Figure], numbers: Tensor, most: float, colour: str
) -> None:
    (axes,) = draw().axes
    image = axes.images[0]
    assert_near(image.get_array(), numbers)
    assert (image.norm.vmin, image.norm.vmax) == (0, most)
    assert image.cmap(0.0) == to_rgba(colour, 0)
    assert image.cmap(1.0) == to_rgba(colour)
    for text in axes.texts:
        column, row = text.get_position()
        assert least_contrast(text.get_color(), image.to_rgba(numbers[row, column])) >= 4.5
    assert ticks(axes, "x") == ticks(axes, "y")


def test_table_writes_each_number_into_its_cell_and_no_minus_before_a_nought() -> None:
    (axes,) = cosines().axes
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written[2, 0] == written[0, 2] == f"{MINUS}0.05"
    assert written[2, 1] == "0.00"
    assert written[1, 0] == "0.63"
    assert len(written) == 9
    (axes,) = table().axes
    written = {text.get_position(): text.get_text() for text in axes.texts}
    asymmetric = weights()
    for row, column in [(0, 8), (8, 0), (3, 5)]:
        assert written[column, row] == f"{100 * asymmetric[row, column]:.0f}"


def test_table_of_weights_has_its_keys_above_and_its_queries_beside_it() -> None:
    (axes,) = table().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("key", "query")
    assert ticks(axes, "x") == SENTENCE
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first word on top


def test_panels_share_one_scale_and_frame_the_links_where_they_are() -> None:
    before, after = panels().axes
    for axes, title, numbers in ((before, "before", weights() / 2), (after, "after", weights())):
        assert axes.get_title() == title
        image = axes.images[0]
        assert_near(image.get_array(), numbers)
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
        frames = set()
        for patch in axes.patches:
            middle = patch.get_xy() + np.array([patch.get_width(), patch.get_height()]) / 2
            frames.add(tuple(np.round(middle[::-1], 6)))
            cell = image.to_rgba(numbers[tuple(middle[::-1].round().astype(int))])
            assert least_contrast(patch.get_edgecolor()[:3], cell) >= 4.5
        assert frames == LINKS
    assert ticks(before, "y") == SENTENCE
    assert ticks(after, "x") == SENTENCE
    assert {text.get_position()[::-1] for text in before.texts} == LINKS


def test_a_panel_alone_writes_its_numbers_in_per_cent() -> None:
    (axes,) = self_attention.panels(SENTENCE, {"after": weights()}).axes
    said = {text.get_position()[::-1]: text.get_text() for text in axes.texts}
    assert len(said) == len(SENTENCE) ** 2
    for place, text in said.items():
        assert text == f"{100 * weights()[place]:.0f}"


def test_a_word_that_asks_gives_every_word_a_bar_on_one_scale_with_its_per_cent() -> None:
    figure = asks()
    units = set()
    for axes, (name, given) in zip(figure.axes, HE.items(), strict=True):
        assert axes.get_title(loc="left") == name
        assert_near([bar.get_height() for bar in axes.patches], given, rtol=1e-6)
        written, words = axes.texts[:9], axes.texts[9:]
        shares = [f"{100 * share:.0f}%" for share in given.tolist()]
        assert [text.get_text() for text in written] == shares
        assert [place for place, bar in enumerate(axes.patches) if bar.get_alpha() == 1] == [0, 8]
        assert [word.get_text() for word in words] == SENTENCE
        assert [word.get_text() for word in words if word.get_fontweight() == "bold"] == ["he"]
        axes.figure.draw_without_rendering()
        units.add(round(axes.get_window_extent().height / axes.get_ylim()[1]))
    assert max(units) - min(units) <= 1


def test_without_strong_words_the_largest_weight_stands_out() -> None:
    (axes,) = self_attention.asks(SENTENCE, 5, {"at first": HE["at first"]}).axes
    assert [bar.get_alpha() == 1 for bar in axes.patches].index(True) == 8


def test_weights_to_be_guessed_are_question_marks() -> None:
    (axes,) = self_attention.asks(SENTENCE, 5, {"bet": 0 * HE["at first"]}).axes
    assert [text.get_text() for text in axes.texts[:9]] == 9 * ["?"]
    assert {text.get_fontweight() for text in axes.texts[:9]} == {"normal"}
    assert {bar.get_height() for bar in axes.patches} == {0}


def test_each_lesson_frames_the_word_after_those_that_it_shows() -> None:
    (axes,) = lessons().axes
    framed = [box for box in axes.patches if not box.get_fill()]
    words = {text.get_position(): text.get_text() for text in axes.texts}
    for row, box in enumerate(framed, start=1):
        assert_near(box.get_xy() + np.array([0.47, 0.42]), (row, row))
        shown = [words[column, row] for column in range(row + 1)]
        assert shown == SENTENCE[: row + 1]
    assert len(framed) == len(SENTENCE) - 1


# --- a blend, three roles -------------------------------------------------------------------------


def test_blend_shows_the_vectors_their_parts_and_the_sum_of_the_parts() -> None:
    figure = blend()
    images = {axes.get_title(): axes.images[0] for axes in figure.axes if axes.images}
    parts = weights()[0][:, None] * vectors()
    assert_near(images["$x_j$"].get_array(), vectors(), rtol=1e-6)
    assert_near(images["$\\alpha_{1j} x_j$"].get_array(), parts, rtol=1e-6)
    assert_near(images[""].get_array(), parts.sum(0, keepdim=True), rtol=1e-5)
    for title, role in (("$x_j$", "value"), ("$\\alpha_{1j} x_j$", "value"), ("", "output")):
        colours = images[title].cmap
        assert_near(to_rgb(colours(1.0)), to_rgb(ROLE[role]), atol=1e-6)
        assert colours(0.5)[3] < 0.01  # the ground shows
        assert images[title].norm.vmin == -images[title].norm.vmax


def test_parts_and_sum_are_on_one_scale_and_the_bars_beside_them_are_the_weights() -> None:
    figure = blend()
    scales = {axes.get_title(): axes.images[0].norm.vmax for axes in figure.axes if axes.images}
    assert scales["$\\alpha_{1j} x_j$"] == scales[""]
    (bars,) = (axes for axes in figure.axes if axes.get_title() == "$\\alpha_{1j}$")
    assert_near([bar.get_width() for bar in bars.patches], weights()[0])
    middles = [bar.get_y() + bar.get_height() / 2 for bar in bars.patches]
    assert_near(middles, range(9), atol=1e-9)
    assert bars.yaxis_inverted()
    assert [text.get_text() for text in bars.texts] == [f"{w:.2f}" for w in weights()[0]]


def test_three_roles_say_the_shape_of_every_matrix() -> None:
    shown = words_in(three_roles())
    assert shown.count("384 × 64") == 2  # for queries and for keys
    assert shown.count("9 × 64") == 2
    assert shown.count("384 × 48") == 1
    assert shown.count("9 × 48") == 2  # values and outputs
    assert shown.count("9 × 9") == 1
    assert shown.count("9 × 384") == 1


def test_one_word_shows_its_query_every_key_score_weight_and_value_and_the_output() -> None:
    shown = words_in(one_word())
    assert {"the query of bank", "river", "bank", "money", "0, 2", "1, 1"} <= set(shown)
    assert shown.count("2, 0") == 2  # the query, and the key of money
    assert {"0.00", "1.00", "3.00", f"{MINUS}2"} <= set(shown)
    weights = torch.tensor([0.0, 1, 3]).softmax(0)
    assert {f"{weight:.2f}" for weight in weights} <= set(shown)
    assert f"{2 * (weights[2] - weights[0]):.3g}" in shown


def test_one_word_gives_every_role_its_colour_and_weights_their_length() -> None:
    (axes,) = one_word().axes
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    faces = [to_rgb(box.get_facecolor()) for box in boxes]
    counts = {"query": 1, "key": 3, "weight": 3, "value": 3, "output": 1}
    assert {role: faces.count(to_rgb(ROLE[role])) for role in counts} == counts
    bars = [box.get_width() for box, face in zip(boxes, faces, strict=True)
            if face == to_rgb(ROLE["weight"])]  # fmt: skip
    weights = torch.tensor([0.0, 1, 3]).softmax(0)
    assert_near(np.array(bars) / sum(bars), weights, rtol=1e-5)


def test_what_is_learned_is_white_and_what_is_computed_has_its_colour() -> None:
    (axes,) = three_roles().axes
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    names = {text.get_position(): text for text in texts(axes.figure)}
    fills = {}
    for box in boxes:
        x, y = box.get_xy() + np.array([box.get_width(), box.get_height()]) / 2
        (name,) = (t for place, t in names.items() if math.dist(place, (x, y)) < 1e-9)
        fills[name.get_text()] = to_rgb(box.get_facecolor())
        assert contrast(name.get_color(), box.get_facecolor()[:3]) >= 4.5
    assert {name for name, fill in fills.items() if fill == to_rgb(PAPER)} == {
        "$X$",
        "$W_Q$",
        "$W_K$",
        "$W_V$",
    }
    roles = {"$Q$": "query", "$K$": "key", "$V$": "value", "$A$": "weight", "$O$": "output"}
    for name, role in roles.items():
        assert fills[name] == to_rgb(ROLE[role])


def test_arrows_lead_from_the_words_to_the_weights_through_queries_and_keys_only() -> None:
    (axes,) = three_roles().axes
    centres = {text.get_position(): text.get_text() for text in axes.texts if text.get_text()}

    def box_at(x: float, y: float) -> str:
        (name,) = (name for place, name in centres.items() if math.dist(place, (x, y)) < 1e-9)
        return name

    arrows = [text for text in axes.texts if isinstance(text, Annotation)]
    ends = {
        (box_at(arrow.xyann[0] - 0.25, arrow.xyann[1]), box_at(arrow.xy[0] + 0.25, arrow.xy[1]))
        for arrow in arrows
    }
    made = {("$X$", f"$W_{r}$") for r in "QKV"} | {(f"$W_{r}$", f"${r}$") for r in "QKV"}
    assert ends == made | {("$Q$", "$A$"), ("$K$", "$A$"), ("$A$", "$O$"), ("$V$", "$O$")}


# --- positions, parameters ------------------------------------------------------------------------


def test_losses_stand_over_their_steps_with_the_best_possible() -> None:
    (axes,) = losses().axes
    best, *curves = axes.lines
    assert set(best.get_ydata()) == {1.79}
    for curve, (name, run) in zip(curves, RUNS.items(), strict=True):
        assert curve.get_label() == name
        assert_near(curve.get_xydata(), torch.stack([torch.arange(1.0, 51), run], 1))


def test_shares_of_a_model_fill_its_bar_and_small_ones_have_no_number() -> None:
    figure = shares()
    (axes,) = figure.axes
    for row, counts in enumerate(COUNTS.values()):
        bars = [bar for bar in axes.patches if math.isclose(bar.get_y(), row - 0.3)]
        expected = np.array(list(counts.values())) / sum(counts.values()) * 100
        assert_near([bar.get_width() for bar in bars], expected)
        assert_near([bar.get_x() for bar in bars], [0, *np.cumsum(expected)[:-1]], atol=1e-9)
        for bar in bars:
            assert contrast("black", bar.get_facecolor()[:3]) >= 4.5
    assert [text.get_text() for text in axes.texts] == ["33", "67", "15", "30", "55"]
    assert ticks(axes, "y") == list(COUNTS)
    assert axes.yaxis_inverted()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["attention", "feed-forward", "rest"]
