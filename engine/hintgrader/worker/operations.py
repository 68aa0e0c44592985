"""Noticing what PyTorch's dispatcher is asked for, by whichever name, from whichever code.

PyTorch notes operators for its profilers where it dispatches them: those that are made of others
too, those that scripted code calls, and those of code that has switched off the modes by which
Python looks on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch._C import TensorBase
from torch._C._profiler import ActiveProfilerType
from torch.autograd.profiler_legacy import profile
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode

from hintgrader.worker.plain import without_modes

OFTEN = (
    2000  # calls of torch, after which what has been noted is read: it takes half a kilobyte each
)
BACKWARD, SCRIPTED = 1, 2  # of `torch::RecordScope`: a node of autograd, and a scripted function
MARK = "aten::is_same_size"  # what is asked for last
Note = Callable[[str, bool], None]  # takes a name, and whether it is that of scripted code

_profilers = torch._C._autograd
_enable, _disable = _profilers._enable_profiler_legacy, _profilers._disable_profiler_legacy
_disable_other, _is_noting = _profilers._disable_profiler, _profilers._profiler_enabled
_mark, _one = TensorBase.is_same_size, torch.zeros(())
_CONFIG = profile().config()


class Escaped(Exception):
    """Operators have been called that were not noted."""


class Operations(TorchFunctionMode):
    """Reads what the dispatcher is asked for, now and then, and hands on each name once.

    Args:
        note: What the names are handed to.
    """

    def __init__(self, note: Note) -> None:
        super().__init__()
        self.note = note
        self._calls, self._seen = 0, set[tuple[str, int]]()
        self._is_reading = False  # which the timer of an answer may interrupt

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self._calls += 1
        if self._calls % OFTEN == 0:
            self.read_on()
        return func(*args, **(kwargs or {}))

    def read_on(self) -> None:
        """Hand on what has been noted so far."""
        self._is_reading = True
        self.read()
        begin()
        self._is_reading = False

    def read(self) -> None:
        """Hand on what has been noted, and stop noting.

        Raises:
            Escaped: Somebody has stopped it before, or has kept it from seeing.
        """
        with without_modes():
            _mark(_one, _one)
        try:
            threads = _disable()
        except RuntimeError:
            raise Escaped from None
        noted = [one for thread in threads for one in _pushed(thread)]
        if not noted or noted[-1][0] != MARK:
            raise Escaped
        new = [pair for pair in dict.fromkeys(noted) if pair not in self._seen]
        self._seen.update(new)
        for name, scope in new:
            # there are scripted functions, too, by which torch itself takes operators apart
            is_scripted = scope == SCRIPTED and "::" not in name
            self.note(f"autograd::{name}" if scope == BACKWARD else name, is_scripted)


def _pushed(events: list[Any]) -> Iterator[tuple[str, int]]:
    """Yield the name and the scope of what is called.

    Scripted functions that call nothing are left out: they give defaults.
    """
    for event, following in pairwise(events):
        if event.kind() == "push":
            scope = event.scope()
            if scope != SCRIPTED or following.kind() != "pop":
                yield event.name(), scope


@contextmanager
def operations(note: Note) -> Iterator[Operations]:
    """Hand on what the dispatcher is asked for inside the `with` block, by its end.

    Raises:
        Escaped: See `Operations.read`.
    """
    begin()
    mode = Operations(note)
    mode.__enter__()
    try:
        yield mode
    finally:
        while mode in _get_current_function_mode_stack() and _pop_mode() is not mode:
            pass  # what the block has put above it, and left there
        if not mode._is_reading:
            mode.read()


def begin() -> None:
    """Begin to note; of two that note, the one that was there gives way."""
    if _is_noting():
        is_legacy = _profilers._profiler_type() == ActiveProfilerType.LEGACY
        (_disable if is_legacy else _disable_other)()
    _profilers._enable_record_function(True)
    _enable(_CONFIG)
