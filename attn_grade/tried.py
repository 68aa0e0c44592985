"""Findings on the known wrong answers to an exercise, worked out once for a class."""

from functools import cache, lru_cache

from attn_grade.exercise import Exercise
from attn_grade.findings import Finding, Findings
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import examine, examine_one
from attn_grade.trial import draw_trials
from attn_grade.wrong_answers import Answer


@lru_cache(maxsize=1024)  # both rounds of all mistakes of a problem set, for one secret
def findings_of(exercise: Exercise, answer: Answer, secret: str | None) -> Findings:
    """The findings on a wrong answer at all checks."""
    return examine(exercise, LocalSubmission(answer), secret)


@cache  # small, and for pairs of mistakes too, of which a problem set has up to 1,700
def finding_at(
    exercise: Exercise, answer: Answer, secret: str | None, row: int, draw: int
) -> Finding | None:
    """The finding on a wrong answer at one draw of a check."""
    trials = draw_trials(exercise, exercise.checks[row], secret)
    return examine_one(trials[draw], LocalSubmission(answer))
