"""The history of a submission: each grading that gave other points, each appeal.

It lies beside the record, a line of JSON for each event, and outlives a grading that is
interrupted. It tells; marks are in the records and in the gradebook.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hintgrader.records.records import SubmissionRecord

SUFFIX = ".history"
MAX_WORDS = 2000  # characters of a note


@dataclass(frozen=True)
class Event:
    """Something that happened to a submission.

    Attributes:
        at: When, in UTC, as `2027-03-08 17:00:00`.
        engine: What graded it; empty for a note of a person's.
        points: By part; empty for a note.
        note: The words of a person; empty for a grading.
    """

    at: str
    engine: str = ""
    points: dict[str, float] = field(default_factory=dict)
    note: str = ""


def read_history(record: Path) -> list[Event]:
    """The events of a submission, the first first; a line that is broken is left out.

    Args:
        record: The path of its record.
    """
    events: list[Event] = []
    with suppress(FileNotFoundError):
        text = record.with_suffix(SUFFIX).read_bytes().decode("utf-8", errors="replace")
        for line in text.splitlines():
            with suppress(ValueError, TypeError):
                events.append(Event(**json.loads(line)))
    return events


def note_grading(path: Path, record: SubmissionRecord) -> None:
    """Keep what a grading gave, if it is not what the one before it gave.

    Args:
        path: Of the record.
        record: What the grading found.
    """
    points = {part.part: part.points for part in record.parts}
    before = [event.points for event in read_history(path) if event.engine]
    if before[-1:] != [points]:
        _append(path, Event(_now(), record.engine, points))


def note_words(path: Path, words: str) -> None:
    """Keep what a person says of a submission, such as why an appeal was granted.

    Raises:
        ValueError: There are no words, or too many.
    """
    said = " ".join(words.split())
    if not said or len(said) > MAX_WORDS:
        raise ValueError(f"a note has 1 to {MAX_WORDS:,} characters, and this one {len(said):,}")
    _append(path, Event(_now(), note=said))


def changes(before: dict[str, float], after: dict[str, float]) -> str:
    """The change that another grading made, in words: `softmax-check 2 -> 3`."""
    names = dict.fromkeys([*before, *after])
    changed = [name for name in names if before.get(name) != after.get(name)]
    return ", ".join(f"{n} {_shown(before.get(n))} -> {_shown(after.get(n))}" for n in changed)


def _shown(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"


def _append(path: Path, event: Event) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {name: value for name, value in asdict(event).items() if value}
    with path.with_suffix(SUFFIX).open("a", encoding="utf-8", newline="") as file:
        file.write(json.dumps(kept) + "\n")


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
