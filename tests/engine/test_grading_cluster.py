"""Grading spread over workers: one is killed, one is added, and every submission counts once.

The scheduler, the workers and the database are real; the gradings are simulated, but not in
the last test, with a cluster of its own, whose workers can be told apart.
"""

import _thread
import asyncio
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from distributed import Security, rpc
from hintgrader.cluster import client as cluster
from hintgrader.cluster.client import ClusterError, grade_on_cluster
from hintgrader.cluster.secret import make_secret, security
from hintgrader.cluster.worker import describe, misfit
from hintgrader.nbgrader import gradebook
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.pipeline import choose_level as levels
from hintgrader.pipeline.tasks import Failure, GradingResult, Task
from hintgrader.records.records import read_records
from hintgrader.testing import postgresql
from hintgrader.testing.courses import cell_of, hand_in
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from tests.engine import noted_grading
from tests.engine.autograding import have_ended, with_submission
from tests.engine.test_nbgrader import FIRST, lay_out, read_points
from tests.engine.test_nbgrader import STUDENTS as STUDENTS_OF_FIRST
from tests.problem_sets import nbgrader
from tests.sampling import left_to_proofs, sampled
from tools import simulated_grading
from tools.local_cluster import LocalCluster, kill
from tools.simulated_grading import (
    COURSE_ID,
    gradebook_marks,
    marks,
    noted,
    processes,
    wait_until,
)

ASSIGNMENT = "01_simulated"
# A scheduler that gives up what a worker had, begun or not, as soon as that one worker has ended.
IMPATIENT = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
STUDENTS = ["waits0", *(f"student{number}" for number in range(1, 22)), "waits22", "waits23"]


@dataclass(frozen=True)
class Class:
    """A course with a gradebook in PostgreSQL, and a cluster to grade it on."""

    course: Path
    url: str
    cluster: LocalCluster

    def task(self, student: str) -> Task:
        return Task(str(self.course), ASSIGNMENT, student, level="plain")

    def grade(self, *students: str) -> Iterator[tuple[str, GradingResult]]:
        tasks = [self.task(student) for student in students]
        for task, outcome in grade_on_cluster(tasks, self.cluster.address, simulated_grading.grade):
            yield task.student, outcome


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The URL of an empty database of PostgreSQL."""
    if lacking := postgresql.missing():
        pytest.skip(lacking)
    with postgresql.running_server() as url:
        yield url


@pytest.fixture(scope="module")
def everyone(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """A class, on a cluster without workers."""
    course, logs = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("logs")
    simulated_grading.lay_out(course, database, ASSIGNMENT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINTGRADER_DB_URL", database)
        patch.delenv("HINTGRADER_SECRET", raising=False)  # of a course that was read before
        with LocalCluster(logs, course, **IMPATIENT) as running:
            yield Class(course, database, running)


def replace_worker(everyone: Class, workers: list[subprocess.Popen]) -> None:
    """In the middle, kill the worker that grades the first submission, and add one."""
    wait_until(lambda: noted(everyone.course, "completed").total() >= 8)
    wait_until(lambda: "waits0" in processes(everyone.course))
    stuck = processes(everyone.course)["waits0"]
    kill(next(worker for worker in workers if worker.pid == stuck))
    workers.append(everyone.cluster.add_worker("--no-nanny"))


def family(cluster: LocalCluster) -> list[psutil.Process]:
    """All processes of a cluster."""
    first = [psutil.Process(one.pid) for one in cluster.started if one.poll() is None]
    return [*first, *chain.from_iterable(one.children(recursive=True) for one in first)]


def listening(cluster: LocalCluster) -> set[tuple[str, int]]:
    """The addresses at which a cluster can be reached."""
    found = chain.from_iterable(one.net_connections("inet") for one in family(cluster))
    return {tuple(each.laddr) for each in found if each.status == psutil.CONN_LISTEN}


def obeys(address: str, keys: Security | None) -> bool:
    """True if somebody runs a program on the other side."""

    async def ask() -> object:
        shown = keys and keys.get_connection_args("client")
        async with rpc(address, connection_args=shown, timeout=2) as far:
            return await asyncio.wait_for(far.identity(), 2)

    try:
        return bool(asyncio.run(ask()))
    except (OSError, ValueError, TimeoutError):
        return False


def test_cluster_obeys_nobody_without_its_key_not_even_on_the_loopback(
    everyone: Class, tmp_path: Path
) -> None:
    minder = everyone.cluster.add_worker()
    everyone.cluster.wait_for_workers(1)
    places = listening(everyone.cluster)
    assert len(places) >= 5  # the scheduler, what minds the worker, it, and two for pages
    assert {host for host, _ in places} == {"127.0.0.1"}
    ours = security(Course(everyone.course))
    other = tmp_path / "other"
    shutil.copytree(everyone.course, other, ignore=shutil.ignore_patterns("grading"))
    make_secret(Course(other))
    for host, port in places:
        for open_to in (None, security(Course(other))):
            protocol = "tls" if open_to else "tcp"
            assert not obeys(f"{protocol}://{host}:{port}", open_to)
        for page in ("info/main/workers.html", "metrics"):
            with pytest.raises((URLError, HTTPException, OSError), match=r"Not Found|closed|reset"):
                urlopen(f"http://{host}:{port}/{page}", timeout=5)
    assert sum(obeys(f"tls://{host}:{port}", ours) for host, port in places) >= 3
    minder.terminate()
    minder.wait()
    key = everyone.course / "grading" / "cluster.pem"
    assert key.stat().st_mode & 0o077 == key.parent.stat().st_mode & 0o077 == 0


def test_open_address_and_a_course_without_a_key_are_refused(
    everyone: Class, tmp_path: Path
) -> None:
    task = everyone.task("student80")
    with pytest.raises(CourseError, match=r"tcp://here:1 is open: .* tls://here:1"):
        list(grade_on_cluster([task], "tcp://here:1"))
    shutil.copy(everyone.course / "nbgrader_config.py", tmp_path)
    with pytest.raises(CourseError, match="Start the scheduler first"):
        list(grade_on_cluster([replace(task, course=str(tmp_path))], "here:1"))


@sampled  # the proofs go on with its workers
def test_worker_killed_and_worker_added_lose_nothing_and_grade_nothing_twice(
    everyone: Class,
) -> None:
    workers = [everyone.cluster.add_worker("--no-nanny") for _ in range(2)]
    with ThreadPoolExecutor(1) as pool:
        replaced = pool.submit(replace_worker, everyone, workers)
        outcomes = dict(everyone.grade(*STUDENTS))
        replaced.result()
    begun, completed = noted(everyone.course, "begun"), noted(everyone.course, "completed")
    assert completed == Counter(STUDENTS)
    assert begun - completed == Counter(["waits0"])
    living = {worker.pid for worker in workers if worker.poll() is None}
    assert set(processes(everyone.course).values()) >= living
    expected = {student: marks(student) for student in STUDENTS}
    assert gradebook_marks(everyone.url, ASSIGNMENT) == expected
    stored = read_records(everyone.course / "grading" / "results", ASSIGNMENT)
    assert {record.student: record for record in stored} == outcomes
    assert {s: [part.points for part in o.parts] for s, o in outcomes.items()} == expected
    assert not list(everyone.course.rglob(".run-*"))


@left_to_proofs
@pytest.mark.usefixtures("ctrl_c")
def test_interrupt_cancels_what_has_not_begun_and_the_next_run_goes_on(everyone: Class) -> None:
    students = [f"slow{number}" for number in range(60, 66)]
    threading.Timer(1, _thread.interrupt_main).start()  # as Ctrl-C does, while nothing is done yet
    with pytest.raises(KeyboardInterrupt):
        list(everyone.grade(*students))
    time.sleep(3)  # what has begun takes 2 s
    begun, completed = noted(everyone.course, "begun"), noted(everyone.course, "completed")
    assert 0 < sum(begun[student] for student in students) <= 2  # two workers are left
    assert all(begun[student] == completed[student] for student in students)
    assert dict(everyone.grade(*students)).keys() == set(students)
    assert all(noted(everyone.course, "completed")[student] == 1 for student in students)


@left_to_proofs
def test_submission_that_ends_its_workers_is_named_and_the_others_are_graded(
    everyone: Class,
) -> None:
    everyone.cluster.add_worker()  # by and by the only one: what minds it starts it again
    others = [f"student{number}" for number in range(72, 78)]
    outcomes = dict(everyone.grade("student70", "deadly71", *others))
    failures = [outcome for outcome in outcomes.values() if isinstance(outcome, Failure)]
    assert [failure.student for failure in failures] == ["deadly71"]
    assert failures[0].reason.startswith("3 workers ended while grading it, on ")
    assert outcomes.keys() == {"student70", "deadly71", *others}
    assert noted(everyone.course, "begun")["deadly71"] == 3
    assert not {"deadly71"} & gradebook_marks(everyone.url, ASSIGNMENT).keys()


def test_no_scheduler_no_worker_and_a_worker_without_the_package_are_named(
    everyone: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = tmp_path / "without" / "hintgrader"
    without.mkdir(parents=True)
    missing = "raise ModuleNotFoundError('No module named hintgrader')"
    (without / "__init__.py").write_text(missing)
    with LocalCluster(tmp_path, everyone.course) as running:
        other = Class(everyone.course, everyone.url, running)
        monkeypatch.setattr(cluster, "WORKER_SECONDS", 1)
        with pytest.raises(ClusterError, match=f"at {running.address} had no worker for 1 s"):
            list(other.grade("student80"))
        monkeypatch.setattr(cluster, "WORKER_SECONDS", 60)
        running.add_worker_of_another_environment(str(without.parent))
        with pytest.raises(ClusterError, match=r"(?s)tls://.*No module.*environment of the course"):
            list(other.grade("student80"))
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(
        ClusterError, match=f"No Dask scheduler of this course answers at {running.address}"
    ):
        list(other.grade("student80"))
    assert "student80" not in noted(everyone.course, "begun")


@pytest.fixture
def fitting(everyone: Class) -> dict[str, object]:
    """The questions to a worker that fits, by name."""
    return {
        "task": asdict(everyone.task("student90")),
        "folder": str(everyone.course),
        "command": describe(str(everyone.course)),
        "dask_worker": SimpleNamespace(state=SimpleNamespace(nthreads=1)),
    }


@pytest.mark.parametrize("what", ["packages", "nbgrader_config.py", "gradebook", "seed"])
def test_worker_that_has_something_else_is_refused(fitting: dict, what: str) -> None:
    assert misfit(**fitting) is None
    fitting["command"][what] = "other"
    assert f"another {what} than this command" in misfit(**fitting)


def test_worker_that_cannot_confine_as_it_must_is_refused(
    fitting: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "strongest", lambda: levels.Level.LIMITS)
    fitting["task"] |= {"level": None}
    assert "A sandbox is required" in misfit(**fitting)


def test_worker_that_cannot_reach_the_gradebook_is_refused(
    everyone: Class, fitting: dict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gradebook, "TRIES", 1)
    url = f"postgresql+psycopg://grader@/postgres?host={tmp_path}"
    monkeypatch.setenv("HINTGRADER_DB_URL", url)
    fitting["command"] = describe(str(everyone.course))
    assert "connection to server" in misfit(**fitting)


def test_worker_that_does_not_share_the_folder_or_has_threads_is_refused(
    everyone: Class, fitting: dict
) -> None:
    elsewhere = fitting | {"folder": str(everyone.course / ".run-of-another")}
    assert "does not share the folder" in misfit(**elsewhere)
    threads = {"dask_worker": SimpleNamespace(state=SimpleNamespace(nthreads=2))}
    assert "--nthreads 1" in misfit(**(fitting | threads))


def test_sqlite_is_refused_on_another_machine(
    everyone: Class, fitting: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINTGRADER_DB_URL", "sqlite:///gradebook.db")
    fitting["command"] = describe(str(everyone.course)) | {"machine": "another"}
    assert "use PostgreSQL" in misfit(**fitting)


def test_password_of_the_gradebook_is_told_to_nobody(
    everyone: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINTGRADER_DB_URL", "postgresql+psycopg://grader:secret@host/marks")
    assert "grader:***@host/marks" in describe(str(everyone.course))["gradebook"]
    assert "secret" not in str(describe(str(everyone.course)))


def sleep(notebook: NotebookNode, part: str) -> None:
    """The answer is right, and takes long enough to be caught at it."""
    cell_of(notebook, part).source += "\nimport time\ntime.sleep(2)\n"


# The last in the alphabet, and so the last to be begun.
REAL = {name: STUDENTS_OF_FIRST[name] for name in ("broken", "shuffled")}
REAL["unhurried"] = {"softmax": (sleep, 1)}


@pytest.fixture
def handed_in(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose first problem set is released, and handed in by the students of `REAL`."""
    monkeypatch.setenv("HINTGRADER_DB_URL", database)
    monkeypatch.delenv("HINTGRADER_SECRET", raising=False)
    course = tmp_path / "course"
    course.mkdir()
    lay_out(course, FIRST)
    nbgrader(course, "generate_assignment", FIRST)
    for student, wrong in REAL.items():
        hand_in(course, FIRST, student, {part: change for part, (change, _) in wrong.items()})
    return course


def kill_in_the_middle(course: Path, workers: list[subprocess.Popen]) -> list[psutil.Process]:
    """Kill the worker, and it alone, that grades the last; return what it had started."""
    wait_until(lambda: "unhurried" in processes(course))
    number = processes(course)["unhurried"]
    wait_until(lambda: with_submission(psutil.Process(number)))
    orphans = psutil.Process(number).children(recursive=True)
    (worker,) = [worker for worker in workers if worker.pid == number]
    worker.kill()
    worker.wait()
    return orphans


def see_that_marks_are_whole(url: str, course: Path) -> None:
    """All have the marks that they deserve, in the gradebook and in their records."""
    points = read_points()
    stored = {record.student: record for record in read_records(course / "grading/results", FIRST)}
    assert stored.keys() == REAL.keys()
    with Gradebook(url, COURSE_ID) as book:
        assert {one.student.id for one in book.assignment_submissions(FIRST)} == REAL.keys()
        for student, wrong in REAL.items():
            (notebook,) = book.find_submission(FIRST, student).notebooks
            earned = {grade.name: grade.auto_score for grade in notebook.grades}
            shares = {f"{part}-check": share for part, (_, share) in wrong.items()}
            deserved = {part: shares.get(part, 1) * points[part] for part in points}
            assert {part: earned[part] for part in points} == deserved
            recorded = {part.part: part.points for part in stored[student].parts}
            assert {part: recorded[part] for part in points} == deserved


@left_to_proofs
def test_command_grades_real_submissions_on_two_workers_of_which_one_is_killed(
    database: str, handed_in: Path, tmp_path: Path
) -> None:
    with LocalCluster(tmp_path, handed_in) as running:
        how = ["--no-nanny", "--preload", noted_grading.__name__]
        workers = [running.add_worker(*how, TMPDIR=str(tmp_path)) for _ in range(2)]
        running.wait_for_workers(2)
        where = ["--scheduler", running.address]
        command = [sys.executable, "-m", "hintgrader", "autograde", FIRST, *where]
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=handed_in, **both) as begun:
            orphans = kill_in_the_middle(handed_in, workers)
            wait_until(lambda: have_ended(orphans), 20)
            said, complaint = begun.communicate(timeout=120)
        assert (begun.returncode, complaint) == (0, ""), said
    completed = noted(handed_in, "completed")
    assert completed == Counter(REAL.keys())
    assert noted(handed_in, "begun") - completed == Counter(["unhurried"])
    assert set(processes(handed_in, "completed").values()) == {worker.pid for worker in workers}
    see_that_marks_are_whole(database, handed_in)
    assert not list(handed_in.rglob(".run-*"))
