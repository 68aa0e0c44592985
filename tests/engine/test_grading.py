"""The score, the hidden inputs and the diagnosis: what a student reads of a check."""

import copy
import dataclasses
import pickle
import re
import sys

import pytest
import torch
from hintgrader.bank.grade import check_answer, grade
from hintgrader.bank.secret import DEFAULT_SECRET, hidden_secret
from hintgrader.hints import progress
from hintgrader.worker.points import Points, Row
from hintgrader.worker.submission import LocalSubmission

from attn_bank import check, find_exercise

SOFTMAX = "01_retrieval/softmax"


def by_hand(scores):
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


def test_score_is_the_number_that_nbgrader_reads_and_a_table_for_people():
    score = Points(
        (Row("first", 1.5), Row("second", 2, "it is `3` & not <4>")), hint="mind the `-1`"
    )
    assert (float(score), repr(score), score.of) == (1.5, "1.5", 3.5)
    page = score._repr_html_()
    assert ">1.5 / 1.5</td>" in page
    assert ">0 / 2</td>" in page
    assert "it is <code>3</code> &amp; not &lt;4&gt;" in page
    assert "mind the <code>-1</code>" in page
    assert "1.5 of 3.5 points" in page


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copied_score_is_the_same_score(again):
    score = Points((Row("first", 1.5), Row("second", 2, "wrong")), "mind it", {"k": 3}, "slips")
    copied = again(score)
    assert (float(copied), str(copied), copied.inputs) == (1.5, str(score), {"k": 3})
    assert copied.mistake == "slips"


@pytest.mark.parametrize("reports", ["", "hints@example.org", "https://example.org/hints/new"])
def test_line_by_which_a_wrong_hint_is_reported_holds_what_it_takes_and_no_answer(reports):
    exercise = dataclasses.replace(find_exercise(SOFTMAX), reports=reports)
    score = grade(exercise, LocalSubmission(exercise.mistakes[0].answer), None)
    (line,) = (line for line in str(score).splitlines() if "Does this hint not fit" in line)
    assert line.endswith(f": `{SOFTMAX}`, `{score.mistake}`, version `{exercise.version}`")
    assert f"send this line to {reports or 'your instructor, if you have one'}: " in line
    assert len(exercise.version) == 8
    page = score._repr_html_()
    assert f"<code>{SOFTMAX}</code>, <code>{score.mistake}</code>" in page
    assert "overflow-wrap:anywhere" in page  # a phone is narrow
    assert pickle.loads(pickle.dumps(score)).report_to == score.report_to == line
    assert "not true" not in str(grade(exercise, LocalSubmission(by_hand), None))


@pytest.mark.parametrize("seconds", [None, 120])
def test_a_check_that_may_take_minutes_says_so_before_it_begins(seconds, monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, **_):
        shown.append(data["text/plain"])
        return Handle()

    def answer(scores):
        shown.append("called")
        return by_hand(scores)

    monkeypatch.setattr(progress, "_display_of_kernel", lambda: display)
    exercise = find_exercise(SOFTMAX)
    *others, last = exercise.checks
    last = dataclasses.replace(last, seconds=seconds)
    exercise = dataclasses.replace(exercise, checks=(*others, last))
    assert float(check_answer(exercise, answer, None)) == 4
    said = [text for text in shown if text != "called"]
    line = "trying your function: each call may take up to 120 seconds ..."
    assert said == ([line, ""] if seconds else [])
    assert (shown[0], shown[-1]) == (said[0], "") if seconds else True


def test_score_is_displayed_by_ipython_as_number_and_table():
    from IPython.core.formatters import DisplayFormatter

    shown, _ = DisplayFormatter().format(Points((Row("only", 2.0),)))
    assert float(shown["text/plain"]) == 2
    assert "<table>" in shown["text/html"]


def test_right_answer_earns_all_points_publicly_and_hidden():
    assert check(SOFTMAX, by_hand) == find_exercise(SOFTMAX).points
    assert check(SOFTMAX, by_hand, hidden=True) == find_exercise(SOFTMAX).points


def test_answer_is_found_in_the_notebook_by_its_name(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "softmax", by_hand, raising=False)
    assert check(SOFTMAX) == find_exercise(SOFTMAX).points


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "there is no function `softmax`: did you run the cell above?"),
        (3.5, "`softmax` is 3.5, not a function"),
    ],
)
def test_missing_answer_is_a_score_of_zero_in_words(monkeypatch, answer, said):
    monkeypatch.delattr(sys.modules["__main__"], "softmax", raising=False)
    score = check(SOFTMAX, answer)
    assert float(score) == 0
    assert said in str(score)


def test_unknown_exercise_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no exercise '01_retrieval/sofmax'.*/softmax"):
        check("01_retrieval/sofmax", by_hand)


def test_part_of_an_earlier_edition_is_said_to_have_left_and_ends_no_run():
    score = check("05_luong/concat_scores", by_hand, hidden=True)
    assert (float(score), score.of) == (0, 0)
    assert "has left the problem set: the additive score is asked in problem set 04" in str(score)


def right_for_five_keys_only(scores):
    return by_hand(scores) if scores.shape[-1] == 5 else torch.zeros_like(scores)


def test_hidden_inputs_refuse_what_is_right_for_the_public_sizes_only():
    assert check(SOFTMAX, right_for_five_keys_only) == find_exercise(SOFTMAX).points
    hidden = check(SOFTMAX, right_for_five_keys_only, hidden=True)
    assert float(hidden) < find_exercise(SOFTMAX).points


def test_hidden_inputs_are_not_revealed_by_the_score():
    score = check(SOFTMAX, right_for_five_keys_only, hidden=True)
    assert "right on the inputs that you can see, wrong on others" in str(score)
    assert score.inputs is None
    shown = str(score) + score._repr_html_()
    for size in ("(7,)", "(2, 3, 5, 11)", "(5, 7)"):
        assert size not in shown


def test_hidden_inputs_depend_on_the_secret_and_on_nothing_else(monkeypatch):
    first = find_exercise(SOFTMAX).checks[0]
    one, again = (first.inputs(SOFTMAX, "one")[0]["scores"] for _ in range(2))
    torch.testing.assert_close(one, again, rtol=0, atol=0)
    assert not torch.equal(one, first.inputs(SOFTMAX, "two")[0]["scores"])
    monkeypatch.setenv("HINTGRADER_SECRET", "two")
    assert hidden_secret() == "two"
    monkeypatch.delenv("HINTGRADER_SECRET")
    assert hidden_secret() == DEFAULT_SECRET


def test_inputs_of_the_first_public_failure_are_handed_out_to_look_into():
    score = check(SOFTMAX, gives_nan)
    assert score.inputs["scores"].shape == (3, 5)


def test_mistake_is_recognised_in_other_words():
    known = find_exercise(SOFTMAX).mistakes
    unnormalised = next(m for m in known if m.name == "forgets_to_normalise")

    def mine(scores):
        shifted = scores - scores.max(dim=-1, keepdim=True).values
        return shifted.exp()

    score = check(SOFTMAX, mine)
    assert (score.hint, score.mistake) == (unnormalised.hint, unnormalised.name)
    assert unnormalised.hint.split("`")[0] in str(score)


def test_unknown_mistake_gets_no_hint_but_numbers():
    score = check(SOFTMAX, lambda scores: scores.sin())
    assert (score.hint, score.mistake) == (None, None)
    assert re.search(r"at \[0, 0\] it is -?\d.*and should be", str(score))


def test_grade_takes_any_submission_that_answers_requests():
    class Remote:
        def call(self, inputs, upstream=None, wrt=()):
            return LocalSubmission(by_hand).call(inputs, upstream, wrt)

        def supports(self, device):
            return device == "cpu"

    assert grade(find_exercise(SOFTMAX), Remote(), "secret") == find_exercise(SOFTMAX).points


def gives_nan(scores):
    return scores * float("nan")
