"""Small changes of a solution that a grader must notice, made from its syntax tree.

The operators of `exercise/mutation/` need no source: they change what a function does.
"""

import ast
import copy
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

SWAPPED_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
SWAPPED_NAMES = {
    "amax": "amin", "amin": "amax", "max": "min", "min": "max", "argmax": "argmin",
    "argmin": "argmax", "sum": "mean", "mean": "sum", "exp": "log", "log": "exp",
    "any": "all", "all": "any", "sqrt": "square", "zeros": "ones", "zeros_like": "ones_like",
    "inf": "e", "clamp_min": "clamp_max",
}  # fmt: skip


@cache
def mutants_of(source: str) -> Mapping[str, str]:
    """The changed sources by what was changed, `before -> after`; each change once.

    Where the same is changed in several places, the second place that a reader of the source
    comes to is called `before -> after (2)`.
    """
    tree = _without_annotations(ast.parse(source))
    packed = pickle.dumps(tree)  # quicker than a deep copy for each mutant
    mutants: dict[str, str] = {}
    times: Counter[str] = Counter()
    seen = {ast.unparse(tree)}
    for position, node in _in_reading_order(tree):
        for changed in _changes(node):
            text = _put(packed, position, changed)
            if text not in seen:
                seen.add(text)
                after = ast.unparse(changed) if changed is not None else "(dropped)"
                change = f"{ast.unparse(node)} -> {after}"
                times[change] += 1
                mutants[change + (f" ({times[change]})" if times[change] > 1 else "")] = text
    return mutants


def _in_reading_order(tree: ast.Module) -> list[tuple[int, ast.AST]]:
    """The nodes that stand somewhere in the source, each with its number in `ast.walk`."""
    placed = [pair for pair in enumerate(ast.walk(tree)) if hasattr(pair[1], "lineno")]
    return sorted(placed, key=lambda pair: _place(pair[1]))


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _put(packed: bytes, position: int, changed: ast.AST | None) -> str:
    """The source with another node, or none, at a position of the walk through the tree."""
    mutant = pickle.loads(packed)
    target = list(ast.walk(mutant))[position]
    return ast.unparse(_Pass().visit(_Replace(target, changed).visit(mutant)))


def _without_annotations(tree: ast.Module) -> ast.Module:
    """The tree without what only readers need: to change it changes no answer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tree


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, replacement: ast.AST | None) -> None:
        self.target, self.replacement = target, replacement or ast.Pass()

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target:
            return self.replacement
        visited: ast.AST = self.generic_visit(node)
        return visited


class _Pass(ast.NodeTransformer):
    """A statement that only names something does nothing: it is dropped."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        inner = node.value
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        return ast.Pass() if isinstance(inner, ast.Name) else node


def _changes(node: ast.AST) -> Iterator[ast.AST | None]:
    handlers: dict[type[ast.AST], Callable[..., Iterable[ast.AST | None]]] = {
        ast.BinOp: _change_binary,
        ast.UnaryOp: lambda n: [n.operand],
        ast.BoolOp: lambda n: [_with(n, op=SWAPPED_OPERATORS[type(n.op)]())],
        ast.Compare: _change_comparison,
        ast.Constant: _change_constant,
        ast.Call: _change_call,
        ast.Attribute: _change_attribute,
        ast.Subscript: lambda n: [n.value] if isinstance(n.ctx, ast.Load) else [],
        ast.IfExp: lambda n: [n.body, n.orelse],
        ast.Assign: lambda n: [None],
        ast.AugAssign: lambda n: [None],
        ast.Expr: lambda n: [] if isinstance(n.value, ast.Constant) else [None],
        ast.For: lambda n: [None],
        ast.If: lambda n: [None, *(_with(n, test=ast.Constant(value)) for value in (True, False))],
    }
    yield from handlers[type(node)](node) if type(node) in handlers else ()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _change_binary(node: ast.BinOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.MatMult):
        yield _with(node, left=node.right, right=node.left)
        return
    if type(node.op) in SWAPPED_OPERATORS:
        yield _with(node, op=SWAPPED_OPERATORS[type(node.op)]())
    yield node.left
    yield node.right


def _change_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    if type(node.ops[0]) in SWAPPED_OPERATORS:
        yield _with(node, ops=[SWAPPED_OPERATORS[type(node.ops[0])](), *node.ops[1:]])


def _change_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _change_call(node: ast.Call) -> Iterator[ast.AST]:
    for index in range(len(node.args)):
        yield _with(node, args=node.args[:index] + node.args[index + 1 :])
    for index in range(len(node.args) - 1):
        first, second = node.args[index : index + 2]
        yield _with(node, args=[*node.args[:index], second, first, *node.args[index + 2 :]])
    for index in range(len(node.keywords)):
        yield _with(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    if isinstance(node.func, ast.Attribute):
        yield node.func.value


def _change_attribute(node: ast.Attribute) -> Iterator[ast.AST]:
    if node.attr in ("mT", "T"):
        yield node.value
    if node.attr in SWAPPED_NAMES:
        yield _with(node, attr=SWAPPED_NAMES[node.attr])
