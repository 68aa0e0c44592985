"""Possible causes that the source of a wrong answer shows; said where no more is known."""

from hintgrader.checking.case import Submission
from hintgrader.checking.findings import Findings, Sign
from hintgrader.exercise.definition import Exercise
from hintgrader.worker.overwritten import AGAIN, FOR, overwritten

OVERWRITTEN = {
    FOR: "`for {0} in ...` gives the name of the argument `{0}` to something else, and from then on"
    " what was passed in is out of reach. Is that meant? If not, use another name",
    AGAIN: "in a loop, `{0} = ...` is made of `{0}` itself, so each pass begins with what the one"
    " before has left of that argument. Is that meant? If not, use another name",
}


def causes_of(exercise: Exercise, findings: Findings, submission: Submission) -> tuple[Sign, ...]:
    """The arguments that the loops of an answer overwrite, and those of a right one do not."""
    first = next((one for found in findings for one in found), None)
    if first is None or first.late or first.unwritten:
        return ()
    # a state that goes from step to step is meant to change
    right = [*overwritten(exercise.reference), *((AGAIN, name) for name in exercise.goes_on)]
    pairs = [pair for pair in submission.overwritten() if pair[1] in first.inputs]
    return tuple(
        Sign(f"overwrites_{name}", OVERWRITTEN[kind].format(name), name, possible=True)
        for kind, name in pairs
        if (kind, name) not in right
    )
