"""The figures of chapter 03 show the numbers they were given, legibly, the same twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from numpy.testing import assert_allclose as assert_near
from torch import Tensor

from attn_course.plots import BROWN, PAPER, VIOLET, seq2seq
from tests.figures.figure_laws import assert_laws, contrast, luminance, texts, words_in
from tests.sampling import sampled

SOURCE, TARGET = ["they", "agree", "EOS"], ["ils", "sont", "d'", "accord", "EOS"]
BEGINNINGS = {
    ("ils",): 0.6,
    ("elles",): 0.4,
    ("ils", "sont"): 0.24,
    ("ils", "disent"): 0.15,
    ("ils", "acceptent"): 0.21,
    ("elles", "acceptent"): 0.36,
    ("elles", "acceptent", "EOS"): 0.288,
    ("ils", "sont", "d'"): 0.2401,
}
KEPT = set(BEGINNINGS) - {("ils", "disent"), ("ils", "acceptent")}
ENDS = {"greedy": ("ils", "sont", "d'"), "the best": ("elles", "acceptent", "EOS")}
WIDTHS = torch.tensor([32, 64, 128, 256])
LENGTHS = torch.arange(1, 25)
EXACT = {
    width: torch.sigmoid(4.0 + 2 * place - LENGTHS + torch.tensor([[-0.5], [0.0], [0.4]]))
    for place, width in enumerate(WIDTHS.tolist())
}
REACH = {
    "copy, 2000 steps": torch.tensor([[5.7, 8.0, 10.1, 11.9], [5.5, 8.2, 9.7, 12.1]]),
    "copy, 8000 steps": torch.tensor([[7.6, 11.5, 14.3], [7.4, 11.9, 14.0]]),
}
POSITIONS = {
    "copy": torch.tensor([[0.9, 0.6, 0.4, 0.8], [0.8, 0.7, 0.3, 0.9]]),
    "reversal": torch.tensor([[0.3, 0.5, 0.7, 1.0], [0.2, 0.4, 0.8, 0.9]]),
}
WORDS_READ = torch.tensor([7.5, 25.0, 55.0, 90.0])
BLEU = {
    "12,000 steps": torch.tensor([[96.0, 60, 30, 10], [92, 66, 28, 15]]),
    "2000 steps": torch.tensor([[45.0, 27, 18, 15], [48, 27, 18, 15], [42, 27, 18, 16]]),
}
STATES = torch.tensor([[0.0, 0.0], [0.5, -0.25], [-0.5, 0.125], [0.25, 0.5]])
SINCE = [0, 1, 5, 20]
LEFT = {"keep": 0.95 ** torch.tensor(SINCE), "plain": 0.5 ** torch.tensor(SINCE)}
DIFFERENCE = {name: share[:, None] * torch.tensor([0.4, -0.1]) for name, share in LEFT.items()}


def recurrence() -> Figure:
    """Draw a network with its loop and without."""
    return seq2seq.recurrence(SOURCE, STATES)


def encoder_decoder() -> Figure:
    """Draw an encoder and a decoder."""
    return seq2seq.encoder_decoder(SOURCE, TARGET)


def gru() -> Figure:
    """Draw the gates of a GRU."""
    return seq2seq.gru()


def beam_tree() -> Figure:
    """Draw a small beam search."""
    return seq2seq.beam_tree(BEGINNINGS, KEPT, ENDS)


def copied() -> Figure:
    """Draw four curves, one for each width."""
    return seq2seq.copied(LENGTHS, EXACT, 20)


def reach() -> Figure:
    """Draw two curves; one has no value for the widest vector."""
    return seq2seq.reach(WIDTHS, REACH)


def traces() -> Figure:
    """Draw a slow and a fast fall."""
    return seq2seq.traces(SINCE, DIFFERENCE, LEFT)


def by_position() -> Figure:
    """Draw two curves over four positions."""
    return seq2seq.by_position({"64 numbers": POSITIONS}, chance=0.05)


def bleu_by_length() -> Figure:
    """Draw two curves."""
    return seq2seq.bleu_by_length(WORDS_READ, BLEU, 52)


DIAGRAMS = [recurrence, encoder_decoder, gru, traces, beam_tree]
CURVES = [copied, reach, by_position, bleu_by_length]
EVERY_FIGURE = pytest.mark.parametrize("draw", [*DIAGRAMS, *CURVES], ids=lambda draw: draw.__name__)


@sampled
@EVERY_FIGURE
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=draw in DIAGRAMS)


@EVERY_FIGURE
def test_ink_stands_out_on_what_is_behind_it(draw: Callable[[], Figure]) -> None:
    for text in texts(draw()):
        box = text.get_bbox_patch()
        behind = to_rgb(box.get_facecolor()) if box else PAPER
        assert contrast(text.get_color(), behind) >= 4.5, text.get_text()


# --- networks ---------------------------------------------------------------------------------


def test_recurrence_shows_one_state_a_word_and_one_before_the_first() -> None:
    shown = words_in(recurrence())
    assert {"$h_i$", "$x_i$", "$h_0$", "$h_1$", "$h_2$", "$h_3$", *SOURCE} < set(shown)
    assert "$h_4$" not in shown


def test_recurrence_shows_the_numbers_of_each_state_and_which_are_below_0() -> None:
    (axes,) = recurrence().axes
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    colours = np.array([cell.get_facecolor() for cell in cells])
    assert_near(colours[:2, 3], 0)  # the network with its loop has no numbers yet
    shown, wanted = colours[2:].reshape(4, 2, 4), STATES / 0.5
    assert_near(shown[..., 3], wanted.abs())
    for colour, number in zip(shown.reshape(8, 4), wanted.flatten(), strict=True):
        assert to_rgb(colour[:3]) == to_rgb(VIOLET if number > 0 else BROWN)
    middles = [cell.get_y() for cell in cells]
    assert middles[::2] == [max(middles)] * 5  # the first number is on top


def test_decoder_gets_the_vector_in_every_state_and_each_word_in_the_next() -> None:
    figure = encoder_decoder()
    (axes,) = figure.axes
    places = {text.get_text(): text.get_position() for text in axes.texts if text.get_text()}
    first, *states = (places[f"$s_{number}$"] for number in range(len(TARGET) + 1))
    assert {"$h_1$", "$h_2$", "$h_3$", "$c$", "BOS", *SOURCE, *TARGET} < set(places)
    assert "$h_4$" not in places
    assert "$s_6$" not in places
    arrows = [text for text in axes.texts if isinstance(text, Annotation)]
    (line,) = axes.lines  # from the vector to both sides, and down to every state
    _, height = places["$c$"]
    down = [arrow for arrow in arrows if arrow.xyann[1] == height]
    assert list(line.get_ydata()) == [height] * 2
    ways = [(arrow.xyann[0], arrow.xy[0]) for arrow in down]
    assert ways == [(x, x) for x, _ in (first, *states)]
    assert list(line.get_xdata()) == [first[0], states[-1][0]]
    dashed = [arrow for arrow in arrows if arrow.arrow_patch.get_linestyle() != "solid"]
    ends = [arrow.xy for arrow in dashed]
    starts = [arrow.xyann for arrow in dashed]
    words = [places[word] for word in ("BOS", *TARGET[:-1])]
    assert_near(starts, words, atol=0.3)  # each begins at the word before
    assert_near([x for x, _ in ends], [x - 0.3 for x, _ in states])


def test_gru_has_an_update_gate_twice_and_a_reset_gate_once() -> None:
    (axes,) = gru().axes
    boxed = [text.get_text() for text in axes.texts if text.get_bbox_patch()]
    gates = {"$z$", "$1{-}z$", "$r$"}
    assert sorted(boxed) == sorted([*gates, "+", "$h_{i{-}1}$", "h\u0303\u1d62", "$h_i$"])
    hollow = [t for t in axes.texts if t.get_text() in gates]
    assert {t.get_bbox_patch().get_edgecolor()[:3] for t in hollow} == {to_rgb(VIOLET)}


# --- beam search --------------------------------------------------------------------------------


def test_tree_writes_every_probability_and_what_was_kept_in_bold() -> None:
    (axes,) = beam_tree().axes
    shown = {text.get_text(): text.get_fontweight() for text in axes.texts}
    named = {f"{prefix[-1]}\n{p:.3g}" for prefix, p in BEGINNINGS.items()}
    assert set(shown) == named | set(ENDS) | {"BOS"}
    assert {text for text, weight in shown.items() if weight == "bold"} == {
        f"{prefix[-1]}\n{BEGINNINGS[prefix]:.3g}" for prefix in KEPT
    }


def test_only_the_way_to_the_most_probable_sentence_is_violet() -> None:
    (axes,) = beam_tree().axes
    violet = {text.get_text() for text in axes.texts if text.get_color() == VIOLET}
    assert violet == {"elles\n0.4", "acceptent\n0.36", "EOS\n0.288", "the best"}


def test_tree_joins_each_beginning_with_what_goes_on_from_it() -> None:
    (axes,) = beam_tree().axes
    spot = {text.get_text(): text.get_position() for text in axes.texts}
    places = {prefix: spot[f"{prefix[-1]}\n{share:.3g}"] for prefix, share in BEGINNINGS.items()}
    for (prefix, place), line in zip(places.items(), axes.lines, strict=True):
        assert place[0] == len(prefix)
        assert line.get_ydata()[1] == place[1]
        if len(prefix) > 1:
            assert line.get_ydata()[0] == places[prefix[:-1]][1]
    ils = [places["ils", word][1] for word in ("sont", "disent", "acceptent")]
    assert places["ils",][1] == pytest.approx(np.mean(ils))
    assert max(ils) < places["elles", "acceptent"][1]  # from top to bottom, as given


# --- curves -------------------------------------------------------------------------------------


def curves(axes: Axes) -> dict[str, Line2D]:
    """Return the lines that a legend names."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def assert_bands(axes: Axes, at: Tensor, runs: list[Tensor]) -> None:
    """Each band reaches, at every place, from the least to the greatest of the runs."""
    bands = [band for band in axes.collections if len(band.get_paths()[0].vertices) > 5]
    for band, values in zip(bands, runs, strict=True):
        outline = band.get_paths()[0].vertices
        for x, low, high in zip(at.tolist(), values.amin(0), values.amax(0), strict=False):
            here = outline[np.isclose(outline[:, 0], x), 1]
            assert_near([here.min(), here.max()], [low, high], rtol=1e-5)


@pytest.mark.parametrize(
    ("draw", "at", "runs", "scale", "label"),
    [
        (copied, LENGTHS, EXACT, 100, "{} numbers"),
        (reach, WIDTHS, REACH, 1, "{}"),
        (by_position, torch.arange(1, 5), POSITIONS, 100, "{}"),
        (bleu_by_length, WORDS_READ, BLEU, 1, "{}"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_curves_are_means_in_bands_from_the_least_to_the_greatest(
    draw: Callable[[], Figure], at: Tensor, runs: dict, scale: float, label: str
) -> None:
    (axes,) = draw().axes
    drawn = curves(axes)
    assert list(drawn) == [label.format(name) for name in runs]
    for line, values in zip(drawn.values(), runs.values(), strict=True):
        assert_near(line.get_xdata(), at[: values.shape[1]])
        assert_near(line.get_ydata(), scale * values.mean(0), rtol=1e-5)
    assert_bands(axes, at, [scale * values for values in runs.values()])
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn.values()}) == len(runs)
    assert len({line.get_color() for line in drawn.values()}) == len(runs)


def test_each_width_stands_beside_its_curve_and_on_none() -> None:
    (axes,) = copied().axes
    names = [text for text in axes.texts if isinstance(text, Annotation)]
    widths = WIDTHS.tolist()
    assert [t.get_text() for t in names] == ["32", "64", "128", "256 numbers"]
    curves = [100 * EXACT[width].mean(0) for width in widths]
    axes.figure.draw_without_rendering()
    for place, text in enumerate(names):
        x, y = text.xy
        assert np.interp(x, LENGTHS, curves[place]) == pytest.approx(y, abs=0.01)
        box = text.get_window_extent().transformed(axes.transData.inverted())
        assert x < box.x0 if text is names[-1] else box.x1 < x
        for other in curves[:place]:
            assert np.interp(box.x0, LENGTHS, other) < y


@pytest.mark.parametrize(("draw", "runs"), [(reach, REACH), (bleu_by_length, BLEU)])
def test_few_lines_have_their_names_beside_them_in_their_colours(
    draw: Callable[[], Figure], runs: dict
) -> None:
    (axes,) = draw().axes
    assert not draw().legends
    drawn = curves(axes)
    names = {t.get_text(): t for t in axes.texts if isinstance(t, Annotation)}
    assert list(names) == list(runs)
    for name, text in names.items():
        line = drawn.pop(name)
        x, y = text.xy
        assert_near(np.interp(x, *line.get_data()), y, rtol=1e-6)
        assert text.get_color() == line.get_color()
        up = text.xyann[1] > 0
        for other in drawn.values():
            if x <= other.get_xdata().max():
                assert (np.interp(x, *other.get_data()) < y) == up
        drawn[name] = line


def test_many_lines_have_a_legend() -> None:
    many = {f"seed {n}": BLEU["12,000 steps"] - n for n in range(4)}
    (legend,) = seq2seq.bleu_by_length(WORDS_READ, many, 52).legends
    assert [text.get_text() for text in legend.get_texts()] == list(many)


def test_wider_vectors_are_darker() -> None:
    (axes,) = copied().axes
    shades = [luminance(to_rgb(line.get_color())) for line in curves(axes).values()]
    assert shades == sorted(shades, reverse=True)
    assert VIOLET in [line.get_color() for line in axes.lines]


@pytest.mark.parametrize(("draw", "start"), [(copied, 20), (bleu_by_length, 52)])
def test_lengths_that_were_never_learned_are_grey(draw: Callable[[], Figure], start: float) -> None:
    (axes,) = draw().axes
    (grey,) = axes.patches
    assert grey.get_x() == start
    assert grey.get_x() + grey.get_width() == axes.get_xlim()[1]


def test_an_axis_of_bleu_ends_a_little_above_what_it_is_told() -> None:
    (axes,) = bleu_by_length().axes
    assert axes.get_ylim() == (0, 102)
    (axes,) = seq2seq.bleu_by_length(WORDS_READ, BLEU, 52, highest=50).axes
    assert axes.get_ylim() == (0, 51)


def test_a_trace_is_drawn_in_percent_from_the_first_word_on() -> None:
    (axes,) = traces().axes
    cells = np.array([patch.get_facecolor() for patch in axes.patches]).reshape(2, 4, 2, 4)
    for shown, left in zip(cells, LEFT.values(), strict=True):
        assert_near(shown[:, 0, 3], left, rtol=1e-6)
        assert_near(shown[:, 1, 3], left / 4, rtol=1e-6)
        for row, colour in ((0, VIOLET), (1, BROWN)):  # above 0 and below
            assert to_rgb(shown[0, row, :3]) == to_rgb(colour)
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places["20"][0] == places["36%"][0] == 3
    assert places["keep"][1] > places["plain"][1]


def test_reach_has_a_logarithmic_axis_with_the_widths_on_it() -> None:
    (axes,) = reach().axes
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["32", "64", "128", "256"]
    assert axes.get_ylim()[0] == 0


def test_each_width_has_a_panel_with_its_name_and_the_tasks_have_one_legend() -> None:
    fewer = {task: runs / 2 for task, runs in POSITIONS.items()}
    figure = seq2seq.by_position({"64 numbers": POSITIONS, "32 numbers": fewer}, chance=0.05)
    assert [axes.get_title() for axes in figure.axes] == ["64 numbers", "32 numbers"]
    for axes, shares in zip(figure.axes, (POSITIONS, fewer), strict=True):
        for line, runs in zip(curves(axes).values(), shares.values(), strict=True):
            assert_near(line.get_ydata(), 100 * runs.mean(0), rtol=1e-5)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(POSITIONS)


def test_guessing_is_a_line_at_its_share() -> None:
    (axes,) = by_position().axes
    (line,) = [line for line in axes.lines if line.get_label().startswith("_")]
    assert_near(line.get_ydata(), [5, 5])
