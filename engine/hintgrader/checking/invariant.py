"""Holding an answer to an invariant: a function that calls it, and says what is broken."""

import numpy as np
from torch import Tensor

from hintgrader.checking.case import Case, Submission
from hintgrader.checking.compare import difference
from hintgrader.checking.findings import Fault
from hintgrader.exercise.definition import Invariant
from hintgrader.worker.plain import Inputs, Plain, name_kind, parts_of
from hintgrader.worker.submission import Outcome

# An invariant does with an output what it would do with the right one: it takes it apart, loops
# over it, compares each of its numbers with all of another's. What is far larger never gets there.
MOST_TIMES, LEAST_ROOM = 10, 10_000  # numbers: so many times the right output's, and so many more
MOST_NUMBERS = 1_000_000  # where the right output is not known, and of what is kept of any output


class Failed(Exception):
    """A call within an invariant gave no output that it could go on with; `wrong` says why."""

    def __init__(self, wrong: Fault) -> None:
        self.wrong = wrong


def check_invariant(invariant: Invariant, case: Case, submission: Submission) -> Fault | None:
    """The fault that an invariant finds, in words, and its evidence; None without one."""
    check, most = case.check, _most_numbers(case)
    outputs = []

    def call(changed: Inputs, seed: int = 0, seconds: float | None = None) -> Plain:
        handed_over = {n: value for n, value in changed.items() if n not in check.withheld}
        outcome = submission.call(handed_over, seconds=seconds or check.seconds, seed=seed)
        if failed := failure(outcome):
            raise Failed(failed)
        if numbers_in(outcome.output) > most:
            kind = name_kind(outcome.output)
            said = f"it is {kind}, and holds far more numbers than a right answer does"
            raise Failed(Fault(said, kind))
        outputs.append(outcome.output)
        return outcome.output

    try:
        broken = invariant(call, dict(case.given))
    except Failed as failed:
        return failed.wrong
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        plain, exact = ("", "") if check.slow else (case.plain["cpu"].output, case.exact.output)
        said = difference(outputs[-1], plain, exact, check) or ""
        odd, kind = _not_applicable(outputs[-1])
        return Fault(said if "expected" in said else odd, kind)
    if broken is None:
        return None
    return Fault(broken, broken) if isinstance(broken, str) else Fault(*broken)


def failure(outcome: Outcome) -> Fault | None:
    """The fault of an answer that gave no output; None if it gave one."""
    if outcome.borrowed:
        names = " and ".join(dict.fromkeys(outcome.borrowed))
        said = f"it calls {names}; the exercise is to write that yourself"
        return Fault(said, f"borrowed {names}")
    if outcome.error:
        kind, message = outcome.error
        ours = outcome.late or not kind  # no exception that a student knows
        said = message if ours else f"it raised {kind}: {message}"
        return Fault(
            said, f"{kind}: {message}", late=outcome.late, unwritten=outcome.unwritten, raised=kind
        )
    return None


def numbers_in(value: Plain) -> int:
    """The number of numbers, letters and the like in a value, and of the values in it."""
    if isinstance(value, Tensor | np.ndarray):
        return value.numel() if isinstance(value, Tensor) else value.size
    if isinstance(value, str):
        return len(value)
    return 1 + sum(map(numbers_in, parts_of(value)))


def _not_applicable(output: Plain) -> tuple[str, str]:
    kind = name_kind(output)
    return f"it is {kind}, and that is not what is asked for", kind


def _most_numbers(case: Case) -> int:
    """The most numbers that an output may have for an invariant to see it."""
    if case.check.slow:  # the right answer takes long to make
        return MOST_NUMBERS
    right = case.plain["cpu"]
    return MOST_NUMBERS if right.error else MOST_TIMES * numbers_in(right.output) + LEAST_ROOM
