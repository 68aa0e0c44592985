"""Recognising a mistake: which of the known wrong answers computes what the student's does."""

from functools import lru_cache

from attn_course.grading.compare import same
from attn_course.grading.judge import Finding, Findings, examine
from attn_course.grading.spec import Exercise, Mistake, find_exercise
from attn_course.grading.submission import LocalSubmission


def recognise(name: str, findings: Findings, secret: str | None) -> Mistake | None:
    """The known mistake that agrees with the findings, or None.

    A mistake that declares its evidence agrees if that is what was found first. Any other is made,
    and agrees fully if it fails the same checks with the same evidence. If none does, the first
    that gives the same evidence at the first failed check is taken, provided that the evidence is
    numbers: many different mistakes raise the same error.
    """
    first = next((index for index, found in enumerate(findings) if found), None)
    if first is None:
        return None
    evidence, mistakes = findings[first][0].evidence, find_exercise(name).mistakes
    for mistake in mistakes:
        if mistake.evidence is not None and same(mistake.evidence, evidence):
            return mistake
    made = [(m, _findings(name, m.name, secret)) for m in mistakes if m.evidence is None]
    for mistake, theirs in made:
        if all(map(_alike, findings, theirs)):
            return mistake
    if isinstance(evidence, str):
        return None
    alike = (m for m, theirs in made if theirs[first] and _alike(findings[first], theirs[first]))
    return next(alike, None)


@lru_cache(maxsize=512)  # both rounds of all mistakes of a problem set, for one secret
def _findings(name: str, mistake_name: str, secret: str | None) -> Findings:
    exercise: Exercise = find_exercise(name)
    mistake = next(m for m in exercise.mistakes if m.name == mistake_name)
    return examine(exercise, name, LocalSubmission(mistake.answer), secret)


def _alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    return len(mine) == len(theirs) and all(
        same(one.evidence, other.evidence) for one, other in zip(mine, theirs, strict=True)
    )
