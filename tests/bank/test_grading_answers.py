"""Acts of an answer against the grader, and what the grader notices of them."""

import re
import sys
import threading
import time

import pytest
import torch
from hintgrader.worker import submission
from hintgrader.worker.student_packages import StudentPackages
from hintgrader.worker.submission import LocalSubmission
from tqdm import tqdm

import attn_course
from attn_bank import check, find_exercise

SOFTMAX = "01_retrieval/softmax"


def by_hand(scores):
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


def raises(scores):
    raise RuntimeError("two\nlines")


def leaves(scores):
    sys.exit(3)


def returns_nothing(scores):
    pass


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError


def raises_the_unreadable(scores):
    raise Unreadable


def takes_nothing():
    return 1


def gives_a_list(scores):
    return scores.tolist()


def gives_nan(scores):
    return scores * float("nan")


def recurses(scores):
    return recurses(scores)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises, "it raised RuntimeError: two. Given: scores (3, 5)"),
        (leaves, "it raised SystemExit: 3"),
        (raises_the_unreadable, "it raised Unreadable: its message cannot be read"),
        (returns_nothing, "it is None (is there a `return`?)"),
        (takes_nothing, "it raised TypeError: takes_nothing() got an unexpected keyword"),
        (gives_a_list, "it is a list of 3; expected a tensor of shape (3, 5)"),
        (gives_nan, "15 of its 15 numbers are NaN"),
        (recurses, "it raised RecursionError"),
    ],
)
def test_failing_answer_costs_its_points_and_says_why(answer, said):
    score = check(SOFTMAX, answer)
    assert float(score) == 0
    assert said in str(score)
    assert "Traceback" not in str(score)


def test_answer_that_never_returns_is_waited_for_once_a_row(monkeypatch):
    check(SOFTMAX, by_hand)  # what the first check loads must not count
    monkeypatch.setattr(submission, "CALL_SECONDS", 0.2)

    def hangs(scores):
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue

    started = time.process_time()
    score = check(SOFTMAX, hangs)
    assert time.process_time() - started < 2  # waiting for each of the 12 calls would take 2.4
    assert float(score) == 0
    assert "did not return within 0.2 seconds" in str(score)


def test_call_that_does_not_return_costs_its_row_alone_and_is_what_the_row_says(monkeypatch):
    check(SOFTMAX, by_hand)
    monkeypatch.setattr(submission, "CALL_SECONDS", 0.2)

    def hangs_on_eleven_keys(scores):
        while scores.shape[-1] == 11:
            pass
        return by_hand(scores)

    score = check(SOFTMAX, hangs_on_eleven_keys, hidden=True)
    late = [row for row in score.rows if row.problem]
    assert len(late) == 2  # the last row repeats the draws of another one
    assert {row.problem for row in late} == {
        "right on the inputs that you can see; on others it did not return within 0.2 seconds of"
        " computing"
    }
    assert float(score) == score.of - sum(row.points for row in late)
    assert check(SOFTMAX, hangs_on_eleven_keys) == score.of


def test_slow_answer_has_its_own_time_limit(monkeypatch):
    monkeypatch.setattr(submission, "CALL_SECONDS", 0.2)

    def slow():
        while time.process_time() < until:
            pass
        return "done"

    until = time.process_time() + 0.3

    assert LocalSubmission(slow).call({}, seconds=60).output == "done"
    until += 0.3
    assert "within 0.2 seconds" in LocalSubmission(slow).call({}).error[1]


def test_answer_draws_the_same_random_numbers_in_every_call_and_uses_up_nobodys():
    draw = LocalSubmission(lambda: torch.rand(3))
    drawn = draw.call({}).output
    torch.rand(1)
    before = torch.get_rng_state()
    assert torch.equal(draw.call({}).output, drawn)
    assert not torch.equal(draw.call({}, seed=1).output, drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_interrupting_the_notebook_stops_the_check():
    def interrupted(scores):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(SOFTMAX, interrupted)


def test_what_an_answer_prints_or_warns_about_stays_out_of_the_page(capsys):
    def chatty(scores):
        print("x" * 100_000)
        print("y", file=sys.stderr)
        import warnings

        warnings.warn("z", stacklevel=1)
        return by_hand(scores)

    assert check(SOFTMAX, chatty) == find_exercise(SOFTMAX).points
    assert capsys.readouterr() == ("", "")


def test_gradients_count_even_where_an_earlier_cell_has_switched_them_off():
    with torch.no_grad():
        assert check(SOFTMAX, by_hand) == find_exercise(SOFTMAX).points


def test_random_state_of_the_notebook_is_not_disturbed():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    check(SOFTMAX, by_hand, hidden=True)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)


def calls_method(scores):
    return scores.softmax(-1)


def calls_module(scores):
    return torch.nn.Softmax(dim=-1)(scores)


def calls_operator(scores):
    return torch.ops.aten._softmax(scores, -1, False)


def calls_safe_operator(scores):
    return torch.ops.aten._safe_softmax(scores, -1)


def calls_scipy(scores):
    from scipy.special import softmax

    return torch.from_numpy(softmax(scores.detach().numpy(), axis=-1))


def calls_the_package(scores):
    from attn_course.retrieval import masked_softmax

    return masked_softmax(scores)


def calls_the_reference(scores):
    return find_exercise(SOFTMAX).reference(scores)


@pytest.mark.parametrize(
    "answer",
    [
        calls_method,
        calls_module,
        calls_operator,
        calls_safe_operator,
        calls_scipy,
        calls_the_package,
        calls_the_reference,
        find_exercise(SOFTMAX).reference,
    ],
)
def test_borrowed_answer_is_noticed_and_named(answer):
    score = check(SOFTMAX, answer)
    assert float(score) == 0
    assert re.search(
        r"it calls .*[sS]oftmax.*; the exercise is to write that yourself", str(score)
    ) or ("it calls hintgrader" in str(score))


def test_function_of_the_package_that_an_exercise_allows_is_not_noticed():
    from attn_course.retrieval import dot_scores, masked_softmax

    def answer(scores):
        return masked_softmax(scores)

    packages = StudentPackages(("attn_course",), ("attn_course.shapes",))
    strict = LocalSubmission(answer, (), (), packages)
    allowed = ("attn_course.retrieval.masked_softmax",)
    lenient = LocalSubmission(answer, (), allowed, packages)
    scores = {"scores": torch.rand(2, 3)}
    assert strict.call(scores).borrowed == ("attn_course.retrieval.masked_softmax",)
    assert lenient.call(scores).borrowed == ()
    other = LocalSubmission(lambda scores: dot_scores(scores, scores), (), allowed, packages)
    assert other.call(scores).borrowed == ("attn_course.retrieval.dot_scores",)


def test_profiler_of_the_caller_is_put_back():
    def profiler(*_):
        pass

    sys.setprofile(profiler)
    try:
        check(SOFTMAX, by_hand)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


def test_default_device_of_the_notebook_does_not_reach_the_inputs():
    before = check(SOFTMAX, lambda scores: scores).inputs["scores"]
    torch.set_default_device("meta")  # a stand-in for "cuda", which not every machine has
    try:
        assert check(SOFTMAX, by_hand, hidden=True) == find_exercise(SOFTMAX).points
        after = check(SOFTMAX, lambda scores: scores).inputs["scores"]
    finally:
        torch.set_default_device(None)
    assert torch.equal(before, after)


def test_error_that_torch_raises_does_not_pass_for_an_unwritten_answer():
    score = check(SOFTMAX, lambda scores: scores.to_sparse().amax(-1))
    assert score == 0
    assert "not written yet" not in str(score)
    assert "it raised NotImplementedError: Could not run 'aten::amax'" in str(score)


def test_message_that_ends_in_a_full_stop_gets_no_second_one():
    score = check(SOFTMAX, _raises_a_sentence)
    assert "it raised ValueError: This is a sentence. Given: scores (3, 5)" in str(score)


def _raises_a_sentence(scores):
    raise ValueError("This is a sentence.")


def test_answer_may_show_how_far_its_loop_is_and_start_no_other_thread():
    def shows_a_bar(scores):
        tqdm.monitor = None  # as in a notebook that has shown none yet
        rows = [by_hand(row) for row in tqdm(scores.reshape(-1, scores.shape[-1]))]
        return torch.stack(rows).reshape(scores.shape)

    def starts_a_thread(scores):
        output = []
        thread = threading.Thread(target=lambda: output.append(by_hand(scores)))
        thread.start()
        thread.join()
        return output[0]

    assert check(SOFTMAX, shows_a_bar) == find_exercise(SOFTMAX).points
    assert "it calls start_new_thread" in str(check(SOFTMAX, starts_a_thread))


@pytest.mark.parametrize(
    ("file", "noticed"),
    [
        ("/opt/lib/python3/site-packages/other/special.py", True),
        ("/usr/local/lib/python3/dist-packages/other/special.py", True),
        ("/home/student/special.py", False),
        (f"{attn_course.__path__[0]}_of_mine/special.py", False),
    ],
)
def test_library_function_is_told_from_the_students_by_where_it_is_installed(file, noticed):
    namespace = {}
    exec(compile("def softmax(x):\n    return x", file, "exec"), namespace)
    packages = StudentPackages(("attn_course",))
    answer = LocalSubmission(namespace["softmax"], ("softmax",), (), packages)
    assert bool(answer.call({"x": 1.0}).borrowed) == noticed
