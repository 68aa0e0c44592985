"""The figures of chapter 07 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from numpy.testing import assert_allclose as assert_near

from attn_course.plots import ROLE
from attn_course.plots import scaled_dot_product as figures
from attn_course.scaled_dot_product import causal_mask, combine, padding_mask
from tests.figures.figure_laws import assert_laws, contrast, words_in
from tests.sampling import sampled

NAMES = ["÷ √d", "as they are", "× √d"]
LENGTHS = torch.linspace(0, 4, 81)
BY_LENGTH = {"dot product": LENGTHS / 4, "squared distance": LENGTHS * (4 - LENGTHS) / 5}
WIDTHS = 2.0 ** torch.arange(12)
MEASURED = WIDTHS * torch.linspace(0.9, 1.1, 3)[:, None]
NORMS = {
    name: torch.linspace(0.1, 0.2, 12) * (place + torch.tensor([1.0, 1.1, 1.2])[:, None])
    for place, name in enumerate(NAMES)
}
RIGHT = {
    name: torch.linspace(0, 1, 60).pow(place + 1) * torch.tensor([1.0, 0.9, 0.8])[:, None]
    for place, name in enumerate(NAMES)
}
MASKS = {
    "padding": padding_mask(torch.tensor(4), 6).expand(6, 6),
    "causal": causal_mask(6),
    "by hand": torch.arange(36).view(6, 6) % 5 > 0,
    "causal and\npadding": combine(causal_mask(6), padding_mask(torch.tensor(4), 6)),
    "all": torch.ones(6, 6).bool(),
    "window": (torch.arange(6)[:, None] - torch.arange(6)).abs() < 2,
}
POWERS, VALUES = torch.tensor([6.0, 3, 9, 2]), torch.tensor([10.0, 20, 40, 0])


def one_table() -> Figure:
    """Draw a layer of three queries and five keys."""
    return figures.one_table(3, 5, 4)


def who_asks() -> Figure:
    """Draw a layer of three queries, five keys and wide values."""
    return figures.who_asks(3, 5, 4, 7, (2, 6))


def louder() -> Figure:
    """Draw two scores."""
    return figures.louder(LENGTHS, BY_LENGTH, 1.5)


def variances() -> Figure:
    """Draw three seeds."""
    return figures.variances(WIDTHS, MEASURED)


def slopes() -> Figure:
    """Draw three scalings."""
    return figures.slopes(WIDTHS, NORMS)


def learning() -> Figure:
    """Draw three scalings of three seeds."""
    return figures.learning(RIGHT, 10)


def masks() -> Figure:
    """Draw six masks."""
    return figures.masks(MASKS)


def in_blocks() -> Figure:
    """Draw two blocks of two keys."""
    return figures.in_blocks(POWERS, VALUES, 2, ["total 9\nblend 120", "total 20\nblend 480"])


DIAGRAMS = [one_table, who_asks, in_blocks]
FIGURES = [*DIAGRAMS, louder, variances, slopes, learning, masks]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


def boxes(figure: Figure) -> list[Rectangle]:
    """Return the boxes of a diagram."""
    (axes,) = figure.axes
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def boxes_of_roles(figure: Figure) -> dict[str, Rectangle]:
    """Return the last box of each role."""
    roles = {to_rgb(colour): role for role, colour in ROLE.items()}
    found = [(roles.get(to_rgb(box.get_facecolor())), box) for box in boxes(figure)]
    return {role: box for role, box in found if role}


def test_boxes_are_as_long_as_the_axes_that_they_stand_for() -> None:
    for queries, keys, d_key, d_value in [(3, 5, 4, 2), (2, 6, 3, 5)]:
        wanted = {
            "query": (queries, d_key),
            "key": (keys, d_key),
            "weight": (queries, keys),
            "value": (keys, d_value),
            "output": (queries, d_value),
        }
        found = boxes_of_roles(figures.who_asks(queries, keys, d_key, d_value, (6, 7)))
        assert found.keys() == wanted.keys()
        for role, (height, width) in wanted.items():
            sizes = found[role].get_height() / figures.UNIT, found[role].get_width() / figures.UNIT
            assert_near(sizes, (height, width))


def test_what_a_sequence_makes_is_as_long_as_the_sequence() -> None:
    figure = figures.who_asks(3, 5, 4, 7, (2, 6))
    (axes,) = figure.axes
    by_name = {
        text.get_text(): box
        for box in boxes(figure)
        for text in axes.texts
        if box.contains_point(axes.transData.transform(text.get_position()))
    }
    for table, parts in {"Y": "Q", "X": "KV"}.items():
        for part in parts:
            assert_near(by_name[part].get_height(), by_name[table].get_height())


def test_each_row_has_five_boxes_whose_inner_sizes_agree() -> None:
    rows: dict[float, list[Rectangle]] = {}
    for box in boxes(figures.one_table(3, 5, 4)):
        rows.setdefault(round(box.get_y() + box.get_height() / 2, 6), []).append(box)
    in_order = [sorted(row, key=Rectangle.get_x) for row in rows.values()]
    assert [len(row) for row in in_order] == 2 * [5]
    for query, key, weights, value, output in in_order:
        assert_near(query.get_width(), key.get_height())
        assert_near(key.get_width(), weights.get_width())
        assert_near(weights.get_width(), value.get_height())
        assert_near(value.get_width(), output.get_width())
        assert_near(query.get_height(), output.get_height())


def test_scores_are_divided_by_the_root_of_the_width_of_the_keys() -> None:
    for d_key in (4, 7):
        assert f"÷ √{d_key}," in words_in(figures.one_table(3, 5, d_key))
        said = words_in(figures.who_asks(3, 5, d_key, 2, (6, 6)))
        assert f"softmax(QK\u1d40 ÷ √{d_key})" in said


def test_letters_in_boxes_are_legible() -> None:
    for figure in (one_table(), who_asks(), in_blocks()):
        (axes,) = figure.axes
        for box in boxes(figure):
            x, y = box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2
            inside = [
                t for t in axes.texts if np.hypot(*(np.subtract(t.get_position(), (x, y)))) < 0.01
            ]
            if not inside:  # a letter is taller than one row
                continue
            assert len(inside) == 1
            assert contrast(inside[0].get_color(), to_rgb(box.get_facecolor())) >= 4.5


def test_louder_draws_each_score_and_where_the_key_is_as_long_as_the_others() -> None:
    (axes,) = louder().axes
    others, *curves = axes.lines
    assert set(others.get_xdata()) == {1.5}
    for curve, (name, shares) in zip(curves, BY_LENGTH.items(), strict=True):
        assert curve.get_label() == name
        assert_near(curve.get_xydata(), torch.stack([LENGTHS, shares], 1))
    assert len({curve.get_linestyle() for curve in curves}) == 2
    assert len({curve.get_color() for curve in curves}) == 2


def test_variances_shows_every_seed_on_the_line_of_the_width() -> None:
    (axes,) = variances().axes
    line, *seeds = axes.lines
    assert_near(line.get_ydata(), WIDTHS)
    for seed, wanted in zip(seeds[:3], MEASURED, strict=True):
        assert_near(seed.get_xydata(), torch.stack([WIDTHS, wanted], 1))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_slopes_draws_mean_and_range_of_each_scaling_told_apart_by_its_line() -> None:
    figure = slopes()
    (axes,) = figure.axes
    for line, band, (name, runs) in zip(axes.lines, axes.collections, NORMS.items(), strict=True):
        assert line.get_label() == name
        assert_near(line.get_ydata(), runs.mean(0), rtol=1e-6)
        edges = band.get_paths()[0].vertices[:, 1]
        assert_near([edges.min(), edges.max()], [runs.min(), runs.max()], rtol=1e-6)
    assert len({line.get_linestyle() for line in axes.lines}) == 3
    assert len({line.get_color() for line in axes.lines}) == 3
    assert axes.get_ylim()[0] == 0


def test_learning_draws_every_seed_in_means_of_ten_steps_and_names_each_scaling_once() -> None:
    figure = learning()
    (axes,) = figure.axes
    runs = [(name, seed) for name, seeds in RIGHT.items() for seed in seeds]
    for line, (_, seed) in zip(axes.lines, runs, strict=True):
        assert_near(line.get_xdata(), range(10, 61, 10))
        assert_near(line.get_ydata(), seed.view(6, 10).mean(-1), rtol=1e-6)
    styles = [{line.get_linestyle() for line in axes.lines[at : at + 3]} for at in (0, 3, 6)]
    assert [len(style) for style in styles] == [1, 1, 1]
    assert len(set.union(*styles)) == 3
    assert len({line.get_color() for line in axes.lines}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == NAMES


def test_masks_are_purple_where_allowed_and_crossed_where_not() -> None:
    for axes, (name, mask) in zip(masks().axes, MASKS.items(), strict=True):
        assert axes.get_title() == name
        (image,) = axes.images
        assert_near(image.get_array(), mask)
        colours = image.to_rgba(image.get_array())[..., :3]
        assert_near(colours[mask.numpy()], [to_rgb(ROLE["weight"])] * int(mask.sum()), atol=1e-6)
        crossed = {(int(y), int(x)) for x, y in axes.lines[0].get_xydata()}
        assert crossed == {tuple(place) for place in (~mask).nonzero().tolist()}


def test_blocks_show_every_number_and_what_is_kept_goes_from_left_to_right() -> None:
    figure = in_blocks()
    said = words_in(figure)
    assert {"6", "3", "9", "2", "10", "20", "40", "0", "block 1", "block 2"} < set(said)
    found = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    across = [text for text in found if text.xy[1] == text.xyann[1]]
    assert len(across) == 1
    assert across[0].xy[0] > across[0].xyann[0]
    assert sum(text.xy[1] < text.xyann[1] for text in found) == 2
    faces = [to_rgb(box.get_facecolor()) for box in boxes(figure)]
    assert faces.count(to_rgb(ROLE["weight"])) == faces.count(to_rgb(ROLE["value"])) == 4
