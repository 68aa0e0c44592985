"""Grading one answer: from a function to its points."""

import os
import sys
from collections.abc import Callable

import numpy as np
from torch import Tensor

from attn_grade.diagnosis import recognise
from attn_grade.exercise import Check, Exercise
from attn_grade.findings import Finding, Findings
from attn_grade.inside.plain import Input, Inputs, Plain
from attn_grade.inside.points import Points, Row
from attn_grade.inside.submission import LocalSubmission
from attn_grade.inside.switches import course_values
from attn_grade.judge import examine
from attn_grade.recognised import Recognised
from attn_grade.trial import Submission

SECRET_VARIABLE = "ATTN_GRADE_SECRET"
DEFAULT_SECRET = "public"
UNTRIED = "not tried yet: it takes long, and is tried once the rows above are right"


def hidden_secret() -> str:
    """The secret from which hidden inputs are drawn.

    It is the environment variable `ATTN_GRADE_SECRET`, which the instructor's nbgrader
    configuration sets. Without it, it is the word "public", as everybody can read here.
    """
    return os.environ.get(SECRET_VARIABLE) or DEFAULT_SECRET


def check_answer(
    exercise: Exercise, answer: Callable[..., Plain] | None, secret: str | None
) -> Points:
    """Grade a function of this process; None takes the one of the notebook, by its name."""
    if answer is None:
        answer = getattr(sys.modules["__main__"], exercise.function, None)
    if not callable(answer):
        return no_points(exercise, missing_message(exercise, answer), unwritten=answer is None)
    how = exercise.avoid, exercise.may_use, exercise.packages
    with course_values():  # the reference is computed with them, too, and what is drawn is kept
        return grade(exercise, LocalSubmission(answer, *how), secret)


def grade(exercise: Exercise, submission: Submission, secret: str | None) -> Points:
    """Grade whatever answers for a function; `secret` draws the hidden inputs as well."""
    return points_of(exercise, examine(exercise, submission, secret), secret)


def points_of(
    exercise: Exercise, findings: Findings, secret: str | None, diagnose: bool = True
) -> Points:
    """The points that findings earn, on public inputs alone or with the secret on hidden ones too.

    To `diagnose` a wrong one, all known mistakes are made for comparison.
    """
    problems = _problems(exercise.checks, findings)
    if all(map(_is_unwritten, findings, problems)):
        return no_points(exercise, "not written yet", unwritten=True)
    known = recognise(exercise, findings, secret) if diagnose and any(findings) else None
    rows = tuple(
        Row(check.label, check.points, problem)
        for check, problem in zip(exercise.checks, problems, strict=True)
    )
    shown = [finding for found in findings for finding in found if not finding.hidden]
    inputs = shown[0].inputs if shown else None
    if known is None:
        return Points(rows, None, inputs)
    named = known.mistake.name if known.mistake and known.row is None else None
    doubt = _say_whom_to_tell(exercise, known)
    return Points(rows, _say(exercise, known), inputs, named, doubt=doubt)


def _say_whom_to_tell(exercise: Exercise, known: Recognised) -> str:
    """The line by which a wrong hint is reported; it holds nothing of the answer."""
    named = known.mistake.name if known.mistake else "form" if known.axes is None else "axes"
    return (
        "Does this hint not fit your answer? Then send this line to"
        f" {exercise.reports or 'your instructor'}: `{exercise.name}`, `{named}`,"
        f" version `{exercise.version}`"
    )


def _say(exercise: Exercise, known: Recognised) -> str:
    """The sentence in which a student reads what was recognised."""
    checks = exercise.checks
    if known.row is not None and known.mistake:
        others = "other rows have another fault" if known.others else "no other row can confirm it"
        return (
            f'in the row "{checks[known.row].label}", your numbers are exactly what a known mistake'
            f" gives; {others}. The hint for that mistake: {known.mistake.hint}"
        )
    more = [*known.forms]
    more += [f'see the row "{checks[row].label}"' for row in known.others]
    if known.axes is not None and exercise.promises:
        name = exercise.promises.batch[0]
        number = known.axes
        where = f"has {number} axes"
        what = (
            f"fits only `{name}` with {number} axes,"
            f" such as `.T`, `bmm`, `dim=1`, `len({name})` or a sum without `keepdim`"
        )
        if known.fewer:
            where = f"has {number} axes or fewer"
            what = f"takes no more than {number} axes, as `bmm` does"
        right = "" if known.mistake else f"where `{name}` {where}, no row finds a fault: "
        more.append(
            f"{right}look for what {what}. Any number of axes may come before, so count from the"
            " back: `.mT`, `dim=-1`, `keepdim=True`"
        )
    if known.mistake is None:
        right = "your numbers are right wherever they can be compared; their form is not: "
        return f"{right if known.axes is None else ''}{', and '.join(more)}"
    several = f"there is more than one thing to mend. First: {known.mistake.hint}."
    if known.second:
        return f"{several} Second: {known.second.hint}"
    if known.forms or known.axes is not None:
        return f"{several} Then {', and '.join(more)}"
    if more:  # which may have the same cause
        return f"first: {known.mistake.hint}. Then {', and '.join(more)}"
    return known.mistake.whole_hint


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


def _is_unwritten(found: list[Finding], problem: str | None) -> bool:
    return (bool(found) and found[0].unwritten) or problem == UNTRIED


def _problems(checks: tuple[Check, ...], findings: list[list[Finding]]) -> list[str | None]:
    """The problem of each check; None if it passed."""
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
    if found and found[0].late:
        return f"right on the inputs that you can see; on others {found[0].reason}"
    if found and check.slow:
        return "wrong on inputs that you cannot see"
    if found:
        return "right on the inputs that you can see, wrong on others with other sizes and numbers"
    return None


def _list_shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name}{_show(value)}" for name, value in inputs.items())


def _show(value: Input) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f" {tuple(value.shape)}"
    if isinstance(value, list | tuple | dict):
        return f" ({len(value)} of them)"
    return f"={value:.4g}" if isinstance(value, float) else f"={value!r:.30}"
