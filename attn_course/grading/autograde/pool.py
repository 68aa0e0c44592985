"""Grading on this machine, in several processes at once.

Each process is an executor of its own, so that it is known which submission one ended with.
"""

import multiprocessing
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from attn_course.grading.autograde.converter import grade_submission, grader_of
from attn_course.grading.autograde.records import SubmissionRecord
from attn_course.grading.autograde.tasks import Failure, Task

Grade = Callable[[Task], SubmissionRecord]
Outcome = SubmissionRecord | Failure
ATTEMPTS = 2  # of a submission with which a process of the grader's own ended


def grade_locally(
    tasks: Iterable[Task], jobs: int, grade: Grade = grade_submission
) -> Iterator[tuple[Task, Outcome]]:
    """Grade submissions in several processes; yield each when it is done.

    What has not been yielded when the caller stops asking, or is interrupted, is stopped.

    Args:
        tasks: Submissions of one problem set.
        jobs: How many processes.
        grade: A function of a module; to call it twice does no harm.
    """
    pool = _Pool(list(tasks), jobs, grade)
    try:
        yield from pool.outcomes()
    finally:
        pool.stop()


class _Pool:
    """Executors with one process each, and what is still to be done."""

    def __init__(self, tasks: list[Task], jobs: int, grade: Grade) -> None:
        self._waiting, self._grade = deque(tasks), grade
        self._jobs = max(1, min(jobs, len(tasks)))
        self._running: dict[Future, tuple[ProcessPoolExecutor, Task]] = {}
        self._ended_with: Counter[Task] = Counter()
        self._first = tasks[0] if tasks else None

    def outcomes(self) -> Iterator[tuple[Task, Outcome]]:
        """Each submission with what came of it, in the order in which they are done."""
        for _ in range(self._jobs):
            self._give(self._new_executor())
        while self._running:
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                executor, task = self._running.pop(future)
                try:
                    outcome: Outcome = future.result()
                except BrokenProcessPool:
                    executor, outcome = self._new_executor(), self._blame(task)
                except Exception as error:  # a grader must not stop at one submission
                    outcome = Failure(task.student, f"{type(error).__name__}: {error}")
                self._give(executor)
                if outcome is not None:
                    yield task, outcome

    def stop(self) -> None:
        """End all processes, whatever they do."""
        for executor, _ in self._running.values():
            executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()

    def _give(self, executor: ProcessPoolExecutor) -> None:
        if self._waiting:
            task = self._waiting.popleft()
            self._running[executor.submit(self._grade, task)] = executor, task
        else:
            executor.shutdown(wait=False)

    def _new_executor(self) -> ProcessPoolExecutor:
        # a fork has torch and nbgrader imported already; macOS and Windows cannot
        method = "fork" if sys.platform == "linux" else "spawn"
        context = multiprocessing.get_context(method)
        return ProcessPoolExecutor(1, context, _begin, (self._first,))

    def _blame(self, task: Task) -> Failure | None:
        """Give a submission out once more, in case it was not its fault; then no more."""
        self._ended_with[task] += 1
        if self._ended_with[task] < ATTEMPTS:
            self._waiting.append(task)
            return None
        return Failure(task.student, f"the grader's own process ended {ATTEMPTS} times with it")


def _begin(task: Task) -> None:
    """In a new process: leave interrupts to who started it, and start the confined process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with suppress(Exception):  # said again, and heard, with the first submission
        grader_of(task)
