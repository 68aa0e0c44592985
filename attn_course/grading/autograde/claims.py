"""What a notebook claims, as it was handed in, beside what its code earns."""

import math
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from attn_course.grading.autograde.records import PartRecord, RowRecord
from attn_course.grading.outside.notebook import Part

MOST_BYTES = 50_000_000


def read_notebook(path: Path) -> NotebookNode:
    """A notebook as it was handed in.

    Raises:
        ValueError: There is none, or it cannot be read; the message says which.
    """
    if not path.is_symlink() and not path.exists():
        others = ", ".join(sorted(repr(p.name) for p in path.parent.iterdir())[:5]) or "nothing"
        raise ValueError(f"{path.name} was not handed in; there is: {others}")
    if not _stays_within(path):
        raise ValueError(f"{path.name} is a link out of the folder, which was not followed")
    if not path.is_file():
        raise ValueError(f"{path.name} is {'a folder' if path.is_dir() else 'no file'}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes, above {MOST_BYTES:,}")
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # what was handed in may be anything
        reason = [*str(error).strip().splitlines(), type(error).__name__][0]
        raise ValueError(f"{path.name} cannot be read as a notebook: {reason[:200]}") from None
    return notebook


def _stays_within(path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def claims_of(notebook: NotebookNode) -> dict[str, float]:
    """The points that each graded cell shows, by its name; nothing for one that shows none."""
    claims = {}
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


def part_record(
    name: str, part: Part, claimed: float | None, incomplete: bool = False
) -> PartRecord:
    """A part with what is claimed of it.

    Args:
        name: What nbgrader calls its cell.
        part: What it has earned.
        claimed: What the notebook shows; None if nothing.
        incomplete: Whether something of the notebook did not come to its end. Then it may have come
            honestly by what it shows, on a machine that is faster or has another file.
    """
    score, public = part.score, float(part.public)
    state, notes = part.state, list(part.notes)
    if part.trouble:
        notes.append(f"it {part.trouble}")
    if claimed is not None and claimed > public + 1e-6:
        notes.append(
            f"the notebook shows {claimed:g} of {score.of:g} points, and its code earns"
            f" {public:g} on the same inputs"
        )
        state = state if incomplete or part.trouble else "cheated?"
    return PartRecord(
        part=name,
        exercise=part.exercise,
        points=float(score),
        of=score.of,
        state=state,
        rows=tuple(RowRecord(row.label, row.points, row.problem) for row in score.rows),
        hint=score.hint,
        mistake=score.mistake,
        claimed=claimed,
        public=public,
        notes=tuple(dict.fromkeys(notes)),
    )


def _as_points(output: NotebookNode) -> float | None:
    if output.output_type != "execute_result":
        return None
    try:
        points = float("".join(output.data.get("text/plain", "")))
    except (AttributeError, TypeError, ValueError):
        return None
    return points if math.isfinite(points) else None
