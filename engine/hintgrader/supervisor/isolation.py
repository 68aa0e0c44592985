"""Lays out the packages for the confined process, and starts it at each level of isolation."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from hintgrader.supervisor.bubblewrap import (
    PACKAGES,
    bubblewrap,
    find_bubblewrap_mode,
    sandbox_user,
)
from hintgrader.worker.level import Level
from hintgrader.worker.scratch import remove
from hintgrader.worker.wall import ENGINE, WORKER, Wall
from hintgrader.worker.wire import Message

LOG = "worker.log"
STAND_IN = f'''"""Stands for the bank of exercises: there is `check`, and no test."""

from {WORKER}.check import check, progress

__all__ = ["check", "progress"]
'''
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",  # whatever a notebook asks for: threads do not outlive a fork
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "USER": "student",  # a sandbox has no list of users to ask
    "PYTHONBREAKPOINT": "0",  # nobody is there to answer a debugger
    "PIP_NO_INDEX": "1",  # it would look for a network for half a minute
    "PIP_DRY_RUN": "1",  # what it installs would outlast the notebook
}


@cache
def strongest() -> Level:
    """The highest level that this machine offers: tried, not guessed.

    Raises:
        OSError: None, as on Windows a process neither forks nor is handed a socket.
    """
    if sys.platform == "win32":
        raise OSError("On Windows itself nothing can be graded: install the course within WSL.")
    return Level.SANDBOX if find_bubblewrap_mode() else Level.LIMITS


def lay_out(folder: Path, wall: Wall) -> None:
    """Lay out all that a submission may import in a folder, and nothing else.

    It is the packages that the course names, whole; `worker` of the engine; and a package that
    stands for the bank.
    """
    target = folder / PACKAGES
    for name in wall.packages:
        shutil.copytree(folder_of(name), target / name, ignore=_caches)
    engine = target / ENGINE
    shutil.copytree(folder_of(WORKER), engine / WORKER.rpartition(".")[2], ignore=_caches)
    shutil.copy(folder_of(ENGINE) / "__init__.py", engine)
    (target / wall.bank).mkdir()
    (target / wall.bank / "__init__.py").write_text(STAND_IN, encoding="utf-8")
    for path in (folder, *folder.rglob("*")):  # the user of a sandbox is another
        path.chmod(0o755 if path.is_dir() else 0o644)


_caches = shutil.ignore_patterns("__pycache__")


def folder_of(package: str) -> Path:
    """The folder in which a package is installed.

    Raises:
        ModuleNotFoundError: It is not.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{package}, which the settings name, is not installed")
    return Path(spec.submodule_search_locations[0]).resolve()


def worker_settings(level: Level, wall: Wall, preload: tuple[str, ...]) -> Message:
    """The settings that a worker process receives once, when it starts.

    Args:
        level: How far it is kept away.
        wall: What it may import, and what is held back.
        preload: Names of modules that it imports once for all submissions.
    """
    mode = find_bubblewrap_mode() if level == Level.SANDBOX else None
    user = sandbox_user(mode) if mode else 0
    return {"level": int(level), "user": user, "preload": preload, "wall": asdict(wall)}


def start_worker(
    level: Level,
    folder: Path,
    channel: int,
    wall: Wall,
    course: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start the process in which submissions run; it waits for its settings.

    Args:
        level: How far it is kept away.
        folder: Where `lay_out` has put the packages; files of submissions go there too, unless
            they have a file system of their own.
        channel: The descriptor of a socket by which it can be told what to do.
        wall: What it may import, and what is held back.
        course: A folder that is not to be seen in a sandbox.
    """
    mode = find_bubblewrap_mode() if level == Level.SANDBOX else None
    arguments = [sys.executable, "-P", "-s", "-B", "-m", f"{WORKER}.main", str(channel)]
    environment = ENVIRONMENT | {"PATH": os.environ.get("PATH", "")}
    environment |= {"PYTHONPATH": str(folder / PACKAGES)}
    if mode is not None:
        hidden = (course, *map(folder_of, (*wall.packages, ENGINE, wall.bank)))
        arguments, scratch = [*bubblewrap(mode, folder, hidden), *arguments], "/"
    else:
        remove(folder.glob("scratch-*"))  # of a process that could not tidy up
        scratch = tempfile.mkdtemp(prefix="scratch-", dir=folder)  # whatever is left of those
        environment |= {"HOME": scratch, "TMPDIR": scratch}
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            arguments,
            pass_fds=[channel],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,  # until it is ready
            start_new_session=True,
            user=mode.user if mode else None,
        )
