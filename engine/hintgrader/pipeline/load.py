"""The notebook of a submission as it will run, and what it claims; or why there is none."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters import Autograde

from hintgrader.nbgrader.rebuild_notebook import Rebuilt, rebuild
from hintgrader.pipeline.locate import HandIn
from hintgrader.pipeline.run_order import out_of_order

MAX_BYTES = 50_000_000
IMPORT = re.compile(r"^from ([\w.]+) import (?:[\w ]+, *)*check\b", re.MULTILINE)


@dataclass(frozen=True)
class LoadedNotebook:
    """A notebook that can be run.

    Attributes:
        cells: What nbgrader's steps before the running make of it: graded cells come from the
            release, and what an editor has lost is put back.
        claims: The points that its graded cells showed when it was handed in, by their names.
        out_of_order: Why some of them may have run in another order than they stand in, by name.
        notes: What a person should know of how it was read.
        released_by: Version of the engine that gave it out; empty if it does not say.
    """

    cells: NotebookNode
    claims: dict[str, float]
    out_of_order: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    released_by: str = ""


@dataclass(frozen=True)
class Unreadable:
    """The absence of a notebook that can be graded.

    Attributes:
        reason: For student and instructor.
        details: For the instructor alone; where grading has stopped at it, at what and where.
    """

    reason: str
    details: tuple[str, ...] = ()


def load(hand_in: HandIn) -> LoadedNotebook | Unreadable:
    """The notebook of a hand-in.

    Raises:
        DBAPIError, InvalidEntry: The gradebook refuses; it may do so no more when asked again.
        Exception: Of whatever kind, at which nbgrader's own steps fail.
    """
    try:
        found = read_notebook(hand_in.notebook, hand_in.course.bank.package)
    except ValueError as error:
        return Unreadable(str(error))
    cells = sanitized(hand_in, found.notebook)
    claims, order = claims_of(found.notebook), out_of_order(found.notebook)
    return LoadedNotebook(cells, claims, order, found.notes, found.released_by)


def sanitized(hand_in: HandIn, notebook: NotebookNode) -> NotebookNode:
    """The notebook after nbgrader's sanitising steps, as the settings name them.

    Raises:
        DBAPIError, InvalidEntry: The gradebook refuses; it may do so no more when asked again.
        Exception: Of whatever kind, at which one of the steps fails.
    """
    course = hand_in.course
    where = {"assignment": hand_in.assignment, "student": hand_in.student}
    where |= {"notebook": hand_in.assignment, "db_url": course.directory.db_url}
    exporter = NotebookExporter(config=course.config)
    exporter._preprocessors = []
    for step in Autograde(config=course.config).sanitize_preprocessors:
        exporter.register_preprocessor(step, enabled=True)
    text, _ = exporter.from_notebook_node(notebook, ResourcesDict(nbgrader=where))
    return nbformat.reads(text, as_version=4)


def read_notebook(path: Path, bank: str) -> Rebuilt:
    """Read all that counts of a notebook that was handed in.

    Args:
        path: Where it is.
        bank: Name of the package from which a problem set imports `check` now.

    Raises:
        ValueError: There is none, or it cannot be read, or it is of an earlier version of the
            course; the message says which.
    """
    if not path.is_symlink() and not path.exists():
        others = ", ".join(sorted(repr(p.name) for p in path.parent.iterdir())[:5]) or "nothing"
        raise ValueError(f"{path.name} was not handed in; there is: {others}")
    if not _stays_within(path):
        raise ValueError(f"{path.name} is a link out of the folder, which was not followed")
    if not path.is_file():
        raise ValueError(f"{path.name} is {'a folder' if path.is_dir() else 'no file'}")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes, above {MAX_BYTES:,}")
    try:
        found = rebuild(path.read_bytes())
    except ValueError as error:
        reason = [*str(error).strip().splitlines(), type(error).__name__][0]
        raise ValueError(f"{path.name} cannot be read as a notebook: {reason[:200]}") from None
    _refuse_an_earlier_version(path, found.notebook, bank)
    return found


def _refuse_an_earlier_version(path: Path, notebook: NotebookNode, bank: str) -> None:
    """Check that `check` is imported from the present bank, if it is imported at all."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    places = [found[1] for source in code for found in IMPORT.finditer(source)]
    if places and bank not in places:
        raise ValueError(
            f"{path.name} was released by an earlier version of the course: it imports `check` from"
            f" {places[0]}, which is in {bank} now. Copy the answers into the problem set as it is"
            " released now, or grade it with the version that released it"
        )


def _stays_within(path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def claims_of(notebook: NotebookNode) -> dict[str, float]:
    """The points that each graded cell shows, by its name; nothing for one that shows none."""
    claims: dict[str, float] = {}
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader")
        if cell.cell_type != "code" or not isinstance(about, dict) or not about.get("grade"):
            continue
        for output in cell.outputs:
            points = _as_points(output)
            if points is not None:
                name = str(about.get("grade_id"))
                claims[name] = max(points, claims.get(name, points))
    return claims


def _as_points(output: NotebookNode) -> float | None:
    if output.output_type != "execute_result":
        return None
    try:
        points = float("".join(output.data.get("text/plain", "")))
    except (AttributeError, TypeError, ValueError):
        return None
    return points if math.isfinite(points) else None
