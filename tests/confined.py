"""A notebook of two parts, graded in a confined process: an answer to try, and an honest one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hintgrader.supervisor.grade_notebook import Cell, Graded, GradedPart, grade_notebook
from hintgrader.supervisor.isolation import lay_out
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.worker.level import Level
from hintgrader.worker.wall import Wall

from attn_bank import BANK

BEGIN = Cell("import torch\nfrom attn_bank import check")
RIGHT = """def softmax(scores):
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)"""
HONEST = """def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))"""
TRIED = Cell('check("01_retrieval/softmax")', "tried")
SPARED = Cell('check("01_retrieval/softmax_gradient")', "spared")
CELL_SECONDS = 4.0
WALL = Wall(BANK.student_packages, BANK.package, ("solutions/", "gradebook.db", "grading/secret"))


@contextmanager
def open_process(level: Level, folder: Path) -> Iterator[SandboxProcess]:
    """A confined process at a level of isolation."""
    lay_out(folder, WALL)
    process = SandboxProcess(level, folder, WALL)
    try:
        yield process
    finally:
        process.stop()


def grade(process: SandboxProcess, *cells: Cell | str, secret: str | None = "unknown") -> Graded:
    """Grade a notebook of these cells."""
    run = [Cell(cell) if isinstance(cell, str) else cell for cell in cells]
    return grade_notebook([BEGIN, *run], BANK, process, secret, cell_seconds=CELL_SECONDS)


def try_answer(process: SandboxProcess, source: str) -> Graded:
    """An answer to try, and after it an honest one to another exercise."""
    return grade(process, source, TRIED, HONEST, SPARED)


def is_full(part: GradedPart) -> bool:
    """Return True if a part has all points, and there is nothing else to say of it."""
    full = float(part.points) == part.points.of and float(part.public) == part.points.of
    return full and part.state == "graded" and not (part.notes or part.alarms)


def all_said(graded: Graded, part: str) -> str:
    """All that an instructor reads of a part, in one line."""
    found = graded.parts[part]
    problems = [row.problem for row in found.points.rows if row.problem]
    alarms = map(str, (*found.alarms, *graded.alarms))
    return " | ".join([found.state, *alarms, *found.notes, *graded.notes, *problems])


def all_shown(graded: Graded) -> str:
    """All that the cells have shown."""
    return str(graded.shown)
