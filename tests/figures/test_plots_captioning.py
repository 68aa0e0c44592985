"""The figures of chapter 06 keep the laws of all figures, and show the numbers they are given."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.captions.image_grid import over_pixels
from attn_course.plots import PAPER, ROLE, captioning
from attn_course.plots.captioner_step import captioner_step as draw_step
from attn_course.plots.vector import svg_of
from tests.figures.figure_laws import assert_laws, contrast, least_contrast, texts, words_in
from tests.sampling import sampled

WORDS = ["a", "seven", "is", "above", "an", "eight", "EOS"]
CELLS = [-1, 1, -1, -1, -1, 5, -1]


def numbers(*shape: int) -> Tensor:
    """Return numbers from 0 to 1, the same each time."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def image() -> Tensor:
    """Return a picture of three by three cells of four pixels, with ink in two of them."""
    ink = torch.zeros(12, 12)
    ink[1:3, 5:7] = ink[5:7, 9:11] = 1
    return ink


def weights() -> Tensor:
    """Return the weights of nine cells at seven words."""
    return (6 * numbers(7, 9)).softmax(-1).unflatten(-1, (3, 3))


def captioner_step() -> Figure:
    """Draw the second word."""
    return draw_step(image(), weights()[1], 0.9, "a", "seven")


SAID = ["a one is above a two", "a six"]


def captioned() -> Figure:
    """Draw two pictures with their captions."""
    return captioning.captioned([image(), 1 - image()], SAID)


def word_by_word() -> Figure:
    """Draw seven words, four in a row."""
    return captioning.word_by_word(image(), WORDS, weights(), CELLS, columns=4)


SHARES = torch.tensor([[0.25, 0.05, 0.1], [0.0, 0.55, 0.05]])
NAMES, CONTEXT = [["", "", "three"], ["", "eight", ""]], torch.tensor([0.4, 4.4])


def heard() -> Figure:
    """Draw six weights, and what is heard of two digits."""
    return captioning.heard(SHARES, NAMES, CONTEXT)


def learners() -> Figure:
    """Draw three learners."""
    return captioning.learners(0.4 + 0.6 * numbers(3, 9), 8)


def reach() -> Figure:
    """Draw what a middle cell sees."""
    seen = torch.zeros(12, 12)
    seen[3:9, 2:10] = 1 + numbers(6, 8)
    return captioning.reach(seen, cell=4, grid=3, number=4)


AT = torch.linspace(-4, 0, 41)
CURVE = (AT + 2.5).square() + 0.5


def by_baseline() -> Figure:
    """Draw a parabola with three marks."""
    return captioning.by_baseline(AT, CURVE, {"none": 0.0, "expected": -2.0, "best": -2.5})


FOUND, ASKED, CELL = numbers(3, 5), (2, 1), 4


def photograph() -> Figure:
    """Draw a photograph of noise."""
    smooth = over_pixels(FOUND, CELL).flip(-1)
    return captioning.photograph(numbers(3, 12, 20), FOUND, CELL, ASKED, smooth)


DIAGRAMS = [captioner_step, captioned, word_by_word, heard, photograph]
FIGURES = [*DIAGRAMS, learners, reach, by_baseline]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


def assert_near(found: object, wanted: object, atol: float = 1e-6) -> None:
    """Hold numbers to each other."""
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=atol)


def frames(axes: Axes) -> list[tuple[float, float]]:
    """Return the middle of every frame in pixels, x and y."""
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [tuple(float(at) for at in box.get_center()) for box in boxes]


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


# --- images and their cells -----------------------------------------------------------------------


@pytest.mark.parametrize("draw", [captioned, word_by_word, captioner_step])
def test_picture_on_paper_is_named_so_that_a_dark_page_can_turn_it_round(
    draw: Callable[[], Figure],
) -> None:
    figure = draw()
    images = sum(len(axes.images) for axes in figure.axes)
    assert svg_of(figure).count('class="on-paper"') == images


def test_picture_is_black_ink_on_white_paper() -> None:
    for axes, ink in zip(captioned().axes, (image(), 1 - image()), strict=False):
        assert_near(axes.images[0].get_array(), (1 - ink)[..., None].expand(-1, -1, 3))
        assert_near([line.get_ydata()[0] for line in axes.lines[::2]], [3.5, 7.5])
        assert_near([line.get_xdata()[0] for line in axes.lines[1::2]], [3.5, 7.5])


def test_captions_stand_below() -> None:
    shown = [text.get_text() for text in texts(captioned()) if text.get_text()]
    assert " ".join(shown).split() == " ".join(SAID).split()


def test_each_word_has_a_picture_whose_paper_is_as_purple_as_its_weights() -> None:
    figure = word_by_word()
    shown = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title(loc="left") for axes in shown] == WORDS
    largest = [f"{shares.max():.2f}" for shares in weights()]
    assert [axes.get_title(loc="right") for axes in shown] == largest
    full, ink = np.asarray(to_rgb(ROLE["weight"])), image().numpy()
    for axes, shares in zip(shown, weights().numpy(), strict=True):
        drawn = np.asarray(axes.images[0].get_array())
        assert drawn[ink == 1].max() == 0
        paper = 1 - np.kron(shares, np.ones((4, 4)))[..., None] * (1 - full)
        assert_near(drawn[ink == 0], paper[ink == 0], atol=0.01)  # a map of 256 colours


def test_frame_is_around_the_cell_that_a_word_names_and_nowhere_else() -> None:
    shown = [axes for axes in word_by_word().axes if axes.images]
    for axes, cell in zip(shown, CELLS, strict=True):
        row, column = divmod(cell, 3)
        wanted = [(column * 4 + 1.5, row * 4 + 1.5)] if cell >= 0 else []
        assert_near(frames(axes), wanted)


def test_more_words_make_more_rows_and_no_empty_frames() -> None:
    figure = word_by_word()
    assert len(figure.axes) == 8
    assert not figure.axes[7].axison
    assert not figure.axes[7].images


def test_reach_shows_the_derivative_with_its_cell_framed() -> None:
    (axes,) = reach().axes
    shown = np.asarray(axes.images[0].get_array())
    assert shown.max() == 1
    assert {tuple(np.flatnonzero(shown.any(axis))[[0, -1]]) for axis in (0, 1)} == {(2, 9), (3, 8)}
    assert_near(frames(axes), [(5.5, 5.5)])
    assert [int(tick) for tick in axes.get_xticks()] == [0, 4, 8, 11]


# --- weights as numbers ---------------------------------------------------------------------------


def test_what_is_heard_stands_beside_the_weights_of_the_cells_and_their_sum() -> None:
    grid, bars = heard().axes
    assert grid.get_title() == "weights, sum 1.00"
    wanted = ["0.25", "0.05", "0.10\nthree", "0.00", "0.55\neight", "0.05"]
    assert [text.get_text() for text in grid.texts] == wanted
    assert [text.get_position() for text in grid.texts][1:4] == [(1, 0), (2, 0), (0, 1)]
    assert_near(grid.images[0].get_array(), SHARES)
    assert (grid.images[0].norm.vmin, grid.images[0].norm.vmax) == (0, 1)
    assert_near([bar.get_width() for bar in bars.patches], CONTEXT)
    assert [text.get_text() for text in bars.texts] == ["three", "eight", "0.40", "4.40"]


def test_each_learner_has_a_line_in_the_colour_of_a_weight() -> None:
    (axes,) = learners().axes
    drawn = [line for line in axes.lines if len(line.get_ydata()) == 9]
    assert_near([line.get_ydata() for line in drawn], 0.4 + 0.6 * numbers(3, 9))
    assert {to_rgb(line.get_color()) for line in drawn} == {to_rgb(ROLE["weight"])}


# --- one step -------------------------------------------------------------------------------------


def test_step_shows_image_features_weights_and_words() -> None:
    figure = captioner_step()
    shown = words_in(figure)
    assert {f"$h_{{{row},{column}}}$" for row in (1, 2, 3) for column in (1, 2, 3)} < set(shown)
    states = {"$s_{t-1}$", "$\\beta_t c_t$", "$s_t$"}
    assert states | {"image", "CNN\n+ place", "annotations", "seven", "a"} < set(shown)
    for weight in weights()[1].flatten().tolist():
        assert f"{weight:.2f}" in shown
    (axes,) = figure.axes
    assert_near(axes.images[0].get_array(), 1 - image())


def test_step_draws_an_arrow_for_every_input_of_gate_state_and_word() -> None:
    """As `Captioner.trace` computes them: the gate from the state, cell and readout from three."""
    (axes,) = captioner_step().axes
    named = {"$s_{t-1}$", "$s_t$", "$\\beta_t c_t$", "$\\times$", "a", "seven"}
    places = {t.get_text(): t.get_position() for t in axes.texts if t.get_text() in named}
    assert set(places) == named

    def nearest(end: tuple[float, float]) -> str:
        return min(places, key=lambda name: np.hypot(*np.subtract(places[name], end)))

    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    drawn = {(nearest(arrow.xyann), nearest(arrow.xy)) for arrow in arrows}
    inputs = {("$s_{t-1}$", "$s_t$"), ("$\\beta_t c_t$", "$s_t$"), ("a", "$s_t$")}
    inputs |= {("$s_t$", "seven"), ("$\\beta_t c_t$", "seven"), ("a", "seven")}
    inputs |= {("$s_{t-1}$", "$\\times$"), ("$\\times$", "$\\beta_t c_t$")}
    assert inputs <= drawn


def test_every_step_adds_to_the_one_before() -> None:
    drawn = [draw_step(image(), weights()[1], 0.9, "a", "seven", steps) for steps in (1, 2, 3, 4)]
    new = ["$s_{t-1}$", "$\\beta_t c_t$", "$s_t$", "seven"]
    for steps, figure in enumerate(drawn, 1):
        assert [name for name in new if name in words_in(figure)] == new[:steps]
        lines = [
            t.arrow_patch.get_linewidth() for t in figure.axes[0].texts if hasattr(t, "arrow_patch")
        ]
        assert (max(lines) > 2 * min(lines)) == (steps > 1)
    (axes,) = drawn[-1].axes
    assert all(figure.axes[0].axis() == axes.axis() for figure in drawn)


def test_weight_of_a_step_stands_below_its_feature_and_in_its_colour() -> None:
    (axes,) = captioner_step().axes
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    features, shares = boxes[:9], boxes[9:18]
    written = [text for text in axes.texts if re.fullmatch(r"\d\.\d\d", text.get_text())]
    drawn = zip(features, shares, weights()[1].flatten(), written, strict=True)
    for feature, share, weight, number in drawn:
        assert share.get_x() == pytest.approx(feature.get_x())
        assert share.get_y() - feature.get_y() == pytest.approx(-4.1)
        assert to_rgb(feature.get_facecolor()) == to_rgb(ROLE["key"])
        assert to_rgb(feature.get_edgecolor()) == to_rgb(ROLE["value"])
        assert_near(share.get_facecolor(), to_rgba(ROLE["weight"], float(weight)), atol=0.01)
        assert number.get_text() == f"{weight:.2f}"
        assert least_contrast(number.get_color(), share.get_facecolor()) >= 4.5
    heights = [box.get_y() for box in features]
    assert heights == sorted(heights, reverse=True)  # row 1 is on top, as in the image


def test_boxes_of_a_step_have_the_colours_of_their_roles_and_legible_ink() -> None:
    boxes = [text for text in texts(captioner_step()) if text.get_bbox_patch()]
    filled = [to_rgb(text.get_bbox_patch().get_facecolor()) for text in boxes]
    assert sorted(filled) == sorted(map(to_rgb, (ROLE["query"], ROLE["output"], PAPER)))
    asking = zip(boxes, filled, strict=True)
    asks = [text.get_text() for text, fill in asking if fill == to_rgb(ROLE["query"])]
    assert asks == ["$s_{t-1}$"]
    for text, colour in zip(boxes, filled, strict=True):
        assert contrast(text.get_color(), colour) >= 4.5


# --- hard attention -------------------------------------------------------------------------------


def test_marked_baselines_lie_on_the_curve() -> None:
    (axes,) = by_baseline().axes
    curve, *marks = axes.lines
    assert_near(curve.get_xydata(), torch.stack([AT, CURVE], -1))
    assert [mark.get_label() for mark in marks] == ["none", "expected", "best"]
    wanted = [[0, 6.75], [-2, 0.75], [-2.5, 0.5]]
    assert_near([mark.get_xydata()[0] for mark in marks], wanted, atol=1e-3)
    assert axes.get_ylim()[0] == 0


# --- photographs ----------------------------------------------------------------------------------


def test_photograph_is_framed_where_it_is_asked_and_lit_where_the_weight_is() -> None:
    asked, table, laid, blurred = photograph().axes
    photo = numbers(3, 12, 20).permute(1, 2, 0)
    assert_near(asked.images[0].get_array(), photo)
    assert_near(frames(asked), [(1 * CELL + 2, 2 * CELL + 2)])
    assert_near(table.images[0].get_array(), FOUND)
    light = (np.asarray(laid.images[0].get_array()) / photo.numpy()).mean(-1)
    wanted = 0.12 + 0.88 * np.sqrt(np.kron(FOUND / FOUND.max(), np.ones((CELL, CELL))))
    assert_near(light, wanted, atol=1e-4)
    mirrored = (np.asarray(blurred.images[0].get_array()) / photo.numpy()).mean(-1)
    assert_near(mirrored, wanted[:, ::-1], atol=1e-4)
