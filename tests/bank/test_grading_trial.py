"""Inputs are drawn once for a check, the reference is asked once, and nobody can spoil them."""

from collections import Counter

import pytest
import torch
from hintgrader.bank.grade import grade
from hintgrader.checking import case as case
from hintgrader.checking.case import draw_cases
from hintgrader.checking.judge import examine
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.hints import cache as tried
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.sampling import left_to_proofs


def draw(generator):
    return {"number": torch.rand(3, generator=generator, dtype=torch.float64)}


def double_it(number):
    return 2 * number


def triple_it(number):
    return 3 * number


def tiny(reference=double_it, **kind) -> Exercise:
    return Exercise("double_it", reference, (Check("it doubles", 1, draw, **kind),))


def examine_twice(exercise: Exercise, answer, secret: str | None = None) -> list:
    return [examine(exercise, LocalSubmission(answer), secret)[0] for _ in range(2)]


@pytest.mark.parametrize("kind", [{}, {"untouched": True}, {"gradient": ("number",)}])
def test_reference_is_asked_once_however_many_answers_are_compared_with_it(kind):
    asked = []

    def counted(number):
        asked.append(number.dtype)
        return 2 * number

    exercise = tiny(counted, **kind)
    assert examine_twice(exercise, double_it) == [[], []]
    assert {torch.float32, torch.float64} == set(asked)
    exactly = asked.count(torch.float64)
    first, again = examine_twice(exercise, triple_it)
    assert first[0].reason == again[0].reason
    # a wrong one has it stand its probes as well
    assert asked.count(torch.float64) == exactly


def test_inputs_of_a_score_are_the_students_own():
    exercise = tiny()
    first, again = examine_twice(exercise, triple_it)
    before = again[0].inputs["number"].clone()
    first[0].inputs["number"].zero_()
    after = examine(exercise, LocalSubmission(triple_it), None)[0][0].inputs["number"]
    torch.testing.assert_close(after, before, rtol=0, atol=0)


def test_every_secret_and_every_exercise_has_trials_of_its_own():
    one, other = tiny(), tiny(triple_it)
    (public,), (hidden,) = (draw_cases(one, one.checks[0], s)[-1:] for s in (None, "s"))
    (theirs,) = draw_cases(other, other.checks[0], None)
    assert (public.hidden, hidden.hidden, theirs.hidden) == (False, True, False)
    assert not torch.equal(public.given["number"], hidden.given["number"])
    assert not torch.equal(public.exact.output, theirs.exact.output)


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
