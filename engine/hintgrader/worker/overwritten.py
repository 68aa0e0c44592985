"""Arguments of a function to which its own loops give other values, as its source shows."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator

FOR, AGAIN = "for", "="  # `for name in ...`, and `name = ...` made of itself in a loop
Overwritten = list[tuple[str, str]]
Loop = ast.For | ast.While
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def overwritten(function: Callable[..., object]) -> Overwritten:
    """The arguments that a loop overwrites and that are read afterwards, each with the way.

    There are none where there is no source to look at.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    made = next((one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)), None)
    if made is None:
        return []
    arguments = {one.arg for one in (*made.args.args, *made.args.kwonlyargs)}
    found = [pair for loop in _loops(made) for pair in _in_loop(made, loop)]
    return [pair for pair in dict.fromkeys(found) if pair[1] in arguments]


def _in_loop(made: ast.FunctionDef, loop: Loop) -> Overwritten:
    found = []
    if isinstance(loop, ast.For):
        inside = {name for one in loop.body for name in _read(one)} - _read(loop.iter)
        stored = _stored(loop.target)
        found += [(FOR, n) for n in stored if n in inside or _is_read_behind(made, loop, n)]
    for one in _own(loop):
        if isinstance(one, ast.Assign):
            again = (name for target in one.targets for name in _stored(target))
            found += [(AGAIN, name) for name in again if name in _read(one.value)]
    return found


def _is_read_behind(made: ast.FunctionDef, loop: Loop, name: str) -> bool:
    """True if the name is read behind a loop, or again by one around it."""
    end = loop.end_lineno or loop.lineno
    around = any(loop in _own(other) for other in _loops(made))
    behind = (one for one in ast.walk(made) if getattr(one, "lineno", 0) > end)
    return around or any(isinstance(one, ast.Name) and name in _read(one) for one in behind)


def _loops(made: ast.FunctionDef) -> Iterator[Loop]:
    return (one for one in _own(made) if isinstance(one, Loop))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """All that stands in a node, without what has names of its own."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield child
            yield from _own(child)


def _stored(target: ast.AST) -> list[str]:
    """The names that a target gives values to; of `x[i]` or `x.y` none."""
    return [
        one.id
        for one in ast.walk(target)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    ]


def _read(node: ast.AST) -> set[str]:
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
