"""Inputs are drawn once for a check, the reference is asked once, and nobody can spoil them."""

import pytest
import torch

from hintgrader.checking.case import draw_cases
from hintgrader.checking.judge import examine
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.worker.submission import LocalSubmission


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
