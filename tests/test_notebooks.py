"""The executed chapters are what their texts say, and print nothing that depends on the machine.

That their outputs are still right is nbval's part of `make test`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.conftest import ROOT, chapters

# An address in memory, a home folder, an installed file: another one on every machine.
MACHINE = re.compile(r"\bat 0x[0-9a-f]{6,}|/home/|/Users/|/root/|/tmp/|site-packages|ipykernel_\d")


def run_tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of our builders as `make` does."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_notebooks_hold_the_cells_of_their_texts_all_executed() -> None:
    run = run_tool("tools/build_notebooks.py", "--check", *chapters())
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("name", chapters())
def test_outputs_name_no_machine_and_no_mistake(name: str) -> None:
    notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
            printed = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            assert not MACHINE.search(output.get("text", "") + json.dumps(printed)), cell.source


def test_exercises_are_what_their_solutions_generate() -> None:
    run = run_tool("tools/build_exercises.py", "--check")
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("path", sorted(ROOT.glob("exercises/*/*.ipynb")), ids=lambda p: p.stem)
def test_exercises_hold_no_solution_and_no_hidden_test(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)", text)
