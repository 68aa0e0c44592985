"""Limits count what is computed: a busy machine costs no points, and nobody sleeps for ever."""

import os
import subprocess
import sys
import time

import psutil
import pytest
import torch

from hintgrader.autograde import command
from hintgrader.autograde.command import AutogradeOptions
from hintgrader.pipeline.tasks import Task
from hintgrader.records.records import PartRecord, SubmissionRecord
from hintgrader.supervisor.budget import Budget, Request
from hintgrader.supervisor.processor_time import Usage, usage_of
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker import clock, submission
from hintgrader.worker.clock import Clock
from hintgrader.worker.submission import LocalSubmission
from hintgrader.worker.time_limits import IDLE_SECONDS, PATIENCE

BURN = "while True: pass"


@pytest.fixture
def burners():
    """Other programs, four for each processor, that want it all."""
    number = 4 * len(os.sched_getaffinity(0))
    running = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(number)]
    yield running
    for process in running:
        process.kill()
        process.wait()


def computes(seconds: float) -> str:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return "done"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="for Linux")
def test_call_is_not_late_because_others_are_at_work(burners, monkeypatch):
    monkeypatch.setattr(clock, "IDLE_SECONDS", 1.0)
    measured, began = Clock(), time.monotonic()
    assert LocalSubmission(lambda: computes(0.2)).call({}, seconds=0.4).output == "done"
    assert time.monotonic() - began > 0.4  # or they have not been in the way
    assert measured.idle < 0.5


def test_call_that_waits_is_ended_once_and_is_not_called_late(monkeypatch):
    monkeypatch.setattr(clock, "IDLE_SECONDS", 0.3)
    calls = []
    sleeps = LocalSubmission(lambda: calls.append(time.sleep(99)))
    monkeypatch.setattr(submission, "CALL_SECONDS", 0.2)
    said = "it waited for 0.3 seconds in which it computed nothing"
    assert [sleeps.call({}).error for _ in range(3)] == [("Stalled", said)] * 3
    assert sleeps.call({}).stalled
    assert torch.is_grad_enabled()


def test_usage_of_processes_is_what_they_have_computed(burners):
    mine = [psutil.Process(burners[0].pid)]
    before = usage_of(mine)
    while (now := usage_of(mine)).computed < before.computed + 0.1:
        time.sleep(0.05)
    passed, computed = now.at - before.at, now.computed - before.computed
    if sys.platform == "linux":
        assert passed - computed - (now.queued - before.queued) < 0.5 * passed


def request_that_uses(budget: Budget, *usages: Usage, seconds: float = 10.0) -> Request:
    latest = list(usages)
    return Request(seconds, budget, lambda: latest.pop(0) if len(latest) > 1 else latest[0])


@pytest.mark.parametrize(
    ("usage", "cause"),
    [
        (Usage(at=1000, computed=9, queued=990), None),  # others had the processors
        (Usage(at=1000, computed=11, queued=980), Cause.SLOW_REQUEST),
        (Usage(at=30, computed=1), None),
        (Usage(at=IDLE_SECONDS + PATIENCE + 1, computed=1), Cause.STALLED),
        (Usage(at=2, computed=40), Cause.SLOW_REQUEST),
    ],
)
def test_request_may_compute_for_a_while_and_wait_for_a_while(usage, cause):
    request = request_that_uses(Budget(), Usage(at=0), usage)
    if cause is None:
        request.check()
    else:
        with pytest.raises(Termination) as ended:
            request.check()
        assert ended.value.cause is cause
        assert (ended.value.waited, ended.value.out_of_time) == (
            cause is Cause.STALLED,
            cause is not Cause.STALLED,
        )


def test_many_requests_together_wait_no_longer_than_the_notebook_may():
    budget = Budget(60.0)
    for _ in range(2):
        request_that_uses(budget, Usage(at=0), Usage(at=25, computed=1)).check()
    with pytest.raises(Termination, match="the whole notebook had waited for 60 seconds") as ended:
        request_that_uses(budget, Usage(at=0), Usage(at=25, computed=1)).check()
    assert ended.value.waited


def test_what_the_grader_computes_for_an_answer_is_not_idle_time():
    latest = [Usage(at=time.monotonic())]
    budget = Budget(100.0)
    request = Request(10.0, budget, lambda: latest[-1])
    with request.answering():
        computes(0.2)
    latest.append(Usage(at=time.monotonic()))
    request.check()
    assert budget.idle < 0.1
    assert budget.computed == pytest.approx(0.2, abs=0.1)


def record(student: str, state: str) -> SubmissionRecord:
    part = PartRecord("softmax-check", "01_retrieval/softmax", 0.0, 4.0, state)
    return SubmissionRecord("01_retrieval", student, state, parts=(part,))


def test_who_only_waited_is_graded_again_alone(monkeypatch, tmp_path):
    asked = []

    def grade_locally(tasks, jobs):
        asked.append([(task.student, task.force) for task in tasks])
        for task in tasks:
            waits = task.student == "sleepy" or (task.student == "unlucky" and not task.force)
            yield task, record(task.student, "not graded" if waits else "graded")

    monkeypatch.setattr(command, "grade_locally", grade_locally)
    tasks = [Task("", "01_retrieval", name) for name in ("ada", "sleepy", "unlucky")]
    options = AutogradeOptions(tmp_path, "01_retrieval", jobs=2)
    found = {task.student: one.state for task, one in command._outcomes(options, tasks)}
    assert found == {"ada": "graded", "sleepy": "not graded", "unlucky": "graded"}
    assert asked == [
        [("ada", False), ("sleepy", False), ("unlucky", False)],
        [("sleepy", True)],
        [("unlucky", True)],
    ]
