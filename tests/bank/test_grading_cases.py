"""A grader of this course remembers its draws and mistakes, and tries few of them on an answer."""

from collections import Counter

import pytest
from hintgrader.bank.grade import grade
from hintgrader.checking import case
from hintgrader.checking.case import draw_cases
from hintgrader.hints import cache as tried
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.sampling import left_to_proofs


def test_nothing_is_worked_out_twice_for_a_class():
    """A grader of many answers remembers all draws, and the mistakes of any one set."""
    exercises = {name: find_exercise(name) for name in exercise_names()}
    draws = 2 * sum(len(exercise.checks) for exercise in exercises.values())
    assert case._draw.cache_info().maxsize >= draws > 256
    mistakes = Counter()
    for name, exercise in exercises.items():
        mistakes[name.split("/")[0]] += len(exercise.mistakes)
    assert tried._find.cache_info().maxsize >= 2 * max(mistakes.values()) > 256


@pytest.mark.parametrize(
    "name",
    [
        "02_kernel_regression/nearest_k_regression",
        pytest.param("08_self_attention/is_permutation_equivariant", marks=left_to_proofs),
    ],
)
def test_known_mistake_is_recognised_without_trying_all_others_everywhere(name):
    """A student waits for it: nearly all others differ at the first draw that was wrong."""
    exercise = find_exercise(name)
    answer = exercise.mistakes[-1].answer
    before = tried._find.cache_info().misses
    assert grade(exercise, LocalSubmission(answer), "recognised").hint
    draws = sum(len(draw_cases(exercise, check, "recognised")) for check in exercise.checks)
    assert tried._find.cache_info().misses - before < len(exercise.mistakes) * draws / 3
