"""Notebooks keep their marks whatever an editor adds to them, leaves out or garbles."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.converters import Autograde

from hintgrader.nbgrader.formgrader import OutsideTheFormgrader
from hintgrader.nbgrader.rebuild_notebook import rebuild
from hintgrader.pipeline.load import claims_of

MARKED = {"grade": True, "grade_id": "a-check", "points": 3, "solution": False, "locked": True}
RESULT = {
    "output_type": "execute_result",
    "execution_count": 2,
    "metadata": {},
    "data": {"text/plain": ["3", ".0"]},
}
PLAIN: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    },
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# A\n", "words"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"nbgrader": {"grade_id": "a", "solution": True}, "tags": ["x"]},
            "source": "def f():\n    return 1",
            "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "hello"}],
        },
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"nbgrader": MARKED},
            "source": ["check('a')"],
            "execution_count": 2,
            "outputs": [RESULT],
        },
        {"cell_type": "raw", "id": "d", "metadata": {}, "source": "raw"},
    ],
}
KEPT = ("cells", "cell_type", "source", "nbgrader")
NESTED = "as deep as Jupyter opens"
ODD = [None, True, -3, 0.5, "a word", "\ud83d", [], {}, ["x", "x"], [{}, 5], NESTED]
NEW = ("id", "transient", "name", "attachments", "level")


def content_of(notebook: dict[str, Any]) -> bytes:
    nested = f"{'[' * 475}{']' * 475}"
    return json.dumps(notebook).replace(json.dumps(NESTED), nested).encode()


def cells_of(notebook: NotebookNode) -> list[tuple[str, str, Any]]:
    """Return all on which marks depend."""
    return [(cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a value, but for nbgrader's."""
    if isinstance(value, list):
        return [found for one in value for found in objects_of(one)]
    if not isinstance(value, dict):
        return []
    inner = [found for key, one in value.items() if key != "nbgrader" for found in objects_of(one)]
    return [value, *inner]


def free_keys(place: dict[str, Any]) -> list[str]:
    """The keys of an object that say nothing of the answer, and some that may be added."""
    free = [key for key in place if key not in KEPT and not holds_nbgraders(place, key)]
    return list(dict.fromkeys([*free, *NEW]))


def holds_nbgraders(place: dict[str, Any], key: str) -> bool:
    """Tell whether nbgrader's words on a cell stand below a key."""
    return isinstance(place[key], dict) and "nbgrader" in place[key]


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """The notebook with keys dropped, added and mistyped that say nothing of the answer."""
    notebook = copy.deepcopy(PLAIN)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.sampled_from(objects_of(notebook)))
        key = draw(st.sampled_from(free_keys(place)))
        if draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return notebook


@given(changed())
@settings(max_examples=50, deadline=None)
def test_what_says_nothing_of_the_answer_changes_nothing_together(notebook: dict[str, Any]) -> None:
    found = rebuild(content_of(notebook)).notebook
    nbformat.validate(found)
    assert cells_of(found) == cells_of(rebuild(content_of(PLAIN)).notebook)


def test_each_key_that_says_nothing_of_the_answer_may_be_missing_or_hold_anything() -> None:
    expected = cells_of(rebuild(content_of(PLAIN)).notebook)
    for number, place in enumerate(objects_of(PLAIN)):
        for key in free_keys(place):
            notebook = copy.deepcopy(PLAIN)
            changed_place = objects_of(notebook)[number]
            changed_place.pop(key, None)
            assert cells_of(rebuild(content_of(notebook)).notebook) == expected, key
            for odd in ODD:
                changed_place[key] = odd
                found = rebuild(content_of(notebook)).notebook
                assert cells_of(found) == expected, (key, odd)


def test_rebuilt_notebook_is_what_was_handed_in() -> None:
    found = rebuild(content_of(PLAIN))
    nbformat.validate(found.notebook)
    assert cells_of(found.notebook) == [
        ("markdown", "# A\nwords", {}),
        ("code", "def f():\n    return 1", {"nbgrader": {"grade_id": "a", "solution": True}}),
        ("code", "check('a')", {"nbgrader": MARKED}),
        ("raw", "raw", {}),
    ]
    assert (claims_of(found.notebook), found.notes) == ({"a-check": 3.0}, ())
    code = [cell for cell in found.notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2]  # the order in which they ran
    assert code[1].outputs[0].execution_count == 2


def test_notebook_of_version_3_is_read_as_well_where_keys_are_missing() -> None:
    result = {"output_type": "pyout", "text": ["3", ".0"]}
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["A\n", "b"]},
        {"cell_type": "code", "input": ["x = 1\n", "x"], "outputs": [result]},
    ]
    cells[1]["metadata"] = {"nbgrader": MARKED}
    old = {"nbformat": 3, "worksheets": [{"cells": cells}, {}], "metadata": {}}
    found = rebuild(content_of(old)).notebook
    assert cells_of(found) == [
        ("markdown", "## A b", {}),
        ("code", "x = 1\nx", {"nbgrader": MARKED}),
    ]
    assert claims_of(found) == {"a-check": 3.0}


def test_halves_of_characters_are_joined_or_replaced_and_said() -> None:
    notebook = copy.deepcopy(PLAIN)
    notebook["cells"][0]["source"] = ["\ud83d", "\ude00 and \ud83d"]
    notebook["cells"][1]["metadata"]["nbgrader"]["grade_id"] = "\ude00"
    notebook["cells"][0]["attachments"] = {"\ud83d": {"image/png": ["\ud83d", "x"]}}
    found = rebuild(content_of(notebook))
    assert found.notebook.cells[0].source == "\U0001f600 and \ufffd"
    assert found.notebook.cells[0].attachments == {"\ufffd": {"image/png": "\ufffdx"}}
    assert found.notebook.cells[1].metadata.nbgrader.grade_id == "\ufffd"
    assert found.notes == ("halves of characters, which are joined or \ufffd now: 6",)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_notebook_in_another_encoding_is_read(encoding: str) -> None:
    notebook = copy.deepcopy(PLAIN)
    notebook["cells"][0]["source"] = "\xe4"
    found = rebuild(json.dumps(notebook, ensure_ascii=False).encode(encoding))
    lost = encoding == "latin-1"
    assert found.notebook.cells[0].source == ("\ufffd" if lost else "\xe4")
    assert [note[:24] for note in found.notes] == ["the file is not utf-8, a"] * lost


def test_cells_that_are_none_are_left_out_and_said() -> None:
    notebook = copy.deepcopy(PLAIN)
    notebook["cells"][:0] = [None, "x", {"cell_type": "code", "source": 5}]
    found = rebuild(content_of(notebook))
    assert [cell.source for cell in found.notebook.cells][:2] == ["", "# A\nwords"]
    assert found.notes == ("cells whose text is no text: 3 of 7",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value"),
        (b'{"cells": {}}', "it has no list of cells"),
        (b'{"cells": [' + b"5," * 25_000 + b"5]}", "it has 25,001 cells, above 25,000"),
        (b"[1]", "it has no list of cells"),
        (b'{"cells": [], "x": ' + b"[" * 100_000, "it is nested too deep"),
    ],
)
def test_what_is_no_notebook_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        rebuild(content)


@pytest.mark.parametrize(
    ("about", "version"),
    [
        ({"hintgrader": {"version": "1.0.0"}}, "1.0.0"),
        ({"hintgrader": {"version": "1.1.0.dev1"}}, "1.1.0.dev1"),
        ({"hintgrader": {"version": "<b>9</b>"}}, ""),
        ({"hintgrader": {"version": 1.0}}, ""),
        ({"hintgrader": ["1.0.0"]}, ""),
        (None, ""),
    ],
)
def test_stamp_of_a_release_is_read_if_it_is_one(about: Any, version: str) -> None:
    assert rebuild(content_of(PLAIN | {"metadata": about})).released_by == version


def test_number_of_5000_digits_is_no_hindrance() -> None:
    content = content_of(PLAIN).replace(b'"nbformat": 4', b'"nbformat": ' + b"4" * 5000)
    assert rebuild(content) == rebuild(content_of(PLAIN))


def test_nbgraders_own_command_reads_the_same_and_then_what_it_made_of_it(tmp_path: Path) -> None:
    notebook = copy.deepcopy(PLAIN)
    notebook["cells"][1] |= {"source": "'\ud83d'", "outputs": [{"transient": NESTED}]}
    (tmp_path / "x.ipynb").write_bytes(content_of(notebook))
    step = Autograde()
    exporter = OutsideTheFormgrader(parent=step)
    text, _ = exporter.from_filename(str(tmp_path / "x.ipynb"))
    assert nbformat.reads(text, as_version=4) == rebuild(content_of(notebook)).notebook
    (tmp_path / "x.ipynb").write_bytes(content_of(PLAIN))
    step._sanitizing = False
    text, _ = exporter.from_filename(str(tmp_path / "x.ipynb"))
    assert "kernelspec" in nbformat.reads(text, as_version=4).metadata
