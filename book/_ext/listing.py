"""`{listing} attn_course.retrieval.attend`: the code of a function, as the package runs it.

A method is named with its class, `attn_course.bahdanau.BahdanauTranslator.trace`.

The docstring is left out, because the page around it says the same in more words; the caption links
to it. Decorators stay, and so do the shapes in the signature and the comments.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude


def split_name(full_name: str) -> tuple[str, str]:
    """Part the module from what it defines: the names of classes begin with a capital."""
    parts = full_name.split(".")
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return ".".join(parts[:first]), ".".join(parts[first:])


def find_function(source: str, name: str) -> ast.FunctionDef:
    """Return the function of a source, or the method `Class.method`.

    Raises:
        LookupError: The source defines no such function.
    """
    place: ast.AST = ast.parse(source)
    for part in name.split("."):
        named = [node for node in getattr(place, "body", []) if getattr(node, "name", "") == part]
        place = named[-1] if named else ast.Pass()
    if not isinstance(place, ast.FunctionDef):
        raise LookupError(f"no function {name}")
    return place


def lines_without_docstring(source: str, name: str) -> str:
    """Return which lines of a source hold a function, in the form that `:lines:` takes.

    Raises:
        LookupError: The source defines no function of this name.
    """
    node = find_function(source, name)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    if ast.get_docstring(node) is None:
        return f"{first}-{node.end_lineno}"
    docstring = node.body[0]
    return f"{first}-{docstring.lineno - 1},{docstring.end_lineno + 1}-{node.end_lineno}"


class Listing(LiteralInclude):
    """Shows the function that its argument names, `package.module.function`, or a method."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        full_name = self.arguments[0]
        module, name = split_name(full_name)
        self.arguments = [f"/{module.replace('.', '/')}.py"]
        path = Path(self.env.srcdir) / self.arguments[0][1:]
        try:
            lines = lines_without_docstring(path.read_text(encoding="utf-8"), name)
        except (LookupError, OSError) as error:
            raise Directive.error(self, f"{full_name}: {error}") from error
        role = "py:meth" if "." in name else "py:func"
        hidden = name.rpartition(".")[2].startswith("_")
        link = full_name if hidden else f"{{{role}}}`{full_name}`"
        self.options |= {"lines": lines, "language": "python", "caption": link}
        if "." in name:
            self.options["dedent"] = None  # as far as its lines allow
        return super().run()


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to the build."""
    app.add_directive("listing", Listing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
