"""The ways into a sandbox: which of them works is tried as it will be used."""

import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from hintgrader.autograde.pool import grade_locally
from hintgrader.pipeline import warm_process as warm
from hintgrader.pipeline.tasks import Task
from hintgrader.records.records import SubmissionRecord
from hintgrader.supervisor import bubblewrap as sandbox
from hintgrader.supervisor import process, watchdog
from hintgrader.supervisor.bubblewrap import AS_ROOT, NOBODY, OWN_USERS, PACKAGES, BubblewrapMode
from hintgrader.worker import limits
from hintgrader.worker.level import Level
from tests.example import COURSE, WALL

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("bwrap") is None, reason="for root, with bubblewrap"
)


@pytest.fixture
def folder():
    """A folder that nobody else may enter, inside folders that all may enter."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@needs_root
def test_way_of_another_user_works_only_if_that_one_reaches_the_package(folder, monkeypatch):
    way = BubblewrapMode(OWN_USERS, NOBODY)
    programs = SimpleNamespace(executable="/bin/true", prefix="/usr", base_prefix="/usr")
    monkeypatch.setattr(sandbox, "sys", programs)  # which everybody reaches
    if not sandbox._works(way):
        pytest.skip("nobody may make a name space here")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert not sandbox._works(way)
    folder.chmod(0o711)
    assert sandbox._works(way)


def grade_openly(task: Task) -> SubmissionRecord:
    """Says which rights there are to the folder where graders have their files."""
    rights = oct(Path(tempfile.gettempdir()).stat().st_mode)
    return SubmissionRecord(task.assignment, task.student, "graded", rights, "", 0.0)


def test_user_of_a_sandbox_reaches_the_folder_of_the_graders():
    ((_, record),) = grade_locally([Task("", "", "ada")], 1, grade_openly)
    assert record.level == "0o40711"


@needs_root
def test_way_of_root_works_only_if_there_is_the_user_that_it_becomes(monkeypatch):
    if not sandbox._works(BubblewrapMode(AS_ROOT)):
        pytest.skip("root may not become another here")
    monkeypatch.setattr(sandbox, "FIRST_USER", 2**33)  # as in a container of few users
    assert not sandbox._works(BubblewrapMode(AS_ROOT))
    assert sandbox.sandbox_user(BubblewrapMode(OWN_USERS)) == 0


def test_who_cannot_become_another_does_not_go_on(monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setgroups", refuse)
    with pytest.raises(PermissionError):
        limits.become(sandbox.FIRST_USER)


def test_processes_that_have_ended_may_refuse_to_be_ended(monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError  # as macOS does

    monkeypatch.setattr(os, "killpg", refuse)
    process = subprocess.Popen(["true"], start_new_session=True)
    watchdog.end_tree(process)
    assert process.returncode == 0


def test_course_among_the_programs_is_not_seen(tmp_path, monkeypatch):
    way = BubblewrapMode(OWN_USERS)  # who owns what is in a sandbox could write to it
    if not sandbox._works(way):
        pytest.skip("bubblewrap does not work here")
    course = tmp_path / "env" / "course"
    environment = course / ".venv"
    environment.mkdir(parents=True)
    for file in (course / "secret.txt", environment / "program"):
        file.write_text(f"{file.name} ")
    (tmp_path / PACKAGES).mkdir()
    prefixes = SimpleNamespace(prefix=str(environment), base_prefix=str(course.parent))
    monkeypatch.setattr(sandbox, "sys", prefixes)
    look = f"cd {course}; ls; cat secret.txt .venv/program; touch written && ls"
    command = [*sandbox.bubblewrap(way, tmp_path, [course]), "/bin/sh", "-c", look]
    said = subprocess.run(command, capture_output=True, text=True)
    assert (said.stdout, said.stderr.count("\n")) == ("program ", 2), said


def test_grader_has_its_course_hidden(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(COURSE)
    asked = []
    start = partial(subprocess.Popen, ["true"], start_new_session=True)
    monkeypatch.setattr(process, "start_worker", lambda *what: asked.append(what) or start())
    monkeypatch.setattr(warm.Grader, "_preload", lambda _: ())
    course = SimpleNamespace(root=tmp_path, source=str, wall=WALL)
    grader = warm.Grader(course, "", Level.PLAIN)
    assert grader.process
    grader.close()
    assert asked[0][-1] == tmp_path
