"""Measuring what a call makes of its memory and of torch, for laws about more than its output.

A law measures inside a `with` block:

    with Largest() as largest:
        output = call(inputs)

Where the answer runs in another process, instruments of the same names are opened there around the
call (`measure_here`), and their readings sent back. The grader's own rest meanwhile (`paused`), and
the readings are added to them.
"""

import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attn_grade.inside.dispatch import Onlooker

EXPONENTIALS = {"exp", "exp2", "expm1", "softmax", "log_softmax", "logsumexp", "logaddexp"}
Readings = dict[str, Any]  # from a process that may send anything; `add` checks them


class Instrument(Onlooker):
    """Looks on at every operation of torch inside the `with` block, unless it is paused."""

    _active: ContextVar[tuple["Instrument", ...]] = ContextVar("active", default=())

    def __init__(self) -> None:
        super().__init__()
        self.is_paused = False

    def __enter__(self) -> Self:
        self._before = self._active.set((*active_instruments(), self))
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._active.reset(self._before)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if not self.is_paused:
            self._note(func, args, made)
        return made

    def _note(self, func: Any, args: Any, made: Any) -> None:
        """Look at an operation, what it was given and what it made."""
        raise NotImplementedError

    def readings(self) -> Readings:
        """The readings, as plain data."""
        raise NotImplementedError

    def add(self, readings: Readings) -> None:
        """Add readings from another process to those of this one.

        Raises:
            KeyError: Something is missing from the readings.
            TypeError, ValueError: Something in them is no number.
        """
        raise NotImplementedError


def active_instruments() -> tuple[Instrument, ...]:
    """The instruments whose `with` block is open in this thread, from the outermost to the
    innermost."""
    return Instrument._active.get()


@contextmanager
def paused() -> Iterator[tuple[Instrument, ...]]:
    """The active instruments, which see nothing of what is done inside the `with` block."""
    instruments = active_instruments()
    before = [instrument.is_paused for instrument in instruments]
    try:
        for instrument in instruments:
            instrument.is_paused = True
        yield instruments
    finally:
        for instrument, rested in zip(instruments, before, strict=True):
            instrument.is_paused = rested


@contextmanager
def measure_here(names: list[str]) -> Iterator[list[Instrument]]:
    """New instruments by the names of their classes, at work inside the `with` block.

    Raises:
        KeyError: There is no instrument of such a name.
    """
    instruments: list[Instrument] = [INSTRUMENTS[name]() for name in names]
    with ExitStack() as stack:
        list(map(stack.enter_context, instruments))
        yield instruments


class Largest(Instrument):
    """Notes the largest tensor that is stored.

    Attributes:
        numbers: How many numbers it stores; a view, such as that of `expand`, stores none.
        shape: Its shape.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers, self.shape = 0, tuple[int, ...]()

    def _note(self, func: Any, args: Any, made: Any) -> None:
        for tensor in filter(torch.is_tensor, tree_leaves(made)):
            self._compare(stored(tensor), tensor.shape)

    def _compare(self, numbers: int, shape: tuple[int, ...]) -> None:
        if numbers > self.numbers:
            self.numbers, self.shape = numbers, tuple(shape)

    def readings(self) -> Readings:
        return {"numbers": self.numbers, "shape": self.shape}

    def add(self, readings: Readings) -> None:
        self._compare(int(readings["numbers"]), tuple(map(int, readings["shape"])))


class Kept(Largest):
    """Notes as well how much is stored at one time, and what is raised to powers together.

    Attributes:
        held: The most numbers in all tensors that were alive together.
        raised: Lengths of all axes of what went through an exponential or a softmax.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held = self._now = 0
        self.raised: set[int] = set()
        self._users: Counter[int] = Counter()
        self._alive: dict[int, weakref.ref[Tensor]] = {}

    def _note(self, func: Any, args: Any, made: Any) -> None:
        super()._note(func, args, made)
        for tensor in filter(torch.is_tensor, tree_leaves(made)):
            self._keep(tensor)
        name = func.overloadpacket.__name__.strip("_")
        if name in EXPONENTIALS or (name == "pow" and func._overloadname != "Tensor_Scalar"):
            self.raised.update(*(getattr(one, "shape", ()) for one in tree_leaves(args)))

    def _keep(self, tensor: Tensor) -> None:
        place, numbers = tensor.untyped_storage().data_ptr(), stored(tensor)

        def let_go(reference: weakref.ref[Tensor]) -> None:
            del self._alive[id(reference)]
            self._users[place] -= 1
            self._now -= 0 if self._users[place] else numbers

        self._now += 0 if self._users[place] else numbers
        self._users[place] += 1
        watch = weakref.ref(tensor, let_go)
        self._alive[id(watch)] = watch
        self.held = max(self.held, self._now)

    def readings(self) -> Readings:
        return super().readings() | {"held": self.held, "raised": tuple(sorted(self.raised))}

    def add(self, readings: Readings) -> None:
        super().add(readings)
        self.held = max(self.held, int(readings["held"]))
        self.raised.update(map(int, readings["raised"]))


class Count(Instrument):
    """Counts how often torch is asked for something, as `number`, for laws about loops."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def _note(self, func: Any, args: Any, made: Any) -> None:
        self.number += 1

    def readings(self) -> Readings:
        return {"number": self.number}

    def add(self, readings: Readings) -> None:
        self.number += int(readings["number"])


def stored(tensor: Tensor) -> int:
    """The number of elements that a tensor's memory has room for."""
    return tensor.untyped_storage().nbytes() // tensor.element_size()


INSTRUMENTS: dict[str, type[Instrument]] = {kind.__name__: kind for kind in (Largest, Kept, Count)}
