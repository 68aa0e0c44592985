"""Two thousand simulated submissions on a cluster: how many are lost, graded twice, and a second.

    python -m benchmarks.grading_cluster            # --submissions 200: fewer

Takes some minutes on two cores. The scheduler, three workers and PostgreSQL are processes of
this machine, and the marks are written as nbgrader writes them; only students' code does not run.
When a third is done, one worker is killed, and at two thirds another one is added.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hintgrader.cluster.client import grade_on_cluster
from hintgrader.pipeline.tasks import Task
from hintgrader.records.records import SubmissionRecord, read_records
from hintgrader.testing.postgresql import running_server

from tools.local_cluster import LocalCluster, kill
from tools.simulated_grading import grade, gradebook_marks, lay_out, marks, noted

ASSIGNMENT = "01_simulated"
WORKERS = 3


@contextmanager
def course_in_postgresql() -> Iterator[tuple[Path, str, LocalCluster]]:
    """A course, its gradebook and a cluster with workers; gone afterwards."""
    with tempfile.TemporaryDirectory() as name, running_server() as url:
        course, logs = Path(name, "course"), Path(name, "logs")
        course.mkdir()
        logs.mkdir()
        lay_out(course, url, ASSIGNMENT)
        os.environ["HINTGRADER_DB_URL"] = url
        with LocalCluster(logs, course) as cluster:
            yield course, url, cluster


def grade_all(
    course: Path, cluster: LocalCluster, students: list[str]
) -> tuple[dict[str, SubmissionRecord], float]:
    """Grade, with one worker killed and one added; the records, and seconds from the first on."""
    workers = [cluster.add_worker("--no-nanny") for _ in range(WORKERS)]
    cluster.wait_for_workers(WORKERS)
    tasks = [Task(str(course), ASSIGNMENT, student, level="plain") for student in students]
    outcomes, begun = {}, 0.0
    for task, outcome in grade_on_cluster(tasks, cluster.address, grade):
        begun = begun or time.monotonic()
        outcomes[task.student] = outcome
        if len(outcomes) == len(tasks) // 3:
            kill(workers[0])
        if len(outcomes) == 2 * len(tasks) // 3:
            cluster.add_worker("--no-nanny")
    return outcomes, time.monotonic() - begun


def main() -> None:
    """Grade, count, print what was counted, and fail if anything is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=2000)
    students = [f"student{number}" for number in range(parser.parse_args().submissions)]
    with course_in_postgresql() as (course, url, cluster):
        outcomes, seconds = grade_all(course, cluster, students)
        completed, begun = noted(course, "completed"), noted(course, "begun")
        stored = {one.student: one for one in read_records(course / "grading/results", ASSIGNMENT)}
        marked = gradebook_marks(url, ASSIGNMENT)
    lost = set(students) - completed.keys()
    twice = completed - Counter(students)
    print(
        f"{len(students)} submissions: {len(lost)} lost, {len(twice)} graded twice, "
        f"{(begun - completed).total()} begun again after its worker was killed; "
        f"{seconds:.0f} s, {len(students) / seconds:.1f} submissions per second"
    )
    assert not lost, sorted(lost)
    assert not twice, sorted(twice)
    assert outcomes == stored
    assert marked == {student: marks(student) for student in students}


if __name__ == "__main__":
    main()
