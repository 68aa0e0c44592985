"""Switches of the whole process are the course's during a check, and the student's after it."""

import cProfile
import decimal
import gc
import random
import signal
import sys
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hintgrader.worker.process_switches import SWITCHES, course_values
from hintgrader.worker.submission import LocalSubmission
from torch._subclasses.fake_tensor import FakeTensorMode

from attn_bank import check
from tests.confined import HONEST, RIGHT, SPARED, TRIED, grade, is_full

SOFTMAX = "01_retrieval/softmax"


def by_hand(scores):
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


@contextmanager
def set_to(write, value, before):
    write(value)
    try:
        yield
    finally:
        write(before)


def traces(*_: object) -> None:
    """Stand for a debugger."""


@contextmanager
def warnings_as_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def precision(value: str) -> None:
    torch.backends.mkldnn.matmul.fp32_precision = value


SETTINGS = {
    "inference mode": torch.inference_mode,
    "no gradients": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "a default dtype": lambda: set_to(torch.set_default_dtype, torch.float64, torch.float32),
    "a default device": lambda: set_to(torch.set_default_device, "meta", None),
    "a device for now": lambda: torch.device("meta"),
    "tensors that are none": FakeTensorMode,
    "deterministic": lambda: set_to(torch.use_deterministic_algorithms, True, False),
    "anomalies": lambda: set_to(torch.set_anomaly_enabled, True, False),
    "products in bfloat16": lambda: set_to(torch.set_float32_matmul_precision, "medium", "highest"),
    "the same in other words": lambda: set_to(precision, "bf16", "ieee"),
    "threads": lambda: set_to(torch.set_num_threads, 3, 1),
    "no denormals": lambda: set_to(torch.set_flush_denormal, True, False),
    "numpy's errors": lambda: np.errstate(all="raise"),
    "short decimals": lambda: decimal.localcontext(decimal.Context(prec=2)),
    "no recursion": lambda: set_to(sys.setrecursionlimit, 400, sys.getrecursionlimit()),
    "no collector": lambda: set_to(lambda on: gc.enable() if on else gc.disable(), False, True),
    "a debugger": lambda: set_to(sys.settrace, traces, sys.gettrace()),
    "warnings": warnings_as_errors,
}


def settings() -> list[object]:
    """All that can be read of the present state; what is drawn by chance as well."""
    modes = torch.is_inference_mode_enabled(), list(warnings.filters)
    drawn = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002 - the old one
    return [repr(switch.read()) for switch in SWITCHES] + [*modes, *drawn]


def look() -> list[str]:
    """All that an answer finds set; the two words for full precision are one to it."""
    found = [repr(one.read()).replace("ieee", "none") for one in SWITCHES]
    return [*found, str(torch.zeros(1).is_inference())]


@pytest.mark.parametrize("switch", SWITCHES)
def test_switch_takes_the_value_that_it_has_and_the_course_s(switch):
    before = switch.read()
    try:
        switch.write(switch.course(before))
        assert repr(switch.read()) == repr(switch.course(before))
    finally:
        switch.write(before)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_whatever_is_set_an_answer_runs_as_in_the_course_and_it_is_set_again(setting):
    ours = LocalSubmission(look).call({}).output
    with setting():
        before = settings()
        assert LocalSubmission(look).call({}).output == ours
        assert settings() == before
        assert check(SOFTMAX, by_hand) == check(SOFTMAX, by_hand) == 4
        assert settings() == before


def test_what_an_answer_sets_is_set_for_its_call_alone():
    def spoil() -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_float32_matmul_precision("medium")
        torch.set_grad_enabled(False)
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        np.seterr(all="raise")
        warnings.simplefilter("error")
        sys.setrecursionlimit(10_000)

    before = settings()
    assert LocalSubmission(spoil).call({}).error is None
    assert settings() == before


def test_check_within_a_transform_and_with_a_course_set_twice_is_the_same():
    points = []

    def ask(number):
        points.append(float(check(SOFTMAX, by_hand)))
        return number.sum()

    torch.vmap(ask)(torch.zeros(3, 2))
    torch.func.grad(ask)(torch.zeros(3))
    with course_values(), course_values():
        ask(torch.zeros(3))
    assert points == [4, 4, 4]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_timers_of_a_student_go_on_after_a_check_and_do_not_ring_within_it():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(answering[0]))
    answering = [False]

    def answer() -> None:
        answering[0] = True
        time.sleep(0.05)
        answering[0] = False

    try:
        signal.setitimer(signal.ITIMER_REAL, 100, 7)
        LocalSubmission(answer).call({})
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 90 < left < 100
        assert interval == 7
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        assert LocalSubmission(answer).call({}).error is None
        time.sleep(0.05)
        assert rung == [False]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_a_notebook_sets_costs_nothing_when_it_is_graded(process):
    cells = """torch.set_num_threads(64)
assert torch.get_num_threads() == 64
torch.set_num_interop_threads(64)
torch.set_float32_matmul_precision("medium")
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
torch.inference_mode().__enter__()
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)
import gc, os, signal, sys, warnings
import numpy
gc.disable()
numpy.seterr(all="raise")
warnings.simplefilter("error")
sys.settrace(lambda *_: None)
signal.signal(signal.SIGPROF, lambda *_: 1 / 0) and None
signal.setitimer(signal.ITIMER_PROF, 0.1, 0.1)
assert os.cpu_count() == 1"""
    graded = grade(process, cells, RIGHT, TRIED, HONEST, SPARED)
    assert not graded.shown[1]["error"]
    assert all(map(is_full, graded.parts.values())), graded.parts


def test_profiler_written_in_c_goes_on_after_a_check() -> None:
    def afterwards() -> None: ...

    profiler = cProfile.Profile()
    profiler.enable()
    try:
        with course_values():
            assert sys.getprofile() is None
        afterwards()
    finally:
        profiler.disable()
    assert afterwards.__code__ in {entry.code for entry in profiler.getstats()}


def test_decimals_of_an_answer_are_not_those_of_the_student() -> None:
    own = decimal.getcontext()
    with course_values():
        decimal.getcontext().prec = 3
    with course_values():
        assert decimal.getcontext().prec == 28
    assert decimal.getcontext() is own
