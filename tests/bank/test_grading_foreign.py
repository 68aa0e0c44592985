"""Returned things that are no plain data are described, and are wrong everywhere."""

import collections
import math
import warnings

import numpy as np
import pytest
import torch
from hintgrader.bank.grade import points_of
from hintgrader.checking.case import draw_cases
from hintgrader.checking.compare import difference
from hintgrader.checking.judge import examine, examine_one
from hintgrader.exercise.definition import Check
from hintgrader.values.equality import same
from hintgrader.worker.plain import Foreign, as_plain, map_leaves, name_kind, plain_kind
from hintgrader.worker.submission import LocalSubmission

from attn_bank import check, exercise_names, find_exercise
from tests.sampling import parameters

SOFTMAX = "01_retrieval/softmax"
ANY = Check("any", 1, lambda generator: {})
Pair = collections.namedtuple("Pair", ["first", "second"])


def quantised():
    with warnings.catch_warnings():  # torch is going to do without them
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(3, 5), 0.1, 0, torch.qint8)


EXPECTED = {  # of which no exercise asks for any
    "a dict whose keys are not all strings": {1: 1.0},
    "a set": {1.0},
    "a complex": 1j,
    "a numpy array of dtype object": np.array([1.0, print], dtype=object),
    "a numpy array of dtype str32": np.array(["a"]),
    "a numpy array of dtype uint16": np.ones(3, np.uint16),
    "a numpy array of dtype datetime64[ns]": np.zeros(3, "datetime64[ns]"),
    "a numpy array of dtype void64": np.zeros(3, [("a", np.float64)]),
    "a numpy array of numbers whose bytes are swapped": np.ones(3).astype(">f8"),
    "a numpy array of the class MaskedArray": np.ma.array([1.0], mask=[True]),
    "a torch.sparse_coo tensor": torch.ones(3, 5).to_sparse(),
    "a quantised tensor": quantised(),
    "a function": lambda: 1,
}
NESTED = "a nested tensor"  # one more of them


class Other(torch.Tensor):
    """Not torch's own, whose methods may do anything."""


class Half(float):
    """A number of a class of the answer's own."""


@pytest.fixture(params=[*EXPECTED, NESTED])
def kind(request):
    return request.param


@pytest.fixture
def thing(kind):
    """The thing of this kind; the first nested tensor takes seconds, too long for an import."""
    if kind == NESTED:
        return torch.nested.nested_tensor([torch.ones(3)], layout=torch.jagged)
    return EXPECTED[kind]


def test_foreign_thing_is_known_by_its_description_alone(kind, thing):
    assert as_plain(thing) == Foreign(kind) == as_plain(Foreign(kind))
    assert plain_kind(thing) == name_kind(thing) == name_kind(Foreign(kind)) == kind
    assert as_plain([1, (thing, "a")]) == [1, (Foreign(kind), "a")]
    assert plain_kind([1, (thing, "a")]) == "a list of 2"


@pytest.mark.parametrize(
    "thing",
    [
        *(True, 3, 0.5, "a", None, torch.ones(2, 3), torch.tensor(3), [1.0, ("a", torch.ones(2))]),
        *((), np.ones((2, 3)), np.ones(3) > 0, np.array(1j), {}, {"a": [{"b": np.ones(2)}]}),
    ],
)
def test_plain_data_stays_as_it_is(thing):
    assert type(as_plain(thing)) is type(thing)
    assert same(as_plain(thing), thing)
    assert plain_kind(thing) is None


def test_tensors_and_numbers_of_other_classes_are_plain_if_nothing_is_lost():
    layer = torch.nn.Linear(2, 3)
    assert type(as_plain(layer.weight)) is torch.Tensor
    assert not as_plain(layer(torch.ones(2))).requires_grad
    assert plain_kind(torch.ones(3).as_subclass(Other)) == "a Other tensor"
    assert plain_kind(torch.ones(3, device="meta")) is None  # its shape can be compared
    assert type(as_plain(Half(1.0))) is float
    numbers = as_plain([np.float64(0.5), np.float32(0.5), np.int64(3), np.bool_(True)])
    assert numbers == [0.5, 0.5, 3, True]
    assert [type(number) for number in numbers] == [float, float, int, bool]
    assert type(as_plain(Pair(1, 2))) is tuple
    counted = as_plain(collections.Counter("aab"))
    assert counted == {"a": 2, "b": 1}
    assert type(counted) is dict
    assert as_plain({"a": {1.0}}) == {"a": Foreign("a set")}
    assert plain_kind({"a": {1.0}}) == "a dict of 1"


def test_foreign_thing_is_said_to_be_wrong_in_the_words_for_itself(kind, thing):
    for exact in (torch.ones(3, 5), 1.0, (1.0, 2.0)):
        said = difference(Foreign(kind), exact, exact, ANY)
        assert said == difference(thing, exact, exact, ANY)
        assert said.startswith(f"it is {kind}; expected")
    part = difference([1.0, Foreign(kind)], [1.0, 2.0], [1.0, 2.0], ANY)
    assert part == f"value 2 of 2: it is {kind}; expected one number"
    for exact in (True, "a", None):
        assert difference(Foreign(kind), exact, exact, ANY)
    assert not same(Foreign(kind), torch.ones(3, 5))
    assert not same(Foreign(kind), 1.0)
    assert same(Foreign(kind), Foreign(kind))
    assert not same(Foreign(kind), Foreign("another"))


def holds_itself(scores):
    output = []
    output.append(output)
    return output


def returns_a_pair(scores):
    return Pair(scores, scores)


def returns_a_class_of_its_own(scores):
    return scores.as_subclass(Other)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (holds_itself, "it raised TooLarge"),
        (returns_a_pair, "it is a tuple of 2; expected a tensor of shape (3, 5)"),
        (returns_a_class_of_its_own, "it is a Other tensor; expected a tensor of shape (3, 5)"),
        (lambda scores: 10**400, "it is a huge int; expected a tensor"),
    ],
)
def test_odd_output_costs_its_points_and_stops_nobody(answer, said):
    score = check(SOFTMAX, answer)
    assert float(score) == 0
    assert said in str(score)


@pytest.mark.parametrize("exercise", parameters(exercise_names(), 6))
def test_odd_output_passes_no_check_of_any_exercise(exercise):
    spec = find_exercise(exercise)
    for thing in (Foreign("a set"), {"a": 1.0}, np.ones(3), 10**400, math.nan, torch.ones(0)):
        for output in (thing, [thing] * 2, (thing,) * 3):
            answer = LocalSubmission(lambda output=output, **_: output)
            findings = examine(spec, answer, None)
            score = points_of(spec, findings, None, diagnose=output is math.nan)
            assert float(score) == 0, f"{output!r:.40}"


def as_arrays(output):
    return map_leaves(lambda leaf: leaf.detach().numpy() if torch.is_tensor(leaf) else leaf, output)


LAWFUL = [
    (name, place)
    for name in exercise_names()
    for place, check in enumerate(find_exercise(name).checks)
    if check.invariant and not check.slow
]


@pytest.mark.parametrize(("exercise", "place"), LAWFUL)
def test_no_law_lets_arrays_pass_for_tensors(exercise, place):
    spec, outputs = find_exercise(exercise), []

    def answer(*args, **inputs):
        outputs.append(spec.reference(*args, **inputs))
        return as_arrays(outputs[-1])

    case = draw_cases(spec, spec.checks[place], None)[0]
    finding = examine_one(case, LocalSubmission(answer))
    leaves = []
    map_leaves(leaves.append, outputs[-1])
    gives_tensors = any(map(torch.is_tensor, leaves))
    assert bool(finding) == gives_tensors
