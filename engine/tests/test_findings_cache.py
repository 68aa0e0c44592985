"""Wrong answers of a bank, tried as cheaply as can be to be held against a student's."""

import numpy as np
import pytest
import torch

from hintgrader.bank.grade import grade
from hintgrader.checking.judge import examine
from hintgrader.checking.own_answer import OwnAnswer, many_own_answers
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints.cache import Effort, FindingsCache
from hintgrader.values.relations import relation, unrelated
from hintgrader.worker.submission import LocalSubmission


def draw(generator, length):
    return {"number": torch.randn(length, generator=generator, dtype=torch.float64)}


def exercise_of(*mistakes) -> Exercise:
    checks = tuple(
        Check(label, 1, draw, tuple({"length": length} for length in lengths))
        for label, lengths in (("it doubles", (4, 5)), ("and again", (7, 97)))
    )
    known = tuple(Mistake(one, one.__name__, 0) for one in mistakes)
    return Exercise("double", lambda number: 2 * number, checks, mistakes=known)


def squares(number):
    return number**2


def squares_long_ones(number):
    return 2 * number if len(number) < 6 else number**2


def squares_short_ones(number):
    return 2 * number if len(number) > 6 else number**2


@pytest.mark.parametrize("answer", [squares, squares_long_ones, squares_short_ones])
@pytest.mark.parametrize("known", [squares, squares_long_ones, squares_short_ones])
def test_known_mistake_agrees_with_itself_alone(answer, known):
    exercise = exercise_of()
    findings = examine(exercise, LocalSubmission(answer), None)
    first = next((row, found[0].draw) for row, found in enumerate(findings) if found)
    with many_own_answers():
        theirs = FindingsCache(exercise, known, None, Effort(1e6))
        assert theirs.agrees(findings) is (answer is known)
        again = FindingsCache(exercise, known, None, Effort(1e6))
        assert again.agrees_from(first, findings) is (answer is known)


def test_numbers_that_are_not_the_students_take_one_call():
    calls = []

    def known(number):
        calls.append(1)
        return number**3

    exercise = exercise_of()
    findings = examine(exercise, LocalSubmission(squares), None)
    with many_own_answers():
        theirs = FindingsCache(exercise, known, None, Effort(1e6))
        assert not theirs.agrees_from((0, 0), findings)
    assert len(calls) == 1


def test_light_draws_are_tried_first():
    lengths = []

    def known(number):
        lengths.append(len(number))
        return number**3

    with many_own_answers():
        theirs = FindingsCache(exercise_of(), known, None, Effort(1e6))
        assert theirs.errs_elsewhere({(0, 0), (0, 1)})
    assert lengths == [7]


def test_process_is_left_as_it_was_after_known_mistakes_were_tried():
    def sets_what_it_likes(number):
        torch.set_default_dtype(torch.float64)
        print("a mistake of the bank")
        return number**3 + torch.rand(1) + np.random.rand()  # noqa: NPY002

    states = torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    exercise = exercise_of(sets_what_it_likes)
    assert grade(exercise, LocalSubmission(squares), None).mistake is None
    assert torch.get_default_dtype() == torch.float32
    assert torch.equal(states[0], torch.get_rng_state())
    assert np.array_equal(states[1], np.random.get_state()[1])  # noqa: NPY002


def test_known_mistake_draws_the_same_random_numbers_in_each_call():
    answer = OwnAnswer(lambda: torch.rand(3))
    with many_own_answers():
        assert torch.equal(answer.call({}).output, answer.call({}).output)


def test_relations_that_nobody_reads_are_not_looked_for():
    numbers = torch.tensor([1.0, 2.0, 5.0])
    with unrelated():
        assert relation(-numbers, numbers) == ""
    assert relation(-numbers, numbers) == "all your signs are reversed"
