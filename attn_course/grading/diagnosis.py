"""Recognising a mistake: which of the known wrong answers computes what the student's does."""

from functools import lru_cache

from attn_course.grading.compare import same
from attn_course.grading.judge import Finding, examine
from attn_course.grading.spec import Exercise, Mistake, find_exercise
from attn_course.grading.submission import LocalSubmission


def recognise(name: str, findings: list[list[Finding]], secret: str | None) -> Mistake | None:
    """The known mistake that agrees with the findings, or None.

    A mistake agrees fully if it fails the same checks with the same evidence. If none does, the
    first that gives the same evidence at the first failed check is taken, provided that the
    evidence is numbers: many different mistakes raise the same error.
    """
    known = [(mistake, _findings(name, mistake.name, secret)) for mistake in _mistakes(name)]
    for mistake, theirs in known:
        if all(map(_alike, findings, theirs)):
            return mistake
    first = next((index for index, found in enumerate(findings) if found), None)
    if first is None or isinstance(findings[first][0].evidence, str):
        return None
    for mistake, theirs in known:
        if theirs[first] and _alike(findings[first], theirs[first]):
            return mistake
    return None


def _mistakes(name: str) -> tuple[Mistake, ...]:
    return find_exercise(name).mistakes


@lru_cache(maxsize=256)
def _findings(name: str, mistake_name: str, secret: str | None) -> list[list[Finding]]:
    exercise: Exercise = find_exercise(name)
    mistake = next(m for m in exercise.mistakes if m.name == mistake_name)
    return examine(exercise, name, LocalSubmission(mistake.answer), secret)


def _alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        same(one.evidence, other.evidence) for one, other in zip(mine, theirs, strict=True)
    )
