"""Exercises, as the modules of a bank write them: all that an author needs, from one place."""

from hintgrader.exercise.definition import Check, Contract, Draw, Exercise, Invariant
from hintgrader.exercise.mistakes import Mistake, Mistakes
from hintgrader.exercise.mutation.call import using
from hintgrader.exercise.wrong_answers import (
    Altered,
    Answer,
    given,
    leafwise,
    mistaking,
    then,
    transposed,
)
from hintgrader.values.equality import same
from hintgrader.worker.measurements import Count, Kept, Largest
from hintgrader.worker.plain import Inputs, Plain, name_kind

__all__ = [
    "Altered",
    "Answer",
    "Check",
    "Contract",
    "Count",
    "Draw",
    "Exercise",
    "Inputs",
    "Invariant",
    "Kept",
    "Largest",
    "Mistake",
    "Mistakes",
    "Plain",
    "given",
    "leafwise",
    "mistaking",
    "name_kind",
    "same",
    "then",
    "transposed",
    "using",
]
