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

from attn_course.plots import GREY, ROLE
from attn_course.plots import scaled_dot_product as figures
from attn_course.plots.crossed import Lookup
from attn_course.plots.crossed import crossed as draw_crossed
from attn_course.scaled_dot_product import causal_mask, combine, padding_mask
from tests.figures.figure_laws import assert_laws, least_contrast, words_in
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
    name: torch.linspace(0, 1, 60).pow(place + 1)
    * torch.tensor([1.0, 0.9, 0.8])[:, None]
    / (1 + place)
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


LOOKUP = Lookup(
    ["one", "other"],
    ["a", "b", "c"],
    ["u", "v", "w", "x"],
    ["left", "right"],
    query=torch.arange(8.0).view(2, 4) % 3,
    key=torch.arange(12.0).view(3, 4) % 5 % 2,
    weights=torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]),
    value=torch.tensor([[1.0, 0], [0, 1], [1, 1]]),
    output=torch.tensor([[0.7, 0.5], [0.8, 0.9]]),
)


ONE = LOOKUP._replace(
    askers=["one"],
    query=LOOKUP.query[:1],
    weights=LOOKUP.weights[:1],
    output=LOOKUP.output[:1],
)


def scored() -> Figure:
    """Draw two queries, their scores and, below them, their weights and their outputs."""
    scores = torch.tensor([[2.0, 0, 1], [0, 1, 1]])
    return draw_crossed(LOOKUP, "QKVAO", "a note", rows=2, columns=4, scores=scores)


def crossed() -> Figure:
    """Draw a layer of two queries and three keys, with room for a wider value."""
    return draw_crossed(LOOKUP, "QKVAO", "a note,\nof two lines", rows=2, columns=4)


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


DIAGRAMS = [crossed, scored, in_blocks]
FIGURES = [*DIAGRAMS, louder, variances, slopes, learning, masks]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


def boxes(figure: Figure) -> list[Rectangle]:
    """Return the boxes of a diagram."""
    (axes,) = figure.axes
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def tables(figure: Figure) -> dict[str, list[Rectangle]]:
    """Return the cells of each table, by its role."""
    roles = {to_rgb(colour): role for role, colour in (ROLE | {"score": GREY}).items()}
    found: dict[str, list[Rectangle]] = {}
    for box in boxes(figure):
        found.setdefault(roles[to_rgb(box.get_facecolor())], []).append(box)
    return found


def places(cells: list[Rectangle], of: Callable[[Rectangle], float]) -> list[float]:
    """Return where the rows or the columns of a table begin."""
    return sorted({round(of(cell), 6) for cell in cells})


def test_a_weight_stands_where_its_query_crosses_its_key_and_an_output_below_its_value() -> None:
    found = tables(crossed())
    rows = {role: places(cells, Rectangle.get_y) for role, cells in found.items()}
    columns = {role: places(cells, Rectangle.get_x) for role, cells in found.items()}
    assert rows["query"] == rows["weight"] == rows["output"]
    assert columns["key"] == columns["weight"]
    assert columns["value"] == columns["output"]
    sizes = {role: (len(rows[role]), len(columns[role])) for role in found}
    assert sizes == {
        "query": (2, 4),
        "key": (4, 3),
        "weight": (2, 3),
        "value": (3, 2),
        "output": (2, 2),
    }


def test_crossed_writes_every_number_into_its_cell_the_stronger_the_larger() -> None:
    figure = crossed()
    (axes,) = figure.axes
    wanted = {
        "query": LOOKUP.query,
        "key": LOOKUP.key.T,
        "weight": LOOKUP.weights,
        "value": LOOKUP.value,
        "output": LOOKUP.output,
    }
    for role, cells in tables(figure).items():
        cells.sort(key=lambda cell: (-cell.get_y(), cell.get_x()))
        numbers = []
        for cell in cells:
            inside = [
                t
                for t in axes.texts
                if cell.contains_point(axes.transData.transform(t.get_position()))
            ]
            assert len(inside) == 1
            numbers.append(float(inside[0].get_text()))
        assert_near(numbers, wanted[role].flatten())
        strengths = [cell.get_facecolor()[3] for cell in cells]
        order = np.argsort(numbers, kind="stable")
        assert (np.diff(np.array(strengths)[order]) >= 0).all()


def test_crossed_names_rows_columns_and_tables() -> None:
    said = words_in(crossed())
    names = [*LOOKUP.askers, *LOOKUP.words, *LOOKUP.traits, *LOOKUP.handed, *"QKVAO"]
    assert set(names) <= set(said)


def test_crossed_keeps_the_room_of_rows_and_columns_that_it_lacks() -> None:
    (fewer,) = draw_crossed(ONE, "QKVAO", "", rows=2, columns=4).axes
    (all_of,) = crossed().axes
    assert fewer.get_xlim() == all_of.get_xlim()
    assert fewer.get_ylim() == all_of.get_ylim()
    (one,) = draw_crossed(ONE, "QKVAO", "", rows=2, columns=4, scores=torch.ones(1, 3)).axes
    (two,) = scored().axes
    assert one.get_ylim() == two.get_ylim()


def test_scores_stand_where_the_query_meets_the_keys_and_what_is_made_of_them_below() -> None:
    figure = scored()
    (axes,) = figure.axes
    found = tables(figure)
    rows = {role: places(cells, Rectangle.get_y) for role, cells in found.items()}
    columns = {role: places(cells, Rectangle.get_x) for role, cells in found.items()}
    assert rows["score"] == rows["query"]
    assert columns["score"] == columns["weight"] == columns["key"]
    assert rows["weight"] == rows["output"]
    assert rows["weight"][-1] + 1 < rows["score"][0]
    assert axes.get_ylim()[0] < rows["weight"][0]
    assert {"score", "weight"} <= set(words_in(figure))


def test_letters_in_boxes_are_legible() -> None:
    for figure in (crossed(), scored(), in_blocks()):
        (axes,) = figure.axes
        for box in boxes(figure):
            inside = [
                text
                for text in axes.texts
                if box.contains_point(axes.transData.transform(text.get_position()))
            ]
            assert len(inside) == 1
            assert least_contrast(inside[0].get_color(), box.get_facecolor()) >= 4.5


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
    named = {text.get_text(): text.get_color() for text in axes.texts}
    assert named == {name: axes.lines[3 * place].get_color() for place, name in enumerate(NAMES)}


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
