"""One slip is counted once, and costs the same share in every exercise.

Many a slip spoils every row: a product that takes two axes only, a table of float32, a range that
ends one too soon. What such an answer lacks is one thing, however many rows ask for it.

Where the task is to find two faults of a given program, to find one is half of the work, though
what is left may be as small as a slip: a mistake of the bank can say that it costs another share.
"""

import math
from collections.abc import Sequence

from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.problems import UNTRIED
from hintgrader.hints.recognised import Recognised

SHARE = 0.25  # of the points, rounded up to quarters of a point


def cost_of_a_slip(exercise: Exercise, mistake: Mistake | None = None) -> float:
    """The most that one slip may cost; of a mistake that says so, the share that it names."""
    said = mistake.slip if mistake else None
    share = said if isinstance(said, float) else SHARE
    return math.ceil(4 * share * exercise.points) / 4


def is_one_slip(known: Recognised | None) -> bool:
    """True if all that is wrong is one slip: of the form, of the axes, or one of the bank's."""
    if known is None or known.row is not None or known.others or known.second:
        return False
    if known.mistake is None:
        many = known.axes is not None and known.axes > 1  # one axis is the simplest case, no form
        return many != bool(known.forms) and (known.axes is None or many)
    return known.mistake.is_light and not known.forms and known.axes is None


def kept(
    exercise: Exercise, problems: Sequence[str | None], known: Recognised | None
) -> list[float]:
    """The points that each row keeps in spite of its problem."""
    left = math.inf
    if known and is_one_slip(known):
        left = cost_of_a_slip(exercise, known.mistake)
    found = []
    for check, problem in zip(exercise.checks, problems, strict=True):
        paid = check.points if problem == UNTRIED else min(check.points, left) if problem else 0
        left -= paid if problem != UNTRIED else 0
        found.append(check.points - paid if problem else 0.0)
    return found
