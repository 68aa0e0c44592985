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
    """Draw both decoders after all their ticks."""
    return luong.two_decoders()


def begun() -> Figure:
    """Draw both decoders after two ticks."""
    return luong.two_decoders(2)


def input_feeding() -> Figure:
    """Draw the decoder that feeds its steps."""
    return luong.input_feeding()


QUERY, BENDS = torch.tensor([1.0, 2.0]), torch.tensor([[0.0, 0.0], [1.0, 0.0]])


def maps() -> Figure:
    """Draw the scores of the query of the chapter."""
    return luong.maps(QUERY, BENDS)


def at_the_tip() -> Figure:
    """Draw the same before the key is pushed on."""
    return luong.maps(QUERY, BENDS, 1)


RATES = {"dot": 0.19, "concat": 0.13}


def wrong_looks() -> Figure:
    """Draw two scores."""
    return luong.wrong_looks(RATES)


MIXED = ["a", ",", "whereas", "b"]
LOOKED = torch.tensor([0, 2, 3, 5, 8])


def mixture() -> Figure:
    """Draw a comma of one reading among words of the other."""
    return luong.mixture(MIXED, {0, 2, 3}, 1, "mais")


def walk() -> Figure:
    """Draw the way of a model through three clauses and a window."""
    return luong.walk(LOOKED, [2, 5, 8], 2.0, 1.5)


def window() -> Figure:
    """Draw a window of two words to either side of 3.4."""
    return luong.window(WEIGHTS, BELL, 3.4, 2.0)


def beside() -> Figure:
    """Draw the offsets of two models."""
    return luong.beside(SHARES)


def quality_and_alignment() -> Figure:
    """Draw three runs of eight kinds of models."""
    return luong.quality_and_alignment(MEASURED)


DIAGRAMS = [two_decoders, begun, input_feeding, mixture]
FIGURES = [*DIAGRAMS, maps, at_the_tip, wrong_looks, walk, window, beside, quality_and_alignment]
EVERY_FIGURE = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


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


def drawn_arrows(ticks: int = 6) -> list[dict[tuple[str, str], object]]:
    """Return the arrows of both decoders after so many ticks."""
    pairs = zip(luong.two_decoders(ticks).axes, (luong.BAHDANAU, luong.LUONG), strict=True)
    return [arrows(axes, nodes) for axes, nodes in pairs]


def fed_arrows() -> dict[tuple[str, str], object]:
    """Return the arrows of the decoder with input feeding."""
    (axes,) = input_feeding().axes
    return arrows(axes, luong.LUONG | luong.JOINED)


def behind(pairs: set[tuple[str, str]], end: str) -> set[str]:
    """Return all from which arrows lead to `end`, over any number of steps."""
    starts = {start for start, here in pairs if here == end}
    return starts.union(*(behind(pairs, start) for start in starts))


def test_one_decoder_asks_with_the_old_state_and_the_other_with_the_new() -> None:
    first, second = map(set, drawn_arrows())
    fed = set(fed_arrows())
    for t in luong.STEPS:
        assert {start for start, end in first if end == f"c{t}"} == {f"s{t - 1}"}
        assert {start for start, end in second if end == f"c{t}"} == {f"s{t}"}
        assert {(f"c{t}", f"joined{t}"), (f"s{t}", f"joined{t}")} < fed
    assert second < fed


def test_the_states_that_ask_are_those_in_the_colour_of_a_query() -> None:
    for nodes, pairs in zip((luong.BAHDANAU, luong.LUONG), drawn_arrows(), strict=True):
        asks = {start for start, end in pairs if start[0] == "s" and end[0] == "c"}
        assert asks == {name for name, node in nodes.items() if node.role == "query"}


def test_every_context_waits_for_those_before_in_the_one_and_for_none_in_the_other() -> None:
    first, second = map(set, drawn_arrows())
    for t in luong.STEPS:
        earlier = {f"c{before}" for before in range(1, t)}
        assert behind(first, f"c{t}") >= earlier
        assert not behind(second, f"c{t}") & set(map("c{}".format, luong.STEPS))
        assert behind(set(fed_arrows()), f"c{t}") >= earlier


def test_nothing_is_made_before_what_leads_to_it_and_one_decoder_makes_one_at_a_tick() -> None:
    for nodes, pairs in zip((luong.BAHDANAU, luong.LUONG), drawn_arrows(), strict=True):
        assert all(nodes[start].tick < nodes[end].tick for start, end in pairs)
    made = [node.tick for node in luong.BAHDANAU.values() if node.tick]
    assert sorted(made) == [1, 2, 3, 4, 5, 6]


def test_after_each_tick_arrows_lead_to_what_is_made_and_looks_are_counted() -> None:
    counted = [[1, 0], [1, 0], [2, 0], [2, 3], [3, 3]]
    for tick, looks in enumerate(counted, 1):
        for nodes, pairs in zip((luong.BAHDANAU, luong.LUONG), drawn_arrows(tick), strict=True):
            ends = {end for _, end in pairs}
            assert ends == {name for name, node in nodes.items() if 0 < node.tick <= tick}
        axes = luong.two_decoders(tick).axes
        assert [one.get_title(loc="right") for one in axes] == [f"{n} of 3 looks" for n in looks]


def test_only_input_feeding_is_dashed() -> None:
    assert {style for pairs in drawn_arrows() for style in pairs.values()} == {"-"}
    dashed = {ends for ends, style in fed_arrows().items() if style != "-"}
    assert dashed == {("joined1", "s2"), ("joined2", "s3")}


def test_boxes_have_the_colours_of_their_roles_with_legible_ink() -> None:
    for axes in two_decoders().axes:
        boxes = [text for text in axes.texts if text.get_bbox_patch()]
        filled = [to_rgb(box.get_bbox_patch().get_facecolor()) for box in boxes]
        assert filled.count(colour("output")) == 3
        for box, fill in zip(boxes, filled, strict=True):
            assert contrast(box.get_color(), fill) >= 4.5, box.get_text()
        (bar,) = axes.patches
        assert to_rgb(bar.get_facecolor()) == colour("key")
        assert to_rgb(bar.get_edgecolor()) == colour("value")


# --- scores ---------------------------------------------------------------------------------------


def test_maps_have_the_scores_that_they_name() -> None:
    keys = torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    scores = {name: score(keys) for name, score in luong.maps_of(QUERY, BENDS).items()}
    assert scores["dot"].tolist() == [2, 2, 3]
    assert scores["general"].tolist() == [4, 0, 2]


def test_pushed_on_a_key_gains_without_end_in_dot_and_general_alone() -> None:
    far = QUERY * torch.tensor([[1.0], [10.0], [100.0], [1000.0]])
    for name, score in luong.maps_of(QUERY, BENDS).items():
        gains = score(far).diff()
        assert bool((gains > 1).all()) == (name in ("dot", "general")), name


def test_each_map_has_the_arrow_of_its_score_and_its_name() -> None:
    for axes, name in zip(maps().axes[:3], luong.maps_of(QUERY, BENDS), strict=True):
        (arrow,) = (text for text in axes.texts if getattr(text, "arrow_patch", None))
        assert tuple(arrow.xy) == ((2, 0) if name == "general" else (1, 2))
        dashed = [line for line in axes.lines if line.is_dashed()]
        assert len(dashed) == (name == "general")
        assert axes.get_title() == name


def test_below_each_map_is_the_score_of_a_key_that_is_pushed_on() -> None:
    shown = [[text.get_text() for text in axes.texts] for axes in maps().axes[3:]]
    assert shown == [["5", "10", "15"], ["2", "4", "6"], ["2.6", "2.8", "2.8"]]
    for axes, score in zip(maps().axes[3:], luong.maps_of(QUERY, BENDS).values(), strict=True):
        curve, points = axes.lines
        for line in (curve, points):
            keys = torch.tensor(line.get_xdata())[:, None] * QUERY
            assert_near(line.get_ydata(), score(keys), rtol=1e-5, atol=1e-5)
    assert [len(axes.texts) for axes in at_the_tip().axes[3:]] == [1, 1, 1]


def test_wrong_looks_has_a_bar_and_a_number_for_each_score() -> None:
    (axes,) = wrong_looks().axes
    assert_near([bar.get_width() for bar in axes.patches], list(RATES.values()))
    assert {"0.19", "0.13", "dot", "concat"} < set(words_in(wrong_looks()))


# --- what a neighbour knows, and ways through a sentence ------------------------------------------


def test_a_mixture_fills_the_boxes_of_one_reading_and_says_what_the_comma_has_heard() -> None:
    (axes,) = mixture().axes
    boxes = [text for text in axes.texts if text.get_bbox_patch()]
    assert [text.get_text() for text in boxes] == MIXED
    fills = [to_rgb(text.get_bbox_patch().get_facecolor()) for text in boxes]
    assert [fill == to_rgb(PAPER) for fill in fills] == [True, False, True, True]
    heard, written = (text for text in axes.texts if not text.get_bbox_patch())
    assert "but" in heard.get_text()
    assert (written.get_text(), written.get_position()[0]) == ("mais", 1)


def test_a_walk_shows_every_step_its_window_and_the_numbers_of_the_clauses() -> None:
    (axes,) = walk().axes
    shown = [line for line in axes.lines if len(line.get_ydata()) == len(LOOKED)]
    assert len(shown) == 2
    for line in shown:
        assert_near(line.get_ydata(), LOOKED)
    assert_near(axes.get_yticks(), [1, 4, 7])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3"]
    (window,) = axes.collections
    corners = {tuple(corner) for corner in window.get_paths()[0].vertices.round(2).tolist()}
    assert {(0.0, -1.0), (0.0, 1.5), (4.0, 6.5), (4.0, 9.5)} <= corners


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
