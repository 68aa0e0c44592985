"""What is found wrong with an answer."""

from dataclasses import dataclass
from typing import NamedTuple

from attn_grade.inside.plain import Inputs, Plain


@dataclass(frozen=True)
class Finding:
    """The failure of a check.

    Args:
        reason: For the student, with numbers.
        evidence: What the answer gave there; two answers with the same evidence erred alike.
        inputs: What the answer was given.
        hidden: Whether the inputs are among those that a student must not see.
        expected: What is right there; None if a law judged.
        late: Whether a call did not come back.
        unwritten: Whether it says that there is no answer yet.
        raised: The kind of exception that the answer raised; empty if none.
        draw: The number of the draw in its check.
    """

    reason: str
    evidence: Plain
    inputs: Inputs
    hidden: bool
    expected: Plain = None
    late: bool = False
    unwritten: bool = False
    raised: str = ""
    draw: int = 0


Findings = list[list[Finding]]


class Wrong(NamedTuple):
    """What is wrong on one draw, in the terms of a `Finding`."""

    reason: str
    evidence: Plain
    expected: Plain = None
    late: bool = False
    unwritten: bool = False
    raised: str = ""
