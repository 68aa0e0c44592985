"""A cluster of processes of this machine, started by the commands of the guide."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import psutil
from distributed import Client
from hintgrader.cluster.secret import secret_file, security
from hintgrader.nbgrader.course import Course

ROOT = Path(__file__).resolve().parent.parent
SECONDS_TO_START, SECONDS_TO_END = 60, 20


class LocalCluster:
    """A scheduler, and workers that come and go; leaving the context ends them all."""

    def __init__(self, folder: Path, course: Path, **environment: str) -> None:
        self.folder, self.course = folder, course
        self.started: list[subprocess.Popen] = []
        self.address = self._start_scheduler(**environment)

    def _run(self, *arguments: str, program: str = "", **environment: str) -> subprocess.Popen:
        ours = "hintgrader", "cluster", arguments[0], "--course", str(self.course)
        started = (program, arguments[0]) if program else ours
        command = [sys.executable, "-m", *started, *arguments[1:]]
        known = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        with (self.folder / f"{arguments[0]}-{len(self.started)}.log").open("wb") as log:
            where = {"cwd": self.folder, "env": known, "stdout": log, "stderr": log}
            self.started.append(subprocess.Popen(command, **where))
        return self.started[-1]

    def _start_scheduler(self, **environment: str) -> str:
        file = self.folder / "scheduler.json"
        where = ["--port", "0", "--scheduler-file", str(file)]
        scheduler = self._run("scheduler", *where, **environment)
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline and scheduler.poll() is None:
            try:
                return json.loads(file.read_text())["address"]
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.05)
        raise RuntimeError((self.folder / "scheduler-0.log").read_text())

    def add_worker(self, *options: str, **environment: str) -> subprocess.Popen:
        """Start a worker, as on one more machine; with `--no-nanny` it is the process returned."""
        return self._run("worker", self.address, "--memory-limit", "0", *options, **environment)

    def add_worker_of_another_environment(self, packages: str) -> subprocess.Popen:
        """Start one by Dask's own command, with a folder of packages in front."""
        key = str(secret_file(Course(self.course)))
        how = ["--tls-ca-file", key, "--tls-cert", key, "--tls-key", key, "--nthreads", "1"]
        words = ["worker", self.address, "--no-nanny", "--memory-limit", "0", *how]
        return self._run(*words, program="dask", PYTHONPATH=packages)

    def wait_for_workers(self, number: int) -> None:
        """Return when so many have joined."""
        keys = security(Course(self.course))
        with Client(self.address, security=keys, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=SECONDS_TO_START)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in reversed(self.started):
            process.terminate()  # it clears up, and workers take leave of the scheduler
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                kill(process)


def kill(process: subprocess.Popen) -> None:
    """End a process that we started and all that it started, at once, as when the power fails."""
    if process.poll() is None:
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
        for member in family:
            member.send_signal(signal.SIGKILL)
    process.wait()
