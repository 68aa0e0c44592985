"""Grading on this machine, in several processes at once.

Each process is an executor of its own, so that it is known which submission one ended with.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from hintgrader.pipeline.grade import grade_submission
from hintgrader.pipeline.tasks import Failure, Grade, GradingResult, Task
from hintgrader.pipeline.warm_process import close_graders
from hintgrader.records.records import SubmissionRecord
from hintgrader.records.seal import held_keys, hold
from hintgrader.supervisor.own_memory import limit_own_memory
from hintgrader.worker.time_limits import EXIT_SECONDS

ATTEMPTS = 2  # of a submission with which a process of the grader's own ended


def grade_locally(
    tasks: Iterable[Task], jobs: int, grade: Grade = grade_submission
) -> Iterator[tuple[Task, GradingResult]]:
    """Grade submissions in several processes; yield each when it is done.

    What has not been yielded when the caller stops asking, or is interrupted, is stopped. No
    process outlives this one, and no file of theirs outlives the last of them.

    Args:
        tasks: Submissions of one problem set.
        jobs: How many processes.
        grade: A function of a module; to call it twice does no harm.
    """
    with tempfile.TemporaryDirectory(prefix="hintgrader-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # the user of a sandbox may be another
        pool = _Pool(list(tasks), jobs, grade, folder)
        try:
            yield from pool.outcomes()
        finally:
            pool.stop()


class _Pool:
    """Executors with one process each, and what is still to be done."""

    def __init__(self, tasks: list[Task], jobs: int, grade: Grade, folder: str) -> None:
        self._waiting, self._grade, self._folder = deque(tasks), grade, folder
        self._others = set(multiprocessing.active_children())
        self._jobs = max(1, min(jobs, len(tasks)))
        self._running: dict[Future[SubmissionRecord], tuple[ProcessPoolExecutor, Task]] = {}
        self._ended_with: Counter[Task] = Counter()

    def outcomes(self) -> Iterator[tuple[Task, GradingResult]]:
        """Each submission with what came of it, in the order in which they are done."""
        for _ in range(self._jobs):
            self._give(self._new_executor())
        while self._running:
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                executor, task = self._running.pop(future)
                try:
                    outcome: GradingResult | None = future.result()
                except BrokenProcessPool:
                    executor, outcome = self._new_executor(), self._retry_or_fail(task)
                except Exception as error:  # a grader must not stop at one submission
                    outcome = Failure(task.student, f"{type(error).__name__}: {error}")
                self._give(executor)
                if outcome is not None:
                    yield task, outcome

    def stop(self) -> None:
        """End all processes, whatever they do, and wait until they have ended."""
        ours = set(multiprocessing.active_children()) - self._others
        for process in ours:
            process.terminate()
        deadline = time.monotonic() + EXIT_SECONDS
        for process in ours:
            process.join(max(0.0, deadline - time.monotonic()))
            process.kill()
            process.join()

    def _give(self, executor: ProcessPoolExecutor) -> None:
        if not self._waiting:
            executor.shutdown(wait=False)
            return
        task = self._waiting.popleft()
        try:
            future = executor.submit(self._grade, task)
        except BrokenProcessPool:  # its process has ended since the last submission
            executor = self._new_executor()
            future = executor.submit(self._grade, task)
        self._running[future] = executor, task

    def _new_executor(self) -> ProcessPoolExecutor:
        # a fork has torch and nbgrader imported already; macOS and Windows cannot
        method = "fork" if sys.platform == "linux" else "spawn"
        context = multiprocessing.get_context(method)
        return ProcessPoolExecutor(1, context, _begin, (self._folder, held_keys()))

    def _retry_or_fail(self, task: Task) -> Failure | None:
        """Give a submission out once more, in case it was not its fault; then no more."""
        self._ended_with[task] += 1
        if self._ended_with[task] < ATTEMPTS:
            self._waiting.append(task)
            return None
        return Failure(task.student, f"the grader's own process ended {ATTEMPTS} times with it")


def _begin(folder: str, keys: dict[str, bytes]) -> None:
    """Prepare a new worker process: for its end, and for what submissions may send it."""
    tempfile.tempdir = folder
    limit_own_memory()
    hold(keys)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent decides
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process once its parent has ended, even if that was killed."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _end(*_: object) -> None:
    """Leave no process and no files behind; what is half graded is graded again next time."""
    close_graders()
    with suppress(OSError):  # the last of several processes can do it, if nobody else has
        os.rmdir(tempfile.gettempdir())
    os._exit(1)
