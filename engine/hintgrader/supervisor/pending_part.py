"""A part between its two rounds: the public inputs are done, the hidden ones have to wait."""

from dataclasses import dataclass
from typing import Self

from hintgrader.bank.grade import no_points, points_of
from hintgrader.checking.findings import Findings
from hintgrader.checking.judge import examine_hidden, examine_public
from hintgrader.exercise.definition import Exercise
from hintgrader.supervisor.remote_submission import RemoteSubmission
from hintgrader.supervisor.results import GradedPart
from hintgrader.supervisor.termination import Termination


@dataclass
class PendingPart:
    """A part whose public inputs have been tried.

    Attributes:
        index: Of the graded cell.
        exercise: The exercise.
        part: Its result so far.
        findings: Those on the public inputs, and later on all.
        submission: The function, in its snapshot of the notebook.
    """

    index: int
    exercise: Exercise
    part: GradedPart
    findings: Findings
    submission: RemoteSubmission

    @classmethod
    def begin(
        cls, index: int, exercise: Exercise, submission: RemoteSubmission, slow: bool
    ) -> Self:
        """Try the public inputs, with slow checks or without."""
        findings = examine_public(exercise, submission, slow=slow)
        points = points_of(exercise, findings, None, diagnose=False)
        part = GradedPart(exercise.name, points, points, failed=_first_error(findings))
        return cls(index, exercise, part, findings, submission)

    def try_hidden(self, secret: str | None) -> Termination | None:
        """Try the hidden inputs, then fetch the last alarms; return why that failed, or None."""
        if secret is not None:
            submission, findings = self.submission, self.findings
            self.findings = examine_hidden(self.exercise, submission, secret, findings)
        return self.submission.fetch_alarms()

    def award_points(self, secret: str | None, silent: Termination | None) -> None:
        """Give the part its points; none if the process was silent in the end or tampered with."""
        part, exercise = self.part, self.exercise
        part.points = points_of(exercise, self.findings, secret)
        if silent:  # an honest answer has no reason to
            part.points = no_points(exercise, f"in the end it {silent}")
        part.trouble = self.submission.trouble
        if part.trouble and part.trouble.waited:
            part.leave(exercise, part.trouble)
        part.alarms = list(dict.fromkeys([*part.alarms, *self.submission.channel.take_alarms()]))
        if part.is_tampered:
            part.points = no_points(exercise, "what watches it was exchanged")


def _first_error(findings: Findings) -> str:
    """The first exception of a call, in words; none where all calls gave something."""
    found = (one for check in findings for one in check if one.raised)
    return next((f"a call raised {one.evidence}" for one in found if not one.unwritten), "")
