"""What is missing or stale in a course, in sentences that name the place and what mends it."""

import ast
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from attn_grade.authoring.parts import parts_in, sources_of, with_table
from attn_grade.exercise import Exercise
from attn_grade.nbgrader.cells import graded_cells, to_run
from attn_grade.nbgrader.course import Course
from attn_grade.nbgrader.gradable import NO_EXERCISE, problem_of_points


def faults_of(course: Course) -> Iterator[str]:
    """All that an author should mend before a problem set is released.

    Raises:
        CourseError: There is no such course, or no bank of exercises.
    """
    exercises: dict[str, Exercise] = {}
    for name in course.bank.names():
        try:
            exercises[name] = course.bank.find(name)
        except Exception as error:  # the module may do anything
            yield f"{name} cannot be used: {type(error).__name__}: {error}"
            continue
        yield from _faults_of_exercise(course, exercises[name])
    checked: set[str] = set()
    for path in sources_of(course):
        notebook = nbformat.read(path, as_version=4)
        place = path.relative_to(course.root)
        yield from _faults_of_cells(notebook, place, exercises)
        names = {found for cell in graded_cells(notebook) if (found := to_run(cell).exercise)}
        checked |= names
        if not names <= exercises.keys():
            continue  # its parts cannot be told
        for part in parts_in(notebook, course.bank):
            if not part.title:
                first = part.exercises[0].name
                yield f"{first} is the first of its part: set its `title`, for the table"
        if with_table(notebook, course.bank) != notebook:
            said = "the table of parts, or a heading, is not what the exercises say"
            yield f"{place}: {said}; run: attn-grade tables"
    for name in sorted(exercises.keys() - checked):
        source = course.source(name.partition("/")[0]).relative_to(course.root)
        yield f'{name} is in the bank, and no graded cell of {source} says check("{name}")'
    for check in course.settings.checks:
        yield from _faults_found_by(check, course.root)


def _faults_of_exercise(course: Course, exercise: Exercise) -> Iterator[str]:
    settings, name = course.settings, exercise.name
    if not exercise.minutes:
        yield f"{name} does not say how long it takes: set its `minutes`"
    if exercise.promises is None:
        yield f"{name} does not say what its statement promises: set its `promises`"
    own = [mistake for mistake in exercise.mistakes if mistake.points is not None]
    if (found := len(own)) < settings.min_mistakes:
        yield f"{name} knows {_count(found, 'mistake')}; it needs at least {settings.min_mistakes}"
    if settings.right_answers:
        folder, part = name.partition("_")[2].split("/")
        path = Path(settings.right_answers, folder, f"{part}.py")
        found, least = _count_functions(course.root / path), settings.min_right_answers
        if found < least:
            said = f"{name} has {_count(found, 'right answer')} in {path}"
            yield f"{said}; it needs at least {least}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _count_functions(path: Path) -> int:
    """How many functions a module defines at its top, but for those with an underscore."""
    if not path.is_file():
        return 0
    body = ast.parse(path.read_text(encoding="utf-8")).body
    defined = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return sum(not node.name.startswith("_") for node in defined)


def _faults_of_cells(
    notebook: NotebookNode, place: Path, exercises: dict[str, Exercise]
) -> Iterator[str]:
    for cell in graded_cells(notebook):
        said = f"{place}: {cell.metadata.nbgrader.grade_id}:"
        name = to_run(cell).exercise
        if name is None:
            yield f"{said} {NO_EXERCISE}"
        elif name not in exercises:
            yield f"{said} there is no exercise {name!r}; lay it out: attn-grade new {name}"
        elif problem := problem_of_points(cell, exercises[name]):
            yield f"{said} {problem}"


def _faults_found_by(check: str, root: Path) -> Iterator[str]:
    """What a program of the course says on stderr, a sentence a line."""
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *shlex.split(check)]
    environment = os.environ | {"PYTHONPATH": path}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=root)
    if run.returncode:
        yield from run.stderr.strip().splitlines() or [f"{check} ends with {run.returncode}"]
