"""Progress is read from the notebooks, and a solution is shown to nobody too early."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hintgrader.progress import remembered
from hintgrader.progress.remembered import FILE
from hintgrader.progress.sets import CHECKED, UNANSWERED, sets_beside, sets_in
from hintgrader.progress.told import PAGE, Progress, write_page
from jupyter_client.manager import KernelManager
from traitlets.config import PyFileConfigLoader

import attn_bank
from tests.conftest import ROOT
from tests.kernels import kernel_name

sys.path.insert(0, str(ROOT / "tools"))
import build_exercises
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


def following(root: Path) -> str:
    """Return the line that names the next part."""
    return Progress(root, sets_in(root / "exercises")).following()


def test_points_are_those_that_the_checks_have_shown(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert progress.main(["--root", str(root)]) == 0
    line, following, _ = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{SET}           A -/4, B -/4, C -/4, D -/4, E -/5: 0 of 21")
    assert following == f"Next: {SET}, part A. Softmax by hand"
    show(root, "4.0")
    assert progress.main(["--root", str(root)]) == 0
    line, following, solution, _ = capsys.readouterr().out.splitlines()
    assert "A 4/4, B -/4" in line
    assert line.endswith(": 4 of 21")
    assert following == f"Next: {SET}, part B. The soft lookup"
    assert solution.endswith(f"make progress PART={PART}")


def test_next_is_a_part_of_the_set_that_was_saved_last(root: Path) -> None:
    for number, name in enumerate(("02_skipped", "03_begun", "04_begun_before")):
        shutil.copytree(root / "exercises" / SET, root / "exercises" / name)
        path = root / "exercises" / name / f"{SET}.ipynb"
        path = path.rename(path.with_name(f"{name}.ipynb"))
        os.utime(path, (0, 9e8 - number))
    assert following(root) == f"Next: {SET}, part A. Softmax by hand"
    for name, seconds in (("03_begun", 9e8), ("04_begun_before", 8e8)):
        path = root / "exercises" / name / f"{name}.ipynb"
        show(root, "4.0", path)
        os.utime(path, (0, seconds))
    assert following(root) == "Next: 03_begun, part B. The soft lookup"


def show_all(root: Path, name: str = SET) -> None:
    """Let all checks of a set have shown all points."""
    path = root / "exercises" / name / f"{name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader") or {}
        if about.get("grade") and cell["cell_type"] == "code":
            data = {"text/plain": f"{float(about['points'])}"}
            cell["outputs"] = [{"output_type": "execute_result", "metadata": {}, "data": data}]
    path.write_text(json.dumps(notebook), encoding="utf-8")


def write_words(root: Path, name: str = SET) -> None:
    path = root / "exercises" / name / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert text.count(UNANSWERED) == 1
    path.write_text(text.replace(UNANSWERED, "Because."), encoding="utf-8")


def test_after_a_full_set_come_its_words_then_the_next_set_then_the_first(root: Path) -> None:
    for name in ("00_before", "02_after"):
        shutil.copytree(root / "exercises" / SET, root / "exercises" / name)
        path = root / "exercises" / name / f"{SET}.ipynb"
        path.rename(path.with_name(f"{name}.ipynb"))
    show_all(root)
    assert following(root) == f"Next: {SET}, part F. In words"
    write_words(root)
    assert following(root) == "Next: 02_after, part A. Softmax by hand"
    show_all(root, "02_after")
    write_words(root, "02_after")
    assert following(root) == "Next: 00_before, part A. Softmax by hand"
    show_all(root, "00_before")
    write_words(root, "00_before")
    assert following(root).startswith("Nothing is left but the parts in words")


def test_next_in_a_notebook_that_is_not_begun_is_in_that_notebook(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = root / "exercises" / "02_new"
    shutil.copytree(root / "exercises" / SET, there)
    (there / f"{SET}.ipynb").rename(there / "02_new.ipynb")
    show(root, "4.0")
    monkeypatch.chdir(there)
    assert attn_bank.progress().following() == "Next: 02_new, part A. Softmax by hand"
    shutil.copy(there / "02_new.ipynb", there / "02_new-Copy1.ipynb")
    assert attn_bank.progress().following() == f"Next: {SET}, part B. The soft lookup"
    monkeypatch.setenv(remembered.SESSION, str(there / "02_new-Copy1.ipynb"))
    assert attn_bank.progress().following() == "Next: 02_new-Copy1, part A. Softmax by hand"


def test_where_a_part_has_several_functions_they_are_named(root: Path) -> None:
    name = "11_transformer"
    shutil.rmtree(root / "exercises" / SET)
    shutil.copytree(ROOT / "exercises" / name, root / "exercises" / name)
    line, _, *_ = progress.summary(root)
    assert "B -/4, C next_token_loss -/3, C leaks -/5, D " in line
    page = write_page(root / "exercises").read_text(encoding="utf-8")
    assert "C. One shift, and a test that finds a leak: leaks<" in page
    assert "E. Train your own<" in page


def test_make_calls_a_friendly_refusal_no_error(root: Path) -> None:
    command = ["make", "-s", "progress", f"PYTHON={sys.executable}", f"PART={SET}/nothing"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stderr.startswith(f"There is no part {SET}/nothing. Choose one of: {PART}, ")
    assert "make" not in run.stderr
    command[-2] = "PYTHON=no-such-program"
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode != 0


def test_of_all_sets_every_part_with_a_check_is_found() -> None:
    found = sets_in(ROOT / "exercises")
    assert [one.path for one in found] == sorted((ROOT / "exercises").glob("*/*.ipynb"))
    for one in found:
        checks = set(CHECKED.findall(one.path.read_text(encoding="utf-8").replace("\\", "")))
        assert {step.exercise for step in one.checked} == checks, one.path.name


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ("", "has not been checked. Get its points first"),
        ("3.0", "shows 3/4 points. Get all of them first"),
        ("3.75", "shows 3.75/4 points. Get all of them first"),
        ("NameError", "has not been checked. Get its points first"),
    ],
)
def test_solution_is_shown_to_nobody_who_lacks_points(
    root: Path, shown: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(root, shown)
    assert progress.main([PART, "--root", str(root)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err


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
    assert progress.main([PART, "--root", str(root)]) == 1
    assert "cannot be read as a notebook" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": [{"cell_type": "code"}]}', "\xff"])
def test_a_notebook_that_cannot_be_read_hides_no_other(root: Path, text: str) -> None:
    broken = root / "exercises" / "02_broken" / "02_broken.ipynb"
    broken.parent.mkdir()
    broken.write_text(text, encoding="latin-1")
    show(root, "4.0")
    whole, fault, *_ = progress.summary(root)
    assert whole.endswith(": 4 of 21")
    assert fault.startswith("02_broken              it cannot be read as a notebook")
    assert "it cannot be read" in (root / "exercises" / PAGE).read_text(encoding="utf-8")


class Kernel:
    """A student's kernel in a folder; it is started anew by `restart`.

    Args:
        folder: Where it runs.
        notebook: For which notebook, as a Jupyter server tells it; not told if empty.
    """

    def __init__(self, folder: Path, notebook: str = "") -> None:
        self._manager = KernelManager(kernel_name=kernel_name())
        told = {remembered.SESSION: str(folder / notebook)} if notebook else {}
        self._manager.start_kernel(cwd=str(folder), env={**os.environ, **told})
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._begin()

    def _begin(self) -> None:
        self._client.wait_for_ready(timeout=60)
        assert self.run("import torch\nfrom attn_bank import check, progress") == ""

    def restart(self) -> None:
        self._manager.restart_kernel(now=True)
        self._begin()

    def stop(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, source: str, kind: str = "text/plain") -> str:
        """Run a cell; return the last text of a kind that it shows."""
        shown = [""]

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            shown.append(content.get("data", {}).get(kind, ""))
            assert message["msg_type"] != "error", content

        self._client.execute_interactive(source, timeout=60, output_hook=hear)
        return next(filter(None, reversed(shown)), "")


@pytest.fixture
def kernel(root: Path) -> Iterator[Kernel]:
    kernel = Kernel(root / "exercises" / SET)
    yield kernel
    kernel.stop()


def save(root: Path, answer: str, check_shows: str, name: str = f"{SET}.ipynb") -> None:
    """Save a notebook with an answer to part A, and what its check shows, after that check."""
    path = root / "exercises" / SET / name
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell.get("id") == "softmax":
            cell["source"] = answer.splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    show(root, check_shows, path)
    later = time.time() + 5
    os.utime(path, (later, later))


RIGHT = "def softmax(scores):\n    powers = (scores - scores.amax(-1, keepdim=True)).exp()"
RIGHT += "\n    return powers / powers.sum(-1, keepdim=True)"
WRONG = RIGHT.replace(" - scores.amax(-1, keepdim=True)", "")


def test_what_counts_is_the_answer_that_was_checked(root: Path, kernel: Kernel) -> None:
    """As a student does it: a wrong answer, a right one, the next day, an edit."""
    kernel.run(WRONG)
    shown = kernel.run(f"check('{PART}')")
    assert float(shown) < 4
    assert f"A {float(shown):g}/4," in kernel.run("progress()")
    kernel.run(RIGHT)
    assert kernel.run(f"check('{PART}')") == "4.0"
    assert "A 4/4, B -/4" in kernel.run("progress()")  # though nothing is saved yet
    save(root, RIGHT, "4.0")
    kernel.restart()
    table = kernel.run(f"check('{PART}')", "text/html")  # nothing is defined
    assert "The 4 points of your last check are kept" in table
    assert "0 of 4 points" in table
    save(root, RIGHT, "0.0")
    assert "A 4/4, B -/4, C -/4, D -/4, E -/5: 4 of 21" in kernel.run("progress()")
    save(root, f"{RIGHT}  # better?", "4.0")
    said = kernel.run("progress()")
    assert "A 4/4 edited since, B" in said
    assert ": 0 of 21" in said
    assert "Softmax by hand (edited since its check: run the answer, then its check)" in said
    assert progress.main([PART, "--root", str(root)]) == 1
    kernel.run(f"check('{PART}', lambda scores: scores)\ncheck('{PART}', hidden=True)")
    save(root, f"{RIGHT}  ", "4.0")  # space at the end of a line is no edit
    assert "A 4/4, B" in kernel.run("progress()")
    shutil.rmtree(root / "exercises")  # under its feet
    kernel.run(RIGHT)
    assert kernel.run(f"check('{PART}')") == "4.0"
    assert kernel.run("progress()") == "The folder of this notebook is no longer there."


COPY = f"{SET}-Copy1.ipynb"


@pytest.fixture
def copied(root: Path) -> Iterator[Kernel]:
    """A kernel of a second copy, which lies beside the notebook."""
    folder = root / "exercises" / SET
    shutil.copy(folder / f"{SET}.ipynb", folder / COPY)
    kernel = Kernel(folder, COPY)
    yield kernel
    kernel.stop()


def steps(root: Path) -> dict[str, str]:
    """Return the line on part A of each notebook, by its name."""
    beside = sets_beside(root / "exercises" / SET)
    return {one.path.name: str(one.checked[0]) for one in beside}


def test_points_of_a_copy_are_not_those_of_the_notebook_beside_it(
    root: Path, copied: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    copied.run(RIGHT)
    assert copied.run(f"check('{PART}')") == "4.0"
    told = copied.run("progress()").splitlines()
    assert told[1].startswith(f"{SET}-Copy1     A 4/4, ")  # not saved yet
    assert told[0].startswith(f"{SET}           A -/4, ")
    assert told[-1] == f"Next: {SET}-Copy1, part B. The soft lookup"
    save(root, RIGHT, "4.0", COPY)
    assert steps(root) == {COPY: "A 4/4", f"{SET}.ipynb": "A -/4"}
    assert progress.main([PART, "--root", str(root)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "has not been checked" in said.err
    save(root, RIGHT, "4.0")  # the same answer, in the other one
    assert steps(root) == {COPY: "A 4/4", f"{SET}.ipynb": "A 4/4"}
    copied.run(WRONG)
    shown = copied.run(f"check('{PART}')")
    save(root, WRONG, shown, COPY)
    assert steps(root) == {COPY: f"A {float(shown):g}/4", f"{SET}.ipynb": "A 4/4"}
    assert progress.main([PART, "--root", str(root)]) == 0


def test_nobody_knows_whose_the_points_are_where_no_server_says_it(
    root: Path, kernel: Kernel
) -> None:
    folder = root / "exercises" / SET
    shutil.copy(folder / f"{SET}.ipynb", folder / COPY)
    kernel.run(RIGHT)
    assert kernel.run(f"check('{PART}')") == "4.0"
    assert steps(root) == {COPY: "A -/4", f"{SET}.ipynb": "A -/4"}
    save(root, RIGHT, "4.0", COPY)
    assert steps(root) == {COPY: "A 4/4", f"{SET}.ipynb": "A -/4"}
    assert progress.main([PART, "--root", str(root)]) == 1
    save(root, f"{RIGHT}  # better?", "4.0", COPY)
    assert steps(root) == {COPY: "A -/4", f"{SET}.ipynb": "A -/4"}
    (folder / COPY).rename(folder / f"{SET}-mine.ipynb")
    save(root, RIGHT, "4.0", f"{SET}-mine.ipynb")
    assert steps(root) == {f"{SET}-mine.ipynb": "A 4/4", f"{SET}.ipynb": "A -/4"}


def test_what_was_checked_and_not_saved_takes_nothing_from_what_was_saved(
    root: Path, kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel.run(RIGHT)
    kernel.run(f"check('{PART}')")
    assert steps(root) == {f"{SET}.ipynb": "A 4/4 not saved"}
    assert following(root).endswith("by hand (the answer that was checked is not saved)")
    assert progress.main([PART, "--root", str(root)]) == 1
    assert "is not saved. Save it first" in capsys.readouterr().err
    assert "that showed 4 of 4 is not saved" in write_page(root / "exercises").read_text()
    save(root, RIGHT, "4.0")
    path = root / "exercises" / SET / f"{SET}.ipynb"
    os.utime(path, (0, time.time() - 1))
    kernel.run(WRONG)
    assert float(kernel.run(f"check('{PART}')")) < 4
    assert "A 4/4" not in kernel.run("progress()")  # it knows what it has run
    assert steps(root) == {f"{SET}.ipynb": "A 4/4"}  # as after it was closed without saving
    assert progress.main([PART, "--root", str(root)]) == 0


def test_a_check_of_what_was_run_before_an_edit_is_no_check_of_the_edit(
    root: Path, kernel: Kernel
) -> None:
    kernel.run(RIGHT)
    kernel.run(f"check('{PART}')")
    time.sleep(0.1)
    save(root, f"{RIGHT}  # better?", "4.0")
    path = root / "exercises" / SET / f"{SET}.ipynb"
    os.utime(path, (0, time.time()))
    time.sleep(0.1)
    kernel.run(f"check('{PART}')")  # and not the answer
    said = kernel.run("progress()")
    assert "A 4/4 edited since" in said
    assert "(edited since its check: run the answer, then its check)" in said
    kernel.run(f"{RIGHT}  # better?")
    kernel.run(f"check('{PART}')")
    assert "A 4/4, B" in kernel.run("progress()")


@pytest.mark.parametrize(
    "settings", ["largest = -1", "from torch import (\n    amax as largest,\n)"]
)
def test_an_answer_without_the_cells_above_it_loses_no_points(
    root: Path, kernel: Kernel, settings: str
) -> None:
    path = root / "exercises" / SET / f"{SET}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].insert(1, {"cell_type": "code", "metadata": {}, "source": settings})
    path.write_text(json.dumps(notebook), encoding="utf-8")
    answer = RIGHT.replace("\n", "\n    largest\n", 1)
    kernel.run(settings)
    kernel.run(answer)
    assert kernel.run(f"check('{PART}')") == "4.0"
    save(root, answer, "4.0")
    os.utime(path, (0, time.time()))
    kernel.restart()
    kernel.run(answer)
    table = kernel.run(f"check('{PART}')", "text/html")
    assert "0 of 4 points" in table
    assert "The 4 points of your last check are kept" in table
    assert "the cell that defines <code>largest</code> stands in this notebook" in table
    assert "A 4/4" in kernel.run("progress()")
    kernel.run(answer.replace("largest", "nowhere"))
    table = kernel.run(f"check('{PART}')", "text/html")
    assert "has not been run" not in table
    assert "A 0/4" in kernel.run("progress()")


def keep(root: Path, text: str) -> None:
    (root / "exercises" / SET / FILE).write_text(text, encoding="latin-1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "\xff",
        "[" * 100_000,
        f'{{"{PART}": 4}}',
        f'{{"{PART}": {{"points": "4"}}}}',
        f'{{"{PART}": [[]]}}',
    ],
    ids=range(8),
)
def test_damaged_memory_is_told_and_tables_in_the_notebook_count(root: Path, text: str) -> None:
    show(root, "4.0")
    keep(root, text)
    first, fault, following, *_ = progress.summary(root)
    assert first.endswith(": 4 of 21")
    assert f"{FILE} beside it cannot be read" in fault
    assert following == f"Next: {SET}, part B. The soft lookup"


def test_a_released_copy_away_from_home_shows_itself_and_what_lies_beside_it(root: Path) -> None:
    """Somebody's folder of downloads, with other notebooks in it, and broken ones."""
    away = root / "downloads"
    away.mkdir()
    copy = shutil.copy(root / "exercises" / SET / f"{SET}.ipynb", away / f"{SET} (1).ipynb")
    (away / "mine.ipynb").write_text('{"cells": []}')
    (away / "broken.ipynb").write_text("no notebook")
    assert [one.path for one in sets_beside(away)] == [Path(copy)]
    exercises = root / "exercises"
    shutil.copytree(exercises / SET, exercises / "02_next")
    (exercises / "02_next" / f"{SET}.ipynb").rename(exercises / "02_next" / "02_next.ipynb")
    names = [one.path.stem for one in sets_beside(exercises / SET)]
    assert names == [SET, "02_next"]


def test_where_no_problem_set_lies_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = attn_bank.progress()
    assert str(told) == f"There is no problem set in {tmp_path}. " + (
        "Save the notebook, and open it from its folder."
    )
    assert told._repr_html_() == f"<p><b>{told}</b></p>"


def test_a_folder_that_cannot_be_written_to_stops_no_check(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "exercises" / SET / f"{FILE}.draft").mkdir()
    monkeypatch.chdir(root / "exercises" / SET)
    monkeypatch.setattr(remembered, "run_so_far", lambda: [RIGHT])
    remembered.remember(PART, "softmax", 4.0)
    assert not (root / "exercises" / SET / FILE).exists()


@pytest.mark.parametrize(
    ("cell", "defines"),
    [
        ("def f(x): pass", True),
        ("%%time\nasync def f(x): pass", True),
        ("@wrapped\ndef f(x): pass", True),
        ("class f: pass", True),
        ("f = partial(g, 1)", True),
        ("f: Callable[..., Tensor] = g", True),
        ("from mine import g, f", True),
        ("import f", True),
        ("f == g", False),
        ("def fg(x): return f(x)", False),
        ("def g(x):\n    f = x", False),
        ("f(2)", False),
    ],
)
def test_cell_that_defines_a_function_is_found(cell: str, defines: bool) -> None:
    assert remembered.definition(["1", cell, "2"], "f") == (cell if defines else None)
    assert remembered.definition(["def f(): pass", cell], "f") == (
        cell if defines else "def f(): pass"
    )


def test_page_names_every_part_and_what_is_next_and_loads_nothing(root: Path) -> None:
    show(root, "4.0")
    page = write_page(root / "exercises")
    assert page == root / "exercises" / PAGE
    text = page.read_text(encoding="utf-8")
    assert text.count("<li ") == 6
    assert "<span>A. Softmax by hand</span><span>done, 4 of 4</span>" in text
    assert "<span>F. In words</span><span>3 points, which a person gives</span>" in text
    assert f'<p class="next">Next: {SET}, part B. The soft lookup</p>' in text
    for loads in ("src=", "href=", "<script", "url(", "http"):
        assert loads not in text


def test_a_cell_brings_the_page_up_to_date_and_no_page_of_somebody_else(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = root / "exercises" / PAGE
    monkeypatch.chdir(root / "exercises" / SET)
    attn_bank.progress()
    assert not page.exists()  # a folder of downloads is left as it was
    write_page(root / "exercises")
    show(root, "4.0")
    attn_bank.progress()
    assert "done, 4 of 4" in page.read_text(encoding="utf-8")
    page.write_text("mine")
    attn_bank.progress()
    *_, last = progress.summary(root)
    assert "left as it is" in last
    assert page.read_text() == "mine"


def test_a_set_ends_its_opening_with_the_cell_that_shows_progress() -> None:
    for path in sorted((ROOT / "exercises").glob("*/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        place = next(number for number, cell in enumerate(cells) if cell["id"] == "progress")
        assert "**How to work.**" in "".join(cells[place - 1]["source"]), path.name
        assert "nbgrader" not in cells[place]["metadata"]
        first, _, call = "".join(cells[place]["source"]).splitlines()
        assert first == "from attn_bank import progress"  # so it runs before any other cell
        assert call.startswith("progress()")


def test_memory_and_page_reach_neither_students_nor_graders() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {f"/exercises/{PAGE}", f"{FILE}*"} <= set(ignored)
    assert Path(FILE) not in build_exercises.files(ROOT / "exercises")
    config = PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config()
    assert f"{FILE}*" in config.CourseDirectory.ignore
