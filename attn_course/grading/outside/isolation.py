"""Levels of isolation, and the process that is started at each of them."""

import enum
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import attn_course

PACKAGE = Path(attn_course.__file__).resolve().parent
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
SCRATCH, COURSE, LOG, NOBODY = "/scratch", "/course", "worker.log", 65534
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
SCRATCH_BYTES = 2**28


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
    """The highest level that this machine offers: tried, not guessed."""
    if _sandbox_users():
        return Level.SANDBOX
    return Level.PLAIN if sys.platform == "win32" else Level.LIMITS


def copy_package(folder: Path) -> None:
    """Copy what a submission may import into a folder: the package without tests and references."""

    def left_out(place: str, names: list[str]) -> set[str]:
        if Path(place) == PACKAGE / "grading":
            return set(names) - KEPT
        return set()

    folder.chmod(0o755)  # the user of a sandbox is another
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=left_out)


def start_worker(
    level: Level, folder: Path, channel: int, preload: tuple[str, ...] = ()
) -> subprocess.Popen:
    """Start the process in which submissions run.

    Args:
        level: How far it is kept away.
        folder: Where `copy_package` has put the package; files of submissions go there too, unless
            they have a file system of their own.
        channel: The descriptor of a socket by which it can be told what to do.
        preload: Names of modules that it imports once for all submissions.
    """
    module = [sys.executable, "-P", "-s", "-B", "-m", f"{__package__}.worker"]
    arguments = [*module, str(channel), str(int(level)), *preload]
    scratch = folder / "scratch"
    environment = ENVIRONMENT | {"PYTHONPATH": str(folder), "PATH": os.environ.get("PATH", "")}
    if level == Level.SANDBOX:
        arguments = [*_bubblewrap(folder), *arguments]
    else:
        shutil.rmtree(scratch, ignore_errors=True)  # of a process that could not tidy up
        scratch.mkdir(exist_ok=True)
        environment |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
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
            user=_sandbox_users()[0] if level == Level.SANDBOX else None,
        )


@cache
def _sandbox_users() -> tuple[int | None, ...]:
    """As whom bubblewrap works here: nobody if we are root, whose processes nobody counts."""
    if shutil.which("bwrap") is None:
        return ()
    is_root = sys.platform != "win32" and os.geteuid() == 0
    command = [*_bubblewrap(None), sys.executable, "-S", "-c", "pass"]
    return tuple(user for user in ([NOBODY] if is_root else []) + [None] if _runs(command, user))


def _runs(command: list[str], user: int | None) -> bool:
    try:
        tried = subprocess.run(command, user=user, capture_output=True, timeout=20, cwd="/")
    except (OSError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0


def _bubblewrap(folder: Path | None) -> list[str]:
    """Bubblewrap with files, processes, users, network and names of its own."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"]
    words += ["--cap-drop", "ALL", "--hostname", "course"]
    for name in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            words += ["--ro-bind", name, name]
    for name in ("/etc/ld.so.cache", "/etc/localtime"):
        words += ["--ro-bind-try", name, name]
    prefixes = [p for p in dict.fromkeys((sys.base_prefix, sys.prefix)) if not _is_in(p, "/usr")]
    for prefix in prefixes:
        words += ["--ro-bind", prefix, prefix]
    if any(_is_in(PACKAGE, place) for place in ("/usr", *prefixes)):
        words += ["--tmpfs", str(PACKAGE)]  # installed among the packages, with its tests
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in (SCRATCH, "/dev/shm"):
        words += ["--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", place]
    if not any(_is_in(prefix, "/tmp") for prefix in prefixes):
        words += ["--symlink", SCRATCH, "/tmp"]
    if folder is not None:
        words += ["--ro-bind", str(folder / PACKAGE.name), f"{COURSE}/{PACKAGE.name}"]
    words += ["--setenv", "PYTHONPATH", COURSE, "--setenv", "HOME", SCRATCH]
    words += ["--setenv", "TMPDIR", SCRATCH, "--setenv", "PATH", "/usr/bin:/bin"]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/"]


def _is_in(path: str | Path, folder: str) -> bool:
    return Path(path).is_relative_to(folder)
