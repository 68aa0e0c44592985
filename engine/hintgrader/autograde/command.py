"""The command that grades a class, from its words to its exit status."""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from hintgrader.autograde.pool import grade_locally
from hintgrader.autograde.results import write_results
from hintgrader.autograde.summary import count_submissions, print_summary
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.exports.mark_checks import unsandboxed
from hintgrader.nbgrader.extensions import check_extensions
from hintgrader.nbgrader.gradebook import prepare_gradebook
from hintgrader.nbgrader.one_source import check_one_source
from hintgrader.nbgrader.printable import plain
from hintgrader.nbgrader.private import check_private
from hintgrader.nbgrader.set_checks import check_gradable, check_released, check_writable
from hintgrader.pipeline.choose_level import choose_level
from hintgrader.pipeline.tasks import Failure, GradingResult, Task
from hintgrader.records.records import SubmissionRecord, read_record, record_path
from hintgrader.worker.level import Level
from hintgrader.worker.system_calls import can_refuse
from hintgrader.worker.time_limits import CELL_SECONDS

ONLY_SANDBOXES = (
    "On a cluster submissions are graded in sandboxes alone: at a weaker level they could read the"
    " key with which its workers seal the marks. Leave --level out, or grade on this machine."
)


@dataclass(frozen=True)
class AutogradeOptions:
    """Options of `hintgrader autograde`.

    Args:
        course: Folder of the course.
        assignment: Name of the problem set.
        students: Names of the students; none means all with a submission.
        force: Whether to grade again what has been graded already.
        jobs: Number of processes on this machine.
        level: Name of the isolation level; None for a sandbox.
        scheduler: Address of a Dask scheduler; None grades on this machine.
        csv: Where the table goes; None for the usual place.
        cell_seconds: How long a cell of a notebook may take.
    """

    course: Path
    assignment: str
    students: tuple[str, ...] = ()
    force: bool = False
    jobs: int | None = None
    level: str | None = None
    scheduler: str | None = None
    csv: Path | None = None
    cell_seconds: float = CELL_SECONDS


def autograde(options: AutogradeOptions, console: Console) -> bool:
    """Grade a problem set; whether all submissions could be graded.

    Raises:
        CourseError: There is nothing to grade, or nowhere to keep what comes of it.
        GradingError: The isolation asked for cannot be had.
    """
    is_weak = options.level not in (None, str(Level.SANDBOX))
    if is_weak and options.scheduler:
        raise CourseError(ONLY_SANDBOXES)
    course = Course(options.course.resolve())
    csv = options.csv or course.results / f"{options.assignment}.csv"
    students = _prepare(options, course, csv)
    if options.scheduler is None:
        level = choose_level(options.level)
        isolation = f"isolation: {level}{_advice(level)}"
        console.print(f"{count_submissions(students)}, {isolation}", soft_wrap=True)
    before = _times(course, options.assignment, students)
    failures: list[Failure] = []
    try:
        with (
            unsandboxed(course) if is_weak else nullcontext(),
            closing(_failures(options, course, students, console)) as found,
        ):
            failures.extend(found)
    except BaseException:  # what an interrupted run has graded is in the table too
        with suppress(Exception):
            write_results(course, options.assignment, csv, failures)
        raise
    failures += _changed(course, options.assignment, set(students) - {f.student for f in failures})
    records, log, lines = write_results(course, options.assignment, csv, failures)
    graded = set(students) - {failure.student for failure in failures}
    if left := before & _times(course, options.assignment, graded):
        console.print(f"Already graded: {len(left)}. Use --force to grade them again.")
    print_summary(students, records, failures, console, level_shown=options.scheduler is None)
    message = f"{csv} has all points; {log} lists what to look at ({lines})."
    console.print(message, markup=False, soft_wrap=True)
    return not failures and not any(record.waited for record in records if record.student in graded)


def _prepare(options: AutogradeOptions, course: Course, csv: Path) -> list[str]:
    """Check that everything grading needs is present; return the names of the students to grade."""
    check_private(course)
    check_one_source(course)
    check_released(course, options.assignment)
    check_gradable(course, options.assignment)
    students = course.select_students(options.assignment, options.students)
    check_extensions(course, options.assignment, course.students(options.assignment))
    check_writable(course, csv)
    directory = course.directory
    prepare_gradebook(directory.db_url, directory.course_id, students)
    return students


def _advice(level: Level) -> str:
    """A warning of what the level leaves open, or an empty string."""
    if level < Level.SANDBOX:
        return ". Submissions can read and change your files: only for people whom you trust"
    if not can_refuse():
        return ". Some requests to the kernel are not refused: that takes libseccomp."
    return ""


def _changed(course: Course, assignment: str, students: set[str]) -> Iterator[Failure]:
    """The submissions whose records are not as they were written, as by one that ran unconfined."""
    for student in sorted(students):
        try:
            read_record(record_path(course.results, assignment, student))
        except FileNotFoundError:
            continue
        except ValueError as error:
            yield Failure(student, str(error))


def _times(course: Course, assignment: str, students: Iterable[str]) -> set[tuple[Path, int]]:
    """The records of submissions, and when each was written."""
    paths = [record_path(course.results, assignment, student) for student in students]
    return {(path, path.stat().st_mtime_ns) for path in paths if path.is_file()}


def _failures(
    options: AutogradeOptions, course: Course, students: list[str], console: Console
) -> Generator[Failure, None, None]:
    """Grade, with a bar, and tell of each submission that cannot be graded."""
    how = (options.force, options.level, options.cell_seconds)
    tasks = [Task(str(course.root), options.assignment, student, *how) for student in students]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=console) as progress:
        bar = progress.add_task(options.assignment, total=len(tasks))
        for task, outcome in _outcomes(options, tasks):
            progress.advance(bar)
            if isinstance(outcome, Failure):
                message = plain(f"{task.student} cannot be graded: {outcome.reason}")
                progress.console.print(message, markup=False, soft_wrap=True)
                yield outcome


def _outcomes(options: AutogradeOptions, tasks: list[Task]) -> Iterator[tuple[Task, GradingResult]]:
    """Grade all, and then again, one after the other, what did nothing but wait: what it waits
    for may be another."""
    waited = []
    for task, outcome in _grade(options, tasks):
        if isinstance(outcome, SubmissionRecord) and outcome.waited:
            waited.append(replace(task, force=True))
        else:
            yield task, outcome
    for task in waited:
        yield from _grade(options, [task])


def _grade(options: AutogradeOptions, tasks: list[Task]) -> Iterator[tuple[Task, GradingResult]]:
    if options.scheduler is None:
        return grade_locally(tasks, options.jobs or default_jobs())
    return _outcomes_of_cluster(options.scheduler, tasks)


def _outcomes_of_cluster(address: str, tasks: list[Task]) -> Iterator[tuple[Task, GradingResult]]:
    try:  # only now: Dask takes a second, and need not be installed
        from hintgrader.cluster.client import ClusterError, grade_on_cluster
    except ModuleNotFoundError as error:
        needs = f"To grade on several machines {error.name} is needed, and is not installed."
        raise CourseError(f"{needs} It comes with the extra `cluster`.") from error
    try:
        yield from grade_on_cluster(tasks, address)
    except ClusterError as error:
        raise CourseError(str(error)) from error


def default_jobs() -> int:
    """A process for each processor that we may use: it and its confined one work in turns."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return count or 1
