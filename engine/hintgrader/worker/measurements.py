"""Measuring what a call makes of its memory and of torch, for invariants that ask for it.

An invariant measures inside a `with` block:

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
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from hintgrader.worker.instrument import Instrument, Readings

EXPONENTIALS = {"exp", "exp2", "expm1", "softmax", "log_softmax", "logsumexp", "logaddexp"}
# Matrix products, with the place of the factor whose last axis is summed over.
PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}


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
        numbers: How many numbers it stores; a view, such as `expand` gives, stores none.
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
    """Counts what torch is asked for, for laws about loops and about work.

    Attributes:
        number: How often it is asked for something.
        made: How many numbers the tensors have that it makes.
        products: How many pairs of numbers its matrix products multiply.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = self.made = self.products = 0

    def _note(self, func: Any, args: Any, made: Any) -> None:
        self.number += 1
        leaves = [made] if isinstance(made, Tensor) else tree_leaves(made)  # which takes longer
        self.made += sum(tensor.numel() for tensor in filter(torch.is_tensor, leaves))
        if (factor := PRODUCTS.get(func.overloadpacket.__name__)) is not None:
            self.products += made.numel() * args[factor].shape[-1]

    def readings(self) -> Readings:
        return {"number": self.number, "made": self.made, "products": self.products}

    def add(self, readings: Readings) -> None:
        self.number += int(readings["number"])
        self.made += int(readings["made"])
        self.products += int(readings["products"])


def stored(tensor: Tensor) -> int:
    """The number of elements that a tensor's memory has room for."""
    return tensor.untyped_storage().nbytes() // tensor.element_size()


INSTRUMENTS: dict[str, type[Instrument]] = {kind.__name__: kind for kind in (Largest, Kept, Count)}
