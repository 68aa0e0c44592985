"""The confined process that is kept warm for the submissions of a problem set."""

import re
import tempfile
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import nbformat
import torch

from hintgrader.nbgrader.cells import code_cells, imported_modules
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.choose_level import choose_level
from hintgrader.pipeline.tasks import Task
from hintgrader.supervisor.isolation import lay_out
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.worker.level import Level

TRAINING = re.compile(r"\boptim\.|\.training\b")  # how modules that train are named


class Grader:
    """A course and a confined process in which submissions of one problem set are graded.

    Args:
        course: The course.
        assignment: Name of the problem set.
        level: How far submissions are kept away, and must have been if they were graded before.
    """

    def __init__(self, course: Course, assignment: str, level: Level) -> None:
        torch.set_num_threads(1)  # there is a process for each processor already
        self.course, self._assignment = course, assignment
        self.level = level
        self._open = ExitStack()

    @cached_property
    def process(self) -> SandboxProcess:
        """The confined process, which the first submission that is graded starts."""
        folder = tempfile.TemporaryDirectory(prefix="hintgrader-", ignore_cleanup_errors=True)
        path = Path(self._open.enter_context(folder))
        wall = self.course.wall
        lay_out(path, wall)
        where = wall, self._preload(), self.course.root.resolve()
        process = SandboxProcess(self.level, path, *where)
        self._open.callback(process.stop)
        process.start()
        return process

    def _preload(self) -> tuple[str, ...]:
        """Modules that each submission would import anew; an optimizer imports the compiler."""
        source = self.course.source(self._assignment)
        cells = code_cells(nbformat.read(source, as_version=4))
        trains = any(TRAINING.search(cell.source) for cell in cells)
        return (*imported_modules(source), *(("torch._dynamo",) if trains else ()))

    def close(self) -> None:
        """End the confined process, if there is one, and remove its files."""
        self._open.close()


_latest: dict[tuple[str, str, str, str | None], Grader] = {}


def grader_of(task: Task) -> Grader:
    """The grader of this process for a problem set; it keeps its confined process warm.

    Raises:
        GradingError: The isolation asked for cannot be had.
    """
    course = Course(Path(task.course))
    settings = course.settings_digest()
    key = (task.course, settings, task.assignment, task.level)
    if key not in _latest:
        level = choose_level(task.level)
        close_graders()
        _latest[key] = Grader(course, task.assignment, level)
    return _latest[key]


def close_graders() -> None:
    """End the confined process that `grader_of` keeps warm, and remove its files."""
    for key in list(_latest):
        _latest.pop(key).close()
