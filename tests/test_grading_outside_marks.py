"""The same marks, in the same words, for a function of this process and for one behind walls."""

import pytest

from attn_course.grading import exercise_names, find_exercise
from attn_course.grading.checking import grade
from attn_course.grading.compare import same
from attn_course.grading.judge import Findings, examine
from tests.outside_answers import Answer, mistakes, said, slot_with_mistakes, solution

SECRET = "the walls"
SOFTMAX = "01_retrieval/softmax"
QUICK = [name for name in exercise_names() if not any(c.slow for c in find_exercise(name).checks)]
IMPORTS = """
def softmax(scores):
    import colorsys, wave  # which nobody has imported yet
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)
"""


@pytest.fixture(scope="module")
def slot(tmp_path_factory):
    with slot_with_mistakes(tmp_path_factory.mktemp("outside")) as slot:
        yield slot


def is_examined_alike(talk, answer: Answer) -> Findings:
    """Hold an answer to its checks inside and outside, and return what is found."""
    exercise, name = find_exercise(answer.exercise), answer.exercise
    with answer.outside(talk) as outside:
        found = examine(exercise, name, outside, SECRET)
        assert outside.trouble is None
    expected = examine(exercise, name, answer.inside(), SECRET)
    for one, other in zip(found, expected, strict=True):
        assert [each.reason for each in one] == [each.reason for each in other], answer.name
        for a, b in zip(one, other, strict=True):
            assert (a.hidden, str(a.inputs)) == (b.hidden, str(b.inputs)), answer.name
            assert same(a.evidence, b.evidence), answer.name
    return found


@pytest.mark.parametrize("exercise", QUICK)
def test_what_is_found_outside_is_what_is_found_inside(slot, exercise):
    """A solution passes; of the mistakes, the first and the last fail other checks, mostly."""
    bank = mistakes(exercise)
    with slot.submission() as talk:
        assert not any(is_examined_alike(talk, solution(exercise)))
        assert any(is_examined_alike(talk, bank[0]))
        assert any(is_examined_alike(talk, bank[-1]))


def test_scores_outside_are_those_inside(slot):
    bank = mistakes(SOFTMAX)
    with slot.submission() as talk:
        for answer in (solution(SOFTMAX), *bank):
            with answer.outside(talk) as outside:
                score = grade(SOFTMAX, outside, SECRET)
            assert said(score) == said(grade(SOFTMAX, answer.inside(), SECRET))
            assert score.mistake == (answer.name if answer in bank else None)


def test_what_is_imported_inside_a_function_is_not_taken_for_the_graders(slot):
    with slot.submission() as talk:
        assert not any(is_examined_alike(talk, Answer(SOFTMAX, IMPORTS, "softmax")))
