"""The context in which an answer is called: silent, with its own randomness and a time limit."""

import io
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import torch


class OutOfTime(BaseException):
    """A call did not come back; no `except Exception` of the answer can swallow this."""


class _Sink(io.TextIOBase):
    """Swallows what an answer prints, however much."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress the output and the warnings of an answer."""
    with warnings.catch_warnings(), redirect_stdout(_Sink()), redirect_stderr(_Sink()):
        warnings.simplefilter("ignore")
        with torch.enable_grad():  # whatever an earlier cell has switched off
            yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random numbers for a call, and restore their state afterwards."""
    with torch.random.fork_rng():
        # where there is no accelerator, `torch.manual_seed` keeps a traceback for when one comes,
        # in most of the time of a call
        set_seed = torch.manual_seed if torch.accelerator.is_available() else _seed_processor
        set_seed(seed)
        yield


def _seed_processor(seed: int) -> None:
    torch.default_generator.manual_seed(seed)


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Interrupt a call that does not come back; signals reach the main thread only."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTime(f"it did not return within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
