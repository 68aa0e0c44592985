"""Grading that is interrupted, killed or done twice at once: nothing is lost, nothing is left."""

import io
import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path

import psutil
import pytest
from hintgrader.autograde.command import AutogradeOptions, autograde
from hintgrader.autograde.pool import grade_locally
from hintgrader.pipeline import grade as grader
from hintgrader.pipeline.locate import HandIn
from hintgrader.pipeline.tasks import Failure, Task
from hintgrader.records.records import SubmissionRecord
from hintgrader.supervisor.isolation import strongest
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from hintgrader.worker.level import Level
from rich.console import Console

from tests.engine.autograding import (
    begin,
    cells_of,
    have_ended,
    needs_linux,
    notebook_of,
    processes_with,
    small_course,
    until,
    with_submission,
)
from tests.engine.odd_submissions import by_name, change_notebook
from tests.engine.test_nbgrader import FIRST
from tests.sampling import left_to_proofs

pytestmark = needs_linux


@pytest.fixture
def copy(tmp_path_factory, tmp_path) -> Iterator[Path]:
    """A course of its own for a test, with nothing handed in."""
    with seed_of_no_other_course():
        released = small_course(tmp_path_factory.getbasetemp())
        yield Path(shutil.copytree(released, tmp_path / "course"))


@pytest.fixture
def temporary(tmp_path) -> Path:
    """The folder for the command's temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def records_in(course: Path) -> dict[str, int]:
    """Students with a record, and when it was written."""
    found = (course / "grading" / "results" / FIRST).glob("*.json")
    return {path.stem: path.stat().st_mtime_ns for path in found}


def test_interrupted_command_goes_on_where_it_stopped(copy, temporary):
    students = [f"s{number}" for number in range(3)]
    for student in students:
        hand_in(copy, FIRST, student, {})
    command = begin(copy, temporary, "--jobs", "1")
    until(lambda: len(records_in(copy)) >= 1)
    os.killpg(command.pid, signal.SIGINT)  # as a terminal does
    _, complaint = command.communicate(timeout=60)
    assert command.returncode == 130
    assert complaint.startswith("Interrupted. Finished submissions are kept")
    done = records_in(copy)
    assert 1 <= len(done) < len(students)
    assert processes_with(temporary) == []
    assert list(temporary.iterdir()) == []
    assert autograde(AutogradeOptions(copy, FIRST, jobs=1), silent())
    assert records_in(copy).keys() == set(students)
    assert {student: records_in(copy)[student] for student in done} == done


def silent() -> Console:
    return Console(file=io.StringIO())


@left_to_proofs
def test_two_commands_at_once_grade_each_submission_once(copy, monkeypatch):
    students = [f"s{number}" for number in range(4)]
    for student in students:
        hand_in(copy, FIRST, student, {})
    log, enter = copy / "graded", grader.enter_points

    def noted(hand_in: HandIn, *others: object) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{hand_in.student}\n")
        enter(hand_in, *others)

    monkeypatch.setattr(grader, "enter_points", noted)  # which forks take with them
    context = multiprocessing.get_context("fork")
    order = AutogradeOptions(copy, FIRST, jobs=1)
    commands = [context.Process(target=autograde, args=(order, silent())) for _ in range(2)]
    for command in commands:
        command.start()
    for command in commands:
        command.join(120)
    assert [command.exitcode for command in commands] == [0, 0]
    assert sorted(log.read_text("utf-8").split()) == students
    with sqlite3.connect(copy / "grading" / "gradebook.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for student in students:
        assert cells_of(copy, student)["softmax-check"] == (4, None, False)


def grade_slowly(task: Task) -> SubmissionRecord:
    """Takes as long as the student's name says, or ends its process, at once or soon after."""
    Path(task.course, f"{task.student}.{os.getpid()}.pid").touch()
    if task.student.startswith("deadly"):
        os.kill(os.getpid(), signal.SIGKILL)
    if task.student.startswith("fleeting"):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGKILL)).start()
    time.sleep(60 if task.student.startswith("slow") else 0)
    return SubmissionRecord(task.assignment, task.student, "graded", "plain", "", 0.0)


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of the processes that grade slowly."""
    return [int(path.name.split(".")[1]) for path in folder.glob("*.pid")]


def tasks_of(folder: Path, *students: str) -> list[Task]:
    return [Task(str(folder), FIRST, student) for student in students]


def test_submission_with_which_graders_end_costs_no_other(tmp_path):
    tasks = tasks_of(tmp_path, "deadly", *(f"quick{number}" for number in range(4)))
    outcomes = {task.student: outcome for task, outcome in grade_locally(tasks, 2, grade_slowly)}
    assert outcomes.keys() == {task.student for task in tasks}
    failed = outcomes.pop("deadly")
    assert failed == Failure("deadly", "the grader's own process ended 2 times with it")
    assert len(list(tmp_path.glob("deadly.*.pid"))) == 2
    assert {outcome.state for outcome in outcomes.values()} == {"graded"}


def test_grader_that_ends_between_two_submissions_costs_none(tmp_path, monkeypatch):
    def wait_until_it_has_ended(*how: object, **others: object) -> object:
        done = wait(*how, **others)
        time.sleep(0.5)
        return done

    monkeypatch.setattr("hintgrader.autograde.pool.wait", wait_until_it_has_ended)
    tasks = tasks_of(tmp_path, "fleeting", "quick")
    outcomes = [outcome.state for _, outcome in grade_locally(tasks, 1, grade_slowly)]
    assert outcomes == ["graded", "graded"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_graders_end_with_the_command(tmp_path, how):
    def command() -> None:
        tempfile.tempdir = str(tmp_path)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        list(grade_locally(tasks_of(tmp_path, "slow0", "slow1"), 2, grade_slowly))

    process = multiprocessing.get_context("fork").Process(target=command)
    process.start()
    until(lambda: len(_numbers(tmp_path)) == 2)
    graders = [psutil.Process(number) for number in _numbers(tmp_path)]
    os.kill(process.pid, how)
    process.join(60)
    until(lambda: have_ended(graders))
    until(lambda: not list(tmp_path.glob("hintgrader-*")))


@pytest.mark.parametrize("level", ["sandbox", pytest.param("limits", marks=left_to_proofs)])
def test_nothing_runs_on_behind_a_grader_that_is_killed(copy, temporary, monkeypatch, level):
    if level == "sandbox" and strongest() < Level.SANDBOX:
        pytest.skip("bubblewrap does not work here")
    hand_in(copy, FIRST, "slow", {})

    def sleep(notebook: dict) -> None:
        by_name(notebook, "softmax")["source"] += "\nimport time\ntime.sleep(100)\n"

    change_notebook(sleep)(notebook_of(copy, "slow"))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    order = AutogradeOptions(copy, FIRST, jobs=1, level=level)
    command = multiprocessing.get_context("fork").Process(target=begin_here, args=(order,))
    command.start()
    grader, confined = until(lambda: grading(command.pid))
    grader.kill()
    until(lambda: have_ended(confined))
    another, confined = until(lambda: grading(command.pid))  # has the submission now
    assert another != grader
    command.terminate()
    command.join(60)
    until(lambda: have_ended([another, *confined]))
    assert list(temporary.iterdir()) == []


def grading(command: int) -> tuple[psutil.Process, list[psutil.Process]] | None:
    """The grader that runs a submission, with what has come from it.

    The command has other children too: its probe of bubblewrap, and a grader that was killed
    until it is waited for.
    """
    for child in psutil.Process(command).children():
        if confined := with_submission(child):
            return child, confined
    return None


def begin_here(order: AutogradeOptions) -> None:
    """Grade as the command does, in a process forked for it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    autograde(order, silent())
