"""The same marks, in the same words, for a function of this process and for one behind walls."""

import pytest

from attn_course.grading import exercise_names, find_exercise
from attn_course.grading.checking import grade
from tests.outside_answers import (
    Answer,
    mistakes,
    right_answers,
    said,
    slot_with_mistakes,
    solution,
)

SECRET = "the walls"
QUICK = [name for name in exercise_names() if not any(c.slow for c in find_exercise(name).checks)]


@pytest.fixture(scope="module")
def slot(tmp_path_factory):
    with slot_with_mistakes(tmp_path_factory.mktemp("outside")) as slot:
        yield slot


def marks(talk, answer: Answer) -> tuple[dict, dict]:
    """What the score of an answer says inside, and what it says outside."""
    with answer.outside(talk) as outside:
        score = grade(answer.exercise, outside, SECRET)
        assert outside.trouble is None
    return said(grade(answer.exercise, answer.inside(), SECRET)), said(score)


def two_of(bank: list) -> list:
    """One from the beginning and one from the end: of the first check, and of a later one."""
    return [bank[0], bank[-1]]


@pytest.mark.parametrize("exercise", QUICK)
def test_marks_outside_are_those_inside(slot, exercise):
    sample = (solution(exercise), *right_answers(exercise)[:1], *two_of(mistakes(exercise)))
    with slot.submission() as talk:
        for answer in sample:
            inside, outside = marks(talk, answer)
            assert outside == inside, answer.name
