"""`{listing} attn_course.retrieval.attend`: the code of a function, as the package runs it.

A method is named with its class, `attn_course.bahdanau.BahdanauTranslator.turn`.

First comes its essence, which `essence.py` cuts out of it; the whole is one click away, unless both
are the same. The docstring is left out, because the page around it says the same in more words; the
caption links to it, where the package has a page of it.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from essence import essence
from sphinx.application import Sphinx
from sphinx.directives.code import container_wrapper
from sphinx.util.docutils import SphinxDirective

FOLD = '<details class="whole-listing"><summary>With its shapes and checks</summary>'


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


def without_docstring(source: str, name: str) -> str:
    """Return the lines of a source that hold a function, moved to the left.

    Raises:
        LookupError: The source defines no function of this name.
    """
    node, lines = find_function(source, name), source.splitlines()
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    kept = lines[first - 1 : node.end_lineno]
    if ast.get_docstring(node) is not None:
        docstring = node.body[0]
        del kept[docstring.lineno - first : (docstring.end_lineno or 0) + 1 - first]
    return textwrap.dedent("\n".join(kept))


class Listing(SphinxDirective):
    """Shows the function that its argument names, `package.module.function`, or a method."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        full_name = self.arguments[0]
        module, name = split_name(full_name)
        path = Path(self.env.srcdir) / f"{module.replace('.', '/')}.py"
        try:
            whole = without_docstring(path.read_text(encoding="utf-8"), name)
        except (LookupError, OSError) as error:
            raise self.error(f"{full_name}: {error}") from error
        self.env.note_dependency(str(path))
        role = "py:meth" if "." in name else "py:func"
        hidden = name.rpartition(".")[2].startswith("_") or not module.startswith("attn_course.")
        # a caption is Markdown, in which `__call__` would be a word in bold
        link = full_name.replace("_", "\\_") if hidden else f"{{{role}}}`{full_name}`"
        shown = essence(whole)
        found: list[nodes.Node] = [container_wrapper(self, self.block(shown), link)]
        if shown != whole:
            found += [raw(FOLD), self.block(whole), raw("</details>")]
        return found

    def block(self, code: str) -> nodes.literal_block:
        """A block of code of this page."""
        node = nodes.literal_block(code, code, language="python")
        self.set_source_info(node)
        return node


def raw(html: str) -> nodes.raw:
    """A piece of HTML for the page."""
    return nodes.raw("", html, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to the build."""
    app.add_directive("listing", Listing)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
