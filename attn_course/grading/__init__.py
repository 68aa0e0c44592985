"""Checks of the problem sets: the number that nbgrader reads, and the words a student reads.

`check` is all that a notebook needs. `Exercise`, `Check` and `Mistakes` are what an author needs.
"""

from attn_course.grading.checking import check, hidden_secret
from attn_course.grading.score import Row, Score
from attn_course.grading.spec import (
    Check,
    Exercise,
    Foreign,
    Mistake,
    Mistakes,
    exercise_names,
    find_exercise,
)

__all__ = [
    "Check",
    "Exercise",
    "Foreign",
    "Mistake",
    "Mistakes",
    "Row",
    "Score",
    "check",
    "exercise_names",
    "find_exercise",
    "hidden_secret",
]
