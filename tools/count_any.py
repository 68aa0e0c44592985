"""Counts the public signatures in which a type is `Any`, where the type checker sees nothing.

    python tools/count_any.py

An alias of such a type counts as well. More than `CEILING` is an error; fewer: lower it.
"""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = {
    folder: tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in ("", "engine/")
}
CHECKED = [
    f"{folder}{files}"
    for folder, project in PROJECTS.items()
    for files in project["tool"]["mypy"]["files"]
]
CEILING = 109


def signatures_with_any(sources: Iterable[str]) -> list[str]:
    """The names of public functions with `Any` among their types, once for each such type."""
    trees = [ast.parse(source) for source in sources]
    known = _aliases(trees)
    return [
        function.name
        for tree in trees
        for function in _public_functions(tree.body)
        for annotation in _annotations(function)
        if _names(annotation) & known
    ]


def _aliases(trees: list[ast.Module]) -> set[str]:
    """`Any`, and what stands for a type with `Any` in it at the top of a module."""
    known, before = {"Any"}, 0
    assigned = [node for tree in trees for node in tree.body if isinstance(node, ast.Assign)]
    while len(known) > before:
        before = len(known)
        for node in assigned:
            is_type = isinstance(node.value, ast.Subscript | ast.BinOp)
            if is_type and _names(node.value) & known and isinstance(node.targets[0], ast.Name):
                known.add(node.targets[0].id)
    return known


def _public_functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if not is_definition or (node.name.startswith("_") and node.name != "__init__"):
            continue
        if isinstance(node, ast.FunctionDef):
            yield node
        else:
            yield from _public_functions(node.body)


def _annotations(function: ast.FunctionDef) -> list[ast.expr]:
    every = function.args
    given = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
    found = [argument.annotation for argument in given if argument] + [function.returns]
    return [annotation for annotation in found if annotation]


def _names(annotation: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def main() -> None:
    """Print the number, and fail if it is above the ceiling."""
    paths = [path for pattern in CHECKED for path in sorted(ROOT.glob(pattern))]
    found = signatures_with_any(path.read_text(encoding="utf-8") for path in paths)
    print(f"Any in public signatures: {len(found)}, at most {CEILING}")
    if len(found) > CEILING:
        sys.exit(f"more than before; they are in: {', '.join(found)}")


if __name__ == "__main__":
    main()
