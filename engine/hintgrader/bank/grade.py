"""Grading one answer: from a function to its points."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from hintgrader.checking.case import Submission
from hintgrader.checking.findings import Finding, Findings
from hintgrader.checking.judge import examine
from hintgrader.exercise.definition import Exercise
from hintgrader.hints.cost_of_a_slip import kept
from hintgrader.hints.diagnosis import recognise
from hintgrader.hints.problems import UNTRIED, explained, problems_of
from hintgrader.hints.progress import shown_at_work
from hintgrader.hints.recognised import Recognised
from hintgrader.hints.sentence import say
from hintgrader.worker.plain import Plain
from hintgrader.worker.points import Points, Row
from hintgrader.worker.process_switches import course_values
from hintgrader.worker.submission import LocalSubmission

TRAINS = "trying your function: each call may take up to {:g} seconds ..."


def check_answer(
    exercise: Exercise, answer: Callable[..., Plain] | None, secret: str | None
) -> Points:
    """Grade a function of this process; None takes the one of the notebook, by its name."""
    if answer is None:
        answer = getattr(sys.modules["__main__"], exercise.function, None)
    if not callable(answer):
        return no_points(exercise, missing_message(exercise, answer), unwritten=answer is None)
    how = exercise.avoid, exercise.may_use, exercise.packages
    # the reference is computed with the course's values, too, and what is drawn is kept
    with course_values(), nullcontext() if secret else _said_to_be_slow(exercise):
        return grade(exercise, LocalSubmission(answer, *how), secret)


def _said_to_be_slow(exercise: Exercise) -> AbstractContextManager[None]:
    """Show a line while an answer that trains is tried, and nothing for any other."""
    seconds = [check.seconds for check in exercise.checks if check.seconds is not None]
    return shown_at_work(TRAINS.format(max(seconds))) if seconds else nullcontext()


def grade(exercise: Exercise, submission: Submission, secret: str | None) -> Points:
    """Grade whatever answers for a function; `secret` draws the hidden inputs as well."""
    return points_of(exercise, examine(exercise, submission, secret), secret)


def points_of(
    exercise: Exercise, findings: Findings, secret: str | None, diagnose: bool = True
) -> Points:
    """The points that findings earn, on public inputs alone or with the secret on hidden ones too.

    To `diagnose` a wrong one, all known mistakes are made for comparison. Without that nothing is
    said, and no more is tried than points depend on.
    """
    problems = problems_of(exercise.checks, findings)
    if all(map(_is_unwritten, findings, problems)):
        return no_points(exercise, "not written yet", unwritten=True)
    known = recognise(exercise, findings, secret, thorough=diagnose)
    hint = say(exercise, known) if known and diagnose else None
    told = explained(problems, findings, hint)
    rows = tuple(
        Row(check.label, check.points, problem, left)
        for check, problem, left in zip(
            exercise.checks, told, kept(exercise, problems, known), strict=True
        )
    )
    shown = [finding for found in findings for finding in found if not finding.hidden]
    inputs = shown[0].inputs if shown else None
    if known is None or hint is None:
        return Points(rows, None, inputs)
    named = known.mistake.name if known.mistake and known.row is None else None
    report_to = _say_whom_to_tell(exercise, known)
    return Points(rows, hint, inputs, named, report_to=report_to)


def _say_whom_to_tell(exercise: Exercise, known: Recognised) -> str:
    """The line by which a wrong hint is reported; it holds nothing of the answer."""
    named = known.mistake.name if known.mistake else "form" if known.axes is None else "axes"
    return (
        "Does this hint not fit your answer? Then send this line to"
        f" {exercise.reports or 'your instructor, if you have one'}: `{exercise.name}`, `{named}`,"
        f" version `{exercise.version}`"
    )


def no_points(
    exercise: Exercise, problem: str, unwritten: bool = False, hint: str | None = None
) -> Points:
    """Points of zero in every row, for one reason; `unwritten` if there is nothing to grade yet."""
    rows = tuple(Row(check.label, check.points, problem) for check in exercise.checks)
    return Points(rows, hint, unwritten=unwritten)


def missing_message(exercise: Exercise, answer: object) -> str:
    """The problem to show where there is no function but `answer`."""
    if answer is None:
        return f"there is no function `{exercise.function}`: did you run the cell above?"
    return f"`{exercise.function}` is {answer!r:.40}, not a function"


def _is_unwritten(found: Sequence[Finding], problem: str | None) -> bool:
    return (bool(found) and found[0].unwritten) or problem == UNTRIED
