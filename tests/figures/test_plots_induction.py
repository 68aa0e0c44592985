"""The figures of chapter 12 that show an idea: their letters follow from the sequence."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure

from attn_course.plots import induction
from tests.figures.figure_laws import angle_of, assert_laws


def drawn() -> Figure:
    """Draw the streams of the chapter."""
    return induction.compartments()


@pytest.mark.parametrize("draw", [drawn, induction.one_step_back])
def test_figure_keeps_the_laws_of_all_figures(draw: Callable[[], Figure]) -> None:
    assert_laws(draw, is_diagram=True)


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
    is_, asks = letters[found], letters[last]
    assert rows[0] == [is_, "", "", "1", asks, "", "", "1"]
    assert rows[1] == [is_, asks, "", "1", asks, letters[last - 1], "", "1"]
    assert rows[2] == [is_, asks, "", "1", asks, letters[last - 1], is_, "1"]
