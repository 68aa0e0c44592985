"""The executed chapters are what their texts say, and print nothing that depends on the machine.

That their outputs are still right is nbval's part of `make test`.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterator
from pathlib import Path
from symtable import SymbolTable, symtable

import nbformat
import pytest
from hintgrader.testing.commands import type_command

from tests.conftest import ROOT, chapters

# An address in memory, a home folder, an installed file: another one on every machine.
MACHINE = re.compile(r"\bat 0x[0-9a-f]{6,}|/home/|/Users/|/root/|/tmp/|site-packages|ipykernel_\d")

# A fence closes only on a line of its own; behind other text it is printed.
LOST_FENCE = re.compile(r"[^:\s].*:{3,}[ \t]*$|[^`\s].*`{3,}[ \t]*$", re.MULTILINE)
PAGES = sorted({*ROOT.glob("book/*.md"), *ROOT.glob("book/text/*.md")})


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_fences_close_on_a_line_of_their_own(path: Path) -> None:
    assert LOST_FENCE.findall(path.read_text(encoding="utf-8")) == []


def test_fence_behind_a_sentence_is_found_out() -> None:
    for fence in (":::", "```"):
        block = f"{fence}{{note}} Title\nThe factor is 0.17."
        assert LOST_FENCE.findall(f"{block}\n{fence}\n") == []
        assert LOST_FENCE.findall(f"{block} {fence}\n") == [f"The factor is 0.17. {fence}"]


def test_notebooks_hold_the_cells_of_their_texts_all_executed() -> None:
    run = type_command("tools/build_notebooks.py", "--check", *chapters(), folder=ROOT, apart=True)
    assert (run.status, run.stderr) == (0, "")


@pytest.mark.parametrize("name", chapters())
def test_outputs_name_no_machine_and_no_mistake(name: str) -> None:
    notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
            printed = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            assert not MACHINE.search(output.get("text", "") + json.dumps(printed)), cell.source


@pytest.mark.parametrize("name", chapters())
def test_figures_are_no_higher_than_a_page(name: str) -> None:
    """A figure with a row for each word of the wrong list is drawn all the same, for a minute."""
    text = (ROOT / "book" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert all(float(height) < 1500 for height in re.findall(r"<Figure size \d+x([\d.]+)", text))


def names(table: SymbolTable, top: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the global names of a piece of code, and of each whether it is defined there."""
    for symbol in table.get_symbols():
        defined = top and (symbol.is_assigned() or symbol.is_imported())
        if defined or (symbol.is_referenced() and (top or symbol.is_global())):
            yield symbol.get_name(), defined
    for inner in table.get_children():
        yield from names(inner, top=False)


def unexplained(cells: list[nbformat.NotebookNode]) -> list[str]:
    """Return names that a reader meets in a cell before, or without, any cell that defines them."""
    known, found = set(dir(builtins)), []
    for cell in cells:
        if {"remove-cell", "remove-input"} & set(cell.metadata.get("tags", [])):
            continue
        met = list(names(symtable(cell.source, "cell", "exec")))
        known |= {name for name, defined in met if defined}
        found += sorted({name for name, _ in met} - known)
    return found


@pytest.mark.parametrize("name", chapters())
def test_code_that_a_reader_sees_uses_only_names_that_a_reader_sees(name: str) -> None:
    notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    found = unexplained([cell for cell in notebook.cells if cell.cell_type == "code"])
    assert found == []


def test_name_from_a_hidden_cell_is_found_out() -> None:
    hidden = nbformat.v4.new_code_cell("half = 2", metadata={"tags": ["remove-cell"]})
    shown = nbformat.v4.new_code_cell("print([half * n for n in range(3)])")
    assert unexplained([hidden, shown]) == ["half"]
    folded = nbformat.v4.new_code_cell("half = 2", metadata={"tags": ["hide-input"]})
    assert unexplained([folded, shown]) == []
    later = nbformat.v4.new_code_cell("def f(a):\n    return a + late\n\nlate = 3")
    assert unexplained([later]) == []


def test_exercises_are_what_their_solutions_generate() -> None:
    run = type_command("tools/build_exercises.py", "--check", folder=ROOT, apart=True)
    assert (run.status, run.stderr) == (0, "")


@pytest.mark.parametrize("path", sorted(ROOT.glob("exercises/*/*.ipynb")), ids=lambda p: p.stem)
def test_exercises_hold_no_solution_and_no_hidden_test(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)", text)
