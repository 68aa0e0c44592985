"""Switches of the whole process: what a notebook sets there must not change what a check finds.

While a check is at work, and for each call of an answer anew, all of them are as the course has
them. Afterwards they are as they were.
"""

import decimal
import gc
import locale
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from hintgrader.worker.switch import Switch, fixed
from hintgrader.worker.time_limits import SOON
from hintgrader.worker.torch_switches import TORCH_SWITCHES

RECURSION = 3000  # calls within each other; whoever allows more keeps that
DECIMALS = decimal.Context(prec=28, rounding=decimal.ROUND_HALF_EVEN)
PRINTED = np.get_printoptions()  # how arrays are
ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
# The timers of a process, of which Windows has none, and what each of them counts.
TIMERS = {"ITIMER_REAL": time.monotonic}
TIMERS |= {"ITIMER_VIRTUAL": time.process_time, "ITIMER_PROF": time.process_time}
CONTEXTS: tuple[Callable[[], AbstractContextManager[Any]], ...] = (
    partial(torch.inference_mode, False),  # and what is made here may be differentiated
    temporarily_clear_interpreter_stack,  # of `torch.vmap` and the like
    warnings.catch_warnings,
    partial(decimal.localcontext, DECIMALS),
)


@contextmanager
def course_values() -> Iterator[None]:
    """Set all switches to the course's values inside the `with` block, and put them back."""
    with _timers_stopped(), ExitStack() as stack:
        before = _read_all()
        stack.callback(_put_back, before)
        write_all(
            SWITCHES, [switch.course(now) for switch, now in zip(SWITCHES, before, strict=True)]
        )
        for context in CONTEXTS:
            stack.enter_context(context())
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _timers_stopped() -> Iterator[None]:
    """Stop all timers; afterwards they ring when they would have, or at once if that has passed.

    One of the student's would interrupt the grader as well, in the middle of whatever it does.
    """
    clocks = [(getattr(signal, name, None), clock) for name, clock in TIMERS.items()]
    timers = [(kind, clock) for kind, clock in clocks if kind is not None]
    before = [(kind, clock, clock(), *signal.setitimer(kind, 0)) for kind, clock in timers]
    try:
        yield
    finally:
        for kind, clock, began, left, interval in before:
            if left:
                signal.setitimer(kind, max(SOON, left - (clock() - began)), interval)


def _read_all() -> list[Any]:
    return [switch.read() for switch in SWITCHES]


def _put_back(before: list[Any]) -> None:
    # the latest first: a general one, written before, is not taken for one that it governs
    write_all(SWITCHES[::-1], before[::-1])


def write_all(switches: tuple[Switch, ...], values: list[Any]) -> None:
    if [switch.read() for switch in switches] == values:
        return  # as for nearly every call
    for switch, value in zip(switches, values, strict=True):
        if switch.read() != value:
            with suppress(Exception):  # one that cannot be moved must not keep the others
                switch.write(value)


def set_profiler(profiler: Any) -> None:
    """Set what `sys.getprofile` gave: a function, or the object of a profiler in C."""
    is_function = profiler is None or callable(profiler)
    sys.setprofile(profiler) if is_function else profiler.enable()


SWITCHES = (
    fixed(sys.gettrace, sys.settrace, None),
    fixed(sys.getprofile, set_profiler, None),
    *TORCH_SWITCHES,
    fixed(np.get_printoptions, lambda value: np.set_printoptions(**value), PRINTED),
    fixed(np.geterr, lambda value: np.seterr(**value), ERRORS),
    fixed(gc.isenabled, lambda value: gc.enable() if value else gc.disable(), True),
    fixed(sys.getswitchinterval, sys.setswitchinterval, 0.005),
    fixed(sys.get_int_max_str_digits, sys.set_int_max_str_digits, 4300),
    Switch(sys.getrecursionlimit, sys.setrecursionlimit, lambda now: max(now, RECURSION)),
    *(
        fixed(partial(locale.setlocale, kind), partial(locale.setlocale, kind), "C")
        for kind in (locale.LC_COLLATE, locale.LC_NUMERIC, locale.LC_TIME)
    ),
)
