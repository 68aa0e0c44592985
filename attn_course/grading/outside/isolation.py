"""Levels of isolation, and the process that is started at each of them."""

import enum
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from attn_course.grading.outside.sandbox import PACKAGE, bubblewrap, find_way, own_user
from attn_course.grading.outside.scratch import remove

# All of the grader that a submission's process needs; tests and references are not among it.
KEPT = {
    "compare.py",
    "instruments.py",
    "outside",
    "score.py",
    "spec.py",
    "submission.py",
    "watching.py",
}
LOG = "worker.log"
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",  # whatever a notebook asks for: threads do not outlive a fork
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


class Level(enum.IntEnum):
    """How far a submission is kept away; the higher, the farther.

    Attributes:
        PLAIN: In a process of its own, which runs a copy of the package without tests.
        LIMITS: With limits on memory, processes, files and time as well.
        SANDBOX: With no network, and with files, users and processes of its own as well.
    """

    PLAIN = 0
    LIMITS = 1
    SANDBOX = 2

    def __str__(self) -> str:
        return self.name.lower()


@cache
def strongest() -> Level:
    """The highest level that this machine offers: tried, not guessed.

    Raises:
        OSError: None, as on Windows a process neither forks nor is handed a socket.
    """
    if sys.platform == "win32":
        raise OSError("On Windows itself nothing can be graded: install the course within WSL.")
    return Level.SANDBOX if find_way() else Level.LIMITS


def copy_package(folder: Path) -> None:
    """Copy what a submission may import into a folder: the package without tests and references."""

    def left_out(place: str, names: list[str]) -> set[str]:
        if Path(place) == PACKAGE / "grading":
            return set(names) - KEPT
        return set()

    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=left_out)
    for path in (folder, *folder.rglob("*")):  # the user of a sandbox is another
        path.chmod(0o755 if path.is_dir() else 0o644)


def start_worker(
    level: Level,
    folder: Path,
    channel: int,
    preload: tuple[str, ...] = (),
    course: Path | None = None,
) -> subprocess.Popen:
    """Start the process in which submissions run.

    Args:
        level: How far it is kept away.
        folder: Where `copy_package` has put the package; files of submissions go there too, unless
            they have a file system of their own.
        channel: The descriptor of a socket by which it can be told what to do.
        preload: Names of modules that it imports once for all submissions.
        course: A folder that is not to be seen in a sandbox.
    """
    module = [sys.executable, "-P", "-s", "-B", "-m", f"{__package__}.worker"]
    way = find_way() if level == Level.SANDBOX else None
    user = own_user(way) if way else 0
    arguments = [*module, str(channel), str(int(level)), str(user), *preload]
    environment = ENVIRONMENT | {"PYTHONPATH": str(folder), "PATH": os.environ.get("PATH", "")}
    if level == Level.SANDBOX:
        arguments = [*bubblewrap(way, folder, course), *arguments]
    else:
        remove(folder.glob("scratch-*"))  # of a process that could not tidy up
        scratch = tempfile.mkdtemp(prefix="scratch-", dir=folder)  # whatever is left of those
        environment |= {"HOME": scratch, "TMPDIR": scratch}
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            arguments,
            pass_fds=[channel],
            cwd="/" if level == Level.SANDBOX else scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,  # until it is ready
            start_new_session=True,
            user=way.user if way else None,
        )
