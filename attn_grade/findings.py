"""Findings: the faults of an answer."""

from dataclasses import dataclass

from attn_grade.inside.plain import Inputs, Plain


@dataclass(frozen=True)
class Wrong:
    """A fault of an answer on one draw.

    Args:
        reason: For the student, with numbers.
        evidence: What the answer gave there; two answers with the same evidence erred alike.
        expected: What is right there; None if a law judged.
        late: Whether a call did not come back.
        unwritten: Whether it says that there is no answer yet.
        raised: The kind of exception that the answer raised; empty if none.
    """

    reason: str
    evidence: Plain
    expected: Plain = None
    late: bool = False
    unwritten: bool = False
    raised: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding(Wrong):
    """The same, with the draw on which it was found.

    Args:
        inputs: What the answer was given.
        hidden: Whether the inputs are among those that a student must not see.
        draw: The number of the draw in its check.
    """

    inputs: Inputs
    hidden: bool
    draw: int = 0


Findings = list[list[Finding]]
