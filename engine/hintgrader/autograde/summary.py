"""Summaries of a graded problem set: a table for the screen, a CSV for everything else."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sized
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hintgrader.nbgrader.printable import cell_of_csv, plain
from hintgrader.pipeline.tasks import Failure
from hintgrader.records.records import (
    NOT_GRADED,
    STATES,
    UNREADABLE,
    PartRecord,
    SubmissionRecord,
    replace_text,
)

COLUMNS = (
    *("student", "assignment", "exercise", "points", "of", "state", "isolation"),
    *("claimed", "mistake", "notes"),
)
MARKS = {"graded": " ", "missing": "–", "timed out": "t", "crashed": "!", "cheated?": "?"}
MARKS |= {NOT_GRADED: "w"}
COLOURS = {"graded": "none", "missing": "dim", "timed out": "yellow", "crashed": "yellow"}
MAX_ROWS = 60  # of a table on the screen; the CSV has all


def write_csv(path: Path, records: Iterable[SubmissionRecord]) -> None:
    """Write a CSV with one row for each student and exercise.

    Args:
        path: Where to; it appears at once with all its rows.
        records: In the order of the rows.
    """
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for record in records:
        writer.writerows(_row(record, part) for part in record.parts)
    replace_text(path, table.getvalue())


def make_table(records: list[SubmissionRecord], failures: list[Failure]) -> Table:
    """A line for each student, a column for each exercise, marks for what is not simply graded."""
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("student", no_wrap=True, max_width=18)
    exercises = _exercises(records)
    for number, of in enumerate(exercises.values(), 1):
        table.add_column(f"{number} ({of:g}) ", justify="right", no_wrap=True, min_width=6)
    totals = [f"{_number(record.points)}/{record.of:g}" for record in records]
    most = max(map(len, totals), default=0)
    table.add_column("sum", justify="right", no_wrap=True, min_width=most)
    for record, total in zip(records, totals, strict=True):
        if record.unreadable:  # no points were given, not even 0
            table.add_row(escape(plain(record.student)), *[""] * len(exercises), UNREADABLE)
            continue
        by_name = {part.exercise: part for part in record.parts}
        cells = [_cell(by_name[name]) if name in by_name else "" for name in exercises]
        table.add_row(escape(plain(record.student)), *cells, total)
    for failure in failures:
        table.add_row(escape(plain(failure.student)), *[""] * len(exercises), "not graded")
    return table


def make_legend(records: list[SubmissionRecord]) -> str:
    """The legend of the table: its numbers and its marks."""
    exercises = [name.partition("/")[2].replace("_", " ") for name in _exercises(records)]
    numbers = ", ".join(f"{number} {name}" for number, name in enumerate(exercises, 1))
    readable = (record for record in records if not record.unreadable)
    found = {part.state for record in readable for part in record.parts} - {"graded"}
    marks = ", ".join(f"{MARKS[state]} {state}" for state in STATES if state in found)
    marked = f"{numbers} (points)" + (f"; {marks}" if marks else "")
    return f"{marked}; the sum is without the parts that a person reads"


def count_states(records: Iterable[SubmissionRecord]) -> str:
    """Counts of submissions by state, the worst first; "unfinished" where only some parts are
    missing."""
    counts = Counter(map(_state, records))
    states = [*reversed(STATES[2:]), UNREADABLE, STATES[1], "unfinished", STATES[0]]
    return ", ".join(f"{counts[state]} {state}" for state in states if counts[state])


def _state(record: SubmissionRecord) -> str:
    if record.unreadable:
        return UNREADABLE
    missing = [part.state == "missing" for part in record.parts]
    return "unfinished" if record.state == "missing" and not all(missing) else record.state


def log_lines(records: Iterable[SubmissionRecord]) -> list[str]:
    """A line for all that a person should look at, and for nothing else."""
    lines = []
    for record in records:
        lines += [f"{record.student}: {note}" for note in record.notes]
        for part in record.parts:
            if part.notes or part.state not in ("graded", "missing"):
                notes = "; ".join(part.notes) or "no more is known"
                lines.append(f"{record.student} {part.exercise} {part.state}: {notes}")
    return [plain(line) for line in lines]


def _row(record: SubmissionRecord, part: PartRecord) -> list[str]:
    state = UNREADABLE if record.unreadable else part.state
    points = "" if state in (NOT_GRADED, UNREADABLE) else f"{part.points:g}"
    claimed = "" if part.claimed is None else f"{part.claimed:g}"
    notes = "; ".join((*part.notes, *record.notes))
    names = record.student, record.assignment, part.exercise
    rest = state, record.level
    texts = part.mistake or "", notes
    points_of = points, f"{part.of:g}"
    return [*map(cell_of_csv, names), *points_of, *rest, claimed, *map(cell_of_csv, texts)]


def _exercises(records: list[SubmissionRecord]) -> dict[str, float]:
    """The points of each exercise, in the order in which they come."""
    return {part.exercise: part.of for record in records for part in record.parts}


def _cell(part: PartRecord) -> str:
    colour = COLOURS.get(part.state, "red")
    return f"[{colour}]{_number(part.points)} {MARKS[part.state]}[/]"


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def print_summary(
    students: list[str],
    records: list[SubmissionRecord],
    failures: list[Failure],
    console: Console,
    level_shown: bool,
) -> None:
    """Say on the screen what came of the submissions that were to be graded.

    Args:
        students: Their names.
        records: Of all students.
        failures: Of those that could not be graded.
        console: The screen.
        level_shown: Whether it is on the screen already at which level they are graded.
    """
    now = [record for record in records if record.student in set(students)]
    if len(students) <= MAX_ROWS:
        console.print(make_table(now, failures))
        console.print(make_legend(now), markup=False, highlight=False)
    levels = Counter(record.level for record in now if record.level)
    if len(levels) > 1 or (levels and not level_shown):
        found = ", ".join(f"{count} {level}" for level, count in levels.most_common())
        console.print(f"Isolation: {found}.")
    counted = count_states(now) or "none graded"
    console.print(f"{count_submissions(now)}: {counted}; {len(failures)} not graded.")
    if waited := [record for record in now if record.waited]:
        whose = count_submissions(waited)
        console.print(f"Of {whose} some parts were not graded, which the log names.")


def count_submissions(some: Sized) -> str:
    """The number of some submissions, in words."""
    return f"{len(some)} submission{'' if len(some) == 1 else 's'}"
