"""Findings: the faults of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hintgrader.worker.plain import Inputs, Plain


class Sign(NamedTuple):
    """An effect that was seen, whatever its cause, or a cause that is no more than possible.

    Args:
        name: A short one.
        hint: What a student reads.
        about: The name of an input that it is about, if it is about one.
        possible: Whether it is a possible cause.
    """

    name: str
    hint: str
    about: str = ""
    possible: bool = False


@dataclass(frozen=True)
class Fault:
    """A fault of an answer on one draw.

    Args:
        reason: For the student, with numbers.
        evidence: What the answer gave there; two answers with the same evidence erred alike.
        expected: What is right there; None if an invariant judged.
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
class Finding(Fault):
    """The same, with the draw on which it was found.

    Args:
        inputs: What the answer was given.
        hidden: Whether the inputs are among those that a student must not see.
        draw: The number of the draw in its check.
        signs: What other calls of the answer have shown; see `hintgrader.checking.probes`.
    """

    inputs: Inputs
    hidden: bool
    draw: int = 0
    signs: tuple[Sign, ...] = ()


Findings = Sequence[Sequence[Finding]]  # by check, in the order of the draws
