"""What is found wrong with an answer."""

from dataclasses import dataclass

from attn_grade.inside.plain import Inputs, Plain


@dataclass(frozen=True)
class Finding:
    """The failure of a check.

    Args:
        reason: For the student, with numbers.
        evidence: What the answer gave there; two answers with the same evidence erred alike.
        inputs: What the answer was given.
        hidden: Whether the inputs are among those that a student must not see.
        late: Whether a call did not come back.
        expected: What is right there; None if a law judged.
    """

    reason: str
    evidence: Plain
    inputs: Inputs
    hidden: bool
    late: bool = False
    expected: Plain = None


Findings = list[list[Finding]]
# The reason, the evidence and, where there is one, the right output.
Wrong = tuple[str, Plain] | tuple[str, Plain, Plain]
