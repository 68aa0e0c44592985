"""The record of a submission: what is kept of a submission."""

from pathlib import Path

import nbformat

from hintgrader.nbgrader.cells import graded_cells, to_run
from hintgrader.pipeline.load import LoadedNotebook, Unreadable
from hintgrader.pipeline.locate import HandIn
from hintgrader.pipeline.recount import count, points_of_cells
from hintgrader.records.records import PartRecord, RowRecord, SubmissionRecord, worst_state
from hintgrader.supervisor.results import Graded, GradedPart


def record_of(hand_in: HandIn, notebook: LoadedNotebook, graded: Graded) -> SubmissionRecord:
    """The record of a notebook that was run."""
    parts = tuple(
        part_record(
            *(name, part, notebook.claims.get(name), graded.incomplete),
            out_of_order=notebook.out_of_order.get(name, ""),
        )
        for name, part in graded.parts.items()
    )
    gives = points_of_cells(hand_in)
    parts = tuple(count(part, gives.get(part.part, part.of)) for part in parts)
    state = worst_state([graded.state, *(part.state for part in parts)])
    notes = (*notebook.notes, *graded.notes, *map(str, graded.alarms), *hand_in.notes)
    return SubmissionRecord(
        *(hand_in.assignment, hand_in.student, state),
        parts=parts,
        notes=notes,
        released_by=notebook.released_by,
    )


def record_without(hand_in: HandIn, unreadable: Unreadable) -> SubmissionRecord:
    """The record of a notebook that is not there, or cannot be read, or at which grading stops."""
    course = hand_in.course
    parts = missing_parts(course.source(hand_in.assignment))
    names = hand_in.assignment, hand_in.student
    notes = (unreadable.reason, *unreadable.details, *hand_in.notes)
    return SubmissionRecord(*names, "missing", parts=parts, notes=notes, unreadable=True)


def part_record(
    name: str,
    part: GradedPart,
    claimed: float | None,
    incomplete: bool = False,
    out_of_order: str = "",
) -> PartRecord:
    """A part with what is claimed of it.

    Args:
        name: What nbgrader calls its cell.
        part: What it has earned.
        claimed: What the notebook shows; None if nothing.
        incomplete: Whether something of the notebook did not come to its end. Then it may have come
            honestly by what it shows, on a machine that is faster or has another file.
        out_of_order: Why its cells may have run in another order than they stand in, so that it may
            have come honestly by what it shows, in a kernel that held other values; else empty.
    """
    points, public = part.points, float(part.public)
    state, notes = part.state, [*map(str, part.alarms), *part.notes]
    if part.trouble:
        notes.append(f"it {part.trouble}")
    if claimed is not None and claimed > public + 1e-6:
        notes.append(
            f"the notebook shows {claimed:g} of {points.of:g} points, and its code earns"
            f" {public:g} on the same inputs"
        )
        if reason := part.failed or out_of_order:
            notes.append(reason)
        honest = incomplete or part.trouble or part.failed or out_of_order
        state = state if honest else "cheated?"
    return PartRecord(
        part=name,
        exercise=part.exercise,
        points=float(points),
        of=points.of,
        state=state,
        rows=tuple(RowRecord(**vars(row)) for row in points.rows),
        hint=points.hint,
        mistake=points.mistake,
        claimed=claimed,
        public=public,
        notes=tuple(dict.fromkeys(notes)),
    )


def missing_parts(source: Path) -> tuple[PartRecord, ...]:
    """The parts of a problem set for somebody who handed in nothing that can be read."""
    parts = []
    for cell in graded_cells(nbformat.read(source, as_version=4)):
        if name := to_run(cell).exercise:
            about = cell.metadata.nbgrader
            parts.append(PartRecord(about.grade_id, name, 0.0, float(about.points), "missing"))
    return tuple(parts)
