"""The memory of the grader's own process: what comes back is measured before it is touched."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from os import dup
from pathlib import Path
from socket import socket

import pytest
import torch
from hintgrader.autograde.pool import grade_locally
from hintgrader.checking.case import Case, draw_cases
from hintgrader.checking.compare import difference
from hintgrader.checking.invariant import MOST_NUMBERS, numbers_in
from hintgrader.checking.judge import NO_MEMORY, examine, examine_one
from hintgrader.pipeline.tasks import Failure, Task
from hintgrader.records.records import SubmissionRecord
from hintgrader.supervisor.channel import Channel
from hintgrader.supervisor.own_memory import GRADER_MEMORY
from hintgrader.supervisor.remote_submission import RemoteSubmission
from hintgrader.supervisor.termination import Cause
from hintgrader.worker import wire
from hintgrader.worker.submission import Outcome

from attn_bank import BANK

LENGTH = 2_000_000  # taken apart into numbers, a tensor of so many takes more than a gigabyte
ODD = {
    "a line": torch.zeros(LENGTH),
    "a column": torch.zeros(LENGTH, 1, dtype=torch.int64),
    "a row among others": torch.zeros(1, LENGTH, 1),
    "three lines": (torch.zeros(LENGTH),) * 3,
}
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by Linux")


class Returns:
    """Stands for a submission that answers all questions alike."""

    def __init__(self, output: object) -> None:
        self.output = output

    def call(self, *_: object, **__: object) -> Outcome:
        if isinstance(self.output, BaseException):
            raise self.output
        return Outcome(self.output)

    def supports(self, device: str) -> bool:
        return device == "cpu"

    def overwritten(self) -> tuple[()]:
        return ()


def law_trials() -> list[Case]:
    """A draw of each check of the bank that is a law, and is not slow."""
    exercises = map(BANK.find, BANK.names())
    checks = [(e, c) for e in exercises for c in e.checks if c.invariant and not c.slow]
    return [draw_cases(exercise, check, None)[0] for exercise, check in checks]


def most_memory() -> int:
    """Bytes that this process has used at most since that was forgotten."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def forget_most_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5")


@linux_only
def test_laws_take_nothing_apart_that_is_far_too_large() -> None:
    cases = law_trials()
    for case in cases:
        _ = case.plain  # the right answer may well take memory
    forget_most_memory()
    before = most_memory()
    for case in cases:
        for kind, output in ODD.items():
            found = examine_one(case, Returns(output))
            assert found is not None, (case.check.label, kind)
    assert most_memory() - before < 100_000_000


def test_evidence_that_is_kept_of_a_wrong_output_is_small() -> None:
    exercise = BANK.find("01_retrieval/softmax")
    huge = torch.zeros(1, MOST_NUMBERS + 1)
    findings = examine(exercise, Returns(huge), None)
    kept = [finding.evidence for found in findings for finding in found]
    assert f"a tensor of shape {tuple(huge.shape)}" in kept
    assert max(map(numbers_in, kept)) < 100


def test_part_for_which_there_is_no_memory_says_so() -> None:
    exercise = BANK.find("01_retrieval/softmax")
    findings = examine(exercise, Returns(MemoryError()), None)
    assert {finding.reason for found in findings for finding in found} == {NO_MEMORY}


@pytest.mark.parametrize("exact", [True, None, "a word"])
def test_tensor_in_the_place_of_a_word_is_wrong_and_no_error(exact: object) -> None:
    check = BANK.find("01_retrieval/softmax").checks[0]
    assert difference(torch.zeros(3), exact, exact, check)


def takes_too_much(task: Task) -> SubmissionRecord:
    """Grade, for one of the class, with more memory than the process may have."""
    if task.student == "eve":
        # Far above, since a process that has run for long can give back much of what it had.
        torch.empty(2 * GRADER_MEMORY, dtype=torch.uint8)
    return SubmissionRecord(task.assignment, task.student, "graded")


@linux_only
def test_submission_above_the_limit_is_said_and_the_class_goes_on() -> None:
    tasks = [Task("course", "set", student) for student in ("ada", "eve", "grace")]
    outcomes = {task.student: found for task, found in grade_locally(tasks, 1, takes_too_much)}
    assert isinstance(outcomes["eve"], Failure)
    assert "memory" in outcomes["eve"].reason
    assert [outcomes[name].state for name in ("ada", "grace")] == ["graded"] * 2


def test_answer_that_sends_too_much_loses_its_snapshot_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unpack(*_: object) -> None:
        raise MemoryError  # as where the limit is reached

    monkeypatch.setattr(wire, "unpack", unpack)
    channel = Channel(lambda: None)
    with closing(channel), socket(fileno=dup(channel.take_other_end())) as theirs:
        wire.send(theirs, {"output": torch.zeros(3)})
        submission = RemoteSubmission(channel)
        outcome = submission.call({})
    assert outcome.error == ("", "it sent more than fits in memory")
    assert submission.trouble.cause is Cause.TOO_MUCH
    assert not submission.trouble.out_of_time  # and so the part is said to have crashed
