"""`check`: from an answer to a score."""

import os
import sys
from collections.abc import Callable

from torch import Tensor

from attn_course.grading.diagnosis import recognise
from attn_course.grading.judge import Finding, Findings, Submission, examine
from attn_course.grading.score import Row, Score
from attn_course.grading.spec import Check, Exercise, Inputs, Plain, find_exercise
from attn_course.grading.submission import LocalSubmission

SECRET_VARIABLE = "ATTN_COURSE_SECRET"
DEFAULT_SECRET = "attention"
UNTRIED = "not tried yet: it takes long, and comes once the rows above are right"


def hidden_secret() -> str:
    """What the hidden inputs are drawn from.

    It is the environment variable `ATTN_COURSE_SECRET`, which the instructor's nbgrader
    configuration sets. Without it, it is the word "attention", which everybody can read here.
    """
    return os.environ.get(SECRET_VARIABLE) or DEFAULT_SECRET


def check(name: str, answer: Callable[..., Plain] | None = None, *, hidden: bool = False) -> Score:
    """Grade an answer and say what is wrong with it.

    Args:
        name: The exercise, as `NN_slug/part`.
        answer: The function; None takes the one of the notebook, by the name that the exercise
            gives it.
        hidden: Whether to draw the inputs that a student does not see as well. The score then says
            nothing about their numbers.

    Returns:
        The points, with a table of the checks. A missing, unfinished or crashing answer is a score
        too, not an error.

    Raises:
        ValueError: There is no exercise of this name.
    """
    exercise = find_exercise(name)
    if answer is None:
        answer = getattr(sys.modules["__main__"], exercise.function, None)
    if not callable(answer):
        return nothing(exercise, missing(exercise, answer))
    submission = LocalSubmission(answer, exercise.avoid, exercise.may_use)
    return grade(name, submission, hidden_secret() if hidden else None)


def grade(name: str, submission: Submission, secret: str | None) -> Score:
    """Grade whatever answers for a function; `secret` draws the hidden inputs as well."""
    return score_of(name, examine(find_exercise(name), name, submission, secret), secret)


def score_of(name: str, findings: Findings, secret: str | None, diagnose: bool = True) -> Score:
    """The score of an answer from what was found, publicly alone or with the secret as well.

    To `diagnose` a wrong one, all known mistakes are made for comparison.
    """
    exercise = find_exercise(name)
    problems = _problems(exercise.checks, findings)
    if all(map(_is_unwritten, findings, problems)):
        return nothing(exercise, "not written yet")
    mistake = recognise(name, findings, secret) if diagnose and any(findings) else None
    rows = tuple(
        Row(check.label, check.points, problem)
        for check, problem in zip(exercise.checks, problems, strict=True)
    )
    shown = [finding for found in findings for finding in found if not finding.hidden]
    inputs = shown[0].inputs if shown else None
    return Score(rows, mistake and mistake.hint, inputs, mistake and mistake.name)


def nothing(exercise: Exercise, problem: str) -> Score:
    """No points in any row, for one reason."""
    return Score(tuple(Row(check.label, check.points, problem) for check in exercise.checks))


def missing(exercise: Exercise, answer: object) -> str:
    """What to say where there is no function, but this."""
    if answer is None:
        return f"there is no function `{exercise.function}`: does the cell above run?"
    return f"`{exercise.function}` is {answer!r:.40}, not a function"


def _is_unwritten(found: list[Finding], problem: str | None) -> bool:
    # torch raises it too, with a message: for an operation that a dtype does not have, say
    said = found[0].evidence if found else ""
    unwritten = isinstance(said, str) and said == "NotImplementedError: no message"
    return unwritten or problem == UNTRIED


def _problems(checks: tuple[Check, ...], findings: list[list[Finding]]) -> list[str | None]:
    """For each check what to say of it; None if it is passed."""
    problems: list[str | None] = []
    for check, found in zip(checks, findings, strict=True):
        untried = check.slow and any(problems)
        problems.append(UNTRIED if untried else _problem(check, found))
    return problems


def _problem(check: Check, found: list[Finding]) -> str | None:
    """The first public finding with its numbers, or a hidden one without them."""
    public = [finding for finding in found if not finding.hidden]
    if public:
        return f"{public[0].reason.rstrip('.')}. Given: {_list_shapes(public[0].inputs)}"
    if found and check.slow:
        return "wrong on inputs that you do not see"
    if found:
        return "right on the inputs that you can see, wrong on others of other sizes and numbers"
    return None


def _list_shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name}{_show(value)}" for name, value in inputs.items())


def _show(value: Plain) -> str:
    if isinstance(value, Tensor):
        return f" {tuple(value.shape)}"
    if isinstance(value, list | tuple):
        return f" ({len(value)} of them)"
    return f"={value:.4g}" if isinstance(value, float) else f"={value!r:.30}"
