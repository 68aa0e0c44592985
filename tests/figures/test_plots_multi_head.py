"""The figures of chapter 09 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.testing import assert_allclose as assert_near

from attn_course.multi_head import split_heads
from attn_course.plots import ROLE, multi_head
from attn_course.plots.vector import svg_of
from tests.figures.figure_laws import assert_laws, contrast, least_contrast, words_in
from tests.sampling import sampled

TOKENS = torch.arange(1, 4)[:, None] * 10.0 + torch.arange(1, 7)
SHARES = {
    "one head": torch.tensor([0.01, 0.02, 0.99, 1.0]),
    "two heads": torch.tensor([0.49, 0.5, 0.51, 0.3]),
}
REACHED = {
    "1 head": torch.tensor([0.1, 0.4, 0.86]),
    "1 head, 3200 steps": torch.tensor([0.95, 0.96, 0.97]),
    "2 heads": torch.tensor([1.0, 1.0, 0.99]),
}
HANG = ["hang", "them", "not", "let", "them", "go"]
LOOKS = {
    "0": torch.tensor([0.004, 0.02, 0.01, 0.946, 0.02, 0.0]),
    "1": torch.tensor([0.9, 0.1, 0.0, 0.0, 0.0, 0.0]),
}
PAIRS = {
    "right": torch.tensor([[0.1, 0.8], [0.7, 0.2], [0.3, 0.4]]),
    "wrong": torch.tensor([[0.4, 0.45]]),
}
DISTANCE, SPECIAL = torch.linspace(1, 9, 72), torch.linspace(0.02, 0.8, 72)


def split() -> Figure:
    """Draw a right split."""
    return multi_head.split(TOKENS, split_heads(TOKENS, 3))


def split_wrongly() -> Figure:
    """Draw a split by `view`."""
    return multi_head.split(TOKENS, TOKENS.view(3, 3, 2), whole=False)


def layer() -> Figure:
    """Draw the layer."""
    return multi_head.layer()


def shares() -> Figure:
    """Draw the shares of two kinds of attention."""
    return multi_head.shares(SHARES)


def by_seed() -> Figure:
    """Draw three seeds of three kinds."""
    return multi_head.by_seed(REACHED, "sentences read right", 0.5)


def looks() -> Figure:
    """Draw where two heads look."""
    return multi_head.looks(HANG, LOOKS)


def reach() -> Figure:
    """Draw how far 72 heads look."""
    return multi_head.reach(DISTANCE, SPECIAL, 8.0)


def weight_pairs() -> Figure:
    """Draw two groups of pairs."""
    return multi_head.weight_pairs(PAIRS, ("weight of V2", "weight of V1"))


def factors() -> Figure:
    """Draw what one head can reach."""
    return multi_head.factors()


def cache(steps: int = 3) -> Figure:
    """Draw what three words meet, or the first ones of them."""
    return multi_head.cache(HANG[:3], steps)


DIAGRAMS = [split, split_wrongly, layer, cache]
FIGURES = [*DIAGRAMS, shares, by_seed, factors, looks, reach, weight_pairs]


@sampled
@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


# --- the layer ------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_step_makes_one_pair_with_a_cache_and_all_pairs_of_its_row_without(steps: int) -> None:
    size = re.compile(r'<svg style="width:[^"]*"|viewBox="[^"]*"')
    assert size.findall(svg_of(cache(steps))) == size.findall(svg_of(cache()))
    made = {to_rgb(ROLE[role]) for role in ("key", "value")}
    for axes, keeps in zip(cache(steps).axes, (False, True), strict=True):
        filled = [box for box in axes.patches if box.get_fill() and box.get_alpha() == 1]
        assert {box.get_facecolor()[:3] for box in filled} == made
        rows = Counter(round(box.get_y() + 0.38) for box in filled)
        assert rows == {row: 2 if keeps else 2 * (row + 1) for row in range(steps)}
        kept = [box for box in axes.patches if box.get_fill() and box.get_alpha() < 1]
        assert len(filled) + len(kept) == steps * (steps + 1)
        assert len(axes.lines) == 6 - steps * (steps + 1) // 2  # a dot for each still to come
        met = [text for text in axes.texts if text.get_text() in ("k", "v")]
        assert len(met) == steps * (steps + 1)
        pairs = len(filled) // 2
        assert f"pairs made: {pairs}" in {text.get_text() for text in axes.texts}


def cells(axes: Axes) -> list[tuple[int, str]]:
    """Return number and colour of the cells of all tables, from left to right and down."""
    boxes = [patch for patch in axes.patches if patch.get_fill()]
    numbers = {
        text.get_position(): text.get_text() for text in axes.texts if text.get_text().isdigit()
    }
    found = []
    for box in sorted(boxes, key=lambda box: (box.get_x(), box.get_y())):
        middle = (box.get_x() + 0.5, box.get_y() + 0.5)
        found.append((int(numbers[middle]), to_rgb(box.get_facecolor())))
    return found


@pytest.mark.parametrize("draw", [split, split_wrongly], ids=["right", "wrong"])
def test_a_number_keeps_the_colour_of_its_token_wherever_it_goes(
    draw: Callable[[], Figure],
) -> None:
    for table in map(cells, draw().axes):
        assert sorted(number for number, _ in table) == sorted(TOKENS.flatten().tolist())
        for number, colour in table:
            assert colour == to_rgb(multi_head.TOKENS[number // 10 - 1])


def test_a_right_split_gives_each_head_all_colours_and_a_wrong_one_only_one() -> None:
    for draw, colours in ((split, 3), (split_wrongly, 1)):
        below = cells(draw().axes[-1])
        for head in range(3):
            part = below[6 * head : 6 * head + 6]
            assert len({colour for _, colour in part}) == colours
    first = [number for number, _ in cells(split().axes[1])[:6]]
    assert first == [11, 21, 31, 12, 22, 32]
    said = {f"only token {number}" for number in (1, 2, 3)}
    assert said < set(words_in(split_wrongly()))
    assert not said & set(words_in(split()))


def test_every_head_has_projections_of_its_own_and_all_outputs_are_projected_once() -> None:
    (axes,) = multi_head.layer(num_heads=3).axes
    boxes = [text for text in axes.texts if text.get_bbox_patch()]
    named = [text.get_text() for text in boxes]
    for letter, role in (("q", "query"), ("k", "key"), ("v", "value")):
        own = [text for text in boxes if text.get_text() == f"${letter}$"]
        assert len(own) == 3
        filled = {to_rgb(text.get_bbox_patch().get_facecolor()) for text in own}
        assert filled == {to_rgb(ROLE[role])}
    assert [f"attention, head {head}" in named for head in (1, 2, 3)] == [True] * 3
    written = [text.get_text() for text in axes.texts]
    assert written.count("output projection $W^O$") == 1
    slices = [text for text in axes.texts if "W_" in text.get_text()]
    assert [text.get_text() for text in slices] == [f"$W_{head}^O$" for head in (1, 2, 3)]
    assert slices[0].get_position()[1] > slices[1].get_position()[1]
    for text in boxes:
        assert contrast(text.get_color(), text.get_bbox_patch().get_facecolor()[:3]) >= 4.5
    arrows = [text for text in axes.texts if isinstance(text, Annotation)]
    assert len(arrows) == 9 + 9 + 3 + 2


# --- what is measured -----------------------------------------------------------------------------


def test_shares_counts_the_draws_of_each_kind_in_percent() -> None:
    for axes, (name, share) in zip(shares().axes, SHARES.items(), strict=True):
        assert axes.get_title(loc="left") == name
        bars = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in axes.patches]
        assert sum(height for *_, height in bars) == pytest.approx(100)
        for value in share.tolist():
            (height,) = (h for x, width, h in bars if x <= value - 1e-9 < x + width)
            assert height >= 25
    middle = shares().axes[1].patches[10]
    assert middle.get_x() + middle.get_width() / 2 == pytest.approx(0.5)
    assert middle.get_height() == 75


def test_by_seed_has_a_mark_for_each_seed_at_its_height() -> None:
    (axes,) = by_seed().axes
    line, *rows = axes.lines
    assert set(line.get_xdata()) == {0.5}
    for height, (drawn, reached) in enumerate(zip(rows, REACHED.values(), strict=True)):
        assert_near(drawn.get_xdata(), reached)
        assert abs(drawn.get_ydata() - height).max() < 0.3
    assert [label.get_text() for label in axes.get_yticklabels()] == list(REACHED)


def test_difference_lies_outside_of_what_one_head_reaches_by_1() -> None:
    (axes,) = factors().axes
    *_, line, nearest, point = axes.lines
    ((x, y),) = point.get_xydata()
    reached = [box.get_bbox() for box in axes.patches]
    assert (x, y) == (1, -1)
    assert [(box.x0 >= 0) == (box.y0 >= 0) for box in reached] == [True, True]
    assert not any(box.contains(x, y) for box in reached)
    for corner in nearest.get_xydata():
        assert any(box.contains(*corner) for box in reached)
        assert abs(corner - (x, y)).sum() == 1
        assert corner.tolist() in line.get_xydata().tolist()


def test_looks_writes_every_weight_that_rounds_to_something() -> None:
    figure = looks()
    (axes,) = figure.axes
    assert_near(axes.images[0].get_array(), torch.stack(list(LOOKS.values())))
    assert axes.images[0].get_clim() == (0, 1)
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {
        (1, 0): ".02",
        (2, 0): ".01",
        (3, 0): ".95",
        (4, 0): ".02",
        (0, 1): ".90",
        (1, 1): ".10",
    }
    assert {"hang", "let", "go", "0", "1"} < set(words_in(figure))
    for text in axes.texts:
        column, row = text.get_position()
        colour = axes.images[0].to_rgba(list(LOOKS.values())[row][column])
        assert least_contrast(text.get_color(), colour) >= 4.5


def test_reach_has_a_mark_for_each_head_and_a_line_at_the_uniform_one() -> None:
    (axes,) = reach().axes
    line, dots = axes.lines
    assert set(line.get_xdata()) == {8.0}
    assert_near(dots.get_xydata(), torch.stack([DISTANCE, SPECIAL], 1))
    assert axes.get_xlim()[1] > DISTANCE.max()
    assert axes.get_ylim() == (0, 1)


def test_weight_pairs_has_a_mark_for_each_pair_and_one_kind_for_each_group() -> None:
    (axes,) = weight_pairs().axes
    diagonal, *groups = axes.lines
    assert_near(diagonal.get_xdata(), diagonal.get_ydata())
    for drawn, pairs in zip(groups, PAIRS.values(), strict=True):
        assert_near(drawn.get_xydata(), pairs)
    assert len({drawn.get_marker() for drawn in groups}) == len(PAIRS)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(PAIRS)


def test_weight_pairs_needs_no_legend_for_one_group() -> None:
    (axes,) = multi_head.weight_pairs({"right": PAIRS["right"]}, ("one", "other")).axes
    assert axes.get_legend() is None
