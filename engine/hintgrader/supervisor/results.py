"""A notebook to grade, and what came of it."""

import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field

from hintgrader.bank.grade import no_points
from hintgrader.exercise.definition import Exercise
from hintgrader.records.records import NOT_GRADED
from hintgrader.supervisor.termination import Termination
from hintgrader.worker.alarm import Alarm, Kind
from hintgrader.worker.packing import Message
from hintgrader.worker.points import Points
from hintgrader.worker.shell import MAX_SHOWN, MAX_TEXT

CHECKS = re.compile(r"""check\(\s*["']([\w/]+)["']""")
PNG = b"\x89PNG"  # the first bytes of a picture
MAX_OUTPUT = 30_000_000  # characters of what all cells of a notebook show, pictures as base64
OMITTED = "... left out: the notebook shows too much in all"
LEFT = "this part was not graded: that it waits says nothing of your answer. Ask your instructor"
MAX_ERROR_WHEN_FULL = 200  # characters of an error, once there is no more room


@dataclass(frozen=True)
class Cell:
    """A code cell to run.

    Args:
        source: Its text, without hidden tests.
        grade_id: What nbgrader calls it, if it gives points.
    """

    source: str
    grade_id: str | None = None

    @property
    def exercise(self) -> str | None:
        """The exercise that it checks."""
        found = CHECKS.search(self.source) if self.grade_id else None
        return found and found[1]


@dataclass
class GradedPart:
    """The result of a graded cell.

    Attributes:
        exercise: Its name.
        points: On all inputs.
        public: On those that a student can see; what an honest notebook shows.
        trouble: What ended it, if it did not come to its end.
        alarms: What it reached for.
        notes: What else a person should know.
        failed: What a call raised, or that there is no function, in words; empty if there is
            nothing of the kind. The kernel in which a student worked may have held what is missing.
    """

    exercise: str
    points: Points
    public: Points
    trouble: Termination | None = None
    alarms: list[Alarm] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: str = ""

    @property
    def is_tampered(self) -> bool:
        """True if the grader's code was tampered with, and nothing its process reports can be
        trusted."""
        return any(alarm.kind is Kind.TAMPERED for alarm in self.alarms)

    @property
    def state(self) -> str:
        """The state for the record, before claimed points are compared."""
        if any(alarm.accuses for alarm in self.alarms):
            return "cheated?"
        if self.trouble and self.trouble.waited:
            return NOT_GRADED
        if self.trouble:
            return "timed out" if self.trouble.out_of_time else "crashed"
        return "missing" if self.points.unwritten else "graded"

    def leave(self, exercise: Exercise, ended: Termination) -> None:
        """Leave it without points, as what ended it says nothing of the answer."""
        self.trouble = ended
        self.points = no_points(exercise, f"not graded: it {ended}", hint=LEFT)


@dataclass
class Graded:
    """The result of a notebook.

    Attributes:
        parts: By the names of their cells.
        shown: For each cell what it showed, as `Shell.run` says it.
        alarms: What it reached for that belongs to no part.
        notes: What else a person should know that belongs to no part.
        incomplete: Whether a cell or a call has not come to its end, for whatever reason, an error
            included. Then an honest notebook too shows points that its code did not earn here.
        room: For how many characters more the cells may show.
    """

    parts: dict[str, GradedPart] = field(default_factory=dict)
    shown: list[Message] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    incomplete: bool = False
    room: int = MAX_OUTPUT

    def show(self, shown: Message) -> None:
        """Add what a cell showed; no more than a word of it where there is no room any more."""
        if (size := _size(shown)) > self.room:
            error = shown["error"] and [text[:MAX_ERROR_WHEN_FULL] for text in shown["error"]]
            shown, size = {"printed": OMITTED, "shown": [], "error": error}, 0
        self.shown.append(shown)
        self.room -= size

    @property
    def any_forgiven(self) -> bool:
        """True if a line has failed whose cell went on."""
        alarms = [*self.alarms, *(alarm for part in self.parts.values() for alarm in part.alarms)]
        return any(alarm.kind is Kind.FORGIVEN for alarm in alarms)

    @property
    def state(self) -> str:
        """The state of what belongs to no part."""
        return "cheated?" if any(alarm.accuses for alarm in self.alarms) else "graded"


def read_shown(reply: Message) -> Message:
    """The output of a cell, read from a reply that may hold anything.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: It is nothing of the kind.
    """
    shown = [_read_output(output) for output in reply["shown"][:MAX_SHOWN]]
    error = reply["error"]
    if error is not None:
        name, message = error
        error = [str(name)[:MAX_TEXT], str(message)[:MAX_TEXT]]
    return {"printed": str(reply["printed"])[: 2 * MAX_TEXT], "shown": shown, "error": error}


def _size(shown: Message) -> int:
    texts = [shown["printed"], *(shown["error"] or ())]
    return sum(map(len, texts + [text for one in shown["shown"] for text in one.values()]))


def _read_output(output: Message) -> Message:
    kept: Message = {"text/plain": str(output["text/plain"])[:MAX_TEXT]}
    picture = str(output.get("image/png", ""))
    if picture and b64decode(picture, validate=True).startswith(PNG):
        kept["image/png"] = picture
    return kept


def failed_part(
    exercise: Exercise, problem: str, trouble: Termination | None = None, unwritten: bool = False
) -> GradedPart:
    """A part that earns nothing, and why."""
    hint = LEFT if trouble and trouble.waited else None
    points = no_points(exercise, problem, unwritten, hint)
    return GradedPart(exercise.name, points, points, trouble)


def find_cell_error(function: str, ran: Sequence[tuple[Cell, Message]]) -> str | None:
    """The error with which the last cell failed that should have defined an answer, if it did.

    Args:
        function: The name of the answer.
        ran: The cells of its part, and what each has shown.
    """
    defines = re.compile(rf"^\s*(?:(?:async )?def\s+{function}\b|{function}\s*=[^=])", re.MULTILINE)
    errors = [shown["error"] for cell, shown in ran if defines.search(cell.source)]
    return f"its cell {_stopped(errors[-1])}" if errors and errors[-1] else None


def _stopped(error: Sequence[str]) -> str:
    return f"stopped with {error[0]}: {error[1]}".splitlines()[0][:200]


def skipped_output(ended: Termination) -> Message:
    """The output of a cell that was not run."""
    return {"printed": "", "shown": [], "error": ["Ended", f"This cell {ended}."]}
