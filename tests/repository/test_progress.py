"""Progress is read from the notebooks, and a solution is shown to nobody too early."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import progress

SET = "01_retrieval"
PART = f"{SET}/softmax"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Copy a problem set and its solution, as a student of this repository has them."""
    for folder in ("exercises", "solutions"):
        shutil.copytree(ROOT / folder / SET, tmp_path / folder / SET)
    return tmp_path


def show(root: Path, text: str, path: Path | None = None) -> None:
    """Let the check of the first part have shown some points."""
    path = path or root / "exercises" / SET / f"{SET}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if f'check("{PART}")' in "".join(cell["source"]) and cell["metadata"].get("nbgrader"):
            data = {"text/html": "<table></table>", "text/plain": text}
            cell["outputs"] = [{"output_type": "execute_result", "metadata": {}, "data": data}]
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_points_are_those_that_the_checks_have_shown(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert progress.main(["--root", str(root)]) == 0
    line, following = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{SET}           A -/4, B -/4, C -/4, D -/4, E -/5: 0 of 21")
    assert following == f"Next: {SET}, part A. Softmax by hand"
    show(root, "4.0")
    assert progress.main(["--root", str(root)]) == 0
    line, following = capsys.readouterr().out.splitlines()
    assert "A 4/4, B -/4" in line
    assert line.endswith(": 4 of 21")
    assert following == f"Next: {SET}, part B. The soft lookup"


def test_next_is_a_part_of_the_set_that_was_saved_last(root: Path) -> None:
    for number, name in enumerate(("02_skipped", "03_begun", "04_begun_before")):
        shutil.copytree(root / "exercises" / SET, root / "exercises" / name)
        path = root / "exercises" / name / f"{SET}.ipynb"
        path = path.rename(path.with_name(f"{name}.ipynb"))
        os.utime(path, (0, 9e8 - number))
    *_, following = progress.summary(root / "exercises")
    assert following == f"Next: {SET}, part A. Softmax by hand"
    for name, seconds in (("03_begun", 9e8), ("04_begun_before", 8e8)):
        path = root / "exercises" / name / f"{name}.ipynb"
        show(root, "4.0", path)
        os.utime(path, (0, seconds))
    *_, following = progress.summary(root / "exercises")
    assert following == "Next: 03_begun, part B. The soft lookup"


def test_of_all_sets_every_part_with_a_check_is_found() -> None:
    lines = list(progress.summary(ROOT / "exercises"))
    paths = sorted((ROOT / "exercises").glob("*/*.ipynb"))
    assert len(lines) == len(paths) + 1
    for path, line in zip(paths, lines, strict=False):
        checks = set(progress.CHECKED.findall(path.read_text(encoding="utf-8").replace("\\", "")))
        assert line.count("/") == len(checks), path.name


@pytest.mark.parametrize("shown", ["", "3.0", "3.75", "NameError"])
def test_solution_is_shown_to_nobody_who_lacks_points(
    root: Path, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(root, shown)
    assert progress.main([PART, "--root", str(root)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Get all of them first" in said.err


def test_solution_stands_beside_ones_own_once_all_points_are_there(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(root, "4.0")
    assert progress.main([PART, "--root", str(root)]) == 0
    mine, theirs = capsys.readouterr().out.split("# --- the author's ---")
    assert "raise NotImplementedError" in mine
    assert "def softmax(scores" in theirs
    assert "SOLUTION" not in theirs
    assert "NotImplementedError" not in theirs


def test_where_solutions_are_not_given_out_none_is_shown(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(root, "4.0")
    shutil.rmtree(root / "solutions")
    assert progress.main([PART, "--root", str(root)]) == 1
    assert "not in this copy" in capsys.readouterr().err


def test_what_there_is_not_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (
        ("99_x/y", "no problem set 99_x"),
        (f"{SET}/y", "Choose one of: 01_retrieval/softmax"),
    ):
        assert progress.main([name, "--root", str(root)]) == 1
        assert said in capsys.readouterr().err
    (root / "exercises" / SET / f"{SET}.ipynb").write_text("[]")
    assert progress.main(["--root", str(root)]) == 1
    assert "cannot be read as a notebook" in capsys.readouterr().err
