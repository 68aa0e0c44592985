"""Putting back what nbgrader needs to find in a notebook, whatever was done to it.

An editor that does not know nbgrader, a script or a curious student changes nbgrader's words on a
cell, or loses them; nbgrader then leaves the whole submission ungraded.
"""

from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook, Notebook
from nbgrader.preprocessors import DeduplicateIds, NbGraderPreprocessor, OverwriteCells

SCHEMA = 3  # the version of nbgrader's metadata


class RestoreMetadata(NbGraderPreprocessor):
    """Writes nbgrader's metadata anew: a cell is what the gradebook says of its name, or nothing.

    It comes before all other steps, since they stumble over metadata that are broken.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(where["notebook"], where["assignment"])
            known = _metadata(notebook)
        for cell in nb.cells:
            found = cell.metadata.pop("nbgrader", None)
            name = found.get("grade_id") if isinstance(found, dict) else None
            if isinstance(name, str) and name in known:
                cell.metadata["nbgrader"] = from_dict(known[name])
        return nb, resources


class ForgetDuplicates(DeduplicateIds):
    """Treats all but the last of several cells with one grade id as cells of no account.

    nbgrader's own step empties their metadata, and the steps after it stumble over the emptiness:
    the whole submission stays ungraded.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if cell.metadata.get("nbgrader") == {}:
            del cell.metadata["nbgrader"]
        return cell, resources


class PutBackCells(OverwriteCells):
    """Puts back graded cells that are missing, also where their neighbours are missing, too.

    A cell goes behind the one that it stood behind, else before the next one that is there, else to
    the end. So it comes after an answer that has only lost its metadata.
    """

    def add_missing_grade_cells(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        notebook = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        names = [cell.name for cell in notebook.source_cells]
        for place, cell in enumerate(notebook.source_cells):
            if cell.name in points and cell.name not in _places(nb):
                new = self.missing_cell_transform(
                    cell, points[cell.name], is_solution=cell.name in solutions
                )
                nb.cells.insert(_place(nb, names[:place], names[place + 1 :]), new)
        return nb, resources


def _metadata(notebook: Notebook) -> dict[str, dict[str, Any]]:
    """The metadata that nbgrader wrote into each cell at release, by the cell's name."""
    points = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    grades = {cell.name for cell in notebook.grade_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    known: dict[str, dict[str, Any]] = {}
    for cell in notebook.source_cells:
        known[cell.name] = {
            "schema_version": SCHEMA,
            "grade_id": cell.name,
            "cell_type": cell.cell_type,
            "checksum": cell.checksum,
            "locked": cell.locked,
            "grade": cell.name in grades,
            "solution": cell.name in solutions,
            "task": cell.name in tasks,
        }
        if cell.name in points:
            known[cell.name]["points"] = points[cell.name]
    return known


def _places(nb: NotebookNode) -> dict[str, int]:
    """The positions of the named cells."""
    names = (cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells)
    return {name: place for place, name in enumerate(names) if name}


def _place(nb: NotebookNode, before: list[str], after: list[str]) -> int:
    places = _places(nb)
    if before and before[-1] in places:
        return places[before[-1]] + 1
    following = next((places[name] for name in after if name in places), len(nb.cells))
    while following and nb.cells[following - 1].cell_type == "markdown":
        following -= 1  # the headline above the next cell is not of this one
    return following
