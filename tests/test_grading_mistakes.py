"""The collector of mistakes: a wrong answer and its hint are one function."""

from __future__ import annotations

import re

import pytest

from attn_course.grading import Mistakes, exercise_names, find_exercise


@pytest.fixture
def mistake() -> Mistakes:
    return Mistakes()


def forgets_to_normalise(scores):
    """your weights do not sum to 1:
    divide by their sum
    """
    return scores.exp()


def test_docstring_is_the_hint_on_one_line_and_the_name_that_of_the_function(mistake):
    mistake(forgets_to_normalise)
    (found,) = mistake.collected
    assert found.hint == "your weights do not sum to 1: divide by their sum"
    assert (found.name, found.answer) == ("forgets_to_normalise", forgets_to_normalise)
    assert (found.points, found.evidence) == (0, None)


def test_decorated_function_can_still_be_called(mistake):
    assert mistake(forgets_to_normalise) is forgets_to_normalise
    assert mistake(points=1)(turns_the_sign) is turns_the_sign


def turns_the_sign(scores):
    """the sign is wrong"""
    return -scores


def test_arguments_say_points_evidence_and_how_the_hint_ends(mistake):
    mistake(points=1.5, evidence="cut off", ending="; look again")(turns_the_sign)
    (found,) = mistake.collected
    assert (found.points, found.evidence) == (1.5, "cut off")
    assert found.hint == "the sign is wrong; look again"


def test_hint_that_several_share_may_be_handed_over(mistake):
    mistake(hint="it is the brackets")(lambda scores: scores / 2)
    assert [found.hint for found in mistake.collected] == ["it is the brackets"]


def test_mistakes_stand_in_the_order_of_their_definition(mistake):
    mistake(turns_the_sign)
    mistake(points=2)(forgets_to_normalise)
    names = [found.name for found in mistake.collected]
    assert names == ["turns_the_sign", "forgets_to_normalise"]


@pytest.mark.parametrize("arguments", [{}, {"points": 1}, {"ending": "; look again"}])
def test_mistake_without_a_docstring_is_refused(mistake, arguments):
    def says_nothing(scores):
        return scores

    said = "the mistake 'says_nothing' has no docstring, which would be its hint"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        mistake(**arguments)(says_nothing)
    assert mistake.collected == ()


def test_two_mistakes_of_one_name_are_refused(mistake):
    mistake(turns_the_sign)
    with pytest.raises(ValueError, match=r"^there are two mistakes called 'turns_the_sign'$"):
        mistake(turns_the_sign)


@pytest.mark.parametrize("exercise", exercise_names())
def test_every_hint_of_the_bank_is_one_line_that_begins_and_ends_as_a_clause(exercise):
    for found in find_exercise(exercise).mistakes:
        assert "\n" not in found.hint
        assert "  " not in found.hint
        assert not found.hint.endswith((".", ";", " ")), found.hint
