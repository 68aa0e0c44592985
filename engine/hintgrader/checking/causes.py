"""Possible causes that the source of a wrong answer shows; said where no more is known."""

from collections.abc import Callable

from hintgrader.checking.case import Submission
from hintgrader.checking.findings import Findings, Sign
from hintgrader.worker.overwritten import AGAIN, FOR, overwritten
from hintgrader.worker.plain import Plain

OVERWRITTEN = {
    FOR: "`for {0} in ...` gives the name of the argument `{0}` to something else, and from then on"
    " what was passed in is out of reach. Is that meant? If not, use another name",
    AGAIN: "in a loop, `{0} = ...` is made of `{0}` itself, so each pass begins with what the one"
    " before has left of that argument. Is that meant? If not, use another name",
}


def causes_of(
    findings: Findings, submission: Submission, reference: Callable[..., Plain]
) -> tuple[Sign, ...]:
    """The arguments that the loops of an answer overwrite, and those of the reference do not."""
    first = next((one for found in findings for one in found), None)
    if first is None or first.late or first.unwritten:
        return ()
    right = overwritten(reference)  # a state that goes from step to step is meant to change
    pairs = [pair for pair in submission.overwritten() if pair[1] in first.inputs]
    return tuple(
        Sign(f"overwrites_{name}", OVERWRITTEN[kind].format(name), name, possible=True)
        for kind, name in pairs
        if (kind, name) not in right
    )
