"""The common part of all instruments: they look on at torch, and rest where the grader works."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from hintgrader.worker.dispatch import Onlooker

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
        """Add readings from another process to the readings of this one.

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
