"""One slip is counted once, and costs the same share in every exercise.

Many a slip spoils every row: a product that takes two axes only, a table of float32, a range that
ends one too soon. What such an answer lacks is one thing, however many rows ask for it.
"""

import math
from collections.abc import Sequence

from hintgrader.exercise.definition import Exercise
from hintgrader.hints.problems import UNTRIED
from hintgrader.hints.recognised import Recognised

SHARE = 0.25  # of the points, rounded up to quarters of a point


def cost_of_a_slip(exercise: Exercise) -> float:
    """The most that one slip may cost."""
    return math.ceil(4 * SHARE * exercise.points) / 4


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
    left = cost_of_a_slip(exercise) if is_one_slip(known) else math.inf
    found = []
    for check, problem in zip(exercise.checks, problems, strict=True):
        paid = check.points if problem == UNTRIED else min(check.points, left) if problem else 0
        left -= paid if problem != UNTRIED else 0
        found.append(check.points - paid if problem else 0.0)
    return found
