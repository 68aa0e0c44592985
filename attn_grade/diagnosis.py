"""Recognising a mistake: which of the known wrong answers computes what the student's does."""

from functools import lru_cache

from attn_grade.equality import same
from attn_grade.exercise import Exercise
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import Finding, Findings, examine
from attn_grade.mistakes import Mistake


def recognise(exercise: Exercise, findings: Findings, secret: str | None) -> Mistake | None:
    """The known mistake that agrees with the findings, or None.

    A mistake that declares its evidence agrees if that is what was found first. Any other is made,
    and agrees fully if it fails the same checks with the same evidence. If none does, the first
    that gives the same evidence at the first failed check is taken, provided that the evidence is
    numbers: many different mistakes raise the same error.
    """
    first = next((index for index, found in enumerate(findings) if found), None)
    if first is None:
        return None
    evidence, mistakes = findings[first][0].evidence, exercise.mistakes
    for mistake in mistakes:
        if mistake.evidence is not None and same(mistake.evidence, evidence):
            return mistake
    made = [(m, _findings(exercise, m, secret)) for m in mistakes if m.evidence is None]
    for mistake, theirs in made:
        if all(map(_alike, findings, theirs)):
            return mistake
    if isinstance(evidence, str):
        return None
    alike = (m for m, theirs in made if theirs[first] and _alike(findings[first], theirs[first]))
    return next(alike, None)


@lru_cache(maxsize=512)  # both rounds of all mistakes of a problem set, for one secret
def _findings(exercise: Exercise, mistake: Mistake, secret: str | None) -> Findings:
    return examine(exercise, LocalSubmission(mistake.answer), secret)


def _alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        same(one.evidence, other.evidence) for one, other in zip(mine, theirs, strict=True)
    )
