"""The version of an exercise: of its module, and of what that imports from its bank."""

import ast
import sys
from collections.abc import Iterator
from hashlib import sha256
from inspect import getsource


def version_of(module: str, package: str) -> str:
    """Eight digits that change with the source of a module, and of modules that it imports.

    Args:
        module: Its name; it has been imported.
        package: Only modules within this package count. The course and the engine are not the
            author's of an exercise, and have tests of their own.
    """
    sources = _sources(module, package, {})
    text = "".join(f"{name}\n{sources[name]}" for name in sorted(sources))
    return sha256(text.encode()).hexdigest()[:8]


def _sources(module: str, package: str, found: dict[str, str]) -> dict[str, str]:
    found[module] = getsource(sys.modules[module])
    for name in _imported(found[module]):
        if name.startswith(f"{package}.") and name in sys.modules and name not in found:
            _sources(name, package, found)
    return found


def _imported(source: str) -> Iterator[str]:
    """The full names of all that a source imports, and of the modules that it imports them from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
