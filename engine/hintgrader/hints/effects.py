"""Hints for an answer whose mistake is not known: an effect, a cause, an exception."""

from hintgrader.checking.findings import Findings, Sign
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.problems import what_it_means
from hintgrader.hints.recognised import Recognised
from hintgrader.hints.symptoms import symptom


def effect_said(exercise: Exercise, findings: Findings, secret: str | None) -> Recognised | None:
    """The effect that calls have shown, or that tells right draws from others, or None."""
    signs = _signs(findings)
    seen = next((one for one in signs if not one.possible), None)
    sign = seen or symptom(exercise, findings, secret)
    if sign is None:
        return None
    about = sign.about
    causes = sorted((one for one in signs if one.possible), key=lambda one: one.about != about)
    return _seen(sign._replace(hint=_join(sign.hint, *(one.hint for one in causes[:1]))))


def _join(*sentences: str) -> str:
    return " ".join(one if one[-1] == "?" else f"{one}." for one in sentences).removesuffix(".")


def cause_said(findings: Findings) -> Recognised | None:
    """The possible cause that the source shows, or None."""
    sign = next((sign for sign in _signs(findings) if sign.possible), None)
    return sign and _seen(sign)


def _signs(findings: Findings) -> list[Sign]:
    return [sign for found in findings for one in found for sign in one.signs]


def raised_said(findings: Findings) -> Recognised | None:
    """The meaning of an exception, if that was found first."""
    first = next(one for found in findings for one in found)
    words = "" if first.hidden else what_it_means(first)
    return _seen(Sign(f"raises_{first.raised}", words)) if words else None


def _seen(sign: Sign) -> Recognised:
    def answer(**_: object) -> None: ...

    answer.__name__ = sign.name
    return Recognised(Mistake(answer, sign.hint, None))
