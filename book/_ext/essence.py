"""The lines of a function that compute, cut out of its source by a rule, so that they cannot drift.

What goes: `@checked`; the types of a signature that holds shapes or takes several lines, which
leaves the roles of the arguments; guards, which are statements that only raise, or only call what
is named after a requirement, and the comments above them; and the bookkeeping of `.detach()`,
`.to(...)` and `device=`. What stays, stays as it was written, comments included.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

GUARD = re.compile(r"_?(require|refuse|check)(_|$)")
BOOKKEEPING = {"detach", "to"}
WIDTH = 76
# Where a piece of source begins and ends, each as line from 1 and byte from 0.
Span = tuple[tuple[int, int], tuple[int, int]]


def essence(function: str) -> str:
    """Return what a function computes, from its source, which may be indented."""
    source = textwrap.dedent(function)
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    lines = source.splitlines()
    spans = [*bookkeeping(node)]
    for (first, start), (last, end) in sorted(spans, reverse=True):
        before, after = lines[first - 1].encode()[:start], lines[last - 1].encode()[end:]
        lines[first - 1 : last] = [(before + after).decode()] + [""] * (last - first)
    dropped = {number for guard in guards(node) for number in lines_of(guard, lines)}
    dropped |= {number for span in spans for number in range(span[0][0] + 1, span[1][0] + 1)}
    body = range(node.body[0].lineno, len(lines) + 1)
    above = range(signature_end(node, lines), node.body[0].lineno)  # comments before the first line
    kept = [lines[number - 1] for number in [*above, *body] if number not in dropped]
    return "\n".join([*head(node, lines), *kept])


def guards(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements below a node that check and compute nothing."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and is_guard(child) and not is_needed(child, node):
            yield child
        else:
            yield from guards(child)


def is_needed(guard: ast.stmt, around: ast.AST) -> bool:
    """True of a guard without which nothing would be left of a block, unless it is an `elif`."""
    blocks = [getattr(around, name, []) for name in ("body", "orelse", "finalbody")]
    (block,) = [block for block in blocks if guard in block]
    is_elif = isinstance(around, ast.If) and guard.col_offset == around.col_offset
    return all(map(is_guard, block)) and not is_elif


def is_guard(node: ast.stmt) -> bool:
    """True of a statement that can only pass or raise."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return bool(GUARD.match(ast.unparse(node.value.func).rpartition(".")[2]))
    if isinstance(node, ast.If):
        return all(map(is_guard, [*node.body, *node.orelse]))
    return isinstance(node, ast.Raise | ast.Assert)


def lines_of(node: ast.stmt, lines: list[str]) -> range:
    """The lines of a statement, with the comments right above it."""
    first = node.lineno
    while lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return range(first, (node.end_lineno or first) + 1)


def bookkeeping(node: ast.AST) -> Iterator[Span]:
    """Yield where gradients, dtypes and devices are dealt with, and nothing else."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in BOOKKEEPING:
            yield end_of(node.func.value), end_of(node)
            yield from bookkeeping(node.func.value)
            return
        if device := next((word for word in node.keywords if word.arg == "device"), None):
            before = [*node.args, *node.keywords]
            yield end_of(before[before.index(device) - 1]), end_of(device)
    for child in ast.iter_child_nodes(node):
        yield from bookkeeping(child)


def end_of(node: ast.expr | ast.keyword) -> tuple[int, int]:
    """The line and the byte where a piece of code ends."""
    return node.end_lineno or 0, node.end_col_offset or 0


def signature_end(node: ast.FunctionDef, lines: list[str]) -> int:
    """The number of the line after the colon of the signature."""
    last = node.body[0].lineno - 1
    while lines[last - 1].lstrip().startswith("#") or not lines[last - 1].strip():
        last -= 1
    return last + 1


def head(node: ast.FunctionDef, lines: list[str]) -> Iterator[str]:
    """Yield the decorators and the signature, by roles where its types are long."""
    for decorator in node.decorator_list:
        if not ast.unparse(decorator).startswith("checked"):
            yield f"@{ast.unparse(decorator)}"
    first, *more = lines[node.lineno - 1 : signature_end(node, lines) - 1]
    if not more and '"' not in first:
        yield first
        return
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    roles = ast.unparse(node.args)
    if len(line := f"def {node.name}({roles}):") <= WIDTH:
        yield line
        return
    inner = textwrap.wrap(roles, WIDTH - 4)
    yield from (f"def {node.name}(", *(f"    {line}" for line in inner), "):")
