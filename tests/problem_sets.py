"""The problem sets as their authors write them, read for the proofs, and graded by nbgrader."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import nbformat

from attn_bank import find_exercise
from tests.commands import type_command
from tests.conftest import ROOT

SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "exercises"


@dataclass(frozen=True)
class Solution:
    """The code of a solution: what stands before it in its notebook, and its own cell."""

    before: str
    source: str
    points: float

    def function(self, name: str, source: str | None = None):
        """The answer that this solution, or a changed `source` of it, defines."""
        namespace = dict(self._names_before)
        exec(compile(source or self.source, "<solution>", "exec"), namespace)
        return namespace[name]

    @cached_property
    def _names_before(self) -> dict:
        names: dict = {"__name__": "submission"}
        exec(compile(self.before, "<before>", "exec"), names)
        return names


def nbgrader(course: Path, *arguments: str) -> str:
    """Run an nbgrader command in a course, as an instructor types it; return what it says."""
    environment = {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    run = type_command("nbgrader", *arguments, folder=course, environment=environment)
    assert run.status == 0, run.stdout
    return run.stdout


def notebook_path(exercise: str, folder: Path = SOLUTIONS) -> Path:
    chapter = exercise.split("/")[0]
    return folder / chapter / f"{chapter}.ipynb"


@cache
def find_solution(exercise: str) -> Solution:
    """The solution cell of an exercise, and the points that its grade cell gives.

    Raises:
        ValueError: The notebook has no cell that defines the function, or none that grades it.
    """
    function = find_exercise(exercise).function
    path, before, solution, points = notebook_path(exercise), [], None, None
    for cell in nbformat.read(path, as_version=4).cells:
        grading = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or cell.id == "hosted" or cell.id.endswith("-result"):
            continue  # a result is shown of a score, which only a check cell gives
        if grading.get("grade"):
            if f'check("{exercise}"' in cell.source:
                points = grading["points"]
        elif solution is None and _defines(cell.source, function):
            solution = cell.source
        elif solution is None:
            before.append(cell.source)
    if solution is None or points is None:
        raise ValueError(f"{path.name}: no cell defines {function} or none checks {exercise!r}")
    return Solution("\n".join(before), solution, float(points))


def _defines(source: str, function: str) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name == function
        for node in ast.parse(source).body
    )
