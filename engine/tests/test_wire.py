"""Messages with a confined process arrive as they were sent; whatever else arrives is refused."""

import contextlib
import json
import math
import socket
import struct
import threading
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from torch import Tensor

from hintgrader.values.equality import same
from hintgrader.worker import packing
from hintgrader.worker.packing import DTYPES, BrokenMessage, TooLarge, pack, unpack
from hintgrader.worker.plain import ARRAY_DTYPES, Foreign
from hintgrader.worker.wire import HEAD, NobodyThere, receive, send

QUICK = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PLAIN = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**80), 2**80) | some.floats() | some.text(),
    lambda inner: (
        some.lists(inner)
        | some.lists(inner).map(tuple)
        | some.dictionaries(some.text(), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    with ours, theirs:
        yield ours, theirs


def there_and_back(value: object) -> object:
    form, body = pack({"value": value}, None)
    return unpack(form, body, None)["value"]


def is_same(one: object, other: object) -> bool:
    """Down to the bits of tensors, and to the kinds of everything."""
    if isinstance(one, Tensor):
        return one.dtype == other.dtype and one.shape == other.shape and one.equal(other)
    if isinstance(one, np.ndarray):
        return type(other) is np.ndarray and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return type(other) is dict and all(is_same(*both) for both in zip_items(one, other))
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(is_same, one, other))
    both_nan = one != one and other != other
    return type(one) is type(other) and (one == other or both_nan)


def zip_items(one: dict, other: dict) -> list[tuple[object, object]]:
    """The items of two dictionaries side by side, in the order of each."""
    return list(zip(one.items(), other.items(), strict=True))


def tensor_of(dtype: torch.dtype, *shape: int) -> Tensor:
    numbers = 3 * torch.randn(shape, generator=torch.Generator().manual_seed(1))
    return numbers.to(dtype)


@QUICK
@given(PLAIN)
def test_plain_data_arrives(value):
    assert is_same(value, there_and_back(value))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (7,), (2, 3, 5), (1,) * 20])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_tensors_arrive(dtype, shape):
    tensor = tensor_of(dtype, *shape)
    assert is_same([tensor, "and", (tensor,)], there_and_back([tensor, "and", (tensor,)]))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7,), (2, 3, 5)])
@pytest.mark.parametrize("dtype", sorted(ARRAY_DTYPES))
def test_arrays_arrive(dtype, shape):
    array = np.asarray(3 * np.random.default_rng(1).standard_normal(shape)).astype(dtype)
    assert is_same({"a": [array, (array,)]}, there_and_back({"a": [array, (array,)]}))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[:, ::-2],
        lambda a: np.broadcast_to(a[0], (5, 6)),
        np.asfortranarray,
        lambda a: a.astype(complex).conj().imag,
    ],
)
def test_views_of_arrays_arrive_as_what_they_show(view):
    shown = view(np.arange(24.0).reshape(4, 6))
    arrived = there_and_back(shown)
    assert is_same(shown, arrived)
    arrived += 1  # and belong to who receives them


def test_numbers_that_are_none_arrive():
    tensor = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 5e-324], dtype=torch.float64)
    arrived = there_and_back(tensor)
    assert tensor.view(torch.int64).equal(arrived.view(torch.int64))


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.mT,
        lambda t: t[:, ::2],
        lambda t: t[1:, 1:],
        lambda t: t[:1].expand(5, -1),
        lambda t: t.flip(0),
        lambda t: t.requires_grad_(),
        lambda t: torch.nn.Parameter(t),
        lambda t: torch.complex(t, t).conj(),
        lambda t: torch.complex(t, t).conj().imag,
    ],
)
def test_views_arrive_as_what_they_show(view):
    shown = view(tensor_of(torch.float32, 4, 6))
    assert is_same(shown.detach().clone().resolve_conj().resolve_neg(), there_and_back(shown))


def test_what_arrives_belongs_to_who_receives_it():
    one, other = there_and_back([torch.zeros(3), torch.zeros(3)])
    one += 1
    assert not other.any()


class Number(float):
    """A number of a class that lies about itself."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


class Subclass(torch.Tensor):
    pass


def test_of_a_subclass_what_is_plain_arrives():
    arrived = there_and_back(Number(2.5))
    assert type(arrived) is float
    assert arrived == 2.5


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (object(), "a object"),
        (print, "a builtin_function_or_method"),
        (torch.zeros(2).as_subclass(Subclass), "a Subclass tensor"),
        (torch.zeros(2, 2).to_sparse(), "a torch.sparse_coo tensor"),
        (torch.zeros(2, device="meta"), "a tensor without numbers"),
        (torch.zeros(2).to(torch.float8_e5m2), "a float8_e5m2 tensor"),
        ({3, 4}, "a set"),
        ({3: 4}, "a dict whose keys are not all strings"),
        (np.array([print], dtype=object), "a numpy array of dtype object"),
        (np.array(["word"]), "a numpy array of dtype str128"),
        (np.ones(2).view(np.recarray), "a numpy array of the class recarray"),
        (np.ones(2).astype(">f8"), "a numpy array of numbers whose bytes are swapped"),
    ],
)
def test_what_is_not_plain_arrives_as_a_description(value, described):
    assert there_and_back([value]) == [Foreign(described)]


def test_what_is_nested_too_deep_is_not_followed():
    nested = 1
    for _ in range(2 * packing.MAX_DEPTH):
        nested = [nested]
    assert "nested too deep" in str(there_and_back(nested))
    keyed: object = 1
    for _ in range(2 * packing.MAX_DEPTH):
        keyed = {"key": keyed}
    assert "nested too deep" in str(there_and_back(keyed))


def test_half_a_character_arrives_as_a_whole_one():
    assert there_and_back("\ud800") == "?"


def test_every_byte_of_a_truth_is_a_truth():
    form = json.dumps({"dict": {"value": {"tensor": ["bool", [3], 3]}}}).encode()
    arrived = unpack(form, bytes([0, 1, 2]), None)["value"]
    assert arrived.view(torch.uint8).tolist() == [0, 1, 1]


def test_callables_cross_by_their_number_and_only_if_expected():
    form, body = pack({"layer": torch.relu}, lambda function: [torch.relu].index(function))
    assert unpack(form, body, lambda number: [torch.relu][number])["layer"] is torch.relu
    with pytest.raises(BrokenMessage):
        unpack(form, body, None)


@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(1).expand(2**40),
        [torch.zeros(2**20)] * 65,
        [torch.zeros(1)] * 10_001,
        np.broadcast_to(np.zeros(1), (2**20, 2**20)),
        [np.zeros(2**19)] * 65,
        [np.zeros(1)] * 10_001,
        "x" * 2**23,
        list(range(2**21)),
    ],
    ids=[
        *("a view", "a sum", "a number", "a view of an array", "a sum of arrays"),
        *("a number of arrays", "words", "numbers"),
    ],
)
def test_too_much_is_not_sent(value):
    with pytest.raises(TooLarge):
        pack({"value": value}, None)


FORMS = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "a number": b"3",
    "a bare list": b"[]",
    "a list": b'{"list": []}',
    "a bare dict": b"{}",
    "no such kind": b'{"pickle": "gASV"}',
    "two kinds": b'{"list": [], "dict": {}}',
    "a dict of a number": b'{"dict": 3}',
    "a list of a number": b'{"dict": {"a": {"list": 3}}}',
    "a bare list inside": b'{"dict": {"a": [1]}}',
    "deep": b"[" * 10**6,
    "deep kinds": b'{"list": [' * 2000 + b"]}" * 2000,
    "a long number": b'{"dict": {"a": ' + b"9" * 10**5 + b"}}",
    "a callable": b'{"dict": {"a": {"callable": 0}}}',
}
TENSORS = {
    "nothing": [],
    "of no dtype": ["float31", [1], 4],
    "of an unhashable dtype": [["float32"], [1], 4],
    "of an object": ["object", [1], 8],
    "of no shape": ["float32", None, 4],
    "negative": ["float32", [-1], 4],
    "twice negative": ["float32", [-1, -1], 4],
    "of terabytes": ["float32", [2**20, 2**20], 4],
    "of terabytes of nothing": ["float32", [2**40], 0],
    "of endless length": ["float32", [1e999], 4],
    "that is nowhere": ["float32", [math.nan], 4],
    "of more than there is": ["float32", [2], 8],
    "of less than it says": ["float32", [2], 4],
    "of less than nothing": ["float32", [1], -4],
    "of half a number": ["float32", [1], 3],
    "of too many axes": ["float32", [1] * 100, 4],
    "too large for an integer": ["float32", [2**70], 4],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_broken_forms_are_refused(form):
    with pytest.raises(BrokenMessage):
        unpack(form, b"", None)


@pytest.mark.parametrize("described", TENSORS.values(), ids=TENSORS)
def test_broken_tensors_are_refused(described):
    form = json.dumps({"dict": {"a": {"tensor": described}}}).encode()
    with pytest.raises(BrokenMessage):
        unpack(form, bytes(4), None)


@pytest.mark.parametrize("described", [*TENSORS.values(), ["bfloat16", [2], 4]])
def test_broken_arrays_are_refused(described):
    form = json.dumps({"dict": {"a": {"array": described}}}).encode()
    with pytest.raises(BrokenMessage):
        unpack(form, bytes(4), None)


def test_an_empty_tensor_may_have_any_other_sides():
    huge = json.dumps({"dict": {"a": {"tensor": ["float32", [0, 2**40], 0]}}}).encode()
    assert unpack(huge, b"", None)["a"].shape == (0, 2**40)


def test_bytes_that_nobody_asks_for_are_refused():
    with pytest.raises(BrokenMessage, match="fit"):
        unpack(b'{"dict": {}}', b"1234", None)


def test_many_tensors_of_nothing_are_refused():
    none = '{"tensor": ["bool", [0], 0]}'
    form = f'{{"dict": {{"a": {{"list": [{", ".join([none] * 10_001)}]}}}}}}'
    with pytest.raises(BrokenMessage):
        unpack(form.encode(), b"", None)


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=3),
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.dictionaries(
            some.sampled_from(
                ["dict", "list", "tuple", "tensor", "array", "foreign", "callable", "float32"]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=12,
)


@QUICK
@given(JSON, some.binary(max_size=16))
def test_any_json_is_a_message_or_refused(form, body):
    with contextlib.suppress(BrokenMessage):
        assert isinstance(unpack(json.dumps(form).encode(), body, None), dict)


@QUICK
@given(some.data())
def test_a_message_that_is_damaged_is_refused_or_another(data):
    form, body = pack({"a": [torch.zeros(3), "b"], "c": (1.5, None)}, None)
    where = data.draw(some.integers(0, len(form) - 1))
    damaged = form[:where] + data.draw(some.binary(min_size=1, max_size=1)) + form[where + 1 :]
    with contextlib.suppress(BrokenMessage):
        unpack(damaged, body, None)


def test_messages_arrive_one_after_the_other(pair):
    ours, theirs = pair
    large = torch.arange(2**18)
    sender = threading.Thread(target=lambda: [send(theirs, {"n": n, "t": large}) for n in range(3)])
    sender.start()
    arrived = [receive(ours) for _ in range(3)]
    sender.join()
    assert [message["n"] for message in arrived] == [0, 1, 2]
    assert all(same(message["t"], large) for message in arrived)


@pytest.mark.parametrize("cut", [0, 5, 12, 20])
def test_half_a_message_is_refused(pair, cut):
    ours, theirs = pair
    form, body = pack({"a": torch.zeros(3)}, None)
    theirs.sendall((HEAD.pack(len(form), len(body)) + form + body)[:cut])
    theirs.close()
    with pytest.raises(NobodyThere):
        receive(ours)


@pytest.mark.parametrize("lengths", [(2**32 - 1, 0), (2, 2**63), (2, 2**28 + 1), (2**23 + 1, 0)])
def test_a_message_that_says_it_is_huge_is_refused_before_it_arrives(pair, lengths):
    ours, theirs = pair
    theirs.sendall(struct.pack("!IQ", *lengths))
    with pytest.raises(BrokenMessage, match="too large"):
        receive(ours)


def test_memory_is_taken_for_what_has_arrived_and_not_for_what_is_announced(pair):
    ours, theirs = pair
    theirs.sendall(HEAD.pack(2, 2**28) + b"{}" + bytes(1000))
    theirs.close()
    tracemalloc.start()
    with pytest.raises(NobodyThere):
        receive(ours)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_who_sends_a_byte_now_and_then_gets_no_more_time(pair):
    ours, theirs = pair
    ours.settimeout(0.3)
    theirs.sendall(HEAD.pack(100, 0))  # five seconds of bytes, and then no message
    over = threading.Event()

    def drip() -> None:
        while not over.wait(0.05):
            theirs.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(TimeoutError):
        receive(ours)
    over.set()
    thread.join()
    assert ours.gettimeout() == 0.3


def test_nobody_reads(pair):
    ours, theirs = pair
    theirs.close()
    with pytest.raises(NobodyThere):
        send(ours, {"a": torch.zeros(2**20)})


def test_nobody_reads_in_time(pair):
    ours, _ = pair
    ours.settimeout(0.1)
    with pytest.raises(TimeoutError):
        send(ours, {"a": torch.zeros(2**22)})
