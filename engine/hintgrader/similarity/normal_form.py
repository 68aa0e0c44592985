"""The normal form of an answer: what is left when all is gone that a copier changes."""

import ast
import io
import tokenize

from IPython.core.inputtransformer2 import TransformerManager

LEFT_OUT = {
    *(tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.COMMENT, tokenize.ENDMARKER),
}


def normal_form(source: str) -> tuple[str, ...] | None:
    """The tokens of a cell without comments, docstrings, annotations, imports and layout; names
    that the cell itself gives are numbered, and named arguments sorted.

    Args:
        source: The cell. It is read, and never run.

    Returns:
        The tokens; None if it is no Python.
    """
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
        tree = _Stripped().visit(tree)
        text = ast.unparse(_Renamed(_names_given(tree)).visit(tree))
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return tuple(token.string for token in tokens if token.type not in LEFT_OUT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # also of `ast` and `tokenize`
        return None


class _Stripped(ast.NodeTransformer):
    """Drops what computes nothing, and puts in order what has none."""

    def visit_Import(self, _: ast.Import) -> None: ...

    def visit_ImportFrom(self, _: ast.ImportFrom) -> None: ...

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value, lineno=0))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        stripped = self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return stripped

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords.sort(key=lambda keyword: keyword.arg or "")
        return self.generic_visit(node)


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)


def _names_given(tree: ast.AST) -> dict[str, str]:
    """The names that the cell binds, numbered in the order in which they stand there."""
    found: list[str] = []
    for node in _in_order(tree):
        if isinstance(node, ast.arg):
            found.append(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.name)
    return {name: f"_{number}" for number, name in enumerate(dict.fromkeys(found))}


def _in_order(node: ast.AST) -> list[ast.AST]:
    return [node, *(each for child in ast.iter_child_nodes(node) for each in _in_order(child))]
