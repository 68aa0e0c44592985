"""The sandbox: a process with files, processes, a network and a user of its own, by bubblewrap."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hintgrader.worker.time_limits import PROBE_SANDBOX_SECONDS

PACKAGES = "packages"  # the folder of what a submission may import
SCRATCH, COURSE = "/scratch", "/course"
SCRATCH_BYTES = 2**28
NOBODY, FIRST_USER = 65534, 2**30
# A process that became another user, as the worker will, must still be able to read its packages.
PROBE = """import importlib.util, os, sys
if user := int(sys.argv[1]):
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
open(importlib.util.find_spec("torch").origin)"""


@dataclass(frozen=True)
class BubblewrapMode:
    """A way in which bubblewrap works.

    Args:
        words: Of its command line.
        user: As whom it is started; None: as who we are.
    """

    words: tuple[str, ...]
    user: int | None = None


# A user in a name space of users of its own needs no rights.
OWN_USERS = ("--unshare-all",)
# Root becomes a user of its own instead, whose processes the kernel counts; it counts
# none of root's, in any name space.
AS_ROOT: tuple[str, ...] = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
AS_ROOT += ("--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")


def sandbox_user(mode: BubblewrapMode) -> int:
    """The user that a process becomes in a sandbox, whom nobody else is; 0 to stay who it is."""
    return FIRST_USER + os.getpid() if mode.words == AS_ROOT else 0


@cache
def find_bubblewrap_mode() -> BubblewrapMode | None:
    """The best way that works on this machine: tried, not guessed. None without bubblewrap."""
    if shutil.which("bwrap") is None:
        return None
    modes = [BubblewrapMode(OWN_USERS)]
    if os.geteuid() == 0:
        modes = [BubblewrapMode(AS_ROOT), BubblewrapMode(OWN_USERS, NOBODY), *modes]
    return next(filter(_works, modes), None)


def _works(mode: BubblewrapMode) -> bool:
    with tempfile.TemporaryDirectory(prefix="hintgrader-") as place:
        folder = Path(place)
        folder.chmod(0o755)  # as the package's will be
        (folder / PACKAGES).mkdir()
        (folder / PACKAGES).chmod(0o755)
        command = [*bubblewrap(mode, folder), sys.executable, "-c", PROBE, str(sandbox_user(mode))]
        try:
            probe = subprocess.run(
                command,
                user=mode.user,
                capture_output=True,
                timeout=PROBE_SANDBOX_SECONDS,
                cwd="/",
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return probe.returncode == 0


def bubblewrap(mode: BubblewrapMode, folder: Path, hidden: Iterable[Path | None] = ()) -> list[str]:
    """The beginning of a command that runs with files, processes and a network of its own.

    Args:
        mode: How it works here.
        folder: Where the packages are that a submission may import.
        hidden: Folders that it must not see, wherever they lie.
    """
    words = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    words += [*mode.words, "--hostname", "course"]
    for name in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            words += ["--ro-bind", name, name]
    words += ["--perms", "0755", "--dir", "/etc"]  # which another user may not enter
    for name in ("/etc/ld.so.cache", "/etc/localtime"):
        words += ["--ro-bind-try", name, name]
    prefixes = [p for p in dict.fromkeys((sys.base_prefix, sys.prefix)) if not _is_in(p, "/usr")]
    for prefix in prefixes:
        for parent in reversed(Path(prefix).parents[:-1]):  # these neither
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", prefix, prefix]
    words += _hide(*hidden, shown=("/usr", *prefixes))
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in (SCRATCH, "/dev/shm"):
        words += ["--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", place]
    if not any(_is_in(prefix, "/tmp") for prefix in prefixes):
        words += ["--symlink", SCRATCH, "/tmp"]
    words += ["--ro-bind", str(folder / PACKAGES), COURSE]
    words += ["--setenv", "PYTHONPATH", COURSE, "--setenv", "HOME", SCRATCH]
    words += ["--setenv", "TMPDIR", SCRATCH, "--setenv", "PATH", "/usr/bin:/bin"]
    for place in ("/dev/pts", "/dev", "/"):  # a user may own the first
        words += ["--remount-ro", place]
    return [*words, "--chdir", SCRATCH]


def _hide(*folders: Path | None, shown: tuple[str, ...]) -> list[str]:
    """Put empty folders, in which nobody can leave anything, in the places of those in sight."""
    hidden = [f for f in folders if f and any(_is_in(f, place) for place in shown)]
    words = []
    for folder in hidden:
        words += ["--tmpfs", str(folder)]
        for prefix in dict.fromkeys((sys.base_prefix, sys.prefix)):
            if _is_in(prefix, folder):  # an environment in the folder of a course
                words += ["--ro-bind", prefix, prefix]
    for folder in hidden:
        words += ["--remount-ro", str(folder)]
    return words


def _is_in(path: str | Path, folder: str | Path) -> bool:
    return Path(path).is_relative_to(folder)
