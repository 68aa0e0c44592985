"""`{listing} attn_course.retrieval.attend`: the code of a function, as the package runs it.

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


def lines_without_docstring(source: str, name: str) -> str:
    """Return which lines of a source hold a function, in the form that `:lines:` takes.

    Raises:
        LookupError: The source defines no function of this name at its top level.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if ast.get_docstring(node) is None:
                return f"{first}-{node.end_lineno}"
            docstring = node.body[0]
            return f"{first}-{docstring.lineno - 1},{docstring.end_lineno + 1}-{node.end_lineno}"
    raise LookupError(f"no function {name} at the top level")


class Listing(LiteralInclude):
    """Shows the function that its argument names, `package.module.function`."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        full_name = self.arguments[0]
        module, _, name = full_name.rpartition(".")
        self.arguments = [f"/{module.replace('.', '/')}.py"]
        path = Path(self.env.srcdir) / self.arguments[0][1:]
        try:
            lines = lines_without_docstring(path.read_text(encoding="utf-8"), name)
        except (LookupError, OSError) as error:
            raise Directive.error(self, f"{full_name}: {error}") from error
        link = full_name if name.startswith("_") else f"{{py:func}}`{full_name}`"
        self.options |= {"lines": lines, "language": "python", "caption": link}
        return super().run()


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to the build."""
    app.add_directive("listing", Listing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
