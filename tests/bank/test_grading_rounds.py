"""Public inputs first and hidden ones later, or all in one go: the same score."""

import pytest
import torch
from hintgrader.bank.grade import UNTRIED, grade, points_of
from hintgrader.checking.judge import examine_hidden, examine_public
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.worker import submission
from hintgrader.worker.submission import LocalSubmission

from attn_bank import find_exercise

SOFTMAX = "01_retrieval/softmax"
SECRET = "the rounds"


def by_hand(scores):
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


def right_for_five_keys_only(scores):
    return by_hand(scores) if scores.shape[-1] == 5 else torch.zeros_like(scores)


class Listening(LocalSubmission):
    """Writes down what it is asked."""

    def __init__(self, function):
        super().__init__(function)
        self.asked = []

    def call(self, inputs, *arguments, **named):
        self.asked.append(inputs)
        return super().call(inputs, *arguments, **named)


def in_two_rounds(name, answer, secret=SECRET):
    """The score before the hidden inputs, the one after them, and what the answer was asked."""
    exercise, submission = find_exercise(name), Listening(answer)
    public = examine_public(exercise, submission, slow=False)
    before, asked = points_of(exercise, public, None), len(submission.asked)
    findings = examine_hidden(exercise, submission, secret, public)
    return before, points_of(exercise, findings, secret), submission.asked, asked


def said(score):
    inputs = score.inputs and {name: str(value) for name, value in score.inputs.items()}
    return str(score), score.hint, score.mistake, inputs


@pytest.mark.parametrize(
    "answer",
    [
        by_hand,
        right_for_five_keys_only,
        *(mistake.answer for mistake in find_exercise(SOFTMAX).mistakes),
        lambda scores: {}[1],
    ],
)
def test_two_rounds_give_the_score_of_one(answer):
    before, after, _, _ = in_two_rounds(SOFTMAX, answer)
    assert said(after) == said(grade(find_exercise(SOFTMAX), LocalSubmission(answer), SECRET))
    assert said(before) == said(grade(find_exercise(SOFTMAX), LocalSubmission(answer), None))


def test_unwritten_answer_is_unwritten_after_both_rounds():
    def unwritten(scores):
        raise NotImplementedError

    before, after, _, _ = in_two_rounds(SOFTMAX, unwritten)
    assert said(before) == said(after)
    assert "not written yet" in str(after)


def test_first_round_shows_no_hidden_inputs_and_the_second_repeats_no_public_ones():
    _, _, asked, first = in_two_rounds(SOFTMAX, by_hand)
    public, whole = Listening(by_hand), Listening(by_hand)
    assert grade(find_exercise(SOFTMAX), public, None) == grade(
        find_exercise(SOFTMAX), whole, SECRET
    )
    assert first == len(public.asked) < len(asked) == len(whole.asked)
    assert all(map(same_scores, asked[:first], public.asked))
    assert not any(same_scores(one, other) for one in asked[first:] for other in asked[:first])


def same_scores(one, other):
    return torch.equal(one["scores"], other["scores"])


def test_answer_that_hangs_on_hidden_inputs_only_is_right_on_all_public_ones(monkeypatch):
    monkeypatch.setattr(submission, "CALL_SECONDS", 0.5)

    def hangs(scores):
        while tuple(scores.shape) == (7,):
            pass
        return by_hand(scores)

    score = grade(find_exercise(SOFTMAX), LocalSubmission(hangs), SECRET)
    late = [row for row in score.rows if row.problem]
    assert float(score) == score.of - sum(row.points for row in late)
    assert score.inputs is None
    said = "right on the inputs that you can see; on others it did not return within 0.5 seconds"
    said += " of computing"
    assert {row.problem for row in late} == {said}
    assert len(late) < len(score.rows)


def draw(generator, kind="public"):
    return {"number": torch.rand(3, generator=generator, dtype=torch.float64)}


def is_double(call, inputs):
    return None if torch.equal(call(inputs), 2 * inputs["number"].float()) else "not the double"


@pytest.fixture
def slow_exercise():
    quick = Check("it doubles", 1, draw)
    slow = Check("it doubles slowly", 2, draw, invariant=is_double, seconds=60)
    return Exercise("double_it", lambda number: 2 * number, (quick, slow))


def rounds_of(exercise, answer):
    submission = Listening(answer)
    public = examine_public(exercise, submission, slow=False)
    first = len(submission.asked)
    findings = examine_hidden(exercise, submission, SECRET, public)
    return (
        points_of(exercise, public, None),
        points_of(exercise, findings, SECRET),
        first,
        submission,
    )


def test_slow_check_waits_for_the_second_round_with_the_benefit_of_the_doubt(slow_exercise):
    before, after, first, submission = rounds_of(slow_exercise, lambda number: 2 * number)
    assert (float(before), float(after)) == (3, 3)
    assert (first, len(submission.asked)) == (2, 5)  # each compared output is asked for twice
    hidden = slow_exercise.checks[1].inputs("", SECRET)[0]["number"].float()
    assert torch.equal(submission.asked[-1]["number"].float(), hidden)


@pytest.mark.parametrize("wrong_on", ["public", "hidden"])
def test_slow_check_is_untried_after_a_failure_in_either_round(slow_exercise, wrong_on):
    secret = None if wrong_on == "public" else SECRET
    wrong = slow_exercise.checks[0].inputs("", secret)[0]["number"].float()

    def answer(number):
        return number if torch.equal(number, wrong) else 2 * number

    before, after, _, submission = rounds_of(slow_exercise, answer)
    assert float(before) == (0 if wrong_on == "public" else 3)
    assert float(after) == 0
    assert after.rows[1].problem == UNTRIED
    slow = slow_exercise.checks[1].inputs("", SECRET)[0]["number"].float()
    assert not any(torch.equal(asked["number"].float(), slow) for asked in submission.asked)
    assert said(after) == said(grade(slow_exercise, LocalSubmission(answer), SECRET))
