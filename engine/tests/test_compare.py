"""Comparing outputs, and each kind of check on an exercise small enough to see through."""

import numpy as np
import pytest
import torch

from hintgrader.checking.compare import allowed_error, difference
from hintgrader.checking.judge import examine
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.values.equality import identical, same
from hintgrader.worker.submission import LocalSubmission

ANY = Check("any", 1, lambda generator: {})


@pytest.mark.parametrize(
    ("output", "expected", "said"),
    [
        (torch.ones(3, 5), torch.ones(5, 3), "shape is (3, 5) and should be (5, 3): two axes are"),
        (torch.ones(3), torch.ones(5), "shape is (3,) and should be (5,)"),
        (
            torch.ones(3).double(),
            torch.ones(3),
            "dtype is torch.float64 and should be",
        ),
        (torch.ones(3, device="meta"), torch.ones(3), "is on meta and should be on cpu"),
        (torch.ones(3).to_sparse(), torch.ones(3), "is a torch.sparse_coo tensor; expected"),
        (-torch.arange(1.0, 4), torch.arange(1.0, 4), "all your signs are reversed"),
        (
            torch.arange(9.0).view(3, 3).mT,
            torch.arange(9.0).view(3, 3),
            "is transposed",
        ),
        (
            2.5 * torch.arange(1.0, 4),
            torch.arange(1.0, 4),
            "every number is 2.5 times",
        ),
        (
            torch.tensor([1.0, 2.5]),
            torch.tensor([1.0, 2]),
            "at [1] it is 2.5 and should be 2",
        ),
        (torch.tensor(2), torch.tensor(3), "it is 2 and should be 3"),
        (True, 1.0, "it is a bool; expected one number"),
        (0.3, 0.2, "it is 0.3, not 0.2"),
        ("a", "b", "it is 'a' and should be 'b'"),
        ((1.0,), (1.0, 2.0), "it is a tuple of 1; expected a tuple of 2 values"),
        ([3, 4, 4, 2], [3, 4, 2], "it is [3, 4, 4, 2] and should be [3, 4, 2]"),
        (["a"], ["a", "dog"], "it is ['a'] and should be ['a', 'dog']"),
        ([3] * 99, [3, 4], "it is a list of 99; expected a list of 2 values"),
        (2.36304, 2.363, "it is 2.36304, not 2.363"),
        (
            torch.tensor([2.36304]),
            torch.tensor([2.363]),
            "it is 2.36304 and should be 2.363",
        ),
        (
            1.0002 * torch.arange(1.0, 4),
            torch.arange(1.0, 4),
            "every number is 1.0002 times",
        ),
        (torch.zeros(3), torch.arange(1.0, 4), "(3 of 3 differ): all your numbers are 0"),
        (torch.ones(3) > 0, torch.ones(3) < 0, "at [0] it is True and should be False (3 of"),
        ((1.0, 3.0), (1.0, 2.0), "value 2 of 2: it is 3, not 2"),
        (np.ones((3, 5)), np.ones((5, 3)), "shape is (3, 5) and should be (5, 3): two axes are"),
        (np.ones(3), np.ones(3, np.float32), "dtype is float64 and should be float32"),
        (np.arange(3), np.arange(3.0), "dtype is int64 and should be float64"),
        (np.array([1.0, 2.5]), np.array([1.0, 2]), "at [1] it is 2.5 and should be 2"),
        (np.array([3, 2]), np.array([3, 4]), "at [1] it is 2 and should be 4"),
        (-np.arange(1.0, 4), np.arange(1.0, 4), "all your signs are reversed"),
        (torch.ones(3), np.ones(3), "it is a tensor of shape (3,); expected a numpy array of"),
        (np.ones(3), torch.ones(3), "it is a numpy array of shape (3,); expected a tensor of"),
        ([1.0], np.ones(1), "it is a list of 1; expected a numpy array of shape (1,)"),
        (np.ones(3) > 0, 1.0, "it is a numpy array of shape (3,); expected one number"),
        ([1.0], {"a": 1.0}, "it is a list of 1; expected a dict with the keys 'a'"),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "its keys are 'a'; there is no 'b'"),
        ({}, {"a": 1.0}, "its keys are none; there is no 'a'"),
        ({"a": 1.0, "b": 2.0}, {"a": 1.0}, "its keys include 'b', which nobody asked for"),
        ({"a": 1.0, "b": 3.0}, {"b": 2.0, "a": 1.0}, "under 'b': it is 3, not 2"),
        (
            {"a": [("x", np.ones(2))]},
            {"a": [("x", np.zeros(2))]},
            "under 'a': value 1 of 1, in it value 2 of 2: at",
        ),
    ],
)
def test_difference_is_said_in_words_and_numbers(output, expected, said):
    exact = (
        expected.double()
        if torch.is_tensor(expected) and expected.is_floating_point()
        else expected
    )
    assert said in difference(output, expected, exact, ANY)


def test_nested_tensor_is_named():
    nested = torch.nested.nested_tensor([torch.ones(3)], layout=torch.jagged)  # takes seconds
    expected = torch.ones(1, 3)
    assert "is a nested tensor; expected" in difference(nested, expected, expected.double(), ANY)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_held_to_the_tolerance_of_tensors(dtype):
    exact = np.array([1.0, -1000.0, np.inf])
    plain = exact.astype(dtype)
    allowed = 64 * np.finfo(dtype).eps * 1000
    assert difference(plain, plain, exact, ANY) is None
    assert difference(plain + np.array([0.9 * allowed, 0, 0], dtype), plain, exact, ANY) is None
    assert difference(plain + np.array([1.2 * allowed, 0, 0], dtype), plain, exact, ANY)


def test_arrays_may_lie_in_memory_as_they_like():
    exact = np.arange(6.0).reshape(2, 3)
    read_only = np.broadcast_to(np.arange(3.0), (2, 3))
    assert difference(exact[::-1, ::-1], exact[::-1, ::-1].copy(), exact[::-1, ::-1], ANY) is None
    assert difference(np.asfortranarray(exact), exact, exact, ANY) is None
    assert same(read_only, read_only.copy())


def test_order_of_keys_makes_no_difference():
    one, other = {"a": 1.0, "b": np.ones(2)}, {"b": np.ones(2), "a": 1.0}
    assert difference(one, other, other, ANY) is None
    assert same(one, other)
    assert identical(one, other)
    assert not same(one, {"a": 1.0})
    assert not identical({"a": 1.0, "b": np.ones(2, np.float32)}, one)


def test_number_may_come_as_a_tensor_or_an_array_without_axes():
    assert difference(torch.tensor(0.25), 0.25, 0.25, ANY) is None
    assert difference(np.array(0.25), 0.25, 0.25, ANY) is None


def test_tolerance_follows_the_precision_of_the_dtype():
    exact = torch.tensor([1.0, 1000.0], dtype=torch.float64)
    double = allowed_error(exact, exact, 64)
    single = allowed_error(exact, exact.float(), 64)
    half = allowed_error(exact, exact.half(), 64)
    assert double == pytest.approx(64 * 1000 * 2.0**-52)
    assert single == pytest.approx(64 * 1000 * 2.0**-23)
    assert half == pytest.approx(64 * 1000 * 2.0**-10)
    lossy = exact.float() + torch.tensor([0.0, 0.5])
    assert allowed_error(exact, lossy, 64) == pytest.approx(32)


def test_infinities_must_match_exactly():
    infinite = torch.tensor([1.0, -torch.inf])
    assert difference(infinite, infinite, infinite.double(), ANY) is None
    assert difference(torch.zeros(2), infinite, infinite.double(), ANY)


@pytest.mark.parametrize("other", [torch.ones(3, device="meta"), torch.ones(3).to_sparse()])
def test_outputs_on_two_devices_or_of_two_layouts_are_not_the_same(other):
    assert not same(torch.ones(3), other)
    assert not same(other, torch.ones(3))


def test_tensor_without_numbers_is_no_number():
    assert "expected one number" in difference(torch.ones((), device="meta"), 1.0, 1.0, ANY)


def test_two_outputs_are_the_same_up_to_rounding():
    assert same(torch.tensor([1.0, torch.nan]), torch.tensor([1 + 1e-7, torch.nan]))
    assert not same(torch.tensor([1.0]), torch.tensor([1.001]))
    assert not same(torch.ones(2), torch.ones(2).double())
    assert same([1.0, "a"], [1.0, "a"])
    assert not same(1.0, "1.0")
    assert same((2.0, torch.tensor(0.5)), [2.0, 0.5])
    assert not same(torch.ones(2), 1.0)
    assert same(np.array([1.0, np.nan]), np.array([1 + 1e-7, np.nan]))
    assert not same(np.ones(2), np.ones(2, np.float32))
    assert not same(np.ones(2), torch.ones(2).double())
    assert not same(np.array(["a"]), np.array(["a"]))


@pytest.mark.parametrize("endless", [torch.inf, -torch.inf, torch.nan])
def test_no_number_is_the_same_as_one_that_is_not_finite(endless):
    assert same(endless, endless)
    for one, other in ((1.0, endless), (endless, 1.0), (-torch.inf, torch.inf)):
        assert not same(one, other)
        assert not same((one, 0.5), [torch.tensor(other), 0.5])


def test_what_is_of_another_kind_is_not_identical():
    assert identical(1.0, 1.0)
    assert identical(1.0, object())
    for one in (torch.ones(2), torch.tensor(1.0), np.ones(()), [1.0], {"a": 1.0}, 1, None):
        assert identical(one, 1.0) is False
        assert identical(1.0, one) is False


def test_numbers_are_multiples_only_if_they_are_also_where_0_is_right():
    exact = torch.tensor([1.0, 2.0, 0.0], dtype=torch.float64)
    assert "2 times what" in difference(2 * exact.float(), exact.float(), exact, ANY)
    output = torch.tensor([1.0, 2.0, 0.5])
    assert "times" not in difference(output, exact.float(), exact, ANY)


def draw(generator, size=3):
    return {"number": torch.rand(size, generator=generator, dtype=torch.float64)}


def double_it(number):
    return 2 * number


def tiny(**kind) -> Exercise:
    return Exercise("double_it", double_it, (Check("it doubles", 1, draw, **kind),))


def first_reason(exercise, answer) -> str | None:
    (found,) = examine(exercise, LocalSubmission(answer), None)
    return found[0].reason if found else None


def test_answer_that_differs_from_call_to_call_is_refused():
    calls = []

    def forgetful(number):
        calls.append(1)
        return (2 if len(calls) % 2 else 3) * number

    assert "called a second time" in first_reason(tiny(), forgetful)


def test_gradient_that_is_cut_is_refused_although_the_output_is_right():
    exercise = tiny(gradient=("number",))
    assert first_reason(exercise, double_it) is None
    cut = first_reason(exercise, lambda number: 2 * number.detach())
    assert cut == "no gradient reaches number: something cuts the output off from it"
    wrong = first_reason(exercise, lambda number: number + number.detach())
    assert "every number is 0.5 times what it should be" in wrong


def test_input_changed_in_place_is_refused_although_the_output_is_right():
    exercise = tiny(untouched=True)
    assert first_reason(exercise, double_it) is None
    assert first_reason(exercise, lambda number: number.mul_(2)) is not None
    assert first_reason(exercise, lambda number: None) is not None


def changes_the_dtype(number, words):
    number.data = number.data.double()
    return 2 * number.float()


def empties_the_list(number, words):
    words.clear()
    return 2 * number


def changes_in_the_list(number, words):
    words[0].neg_()
    return 2 * number


def changes_the_dtype_in_the_list(number, words):
    words[0].data = words[0].data.double()
    return 2 * number


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (lambda number, words: 2 * number, None),
        (changes_the_dtype, "number"),
        (empties_the_list, "words"),
        (changes_in_the_list, "words"),
        (changes_the_dtype_in_the_list, "words"),
    ],
)
def test_input_is_compared_with_its_dtype_and_in_lists(answer, changed):
    def draw_words(generator):
        return draw(generator) | {"words": [torch.ones(2), "a word", draw]}

    check = Check("it doubles", 1, draw_words, untouched=True)
    exercise = Exercise("double_it", lambda number, words: 2 * number, (check,))
    said = changed and f"it changes {changed}, which belongs to the caller"
    assert first_reason(exercise, answer) == said


def solves(system):
    return {"solution": np.linalg.solve(system["left"], system["right"])}


def changes_the_array(system):
    solution = solves(system)
    system["right"] *= 2
    return solution


def adds_a_key(system):
    system["solution"] = solves(system)["solution"]
    return {"solution": system["solution"]}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_arrays_in_dictionaries_are_cast_and_belong_to_the_caller(dtype):
    def draw_system(generator):
        left = torch.eye(3, dtype=torch.float64) + draw(generator)["number"]
        return {"system": {"left": left.numpy(), "right": draw(generator)["number"].numpy()}}

    given = []

    def looks(system):
        given.append(str(system["left"].dtype))
        return solves(system)

    check = Check("it solves", 1, draw_system, untouched=True, dtype=dtype)
    exercise = Exercise("solve", solves, (check,))
    assert first_reason(exercise, looks) is None
    assert set(given) == {str(dtype).removeprefix("torch.")}
    for answer in (changes_the_array, adds_a_key):
        said = "it changes system, which belongs to the caller"
        assert first_reason(exercise, answer) == said
    wrong = first_reason(exercise, lambda system: {"solution": system["right"]})
    assert wrong.startswith("the output has to be right as well: under 'solution': at [0] it is")


def test_law_replaces_the_reference():
    def is_even(call, inputs):
        zeros = {"number": torch.zeros(3)}
        return None if torch.equal(call(zeros), torch.zeros(3)) else "zero must give zero"

    exercise = tiny(invariant=is_even)
    assert first_reason(exercise, lambda number: 7 * number) is None
    assert first_reason(exercise, lambda number: number + 1) == "zero must give zero"
    assert "it is a list of 1; expected a tensor" in first_reason(exercise, lambda number: [1])
    assert "it raised KeyError" in first_reason(exercise, lambda number: {}[1])


def test_every_device_present_is_asked_and_the_output_must_stay_there():
    def moves(number):
        return (2 * number).to("meta")

    assert "is on meta and should be on cpu" in first_reason(tiny(), moves)


def test_law_sees_what_is_withheld_from_the_answer():
    def is_guessed(call, inputs):
        truth = inputs["truth"]
        return None if torch.equal(call(inputs), truth) else "it is not the truth"

    def draw_both(generator):
        number = torch.rand(3, generator=generator, dtype=torch.float64)
        return {"number": number, "truth": 2 * number}

    check = Check("it guesses", 1, draw_both, invariant=is_guessed, withheld=("truth",))
    exercise = Exercise("double_it", double_it, (check,))
    assert first_reason(exercise, double_it) is None
    (found,) = examine(exercise, LocalSubmission(lambda number: number), None)
    assert found[0].reason == "it is not the truth"
    assert set(found[0].inputs) == {"number"}


def test_law_may_tell_mistakes_apart_by_something_else_than_its_words():
    exercise = tiny(invariant=lambda call, inputs: (f"it is {call(inputs).sum():.3f}", "no sum"))
    (found,) = examine(exercise, LocalSubmission(double_it), None)
    assert found[0].reason.startswith("it is ")
    assert found[0].evidence == "no sum"


def test_slow_check_is_tried_once_all_others_are_passed_and_on_one_kind_of_inputs():
    asked = []

    def count(call, inputs):
        asked.append(call(inputs))

    quick = Check("it doubles", 1, draw)
    slow = Check("it counts", 1, draw, invariant=count, seconds=60)
    exercise = Exercise("double_it", double_it, (quick, slow))
    for secret in (None, "a secret"):
        for answer, times in ((double_it, 1), (lambda number: number, 0)):
            asked.clear()
            findings = examine(exercise, LocalSubmission(answer), secret)
            assert [bool(found) for found in findings] == [not times, False]
            assert len(asked) == times
            hidden = slow.inputs("", secret)[0]["number"]
            assert all(torch.equal(output, 2 * hidden.float()) for output in asked)


def none_at_all(number) -> float | None:
    return None if number[0] > 2 else 1.0


def test_none_is_no_sign_of_a_forgotten_return_where_it_is_an_answer():
    said = "it is {}; expected one number"
    one = Exercise("count", lambda number: 1.0, (Check("it counts", 1, draw),))
    assert first_reason(one, lambda number: None) == said.format("None (is there a `return`?)")
    optional = Exercise("count", none_at_all, (Check("it counts", 1, draw),))
    assert first_reason(optional, lambda number: None) == said.format("None")


def draw_zeros(generator, size=3):
    return {"number": torch.zeros(size, dtype=torch.float64)}


def doubles_in_place(number):
    return number.mul_(2)


@pytest.mark.parametrize(
    ("contract", "refused"), [(draw_zeros, [True, False]), (draw, [False, True])]
)
def test_change_of_inputs_is_found_in_any_row_and_counts_once(contract, refused):
    """Zeros, doubled, are as they were."""
    rows = Check("it doubles", 1, draw), Check("inputs stay", 1, contract, untouched=True)
    exercise = Exercise("double_it", double_it, rows)
    assert examine(exercise, LocalSubmission(double_it), None) == [[], []]
    found = examine(exercise, LocalSubmission(doubles_in_place), None)
    assert [bool(row) for row in found] == refused
    reasons = {each.reason for row in found for each in row}
    assert reasons == {"it changes number, which belongs to the caller"}
    assert first_reason(tiny(), doubles_in_place) is None  # which promises nothing


def draw_holes(generator, size=3):
    return {"number": torch.full((size,), torch.nan, dtype=torch.float64)}


def fill_holes(number):
    return number.nan_to_num(1)


def fill_holes_in_place(number):
    return number.nan_to_num_(1)


def test_nan_among_inputs_is_no_change_of_them():
    rows = Check("it fills", 1, draw_holes), Check("stay", 1, draw_holes, untouched=True)
    exercise = Exercise("fill_holes", fill_holes, rows)
    assert examine(exercise, LocalSubmission(fill_holes), None) == [[], []]
    found = examine(exercise, LocalSubmission(fill_holes_in_place), None)
    assert [bool(row) for row in found] == [False, True]
