"""Grading spread over machines by Dask: what happens on a worker.

An order comes and an answer goes as JSON, so that nothing of a student's is pickled. What a worker
needs to be: the same package, the same gradebook and seed as where the command was typed, and the
course in the same shared folder.
"""

import hashlib
import json
import platform
from importlib import import_module
from pathlib import Path
from typing import Any

from distributed import Worker, get_worker
from nbgrader.api import InvalidEntry
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from hintgrader.bank.secret import hidden_secret
from hintgrader.nbgrader.course import CONFIG, Course, GradingError
from hintgrader.nbgrader.gradebook import with_retries
from hintgrader.pipeline.choose_level import choose_level
from hintgrader.pipeline.digest import package_digest
from hintgrader.pipeline.tasks import Task
from hintgrader.supervisor.own_memory import limit_own_memory

ATTEMPTS = 3  # of a submission under which workers end


def describe(course: str) -> dict[str, str]:
    """The settings that must agree wherever submissions of a course are graded, without secrets.

    Args:
        course: The folder of the course.
    """
    here = Course(Path(course))
    url = make_url(here.directory.db_url)  # reads the seed, too
    return {
        "packages": f"sha256 {package_digest(here.bank)[:12]}",  # as they were when it loaded them
        CONFIG: f"sha256 {here.settings_digest()[:12]}",
        "gradebook": url.render_as_string(hide_password=True),
        "seed": f"sha256 {hashlib.sha256(hidden_secret().encode()).hexdigest()[:12]}",
        "machine": platform.node(),
    }


def misfit(
    task: dict[str, Any], folder: str, command: dict[str, str], dask_worker: Worker
) -> str | None:
    """The reason why this worker cannot grade for the calling command; None if it can.

    Called before every submission, so that a broken worker does not fail at all of them.

    Args:
        task: Fields of a task; of any, as all have the same course and isolation.
        folder: A folder that the command has just made within the course.
        command: What `describe` says where the command runs.
        dask_worker: This worker, which Dask passes under that name.
    """
    course = task["course"]
    if not Path(folder).is_dir():
        return f"It does not share the folder {course} with the machine of this command."
    threads = dask_worker.state.nthreads
    if threads > 1:  # nbgrader changes the working directory, which is one for all of them
        return f"It grades in {threads} threads of one process. Start it with --nthreads 1."
    try:
        choose_level(task["level"])
        different = _difference(describe(course), command)
        if different is None:
            with_retries(Course(Path(course)).gradebook).close()
    except (GradingError, InvalidEntry, DBAPIError) as error:
        return f"{error}"
    return different


def _difference(here: dict[str, str], command: dict[str, str]) -> str | None:
    for what in ("packages", CONFIG, "gradebook", "seed"):
        if here[what] != command[what]:
            return (
                f"It has another {what} than this command: {here[what]}, not {command[what]}. "
                "Start it again with the same."
            )
    if here["gradebook"].startswith("sqlite") and here["machine"] != command["machine"]:
        return f"Machines cannot share {here['gradebook']}: use PostgreSQL, HINTGRADER_DB_URL."
    return None


def carry_out(order: str) -> str:
    """Grade one submission on a worker; what Dask calls.

    Args:
        order: JSON, as `cluster.py` writes it.

    Returns:
        JSON with one key, which is `record` (a SubmissionRecord as JSON), `failure` (why this
        submission cannot be graded) or `misfit` (why this worker can grade none).
    """
    limit_own_memory()
    return json.dumps(_answer(**json.loads(order)))


def _answer(
    task: dict[str, Any], grade: str, folder: str, command: dict[str, str], index: int
) -> dict[str, str]:
    worker = get_worker()
    wrong = misfit(task, folder, command, worker)
    if wrong:
        return {"misfit": f"The worker {worker.address} does not fit. {wrong}"}
    begun = Path(folder, str(index))
    hosts = begun.read_text(encoding="utf-8").split() if begun.exists() else []
    if len(hosts) >= ATTEMPTS:
        return {"failure": f"{len(hosts)} workers ended while grading it, on {', '.join(hosts)}."}
    with begun.open("a", encoding="utf-8") as file:
        file.write(f"{platform.node()}\n")
    try:
        module, _, name = grade.partition(":")
        return {"record": getattr(import_module(module), name)(Task(**task)).to_json()}
    except (Exception, SystemExit) as error:
        return {"failure": f"{type(error).__name__}: {error}"}
    finally:
        begun.unlink(missing_ok=True)
