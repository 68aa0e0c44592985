"""The same marks, in the same words, for a function of this process and for one behind walls."""

import pytest
from hintgrader.bank.grade import grade
from hintgrader.checking.findings import Findings
from hintgrader.checking.judge import examine
from hintgrader.values.equality import same

from attn_bank import exercise_names, find_exercise
from tests.bank.outside_answers import Answer, mistakes, process_with_mistakes, said, solution
from tests.problem_sets import LONG
from tests.sampling import parameters, sample, sampled

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
def process(tmp_path_factory):
    with process_with_mistakes(tmp_path_factory.mktemp("outside")) as process:
        yield process


def is_examined_alike(process, channel, answer: Answer) -> Findings:
    """Hold an answer to its checks inside and outside, and return what is found."""
    exercise = find_exercise(answer.exercise)
    with answer.outside(process, channel) as outside:
        found = examine(exercise, outside, SECRET)
        assert outside.trouble is None
    expected = examine(exercise, answer.inside(), SECRET)
    for one, other in zip(found, expected, strict=True):
        assert [each.reason for each in one] == [each.reason for each in other], answer.name
        for a, b in zip(one, other, strict=True):
            assert (a.hidden, str(a.inputs)) == (b.hidden, str(b.inputs)), answer.name
            assert same(a.evidence, b.evidence), answer.name
    return found


@pytest.mark.parametrize("exercise", parameters(QUICK, 4, never=LONG))
def test_what_is_found_outside_is_what_is_found_inside(process, exercise):
    """A solution passes; of the mistakes, the first and the last fail other checks, mostly."""
    bank = mistakes(exercise)
    with process.submission() as channel:
        assert not any(is_examined_alike(process, channel, solution(exercise)))
        assert any(is_examined_alike(process, channel, bank[0]))
        assert any(is_examined_alike(process, channel, bank[-1]))


@sampled
def test_scores_outside_are_those_inside(process):
    bank = sample(mistakes(SOFTMAX), 5, lambda answer: answer.name)
    with process.submission() as channel:
        for answer in (solution(SOFTMAX), *bank):
            with answer.outside(process, channel) as outside:
                score = grade(find_exercise(SOFTMAX), outside, SECRET)
            assert said(score) == said(grade(find_exercise(SOFTMAX), answer.inside(), SECRET))
            assert score.mistake == (answer.name if answer in bank else None)


def test_what_is_imported_inside_a_function_is_not_taken_for_the_graders(process):
    with process.submission() as channel:
        assert not any(is_examined_alike(process, channel, Answer(SOFTMAX, IMPORTS, "softmax")))
