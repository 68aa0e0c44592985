"""Answers that are alike: what a copier changes hides nothing, what all write shows nothing."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hintgrader.nbgrader.course import Course
from hintgrader.similarity.command import write_similarity
from hintgrader.similarity.compare import LEAST, RUN, compare
from hintgrader.similarity.normal_form import normal_form
from hintgrader.testing.commands import type_command
from tests.example import FIRST, lay_out

ANSWER = """
def fit(points, values, ridge=0.0):
    gram = points.T @ points + ridge * torch.eye(points.shape[1])
    scale = gram.diagonal().mean().clamp(min=1e-9)
    return torch.linalg.solve(gram / scale, points.T @ values / scale, left=True)
"""
COPY = """
import torch
from torch import Tensor

def mine(p: Tensor, v: Tensor, r: float = 0.0) -> Tensor:
    '''All my own work.'''
    g: Tensor = p.T @ p + r * torch.eye(p.shape[1])  # ridge
    s = (g.diagonal()
          .mean().clamp(min=1e-9))
    return torch.linalg.solve(g / s, p.T @ v / s, left=True)
"""
USUAL = "def fit(a, b):\n    return torch.linalg.lstsq(a, b.unsqueeze(-1)).solution.squeeze(-1)"


def other(number: int) -> str:
    """An answer as nobody else writes it."""
    calls = "".join(f".step_{number}_{place}({number + place})" for place in range(12))
    return f"def fit(a, b):\n    return a{calls}"


def forms(*sources: str) -> dict[str, tuple[str, ...]]:
    found = {f"s{number:02}": normal_form(source) for number, source in enumerate(sources)}
    return {name: form for name, form in found.items() if form is not None}


def test_what_a_copier_changes_leaves_the_normal_form_as_it_was() -> None:
    assert normal_form(ANSWER) == normal_form(COPY)
    assert normal_form("f(a=1, b=2)") == normal_form("f(b=2,\n  a=1)  # mine")
    assert normal_form("x = 1\ny = x") == normal_form("b = 1\na = b")


def test_what_computes_something_else_has_another_form() -> None:
    changes = ("1e-9", "1e-8"), ("mean", "amax"), ("+ ridge", "- ridge"), ("True", "False")
    changed = {normal_form(ANSWER.replace(*change)) for change in changes}
    assert len(changed - {None, normal_form(ANSWER)}) == len(changes)
    assert normal_form("x = 1\ny = x") != normal_form("x = 1\ny = y")


@pytest.mark.parametrize("source", ["def f(:", "\0", "x = " + "(" * 300 + ")" * 300, "a\n  b"])
def test_what_is_no_python_has_no_form(source: str) -> None:
    assert normal_form(source) is None


def test_lines_of_a_shell_are_no_hindrance() -> None:
    assert normal_form("%pip install x\n!ls\ny = 1") is not None


def test_copy_is_first_and_what_everybody_writes_is_in_no_pair() -> None:
    strangers = [other(number) for number in range(20)]
    found = compare(forms(ANSWER, COPY, *[USUAL] * 10, *strangers))
    assert (found.listed, found.answers) == (1, 32)
    assert found.typical < LEAST
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.alike) == ("s00", "s01", 1.0)
    assert LEAST <= pair.shared <= len(normal_form(ANSWER) or ()) - RUN + 1


@pytest.mark.parametrize("sources", [(), (ANSWER,), ("x", "x", "x")])
def test_too_few_or_too_short_answers_make_no_pair(sources: tuple[str, ...]) -> None:
    assert compare(forms(*sources)).pairs == ()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = Course(lay_out(tmp_path / "course"))
    (course.root / "grading").mkdir(mode=0o700)
    return course


def hand_in(course: Course, student: str, source: str | None) -> None:
    folder = course.submitted(FIRST, student)
    folder.mkdir(parents=True)
    text = "no notebook"
    if source is not None:
        about = {"grade_id": "fit", "solution": True, "grade": False, "schema_version": 3}
        cell = new_code_cell(source, metadata={"nbgrader": about | {"locked": False}})
        text = nbformat.writes(new_notebook(cells=[cell]))
    (folder / f"{FIRST}.ipynb").write_text(text, encoding="utf-8")


def test_page_shows_two_answers_side_by_side_as_text(course: Course) -> None:
    evil = ANSWER + "\nnote = '<script>alert(1)</script>'"
    for student, source in {"ada": evil, "bob": COPY, "eve": None, "zoe": "def fit(:"}.items():
        hand_in(course, student, source)
    for number in range(9):
        hand_in(course, f"s{number}", other(number))
    said = type_command("hintgrader", "similar", FIRST, folder=course.root)
    page = (course.results / f"{FIRST}-similarity.html").read_text(encoding="utf-8")
    assert said.stdout.strip().endswith(f"{FIRST}-similarity.html")
    assert "<b>ada</b> and <b>bob</b>" in page
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "No notebook that can be read: eve." in page
    assert "No Python, and left out: zoe." in page
    assert "Among so few, nearly everything is rare." in page


def test_copy_of_the_public_solution_is_named(course: Course) -> None:
    source = nbformat.read(course.source(FIRST), as_version=4)
    cells = (c for c in source.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "fit")
    hand_in(course, "ada", next(cells).source)
    for number in range(9):
        hand_in(course, f"s{number}", other(number))
    page = write_similarity(course.root, FIRST).read_text(encoding="utf-8")
    assert re.search("<b>the public solution</b> and <b>ada</b>: .* 100% of all", page)
