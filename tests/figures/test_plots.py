"""The style of the figures; and chapter 01's figures, which show the numbers they were given."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as assert_near
from torch import Tensor

from attn_course.data.colours import load_colours
from attn_course.plots import (
    COMPARED,
    DARK_GROUND,
    FAINT,
    GREY,
    INK,
    ROLE,
    STYLE,
    from_nothing_to,
    ink_on,
    ink_over,
    retrieval,
    signed,
    style,
)
from attn_course.plots.layer import attention_layer
from attn_course.retrieval import distance_scores, masked_softmax, softmax_jacobian
from tests.conftest import ROOT
from tests.figures.figure_laws import (
    GROUND,
    MINUS,
    assert_laws,
    contrast,
    least_contrast,
    linear,
    texts,
    words_in,
)
from tests.sampling import sampled

settings.register_profile("course", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("course")

FIVE = torch.tensor([[2.0, 1], [-1, 2], [5, 3], [1, 1], [4, -1]])


# --- what the figures show ----------------------------------------------------------------------


def five_keys() -> tuple[Tensor, Tensor, Tensor]:
    """Return scores, weights and values of the five-row table of chapter 01."""
    scores = distance_scores(torch.tensor([[2.0, 2.0]]), FIVE)
    return scores, masked_softmax(scores), torch.tensor([10.0, 20, 30, 40, 50])


def layer() -> Figure:
    """Draw the attention layer of the five-row table."""
    scores, weights, values = five_keys()
    keys = ["(2, 1)", "(−1, 2)", "(5, 3)", "(1, 1)", "(4, −1)"]
    output = float(weights[0] @ values)
    return attention_layer("(2, 2)", keys, scores[0], weights[0], values, output)


def jacobian() -> Figure:
    """Draw the Jacobian of three weights."""
    return retrieval.jacobian(softmax_jacobian(torch.tensor([0.6, 0.3, 0.1])))


def two_axes() -> tuple[Tensor, Tensor]:
    """Return weights over the keys and over the queries."""
    scores = torch.tensor([[1.0, 2, 3], [4, 4, 2]])
    return scores.softmax(-1), scores.softmax(-2)


def axis_mistake() -> Figure:
    """Draw both."""
    return retrieval.axis_mistake(*two_axes())


CORNERS = torch.tensor([[1.0, 1.0], [2.4, 0.6], [3.0, 2.0], [1.4, 2.4]])
OTHERS = [(2.0, -1.0), (1.0, 1.0)]


def hull() -> Figure:
    """Draw two blends of four values, and what two other pairs of weights make."""
    return retrieval.hull(CORNERS, torch.tensor([[2.0, 1.0], [2.0, 2.0]]), OTHERS)


FIGURES = [layer, jacobian, axis_mistake, hull]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


# --- the style ----------------------------------------------------------------------------------


def test_style_holds_inside_the_block_and_ends_with_it_also_after_an_error() -> None:
    before = dict(plt.rcParams)
    with style():
        assert plt.rcParams["axes.edgecolor"] == INK
        assert plt.rcParams["figure.dpi"] == STYLE["figure.dpi"]
    assert dict(plt.rcParams) == before
    with pytest.raises(RuntimeError, match="inside"), style():
        raise RuntimeError("inside")
    assert dict(plt.rcParams) == before


def test_there_is_one_colour_for_each_role_and_the_notation_page_shows_it() -> None:
    assert list(ROLE) == ["query", "key", "value", "weight", "output"]
    page = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    for role, colour in ROLE.items():
        assert f"background:{colour}" + '"></span><strong>' + role in page


# Viénot, Brettel and Mollon 1999 for missing red and green cones, in linear RGB.
CONES = np.array(
    [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]]
)
WITHOUT = {
    "none": np.eye(3),
    "red cones": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
    "green cones": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
}


def lab(light: np.ndarray) -> np.ndarray:
    """Return the CIELAB coordinates of linear RGB, where distances are differences one sees."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ light / (to_xyz @ np.ones(3)))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("without", WITHOUT)
def test_colours_of_the_roles_are_told_apart_by_every_reader(without: str) -> None:
    see = np.linalg.inv(CONES) @ WITHOUT[without] @ CONES
    seen = {role: lab(see @ linear(to_rgb(colour))) for role, colour in ROLE.items()}
    for one, other in itertools.combinations(ROLE, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 15, (one, other)


def test_what_is_compared_has_no_colour_of_a_role() -> None:
    hues = {hue: lab(linear(to_rgb(hue))) for hue in COMPARED}
    for hue, role in itertools.product(COMPARED, ROLE.values()):
        assert np.linalg.norm(hues[hue] - lab(linear(to_rgb(role)))) > 35, (hue, role)
    for one, other in itertools.combinations(COMPARED, 2):
        assert np.linalg.norm(hues[one] - hues[other]) > 30, (one, other)


@given(st.tuples(*[st.floats(0, 1)] * 3))
def test_ink_stands_out_on_every_colour(colour: tuple[float, float, float]) -> None:
    chosen = contrast(ink_on(torch.tensor(colour, dtype=torch.float64)), colour)
    assert chosen >= 4.5
    assert chosen >= max(contrast("black", colour), contrast("white", colour)) - 0.1


def test_signs_are_as_long_as_each_other() -> None:
    assert signed(torch.tensor(-0.25), "{:+.2f}") == MINUS + "0.25"
    assert signed(torch.tensor(0.25), "{:+.2f}") == "+0.25"


# --- every figure -------------------------------------------------------------------------------


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in (layer, hull))


# --- each figure shows its numbers --------------------------------------------------------------


def test_layer_shows_every_number_and_draws_weights_as_long_as_they_are() -> None:
    figure, (scores, weights, values) = layer(), five_keys()
    shown = words_in(figure)
    assert {MINUS + "1", MINUS + "9", MINUS + "10", MINUS + "2", MINUS + "13"} < set(shown)
    assert {"query", "key", "score", "weight", "value", "output"} < set(shown)
    assert {"0.73", "0.27", "0.00", "18.1", "10", "20", "30", "40", "50"} < set(shown)
    bars = [patch.get_width() for patch in figure.axes[0].patches[: len(values)]]
    assert_near(np.array(bars) / sum(bars), weights[0], atol=1e-6)
    assert scores.shape == weights.shape
    lines = [line for line in figure.axes[0].lines if line.get_color() == ROLE["weight"]]
    thickness = np.array([line.get_linewidth() for line in lines])
    assert [tuple(line.get_ydata()) for line in lines] == [(row, 2) for row in range(5)]
    assert_near((thickness - 0.5) / 9, weights[0], atol=1e-6)


def test_layer_draws_each_role_in_its_colour_with_legible_ink() -> None:
    boxes = [text for text in texts(layer()) if text.get_bbox_patch()]
    colours = [text.get_bbox_patch().get_facecolor()[:3] for text in boxes]
    assert sorted(colours) == sorted(
        [to_rgb(ROLE[role]) for role in ("query", "output", *["key"] * 5, *["value"] * 5)]
    )
    for text, colour in zip(boxes, colours, strict=True):
        assert contrast(text.get_color(), colour) >= 4.5, text.get_text()


@pytest.mark.parametrize("colour", [ROLE["weight"], FAINT, GREY])
def test_number_is_legible_on_every_share_of_a_colour_light_and_dark(colour: str) -> None:
    ramp = from_nothing_to(colour)
    assert ramp(0.0) == to_rgba(colour, 0)  # the ground shows
    assert ramp(1.0) == to_rgba(colour)
    for share in np.linspace(0, 1, 101):
        assert least_contrast(ink_over(ramp(share)), ramp(share)) >= 4.5
    assert_near(to_rgb(GROUND["dark"]), DARK_GROUND)


def test_jacobian_shows_its_numbers_with_zero_in_the_middle_of_the_colours() -> None:
    (axes,) = jacobian().axes
    expected = softmax_jacobian(torch.tensor([0.6, 0.3, 0.1]))
    (image,) = axes.images
    assert_near(image.get_array(), expected)
    assert image.norm.vmin == -image.norm.vmax
    assert image.cmap(0.5)[3] < 0.01  # the ground shows
    assert (image.cmap(0.0), image.cmap(1.0)) == (to_rgba(GREY), to_rgba(ROLE["weight"]))
    numbers = [text.get_text() for text in axes.texts]
    third = [MINUS + "0.06", MINUS + "0.03", "+0.09"]
    assert numbers == ["+0.24", MINUS + "0.18", third[0], MINUS + "0.18", "+0.21", third[1], *third]
    for text, share in zip(axes.texts, image.norm(np.asarray(expected)).flat, strict=True):
        assert least_contrast(text.get_color(), image.cmap(share)) >= 4.5


def test_axis_mistake_shows_both_tables_on_one_scale() -> None:
    panels = axis_mistake().axes
    for axes, weights in zip(panels, two_axes(), strict=True):
        (image,) = axes.images
        assert_near(image.get_array(), weights)
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
        numbers = [text.get_text() for text in axes.texts]
        assert numbers == [f"{weight:.2f}" for weight in weights.flatten().tolist()]
        for text, share in zip(axes.texts, weights.flatten().tolist(), strict=True):
            assert least_contrast(text.get_color(), image.cmap(share)) >= 4.5


def test_hull_has_the_values_at_its_corners_and_other_weights_outside() -> None:
    (axes,) = hull().axes
    (shade,), (values, *crosses) = axes.patches, axes.lines
    assert_near(shade.get_xy()[:4], CORNERS)
    assert_near(np.stack(values.get_data(), -1), CORNERS)
    (blends,) = axes.collections
    assert shade.get_path().contains_points(blends.get_offsets()).all()
    for cross, weights in zip(crosses, OTHERS, strict=True):
        place = np.concatenate(cross.get_data())
        assert_near(place, torch.tensor(weights) @ CORNERS[:2])
        assert not shade.get_path().contains_point(place)


def test_colours_of_the_survey_have_legible_words() -> None:
    _, rgb = load_colours()
    for colour in rgb[::7].double() / 255:
        assert contrast(ink_on(colour), tuple(colour.tolist())) >= 4.5
