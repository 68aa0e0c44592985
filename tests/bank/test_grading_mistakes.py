"""The collector of mistakes, where a wrong answer and its hint are one, and what makes some."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
import torch
from hintgrader.exercise.mistakes import Mistakes
from hintgrader.exercise.mutation.call import using
from hintgrader.exercise.wrong_answers import (
    cut_off,
    given,
    in_dtype,
    mistaking,
    squeezed,
    then,
    transposed,
)
from torch import Tensor

from attn_bank import exercise_names, find_exercise


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


def test_mistake_made_out_of_another_answer_lends_it_name_and_hint(mistake):
    @mistake(points=2, computes=then(score, torch.neg))
    def turns_the_scores_round():
        """the sign is wrong"""

    (found,) = mistake.collected
    assert (found.name, found.hint, found.points) == (
        "turns_the_scores_round",
        "the sign is wrong",
        2,
    )
    assert found.answer is turns_the_scores_round
    assert torch.equal(found.answer(**INPUTS), -score(**INPUTS))
    assert score.__name__ == "score"


def test_mistake_that_computes_something_else_takes_no_parameters(mistake):
    said = "the mistake 'turns_the_sign' has parameters, and computes something else"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        mistake(computes=then(score, torch.neg))(turns_the_sign)


def score(query, key, scale):
    return query @ key.mT * scale


INPUTS = {"query": torch.ones(2, 1, 3), "key": torch.arange(15.0).view(5, 3), "scale": 2}
MADE = {
    "given": (given(score, query=torch.neg, scale=3), -1.5 * score(**INPUTS)),
    "then": (then(score, torch.sum), score(**INPUTS).sum()),
    "in_dtype": (in_dtype(score, torch.float64), score(**INPUTS).double()),
    "cut_off": (cut_off(score, "query"), score(**INPUTS)),
    "squeezed": (squeezed(score), score(**INPUTS).view(2, 5)),
    "transposed": (transposed(score), score(**INPUTS).view(2, 5, 1)),
    "using": (using(score, "matmul", lambda query, key: query @ (2 * key)), 2 * score(**INPUTS)),
    "mistaking": (mistaking(score, query="key"), INPUTS["key"] @ INPUTS["key"].mT * 2),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_computes_this_with_its_inputs_by_name_and_in_order(name):
    answer, right = MADE[name]
    for output in (answer(**INPUTS), answer(*INPUTS.values())):
        torch.testing.assert_close(output, right, rtol=0, atol=0)


def test_cut_off_lets_no_gradient_through_to_the_inputs_named():
    inputs = {
        name: value.clone().requires_grad_() if isinstance(value, Tensor) else value
        for name, value in INPUTS.items()
    }
    cut_off(score, "query")(**inputs).sum().backward()
    assert inputs["query"].grad is None
    assert inputs["key"].grad is not None


@pytest.mark.parametrize("exercise", exercise_names())
def test_every_mistake_is_found_under_its_name_in_its_module(exercise):
    spec = find_exercise(exercise)
    module = import_module(spec.reference.__module__)
    for found in spec.mistakes:
        if found.points is None:  # its promises made it
            continue
        assert getattr(module, found.name) is found.answer, found.name


@pytest.mark.parametrize("exercise", exercise_names())
def test_every_hint_of_the_bank_is_one_line_that_begins_and_ends_as_a_clause(exercise):
    for found in find_exercise(exercise).mistakes:
        assert "\n" not in found.hint
        assert "  " not in found.hint
        assert not found.hint.endswith((".", ";", " ")), found.hint
