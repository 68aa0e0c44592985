"""Work that both builders share: walk a notebook's code cells, name one, put a file in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class BuildError(Exception):
    """A source cannot be built; the message names the file, the cell and what is wrong."""


def read(source: Path) -> NotebookNode:
    """Return a notebook of ours; raise a BuildError that names the file if it is not one."""
    try:
        notebook = nbformat.read(source, as_version=4)
        nbformat.validate(notebook)
    except (ValueError, AttributeError, nbformat.ValidationError) as error:
        raise BuildError(f"{source}: not a notebook: {str(error).splitlines()[0]}") from error
    return notebook


def first_line(cell: NotebookNode) -> str:
    """Return the first line of a cell that is not blank."""
    return next((line for line in cell.source.splitlines() if line.strip()), "(empty cell)")


def code_cells(notebook: NotebookNode) -> Iterator[tuple[int, int, NotebookNode]]:
    """Yield each code cell with its place among all cells and its number among the code cells."""
    number = 0
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            number += 1
            yield index, number, cell


def as_text(notebook: NotebookNode) -> str:
    """Return a notebook as the text of its file."""
    return nbformat.writes(notebook) + "\n"


def put(content: bytes, target: Path) -> None:
    """Write a file completely before it takes the place of the old one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.draft")
    draft.write_bytes(content)
    draft.replace(target)
