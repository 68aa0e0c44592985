"""Records of graded submissions, one JSON file each: for people, for reports, for resuming."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from hintgrader import __version__
from hintgrader.records.seal import is_sealed, seal_of

VERSION = 3  # of what is kept on disk
ENGINE = f"hintgrader {__version__}"
BEFORE = "attn_grade 0.1.0"  # whose records do not say so
NOT_GRADED = "not graded"
STATES = ("graded", "missing", "timed out", "crashed", NOT_GRADED, "cheated?")  # the worst last
UNREADABLE = "unreadable"  # what tables say of work that no points could be given for


@dataclass(frozen=True)
class RowRecord:
    """A check: the question, its points, the problem, and the points `kept` in spite of it."""

    label: str
    points: float
    problem: str | None = None
    kept: float = 0.0


@dataclass(frozen=True)
class PartRecord:
    """An exercise of a submission.

    Attributes:
        part: What nbgrader calls the cell that grades it, as `softmax-check`.
        exercise: Its name, as `01_retrieval/softmax`.
        points: Earned.
        of: To be earned.
        state: One of `STATES`: "crashed" if the process ended or was ended, "timed out" if it did
            not come back, "not graded" if it did nothing but wait, "missing" if there was nothing
            to grade, "cheated?" if a person should read the code, and "graded" for all else.
        rows: The checks.
        hint: What the student reads below them.
        mistake: Name of the mistake in the exercise's bank, if it was recognised.
        claimed: Points that the notebook shows as handed in; None if it shows none.
        public: Points on the inputs that a student can see, which an honest notebook shows.
        notes: What else a person should know.
    """

    part: str
    exercise: str
    points: float
    of: float
    state: str
    rows: tuple[RowRecord, ...] = ()
    hint: str | None = None
    mistake: str | None = None
    claimed: float | None = None
    public: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SubmissionRecord:
    """A submission.

    Attributes:
        assignment: Name of the problem set.
        student: Name of the student's folder.
        state: The worst state of its parts; "missing" if there is no notebook that can be read.
        level: How far it was kept away while it ran: `sandbox`, `limits` or `plain`; empty if it
            has not been graded.
        digest: Of the notebook as handed in, and of all that it is graded by.
        seconds: It took.
        parts: Its exercises.
        notes: What a person should know that belongs to no part.
        cell_seconds: How long a cell might take.
        unreadable: Whether something was handed in, and it is no notebook that can be read.
        engine: What graded it.
        released_by: Version of the engine that gave the problem set out; empty if it does not say.
        version: Of what is kept on disk.
    """

    assignment: str
    student: str
    state: str
    level: str = ""
    digest: str = ""
    seconds: float = 0.0
    parts: tuple[PartRecord, ...] = ()
    notes: tuple[str, ...] = ()
    cell_seconds: float = 0.0
    unreadable: bool = False
    engine: str = ENGINE
    released_by: str = ""
    version: int = VERSION

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)

    @property
    def of(self) -> float:
        return sum(part.of for part in self.parts)

    @property
    def waited(self) -> bool:
        """True if a part could not be graded, as it did nothing but wait."""
        return any(part.state == NOT_GRADED for part in self.parts)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record that `to_json` wrote.

        Raises:
            ValueError: It is no such record.
        """
        try:
            found = json.loads(text)
            if (version := found.get("version", 1)) != VERSION:
                raise ValueError(f"written by version {version} of the grader; this is {VERSION}")
            found.pop("seal", None)
            found.setdefault("engine", BEFORE)
            parts = tuple(_part(**part) for part in found.pop("parts"))
            record = cls(parts=parts, notes=tuple(found.pop("notes")), **found)
            for state in (record.state, *(part.state for part in parts)):
                STATES.index(state)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not the record of a submission: {error}") from None
        return record


def _part(rows: list[dict[str, Any]], notes: list[str], **others: Any) -> PartRecord:
    return PartRecord(rows=tuple(RowRecord(**row) for row in rows), notes=tuple(notes), **others)


def worst_state(states: list[str]) -> str:
    """The state that a person should hear of first."""
    return max(states, key=STATES.index, default="graded")


def record_path(results: Path, assignment: str, student: str) -> Path:
    """The path of a submission's record in the folder of results."""
    return results / assignment / f"{student}.json"


def write_record(path: Path, record: SubmissionRecord) -> None:
    """Write a record atomically, with a seal."""
    about = asdict(record)
    seal = seal_of(path.parent.parent, _canonical(about))
    replace_text(path, json.dumps(about | {"seal": seal}, indent=1))


def _canonical(about: dict[str, Any]) -> str:
    return json.dumps(about, sort_keys=True)


def _check_seal(path: Path, text: str) -> None:
    """Check that a file holds what was written at this place.

    Raises:
        ValueError: It was changed, or lay elsewhere.
    """
    about = json.loads(text)
    seal, place = str(about.pop("seal", "")), (about["assignment"], about["student"])
    lies = (path.parent.name, path.name) == (place[0], f"{place[1]}.json")
    if not lies or not is_sealed(path.parent.parent, _canonical(about), seal):
        raise ValueError("not as it was written when the submission was graded")


def replace_text(path: Path, text: str) -> None:
    """Put a text in the place of what a file held, all of it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    unfinished.replace(path)


def read_record(path: Path) -> SubmissionRecord:
    """A record.

    Raises:
        FileNotFoundError: There is none.
        ValueError: The file is no record; the message names it.
    """
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
        record = SubmissionRecord.from_json(text)
        _check_seal(path, text)
        return record
    except ValueError as error:
        raise ValueError(f"{path} is {error}") from None


def read_records(
    results: Path, assignment: str, skip_broken: bool = False
) -> list[SubmissionRecord]:
    """The records of a problem set, in the order of the students' names.

    Raises:
        ValueError: A file is no record, and broken ones are not to be skipped.
    """
    records = []
    for path in sorted((results / assignment).glob("*.json")):
        try:
            records.append(read_record(path))
        except ValueError:
            if not skip_broken:
                raise
    return records
