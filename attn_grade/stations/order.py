"""The order in which the cells of a notebook ran, by the counts that Jupyter writes beside them."""

from nbformat import NotebookNode


def out_of_order(notebook: NotebookNode) -> frozenset[str]:
    """The names of the graded cells before which a cell below ran, or after which one above did.

    What such a cell shows may come honestly from a kernel that held other values than the cells
    above it make. Of a cell whose output was counted elsewhere, nothing is said.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.get("execution_count") for cell in code]
    found = set()
    for place, (cell, own) in enumerate(zip(code, counts, strict=True)):
        about = cell.metadata.get("nbgrader")
        if own is None or not isinstance(about, dict) or not _was_counted(cell):
            continue
        above = any(other is not None and other > own for other in counts[:place])
        below = any(other is not None and other < own for other in counts[place + 1 :])
        if above or below:
            found.add(str(about.get("grade_id")))
    return frozenset(found)


def _was_counted(cell: NotebookNode) -> bool:
    """True if the results below a cell have the number that stands beside it."""
    results = [one for one in cell.outputs if one.output_type == "execute_result"]
    return all(one.get("execution_count") == cell.execution_count for one in results)
