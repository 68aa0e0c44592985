"""The figures of chapter 12 that show an idea: their letters follow from the sequence."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from attn_course.plots import induction
from tests.figures.figure_laws import assert_laws


def drawn() -> Figure:
    """Draw the streams of the chapter."""
    return induction.compartments()


def test_figure_keeps_the_laws_of_all_figures() -> None:
    assert_laws(drawn, is_diagram=True)


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
