"""The context in which an answer is called: silent, with its own randomness and a time limit."""

import io
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import numpy as np
import torch

from hintgrader.worker.clock import Clock, idle_limit
from hintgrader.worker.time_limits import SOON


class OutOfTime(BaseException):
    """A call computed for too long; no `except Exception` of the answer can swallow this."""


class Stalled(BaseException):
    """A call waited for too long, and computed nothing meanwhile."""


class _Sink(io.TextIOBase):
    """Swallows what an answer prints, however much."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress the output of an answer."""
    with redirect_stdout(_Sink()), redirect_stderr(_Sink()):
        yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed all random numbers for a call, and restore their states afterwards."""
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - old or not
    with torch.random.fork_rng():
        seed_all(seed)
        try:
            yield
        finally:
            random.setstate(of_python)
            np.random.set_state(of_numpy)  # noqa: NPY002


def seed_all(seed: int) -> None:
    """Seed the random numbers of Python, numpy and torch."""
    # where there is no accelerator, `torch.manual_seed` keeps a traceback for when one comes, in
    # most of the time of a call
    set_seed = torch.manual_seed if torch.accelerator.is_available() else _seed_processor
    set_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


def _seed_processor(seed: int) -> None:
    torch.default_generator.manual_seed(seed)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Interrupt a call that does not come back; signals reach the main thread only.

    The limit is of processor time. The timer counts what passes, as only such a one wakes who
    sleeps; when it rings too early it is set again.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    clock, most_idle = Clock(), idle_limit(seconds)

    def stop(*_: object) -> None:
        computed, idle = clock.computed, clock.idle
        if computed >= seconds:
            raise OutOfTime(f"it did not return within {seconds:g} seconds of computing")
        if idle >= most_idle:
            raise Stalled(f"it waited for {most_idle:g} seconds in which it computed nothing")
        left = min(seconds - computed, most_idle - idle)
        signal.setitimer(signal.ITIMER_REAL, max(SOON, left))

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
