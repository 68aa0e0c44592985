"""A notebook of two parts, graded in a confined process: an answer to try, and an honest one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attn_course.grading.outside.isolation import Level, copy_package
from attn_course.grading.outside.notebook import Cell, Graded, Part, grade_notebook
from attn_course.grading.outside.slot import Slot

BEGIN = Cell("import torch\nfrom attn_course.grading import check")
RIGHT = """def softmax(scores):
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)"""
HONEST = """def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))"""
TRIED = Cell('check("01_retrieval/softmax")', "tried")
SPARED = Cell('check("01_retrieval/softmax_gradient")', "spared")
CELL_SECONDS = 4.0


@contextmanager
def open_slot(level: Level, folder: Path) -> Iterator[Slot]:
    """A confined process at a level of isolation."""
    copy_package(folder)
    slot = Slot(level, folder)
    try:
        yield slot
    finally:
        slot.stop()


def grade(slot: Slot, *cells: Cell | str, secret: str | None = "unknown") -> Graded:
    """What comes of a notebook of these cells."""
    run = [Cell(cell) if isinstance(cell, str) else cell for cell in cells]
    return grade_notebook([BEGIN, *run], slot, secret, cell_seconds=CELL_SECONDS)


def try_answer(slot: Slot, source: str) -> Graded:
    """An answer to try, and after it an honest one to another exercise."""
    return grade(slot, source, TRIED, HONEST, SPARED)


def is_full(part: Part) -> bool:
    """Whether a part has all points, and there is nothing else to say of it."""
    full = float(part.score) == part.score.of and float(part.public) == part.score.of
    return full and part.state == "graded" and not part.notes


def all_said(graded: Graded, part: str) -> str:
    """All that an instructor reads of a part, in one line."""
    found = graded.parts[part]
    problems = [row.problem for row in found.score.rows if row.problem]
    return " | ".join([found.state, *found.notes, *graded.notes, *problems])


def all_shown(graded: Graded) -> str:
    """All that the cells have shown."""
    return str(graded.shown)
