"""The history of a submission: gradings that gave other points, and the words of people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.records.history import MAX_WORDS, note_grading, note_words, read_history
from hintgrader.records.records import record_path
from hintgrader.report.history import tell_history
from tests.example import FIRST, lay_out
from tests.gradebooks import record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FIRST / "ada.json"


def test_grading_is_kept_if_it_gave_other_points(path: Path) -> None:
    assert read_history(path) == []
    for points in (2.0, 2.0, 3.0, 2.0):
        note_grading(path, record("ada", points))
    totals = [sum(event.points.values()) for event in read_history(path)]
    assert totals == [2.0, 3.0, 2.0]
    assert {event.engine for event in read_history(path)} == {record("ada", 0.0).engine}


def test_notes_between_gradings_hide_no_change(path: Path) -> None:
    note_grading(path, record("ada", 2.0))
    note_words(path, "appeal\n granted:  \u2028 <b>both</b> axes")
    note_grading(path, record("ada", 2.0))
    first, note = read_history(path)
    assert (first.note, note.points) == ("", {})
    assert note.note == "appeal granted: <b>both</b> axes"


def test_broken_line_costs_no_other(path: Path) -> None:
    note_grading(path, record("ada", 2.0))
    with path.with_suffix(".history").open("ab") as file:
        file.write(b'{"at": "2027\n[1]\n{"at": "x", "more": 1}\n\xff\n')
    note_grading(path, record("ada", 3.0))
    assert len(read_history(path)) == 2


@pytest.mark.parametrize("words", [" \n ", "x" * (MAX_WORDS + 1)])
def test_note_without_words_or_with_too_many_is_refused(path: Path, words: str) -> None:
    with pytest.raises(ValueError, match="a note has 1 to 2,000 characters"):
        note_words(path, words)
    assert read_history(path) == []


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = Course(lay_out(tmp_path / "course"))
    (course.root / "grading").mkdir(mode=0o700)
    course.submitted(FIRST, "ada").mkdir(parents=True)
    return course


def test_command_tells_what_changed_and_keeps_a_note(course: Course) -> None:
    path = record_path(course.results, FIRST, "ada")
    older = replace(record("ada", 2.0), engine="hintgrader 1.0.0")
    note_grading(path, older)
    note_grading(path, replace(record("ada", 3.0), engine="hintgrader 1.1.0"))
    first, second, third = tell_history(course, FIRST, "ada", "the check was unfair")
    (part,) = older.parts
    assert first.endswith("UTC  hintgrader 1.0.0: 2 points")
    assert second.endswith(f"UTC  hintgrader 1.1.0: 3 points ({part.part} 2 -> 3)")
    assert third.endswith("UTC  the check was unfair")


def test_somebody_who_handed_in_nothing_has_no_history(course: Course) -> None:
    with pytest.raises(CourseError, match=r"Nothing was handed in by adda\. Did you mean: ada"):
        list(tell_history(course, FIRST, "adda", "words"))
