"""Effects that are said of an answer whose mistake nobody knows, and the meaning of exceptions."""

import pytest
import torch

from hintgrader.bank.grade import grade
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints import diagnosis
from hintgrader.hints import progress as at_work
from hintgrader.hints.exceptions import explain
from hintgrader.worker.submission import LocalSubmission


def draw(generator, length):
    return {"number": torch.randn(length, generator=generator, dtype=torch.float64)}


def exercise_of(*lengths: int) -> Exercise:
    sizes = tuple({"length": length} for length in lengths)
    checks = Check("it doubles", 1, draw, sizes), Check("and again", 1, draw, sizes)
    return Exercise("double_it", lambda number: 2 * number, checks)


def right_where(fits):
    """An answer that is right where its input has a fitting length, and strange elsewhere."""

    def answer(number):
        return 2 * number + (0 if fits(len(number)) else number**3 + 0.3)

    return LocalSubmission(answer)


@pytest.mark.parametrize(
    ("fits", "said"),
    [
        (lambda length: length == 4, "right where `number.shape[-1]` is 4, and nowhere else"),
        (lambda length: length < 6, "`number.shape[-1]` is at most 5, and wrong from 7 on"),
    ],
)
def test_size_that_tells_right_draws_from_wrong_ones_is_named(fits, said):
    assert said in grade(exercise_of(4, 5, 7, 8), right_where(fits), None).hint


def test_no_size_is_named_where_none_tells_right_from_wrong():
    score = grade(exercise_of(4, 5, 7, 8), right_where(lambda length: length in (4, 8)), None)
    assert score.hint is None


def test_input_that_changes_nothing_is_named():
    def drawn(generator):
        return {name: torch.randn(3, generator=generator) for name in ("one", "other")}

    exercise = Exercise("add", lambda one, other: one + other, (Check("it adds", 1, drawn),))
    score = grade(exercise, LocalSubmission(lambda one, other: one**3 + 0.2), None)
    assert score.hint.startswith("your output stays the same with other numbers in `other`")


def test_random_numbers_that_are_asked_for_are_no_fault():
    def shuffled(number):
        return number[torch.randperm(len(number))]

    exercise = Exercise("shuffle", shuffled, (Check("it shuffles", 1, draw, ({"length": 7},)),))
    score = grade(exercise, LocalSubmission(lambda number: shuffled(number) ** 3), None)
    assert "every call" not in str(score)


def test_meaning_of_an_exception_is_said_once():
    score = grade(exercise_of(4, 4), LocalSubmission(lambda number: number[9]), None)
    assert score.hint == "place 9 is asked for along axis 0, which has 4: the last is 3"
    assert str(score).count("the last is 3") == 1


def test_exception_that_the_form_of_other_inputs_hides_is_said():
    def answer(number):
        return (2 * number)[None] + torch.zeros(1, 1 if len(number) < 8 else 3)

    hint = grade(exercise_of(4, 5, 8), LocalSubmission(answer), None).hint
    assert "mind the axes of length 1, and find out why other inputs of row 1 raise" in hint


def test_input_of_which_only_the_order_counts_is_not_called_unused():
    def drawn(generator, length):
        return {"scores": torch.arange(1.0, length + 1)}

    def best_alone(scores):
        return torch.where(scores == scores.amax(), 0.9, 0.1)

    checks = (Check("it weighs", 1, drawn, ({"length": 5},)),)
    exercise = Exercise("weigh", lambda scores: torch.softmax(scores, -1), checks)
    score = grade(exercise, LocalSubmission(best_alone), None)
    assert "stays the same" not in (score.hint or "")


TABLE, WEIGHT = torch.ones(3, 4), torch.ones(7, 4)
BATCH, HEADS = torch.ones(2, 3, 4), torch.ones(5, 4, 6)


def unpack(x):
    batch, length, width = x.shape
    return batch * length * width


class Doubles:
    def __call__(self, x):
        return 2 * x


def no_value(x):
    total = total + x  # noqa: F821
    return total


def _learn_through_floor(x):
    (x.clone().requires_grad_() // 2).sum().backward()


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (lambda x, w: x @ w, (TABLE, WEIGHT), "is it to be transposed, `@ w.mT`?"),
        (lambda x, w: x @ w[:5], (TABLE, WEIGHT), "or no longer what came in?"),
        (
            lambda x, w: x @ w,
            (BATCH, TABLE[:2]),
            "`x` has 2 matrices: does the right hold a vector",
        ),
        (lambda x, w: x @ (1.0 * w), (TABLE, WEIGHT > 0), "or no longer what came in?"),
        (lambda x, w: x @ w, (BATCH, HEADS), "2 (`x.shape[-3]`) and 5 (`w.shape[-3]`)"),
        (lambda x, w: torch.bmm(x, w), (TABLE, BATCH), "`bmm` takes three axes"),
        (lambda x, w: x + w, (TABLE, WEIGHT), "3 (`x.shape[-2]`) and 7 (`w.shape[-2]`)"),
        (lambda x: x.sum(2), (TABLE,), "axis 2 is asked for, of a tensor with 2 axes"),
        (lambda x: x[0, 0, 0], (TABLE,), "a tensor with 2 axes is indexed along more"),
        (lambda x: [1][3], (TABLE,), "a place, or a mask, does not fit the axis"),
        (lambda x: {}["a"], (TABLE,), "a key that it does not have"),
        (lambda x: x.view(2, 7), (TABLE,), "12 numbers cannot take the shape (2, 7)"),
        (unpack, (TABLE,), "3 names on the left of `=`, and there are 2 on the right"),
        (no_value, (TABLE,), "`total` is read before it has a value"),
        (lambda x: nothing, (TABLE,), "nothing called `nothing`"),  # noqa: F821
        (lambda x: x @ torch.ones(4, 4).double(), (TABLE,), "float32 and float64 meet"),
        (lambda x: 1 if x > 0 else 0, (TABLE,), "want one True or False"),
        (_learn_through_floor, (TABLE,), "no gradient comes through it"),
        (lambda x: [word for word in 3], (TABLE,), "of type `int` here"),
        (lambda x: None + 1, (TABLE,), "there is a None where a value should be"),
        (lambda y: 1, (TABLE,), "your function is called with `x`"),
        (lambda x, y: 1, (TABLE,), "without its `y`; your function is called with `x`"),
        (lambda x: unpack(x, x, x), (TABLE,), "gives 3 values to `unpack`, which takes 1"),
        (lambda x: Doubles()(x, x), (TABLE,), "gives 2 values to `Doubles`, which takes 1"),
        (lambda x: unpack(axes=x), (TABLE,), "has no argument named `axes`"),
        (lambda x: x[:, :0].max(), (TABLE,), "a tensor without numbers"),
        (lambda x: torch.multinomial(x[None], 1), (TABLE,), "with one axis, or with two"),
        (lambda x: torch.multinomial(x / 0 - x / 0, 1), (TABLE,), "that is no probability"),
        (lambda x: x[torch.tensor(3)], (TABLE,), "along another one, `gather` does"),
        (lambda x: x.gather(1, torch.full((3, 1), 4)), (TABLE,), "`argmax(dim)` counts along"),
        (
            lambda x: torch.nn.functional.cross_entropy(x[None], torch.ones(1, 3).long()),
            (TABLE,),
            "answers of the shape (1, 4) would fit; yours have (1, 3)",
        ),
        (
            lambda x: torch.nn.functional.cross_entropy(x, torch.ones(2).long()),
            (TABLE,),
            "3 rows of logits, and 2 answers",
        ),
        (lambda x: torch.cat([x, x[:, :2]]), (TABLE,), "finds lengths 4 and 2. It takes the first"),
        (lambda x: torch.cat([x, x[:2]], 1), (TABLE,), "finds lengths 3 and 2"),
        (lambda x: torch.cat([x, x[None]]), (TABLE,), "has 2 axes here and 3 there"),
        (lambda x: torch.cat([x, 0]), (TABLE,), "something of type `int`"),
    ],
)
def test_exception_is_said_in_terms_of_axes_lengths_and_names(call, given, said):
    inputs = dict(zip(("x", "w"), given, strict=False))
    error = LocalSubmission(call).call(inputs).error
    assert said in explain(*error, inputs)


def test_diagnosis_ends_after_a_counted_number_of_candidates(monkeypatch):
    tried = []

    def reference(number):
        tried.append(1)
        return torch.tanh(number).cumsum(-1)

    exercise = Exercise("f", reference, (Check("it adds", 1, draw, ({"length": 7},) * 2),))
    wrong = LocalSubmission(lambda number: number**3 + torch.arange(7) ** 2)
    grade(exercise, wrong, None)
    several = len(tried)
    monkeypatch.setattr(diagnosis, "MOST_WORK", 5_000)
    tried.clear()
    assert grade(exercise, wrong, None).hint is None
    assert 0 < len(tried) < several / 3


def test_line_shows_in_a_kernel_that_something_is_at_work_and_is_empty_afterwards(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    strange = right_where(lambda length: length in (4, 8))
    grade(exercise_of(4, 5, 7, 8), strange, None)
    assert shown == []
    monkeypatch.setattr(at_work, "_display_of_kernel", lambda: display)
    grade(exercise_of(4, 5, 7, 8), strange, "graded")
    assert shown == []
    grade(exercise_of(4, 5, 7, 8), strange, None)
    assert shown == [at_work.LOOKING, ""]


SAID = "in row 1 your numbers are exactly what a known mistake gives"


@pytest.mark.parametrize(
    ("lengths", "does", "is_said"),
    [
        ((5, 7), lambda number: number[5], True),  # it raises, perhaps for the same reason
        ((5, 7), lambda number: number.sum() / 0, False),  # and the answer has numbers there
        ((5,), lambda number: number[5], False),  # one number alone agrees by chance
    ],
)
def test_mistake_of_one_row_is_told_only_if_no_other_row_denies_it(lengths, does, is_said):
    def halves_and(of_two):
        return lambda number: number.sum() / 2 if len(number) > 2 else of_two(number)

    sizes = tuple({"length": length} for length in lengths)
    checks = Check("many", 1, draw, sizes), Check("two", 1, draw, ({"length": 2},))
    known = Mistake(halves_and(does), "you halve", 0)
    exercise = Exercise("f", lambda number: number.sum(), checks, mistakes=(known,))
    hint = grade(exercise, LocalSubmission(halves_and(lambda number: number.sum() + 3)), None).hint
    assert (hint or "").startswith(SAID) is is_said


def test_length_of_an_axis_and_of_a_number_is_said_to_be_either():
    message = (
        "The size of tensor a (3) must match the size of tensor b (7) at non-singleton dimension 0"
    )
    inputs = {"query": torch.zeros(3, 5), "num_heads": 3, "causal": True}
    assert "3 (`query.shape[-2]` or `num_heads`) and 7;" in explain("RuntimeError", message, inputs)
