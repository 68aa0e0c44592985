"""The builders: same bytes twice, and a mistake named by file and cell with nothing overwritten."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from hintgrader.testing.commands import type_command
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import build_exercises
import build_notebooks
from opening import with_opening

HEADER = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
# A chapter

"""
GOOD = "```{code-cell}\n:tags: [remove-input]\nx = 6\nprint(x)\n```\n\nText.\n\n"
MISTAKES = {
    "error": ("y = 7\nx / 0", "ZeroDivisionError: division by zero"),
    "stderr": (
        "y = 7\nimport sys; print('careful', file=sys.stderr)",
        "printed to stderr: careful",
    ),
    "dead": ("y = 7\nimport os; os._exit(1)", "Kernel died"),
}


TOOLS = {"build_notebooks.py": build_notebooks, "build_exercises.py": build_exercises}


def run(tool: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Call a builder as its command does; return its status and what it said."""
    command, out, err = [tool, *map(str, arguments)], io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = TOOLS[tool].main(command[1:])
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def run_forked(command: list[str], **where) -> subprocess.CompletedProcess[str]:
    """Run nbgrader as the builder asks for it, but in a process that has it imported."""
    folder, environment = where["cwd"], where["env"]
    ran = type_command(*command[2:], folder=folder, environment=environment, apart=True)
    return subprocess.CompletedProcess(command, ran.status, ran.stdout, ran.stderr)


@pytest.fixture(scope="module", autouse=True)
def quick_nbgrader() -> Iterator[None]:
    """Spare each call of the builder the start of Python and the imports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_exercises, "subprocess", SimpleNamespace(run=run_forked))
        yield


@pytest.fixture(scope="module")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a book of one chapter, built."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "text").mkdir()
    (folder / "text" / "01_a.md").write_text(HEADER + GOOD)
    built = run("build_notebooks.py", "--book", folder)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def book(built_book: Path, tmp_path: Path) -> Path:
    """Copy the built book, for one test to change."""
    return shutil.copytree(built_book, tmp_path / "book")


def test_same_text_gives_the_same_bytes_with_outputs_and_tags(book: Path) -> None:
    first = (book / "01_a.ipynb").read_bytes()
    assert run("build_notebooks.py", "--book", book, "01_a").returncode == 0
    assert (book / "01_a.ipynb").read_bytes() == first
    code = nbformat.read(book / "01_a.ipynb", as_version=4).cells[1]
    assert (code.execution_count, code.outputs[0].text) == (1, "6\n")
    assert code.metadata == {"tags": ["remove-input"]}
    assert run("build_notebooks.py", "--book", book, "--check").returncode == 0


def test_outputs_are_made_on_plain_instructions(book: Path) -> None:
    source = "import os\nprint(os.environ['ATEN_CPU_CAPABILITY'], os.environ['OMP_NUM_THREADS'])"
    (book / "text" / "01_a.md").write_text(f"{HEADER}```{{code-cell}}\n{source}\n```\n")
    assert run("build_notebooks.py", "--book", book, "01_a").returncode == 0
    code = nbformat.read(book / "01_a.ipynb", as_version=4).cells[1]
    assert code.outputs[0].text == "default 1\n"


@pytest.mark.parametrize("kind", MISTAKES)
def test_failing_cell_is_named_and_the_old_notebook_stays(book: Path, kind: str) -> None:
    source, said = MISTAKES[kind]
    before = (book / "01_a.ipynb").read_bytes()
    text = book / "text" / "01_a.md"
    text.write_text(HEADER + GOOD + f"```{{code-cell}}\n{source}\n```\n")
    failed = run("build_notebooks.py", "--book", book)
    assert failed.returncode == 1
    assert f"{text}: code cell 2 (y = 7): {said}" in failed.stderr
    assert (book / "01_a.ipynb").read_bytes() == before
    assert sorted(path.name for path in book.iterdir()) == ["01_a.ipynb", "text"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("print(x)", "print(x + 1)", "cell 2 (x = 6): another source than the text"),
        ("[remove-input]", "[hide-input]", "cell 2 (x = 6): another metadata than the text"),
        ("\nText.\n", "\nOther words.\n", "cell 3 (Other words.): another source than the text"),
        ("```\n\nText.\n\n", "```\n", "3 cells, the text has 2"),
    ],
)
def test_check_names_the_cell_that_differs(book: Path, old: str, new: str, said: str) -> None:
    text = book / "text" / "01_a.md"
    text.write_text(text.read_text().replace(old, new))
    checked = run("build_notebooks.py", "--book", book, "--check")
    assert checked.returncode == 1
    assert said in checked.stderr


def test_check_demands_that_every_cell_was_executed(book: Path) -> None:
    notebook = nbformat.read(book / "01_a.ipynb", as_version=4)
    notebook.cells[1].execution_count = None
    nbformat.write(notebook, book / "01_a.ipynb")
    assert (
        "code cell 1 (x = 6): not executed"
        in run("build_notebooks.py", "--book", book, "--check").stderr
    )


def test_unknown_chapter_is_named(book: Path) -> None:
    failed = run("build_notebooks.py", "--book", book, "09_z")
    assert failed.returncode == 1
    assert "09_z.md: no such chapter" in failed.stderr


def problem_set() -> nbformat.NotebookNode:
    """Return a source with a solution cell and a graded cell, as an author saves it after a run."""
    role = {"schema_version": 3, "locked": False, "task": False}
    solution = new_code_cell(
        "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
        id="double",
        execution_count=1,
        metadata={"nbgrader": role | {"grade": False, "solution": True, "grade_id": "double"}},
    )
    graded = new_code_cell(
        "assert double(2) == 4\n"
        "### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS",
        id="check",
        execution_count=2,
        metadata={
            "nbgrader": role
            | {"grade": True, "solution": False, "grade_id": "check", "points": 2, "locked": True}
        },
    )
    return new_notebook(cells=[new_markdown_cell("# Doubling", id="title"), solution, graded])


def lay_out_course(folder: Path) -> Path:
    """Put the settings and one problem set into a folder; return the path of its source."""
    settings = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    # its cells are for nbgrader alone to grade
    settings += 'c.GenerateAssignment.exporter_class = "nbconvert.exporters.NotebookExporter"\n'
    (folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    source = folder / "solutions" / "01_a" / "01_a.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(problem_set(), source)
    return source


@pytest.fixture(scope="module")
def built_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course of one problem set, generated."""
    folder = tmp_path_factory.mktemp("course")
    source = lay_out_course(folder)
    (source.parent / "instructor_notes.md").write_text("The answer is 2 * x.")
    built = run("build_exercises.py", "--root", folder)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def course(built_course: Path, tmp_path: Path) -> Path:
    """Copy the generated course, for one test to change."""
    return shutil.copytree(built_course, tmp_path / "course")


def rewrite(path: Path, old: str, new: str) -> None:
    """Replace text in a file that must hold it."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_student_gets_the_page_without_solution_hidden_test_or_notes(course: Path) -> None:
    assert [path.name for path in (course / "exercises").rglob("*.*")] == ["01_a.ipynb"]
    student = (course / "exercises" / "01_a" / "01_a.ipynb").read_text()
    assert "double(2) == 4" in student
    assert "NotImplementedError" in student
    for secret in ("2 * x", "double(3)", "SOLUTION", "HIDDEN"):
        assert secret not in student
    assert run("build_exercises.py", "--root", course, "--check").returncode == 0


def test_advice_for_assistants_stands_where_they_look(course: Path) -> None:
    advice, theirs = course / "solutions" / "for_assistants.md", course / "exercises" / "AGENTS.md"
    advice.write_text("Explain, and never complete the cell.")
    checked = run("build_exercises.py", "--root", course, "--check")
    assert "exercises/AGENTS.md: not what solutions/ gives" in checked.stderr
    assert run("build_exercises.py", "--root", course).returncode == 0
    assert theirs.read_text() == advice.read_text()
    advice.unlink()
    checked = run("build_exercises.py", "--root", course, "--check")
    assert "exercises/AGENTS.md: has no source in solutions/" in checked.stderr


def test_opening_that_all_sets_share_is_put_in_its_place() -> None:
    title = new_markdown_cell("Intro.\n\n**How to work.** Old.\n\nThe parts follow chapter 01.")
    checked = new_code_cell('check("01_a/double")')
    text = with_opening(new_notebook(cells=[title, checked])).cells[0].source
    assert text.startswith("Intro.\n\n**How to work.** Run the cells")
    assert "Old" not in text
    assert "double(**score.inputs)" in text
    assert text.endswith("\n\nThe parts follow chapter 01.")
    table = new_markdown_cell("| Part | What |\n|---|---|\n| A | x | 1 | 2 |")
    once = with_opening(new_notebook(cells=[table, checked])).cells[0].source
    assert once.startswith("| Part | What |\n|---|---|\n| A | x | 1 | 2 |\n\n**How to work.** Run")
    again = with_opening(new_notebook(cells=[new_markdown_cell(f"{once}\n\nMore."), checked]))
    assert again.cells[0].source == f"{once}\n\nMore."
    for source in ROOT.glob("solutions/*/*.ipynb"):
        assert source.read_text(encoding="utf-8").count('"**How to work.** Run') == 1, source


def test_source_is_stored_stripped(course: Path) -> None:
    source = course / "solutions" / "01_a" / "01_a.ipynb"
    assert '"execution_count": null' in source.read_text()


def test_check_names_a_source_with_outputs_and_a_problem_set_that_is_not_in_step(
    course: Path,
) -> None:
    source = course / "solutions" / "01_a" / "01_a.ipynb"
    rewrite(source, '"execution_count": null', '"execution_count": 3')
    rewrite(source, "double(2) == 4", "double(5) == 10")
    checked = run("build_exercises.py", "--root", course, "--check")
    assert checked.returncode == 1
    assert "solutions/01_a/01_a.ipynb: holds outputs, metadata or" in checked.stderr
    assert "exercises/01_a/01_a.ipynb: not what solutions/ gives" in checked.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    ### END SOLUTION",
            "    pass",
            "cell 2 (def double(x):): 1 BEGIN SOLUTION, but 0 END",
        ),
        ('"grade_id": "check"', '"grade_id": "double"', "'double' is used twice"),
        ('"grade": true', '"grade": false', "holds HIDDEN TESTS, but is not marked as a grade"),
        ('"nbformat": 4', '"nbformat": "four"', "01_a.ipynb: not a notebook"),
        ('"cells": [', '"cells": [,', "01_a.ipynb: not a notebook"),
    ],
)
def test_wrong_source_is_named_and_exercises_stay(
    course: Path, old: str, new: str, said: str
) -> None:
    before = (course / "exercises" / "01_a" / "01_a.ipynb").read_bytes()
    rewrite(course / "solutions" / "01_a" / "01_a.ipynb", old, new)
    failed = run("build_exercises.py", "--root", course)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr
    assert (course / "exercises" / "01_a" / "01_a.ipynb").read_bytes() == before


def test_work_of_a_student_is_overwritten_only_by_force(course: Path) -> None:
    student = course / "exercises" / "01_a" / "01_a.ipynb"
    generated = student.read_bytes()
    rewrite(student, '"execution_count": null', '"execution_count": 1')
    worked_on = student.read_bytes()
    refused = run("build_exercises.py", "--root", course)
    assert "exercises/01_a/01_a.ipynb: somebody has worked here" in refused.stderr
    assert student.read_bytes() == worked_on
    assert run("build_exercises.py", "--root", course, "--force").returncode == 0
    assert student.read_bytes() == generated
