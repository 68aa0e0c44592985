"""Faults of a course before its release, in sentences that name the place and the cure."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from hintgrader.authoring.demands import place_of_verdicts, unmet_demands
from hintgrader.authoring.parts import parts_in, sources_of, with_table
from hintgrader.authoring.verdicts import NOT_TRIED, read_verdicts
from hintgrader.authoring.words import faults_of_words
from hintgrader.exercise.definition import Exercise
from hintgrader.nbgrader.cells import graded_cells, to_run
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.one_source import second_sources
from hintgrader.nbgrader.rubric.items import graded_by_hand_in, read_items, table_of
from hintgrader.nbgrader.set_checks import problems_of_set


def faults_of(course: Course) -> Iterator[str]:
    """All that an author should mend before a problem set is released.

    Raises:
        CourseError: There is no such course, or no bank of exercises.
    """
    yield from second_sources(course)
    exercises: dict[str, Exercise] = {}
    for name in course.bank.names():
        try:
            exercises[name] = course.bank.find(name)
        except Exception as error:  # the module may do anything
            yield f"{name} cannot be used: {type(error).__name__}: {error}"
            continue
        yield from (f"{name} {said}" for said in unmet_demands(course, exercises[name]))
    checked: set[str] = set()
    for path in sources_of(course):
        yield from faults_of_set(course, path.stem)
        notebook = nbformat.read(path, as_version=4)
        place = path.relative_to(course.root)
        yield from (f"{place}: {said}" for said in faults_of_words(notebook))
        cells = graded_cells(notebook)
        checked |= {found for cell in cells if (found := to_run(cell).exercise)}
    for name in sorted(exercises.keys() - checked):
        source = course.source(name.partition("/")[0]).relative_to(course.root)
        yield f'{name} is in the bank, and no graded cell of {source} says check("{name}")'
    for name, exercise in exercises.items():
        if (kept := place_of_verdicts(course, name)) and read_verdicts(exercise, kept) is None:
            yield NOT_TRIED.format(name)
    for check in course.settings.checks:
        yield from _faults_found_by(check, course.root)


def faults_of_set(course: Course, assignment: str) -> Iterator[str]:
    """All that an author should mend in a problem set before it is released."""
    yield from problems_of_set(course, assignment)
    source = course.source(assignment)
    if not source.is_file():
        return
    try:
        read_items(table_of(course.directory, assignment), graded_by_hand_in(source))
    except CourseError as error:
        yield f"{error}"
    notebook = nbformat.read(source, as_version=4)
    try:
        parts, changed = parts_in(notebook, course.bank), with_table(notebook, course.bank)
    except Exception:  # an exercise cannot be used, as said above
        return
    for part in parts:
        if not part.title:
            first = part.exercises[0].name
            yield f"{first} is the first of its part: set its `title`, for the table"
    if changed != notebook:
        said = "the table of parts, or a heading, is not what the exercises say"
        yield f"{source.relative_to(course.root)}: {said}; run: hintgrader tables"


def _faults_found_by(check: str, root: Path) -> Iterator[str]:
    """The lines that a program of the course writes to stderr, if it fails."""
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *shlex.split(check)]
    environment = os.environ | {"PYTHONPATH": path}
    run = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", cwd=root)
    if run.returncode:
        yield from run.stderr.strip().splitlines() or [f"{check} ends with {run.returncode}"]
