"""What is said of a graded problem set: a table for the screen, a CSV for everything else."""

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.table import Table

from attn_course.grading.autograde.records import STATES, PartRecord, SubmissionRecord
from attn_course.grading.autograde.tasks import Failure

COLUMNS = (
    *("student", "assignment", "exercise", "points", "of", "state", "isolation"),
    *("claimed", "mistake", "notes"),
)
COLOURS = {"graded": "", "missing": "dim", "timed out": "yellow", "crashed": "yellow"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet begins to compute


def write_csv(path: Path, records: Iterable[SubmissionRecord]) -> None:
    """One row for each student and exercise.

    Args:
        path: Where to; it appears at once with all its rows.
        records: In the order of the rows.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}")
    with unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for record in records:
            writer.writerows(_row(record, part) for part in record.parts)
    unfinished.replace(path)


def make_table(records: list[SubmissionRecord], failures: list[Failure]) -> Table:
    """Students down, exercises across; what is not simply graded is named."""
    exercises = list(dict.fromkeys(part.exercise for record in records for part in record.parts))
    table = Table(title=records[0].assignment if records else None, title_justify="left")
    table.add_column("student", no_wrap=True)
    for exercise in exercises:
        table.add_column(exercise.partition("/")[2].replace("_", " "), justify="right")
    table.add_column("sum", justify="right")
    table.add_column("isolation")
    for record in records:
        by_name = {part.exercise: part for part in record.parts}
        cells = [_cell(by_name[name]) if name in by_name else "" for name in exercises]
        total = f"{record.points:g}/{record.of:g}"
        table.add_row(_escape(record.student), *cells, total, record.level)
    for failure in failures:
        table.add_row(_escape(failure.student), *[""] * len(exercises), "not graded", "")
    return table


def count_states(records: Iterable[SubmissionRecord]) -> str:
    """How many submissions are in each state, the worst first."""
    counts = Counter(record.state for record in records)
    return ", ".join(f"{counts[state]} {state}" for state in reversed(STATES) if counts[state])


def log_lines(records: Iterable[SubmissionRecord]) -> list[str]:
    """A line for all that a person should look at, and for nothing else."""
    lines = []
    for record in records:
        lines += [f"{record.student}: {note}" for note in record.notes]
        for part in record.parts:
            if part.notes or part.state not in ("graded", "missing"):
                notes = "; ".join(part.notes) or "no more is known"
                lines.append(f"{record.student} {part.exercise} {part.state}: {notes}")
    return lines


def _row(record: SubmissionRecord, part: PartRecord) -> list[object]:
    claimed = "" if part.claimed is None else f"{part.claimed:g}"
    row = [record.student, record.assignment, part.exercise, f"{part.points:g}", f"{part.of:g}"]
    row += [part.state, record.level, claimed, part.mistake or ""]
    notes = "; ".join((*part.notes, *record.notes))
    return [*row, f"'{notes}" if notes.startswith(FORMULA) else notes]


def _cell(part: PartRecord) -> str:
    points = f"{part.points:g}/{part.of:g}"
    if part.state == "graded":
        return points
    colour = COLOURS.get(part.state, "red")
    return f"[{colour}]{points} {part.state}[/]"


def _escape(name: str) -> str:
    return name.replace("[", r"\[")
