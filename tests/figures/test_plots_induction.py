"""The figures of chapter 12 that show an idea: their letters follow from the sequence."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure

from attn_course.plots import induction
from tests.figures.figure_laws import (
    angle_of,
    assert_laws,
    assert_letters_are_legible_and_clear_of_each_other,
)

CUT = {"values cut": torch.tensor([0.1, 0.3]), "keys cut": torch.tensor([4.0, 4.2])}


def drawn() -> Figure:
    """Draw the streams of the chapter."""
    return induction.compartments()


def drop() -> Figure:
    """Draw the losses of two kinds of model, and two heads that come into being."""
    fall, flat = torch.linspace(3.4, 0.2, 51), torch.linspace(3.4, 3.0, 51)
    scores = {name: torch.linspace(0, end, 51)[None] for name, end in (("0", 0.6), ("1", 0.9))}
    return induction.drop({"two": torch.stack([fall, fall / 2]), "one": flat[None]}, scores)


def losses() -> Figure:
    """Draw what two changes cost."""
    return induction.losses(CUT, {"knowing nothing": 3.3})


@pytest.mark.parametrize(
    "draw", [induction.two_looks, induction.two_letters, drawn, induction.one_step_back]
)
def test_diagram_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=True)


def test_drop_keeps_the_laws_of_all_figures() -> None:
    assert_laws(drop)


def test_letters_of_losses_are_legible() -> None:
    assert_letters_are_legible_and_clear_of_each_other(losses())


def test_each_curve_of_the_drop_is_named_beside_it() -> None:
    above, below = drop().axes
    for axes in (above, below):
        named = {text.get_text() for text in axes.texts} - {"knowing nothing"}
        curves = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
        assert named == set(curves)


def test_drop_shows_each_seed_and_only_the_first_by_a_strong_line() -> None:
    _, *seeds = drop().axes[0].lines
    assert [line.get_ydata()[0] for line in seeds] == pytest.approx([3.4, 1.7, 3.4])
    assert [line.get_alpha() for line in seeds] == [None, 0.35, None]


@pytest.mark.parametrize(("text", "found"), [("sand wine san", "d"), ("sand wine win", "e")])
def test_both_letters_of_a_question_are_found_in_one_label_alone(text: str, found: str) -> None:
    (axes,) = induction.two_letters(text).axes
    said = [one.get_text() for one in axes.texts]
    assert sorted(one for one in said if " fit" in one) == ["both fit", "one fits"]
    at = text.index(found)
    (both,) = [one for one in axes.texts if one.get_text() == "both fit"]
    assert at - 1 < both.get_position()[0] < at


def one_place_off() -> Figure:
    """Draw a head that looks 3 back, in a text of 4 letters that comes twice."""
    return induction.one_place_off(torch.eye(8)[1:5], {4: 0.0, 3: 1.0})


def test_one_place_off_keeps_the_laws_of_all_figures() -> None:
    assert_laws(one_place_off)


def test_each_score_is_named_and_its_diagonal_is_so_many_places_back() -> None:
    (axes,) = one_place_off().axes
    _, *diagonals = axes.lines
    for line, back in zip(diagonals, (4, 3), strict=True):
        from_row, to = torch.as_tensor(line.get_ydata()), torch.as_tensor(line.get_xdata())
        assert (4 + from_row - to == back).all()  # row 0 is letter 4, the first of the second copy
    assert [text.get_text() for text in axes.texts] == ["4 back: 0.00", "3 back: 1.00"]


def test_losses_show_each_seed_and_write_the_mean() -> None:
    (axes,) = losses().axes
    _, *rows = axes.lines
    for row, values in zip(rows, CUT.values(), strict=True):
        assert row.get_xdata().tolist() == values.tolist()
    assert [text.get_text() for text in axes.texts] == ["knowing nothing", "0.20", "4.10"]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(CUT)


@pytest.mark.parametrize("letters", ["xab", "mnop"])
def test_a_query_that_begins_one_step_back_ends_on_the_key_of_the_letter_before(
    letters: str,
) -> None:
    begin, end = induction.one_step_back(letters, step=0.5).axes
    key, query = (angle_of(line) for line in begin.lines)
    assert (query - key) % math.tau == pytest.approx(math.tau - 0.5)
    *keys, query = (angle_of(line) for line in end.lines)
    assert [round(2 * angle) for angle in keys] == list(range(len(letters)))
    assert query == pytest.approx(keys[-2])
    assert f"key of {letters[-2]},\nquery of {letters[-1]}" in [t.get_text() for t in end.texts]


@pytest.mark.parametrize("letters", ["xabya", "mnom"])
def test_layers_note_the_letter_before_and_copy_what_came_next(letters: str) -> None:
    (axes,) = induction.compartments(letters).axes
    boxes: dict[float, list[tuple[float, str]]] = {}
    for text in axes.texts:
        if text.get_fontweight() == "bold":
            x, y = text.get_position()
            boxes.setdefault(y, []).append((x, text.get_text()))
    rows = [[letter for _, letter in sorted(boxes[y])] for y in sorted(boxes, reverse=True)]
    last, found = len(letters) - 1, letters.index(letters[-1]) + 1
    assert rows == [["", *[""] * (last - 1), letters[found]], ["", *letters[:-1]], [*letters]]
