"""The solution of an exercise, as the notebook of its problem set has it."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from hintgrader.exercise.definition import Exercise
from hintgrader.nbgrader.cells import code_cells, gives_points
from hintgrader.worker.plain import Plain


@dataclass(frozen=True)
class Solution:
    """The code of a solution.

    Attributes:
        before: What stands before it in its notebook.
        source: Its own cell.
        points: Of the cell that checks it.
    """

    before: str
    source: str
    points: float

    def function(self, name: str, source: str | None = None) -> Callable[..., Plain]:
        """The answer that this solution, or a changed `source` of it, defines."""
        namespace = dict(self._names_before)
        exec(compile(source or self.source, "<solution>", "exec"), namespace)
        answer: Callable[..., Plain] = namespace[name]
        return answer

    @cached_property
    def _names_before(self) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "submission"}
        exec(compile(self.before, "<before>", "exec"), names)
        return names


def find_solution(path: Path, exercise: Exercise) -> Solution:
    """The solution cell of an exercise, and the points that its check gives.

    No check runs, so a cell that shows something of a score does not either.

    Args:
        path: The problem set, as its author writes it.
        exercise: One of its exercises.

    Raises:
        ValueError: No cell defines the function, or none checks it.
    """
    before: list[str] = []
    scores: set[str] = set()
    solution = points = None
    for cell in code_cells(nbformat.read(path, as_version=4)):
        source = TransformerManager().transform_cell(cell.source)
        tree = ast.parse(source)
        if gives_points(cell):
            scores |= _names(tree, ast.Store)
            if f'check("{exercise.name}"' in source:
                points = float(cell.metadata.nbgrader.points)
        elif solution is None and not scores & _names(tree, ast.Load):
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            if exercise.function in defined:
                solution = source
            else:
                before.append(source)
    if solution is None or points is None:
        missing = "defines" if solution is None else "checks"
        raise ValueError(f"{path.name}: no cell {missing} {exercise.function} ({exercise.name})")
    return Solution("\n".join(before), solution, points)


def _names(tree: ast.Module, used: type[ast.expr_context]) -> set[str]:
    """The names that a piece of code sets, or reads."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, used)}
