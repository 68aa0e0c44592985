"""Grading spread over machines by Dask: where the command was typed.

    hintgrader cluster scheduler --host THAT-MACHINE                # on one machine
    hintgrader cluster worker tls://THAT-MACHINE:8786 --nworkers 8  # on each of several

Dask gives a submission to a worker that is free, also to one that came later, and to another when
a worker ends. Here is what Dask cannot know: which worker fits, when a submission has ended enough
workers, and what to clear away behind a command that is interrupted.
"""

import json
import time
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree
from typing import Any

from distributed import Client, Future, KilledWorker, Security, as_completed

from hintgrader.cluster.secret import closed_address, security
from hintgrader.cluster.worker import describe, misfit
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.grade import grade_submission
from hintgrader.pipeline.tasks import Failure, Grade, GradingResult, Task
from hintgrader.records.records import SubmissionRecord
from hintgrader.worker.time_limits import CLUSTER_POLL_SECONDS, CONNECT_SECONDS, WORKER_SECONDS

# Dask gives up a submission when four workers have ended that had it, begun or not. One that had
# not begun is not to blame, and is given out again so often.
MAX_RESUBMISSIONS = 3


class ClusterError(RuntimeError):
    """Raised when no submission can be graded: no scheduler, no worker, or an unfit one."""


def grade_on_cluster(
    tasks: Iterable[Task], address: str, grade: Grade = grade_submission
) -> Iterator[tuple[Task, GradingResult]]:
    """Grade submissions on the workers of a Dask scheduler; yield each when it is done.

    What has not begun is cancelled when the caller stops asking, or is interrupted; what has begun
    ends on its worker, and leaves its record. The same command goes on from there.

    Args:
        tasks: Submissions of one problem set of one course.
        address: Of the scheduler, as `tls://host:8786`.
        grade: A function of a module that the workers can import; to call it twice does no harm.

    Raises:
        ClusterError: No scheduler answers at the address, no worker joins it, or a worker lacks
            this package or the folder of the course, or has others.
        CourseError: The address is open to everybody, or the course has no key of a cluster.
    """
    tasks = list(tasks)
    if not tasks:
        return
    address, keys = closed_address(address), security(Course(Path(tasks[0].course)))
    with _connected(address, keys) as client, _folder_of(tasks[0]) as folder:
        cluster = _Cluster(client, address, tasks, folder, grade)
        cluster.check_workers()
        yield from cluster.outcomes()


@contextmanager
def _connected(address: str, keys: Security) -> Iterator[Client]:
    how: dict[str, Any] = {"timeout": CONNECT_SECONDS, "set_as_default": False}
    try:
        client = Client(address, security=keys, **how)
    except Exception as error:  # of many kinds, if what answers there is no scheduler
        message = f"No Dask scheduler of this course answers at {address}: {error}"
        raise ClusterError(message) from error
    with client:  # when it closes, what it gave out and has not begun is cancelled
        yield client


@contextmanager
def _folder_of(task: Task) -> Iterator[Path]:
    """A folder of this run: a worker that sees it shares the course, and notes what it begins."""
    results = Course(Path(task.course)).results
    folder = results / task.assignment / f".run-{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def _remote_grade() -> Callable[[str], str]:
    """The function that Dask sends to the workers; defined in a function, it is sent as code.

    A scheduler loads what it passes on. It need not have this package, and should not wait for it;
    a worker without it would end, instead of saying so.
    """

    def grade(order: str) -> str:
        from hintgrader.cluster.worker import carry_out

        return carry_out(order)

    return grade


class _Cluster:
    """A run of the command: the submissions that are out on workers."""

    def __init__(
        self, client: Client, address: str, tasks: list[Task], folder: Path, grade: Grade
    ) -> None:
        self.client, self.address, self.tasks = client, address, tasks
        self.fitting: dict[str, Any] = {"folder": str(folder), "command": describe(tasks[0].course)}
        self.grade = f"{grade.__module__}:{grade.__qualname__}"
        self.out: dict[Hashable, int] = {}  # by Dask's key
        self.killed = [0] * len(tasks)

    def check_workers(self) -> None:
        """Wait for a worker to join, and make sure that all of them can grade."""
        try:
            self.client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            raise self.without_workers() from error
        found = self.client.run(misfit, asdict(self.tasks[0]), on_error="return", **self.fitting)
        for worker, fault in found.items():
            if isinstance(fault, Exception):
                fault = f"{fault}. Start it in the environment of the course."
            if fault:
                raise ClusterError(f"The worker {worker} does not fit. {fault}")

    def without_workers(self) -> ClusterError:
        return ClusterError(
            f"The scheduler at {self.address} had no worker for {WORKER_SECONDS} s. "
            f"Start some: hintgrader cluster worker {self.address} --nworkers 2"
        )

    def order(self, index: int) -> str:
        order = {"task": asdict(self.tasks[index]), "grade": self.grade, "index": index}
        return json.dumps(order | self.fitting)

    def outcomes(self) -> Iterator[tuple[Task, GradingResult]]:
        """Give out everything; yield what comes back."""
        orders = [self.order(index) for index in range(len(self.tasks))]
        futures = self.client.map(_remote_grade(), orders, pure=False)
        self.out = {future.key: index for index, future in enumerate(futures)}
        completed = as_completed(futures, loop=self.client.loop)
        del futures  # what nobody holds any more leaves its worker's memory
        for future in self.coming(completed):
            index = self.out.pop(future.key)
            try:
                outcome = self.read(index, future)
            except KilledWorker as error:
                self.killed[index] += 1
                if self.killed[index] <= MAX_RESUBMISSIONS:
                    again = self.client.submit(_remote_grade(), self.order(index), pure=False)
                    self.out[again.key] = index
                    completed.add(again)
                    continue
                outcome = Failure(self.tasks[index].student, str(error))
            yield self.tasks[index], outcome

    def coming(self, completed: as_completed) -> Iterator[Future[str]]:
        """Yield futures as they complete, as long as there are workers."""
        seen = time.monotonic()
        while self.out:
            batch = completed.next_batch(block=False)
            yield from batch
            if batch:
                seen = time.monotonic()
            elif time.monotonic() - seen > WORKER_SECONDS:
                if not self.client.nthreads():
                    raise self.without_workers()
                seen = time.monotonic()
            else:
                time.sleep(CLUSTER_POLL_SECONDS)

    def read(self, index: int, future: Future[str]) -> GradingResult:
        try:
            answer = json.loads(future.result())
        except KilledWorker:
            raise
        except CancelledError as error:
            raise ClusterError(
                f"The scheduler at {self.address} has gone. What was graded is kept: "
                "start it again, and its workers, and give the same command."
            ) from error
        except Exception as error:  # of Dask's: a grading's come as an answer
            self.check_workers()
            raise ClusterError(f"Dask cannot carry out the grading: {error!r}") from error
        if "misfit" in answer:
            raise ClusterError(answer["misfit"])
        if "failure" in answer:
            return Failure(self.tasks[index].student, answer["failure"])
        return SubmissionRecord.from_json(answer["record"])
