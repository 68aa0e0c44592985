"""The order in which the cells of a notebook ran, by the counts that Jupyter writes beside them.

What a graded cell shows may come honestly from a kernel that held other values than the cells above
it make.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Sequence

from nbformat import NotebookNode

from hintgrader.nbgrader.cells import code_cells, to_run

MOST_READ = 200_000  # characters of code in which names are looked up
NOT_PYTHON = re.compile(r"^[%!?].*", re.MULTILINE)
ANOTHER_ORDER = "its cells ran in another order than they stand in"
SEVERAL = "`{}` is defined in several ways, and no count tells which of these cells ran last"


def out_of_order(notebook: NotebookNode) -> dict[str, str]:
    """The graded cells that may have met other values, by name, with the reason.

    Before such a cell one below it ran, or after it one above did; or there are no counts, and the
    answer depends on a name with several definitions. Of a cell whose output was counted elsewhere,
    nothing is said.
    """
    code = code_cells(notebook)
    counts = [cell.get("execution_count") for cell in code]
    found = {}
    for place, (cell, own) in enumerate(zip(code, counts, strict=True)):
        about = cell.metadata.get("nbgrader")
        if not isinstance(about, dict) or not about.get("grade_id") or not _was_counted(cell):
            continue
        above = any(other is not None and other > (own or other) for other in counts[:place])
        below = any(other is not None and other < (own or 0) for other in counts[place + 1 :])
        if above or below:
            found[str(about["grade_id"])] = ANOTHER_ORDER
        elif own is None and (name := _ambiguous(cell, code)):
            found[str(about["grade_id"])] = SEVERAL.format(name)
    return found


def _was_counted(cell: NotebookNode) -> bool:
    """True if the results below a cell have the number that stands beside it."""
    results = [one for one in cell.outputs if one.output_type == "execute_result"]
    return all(one.get("execution_count") == cell.execution_count for one in results)


def _ambiguous(check: NotebookNode, code: Sequence[NotebookNode]) -> str | None:
    """A name with several definitions on which the answer to a check depends, or None."""
    if sum(len(cell.source) for cell in code) > MOST_READ:
        return None
    definitions: dict[str, dict[str, ast.stmt]] = defaultdict(dict)
    for written, statement in (one for cell in code for one in _statements(cell.source)):
        for name in _defined(statement):
            definitions[name][written] = statement
    waiting, seen = [(to_run(check).exercise or "").rpartition("/")[2]], set[str]()
    while waiting:
        name = waiting.pop()
        if len(definitions[name]) > 1:
            return name
        seen.add(name)
        used = (one for statement in definitions[name].values() for one in ast.walk(statement))
        names = {one.id for one in used if isinstance(one, ast.Name)}
        waiting += sorted((names & definitions.keys()) - seen)
    return None


def _statements(source: str) -> list[tuple[str, ast.stmt]]:
    """The statements of a cell, each as it is written."""
    lines = NOT_PYTHON.sub("", source).split("\n")
    try:
        parsed = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # one that cannot run defines nothing
    return [("\n".join(lines[one.lineno - 1 : one.end_lineno]), one) for one in parsed]


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    names = (one for one in ast.walk(statement) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}
