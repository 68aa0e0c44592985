"""Keeps the course's grading files private from other accounts, whatever the umask.

The folder `grading/` is 0700; within it modes matter less, as nobody else gets that far. A folder
that several graders share says so itself: it is 2770, and its files belong to their group.
"""

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

with suppress(ImportError):  # Windows knows no such accounts, and no such modes
    import pwd

from hintgrader.nbgrader.course import CONFIG, GRADING, Course, CourseError

OTHERS, GROUP, SHARED = 0o007, 0o070, 0o2070
CHANGE_THE_SEED = "If others use this machine, write another seed: they may have read it."


def is_shared(grading: Path) -> bool:
    """True for a folder that a group of graders shares, as its mode says: 2770."""
    return grading.is_dir() and grading.stat().st_mode & SHARED == SHARED


def make_private(grading: Path) -> None:
    """Make the folder of all that grading keeps, or close the one that is there.

    Raises:
        CourseError: It belongs to somebody else.
    """
    grading.mkdir(mode=0o700, exist_ok=True)
    if sys.platform == "win32":
        return
    shared, before = is_shared(grading), _mode(grading)
    entered = _open_to(grading, shared) and any(grading.iterdir())
    for path in filter(lambda path: _open_to(path, shared), _private_paths(grading)):
        try:
            path.chmod(path.stat().st_mode & ~_open_to(path, shared))
        except PermissionError:
            raise CourseError(f"{path} is open to others and {_owner(path)}") from None
    if entered:
        message = f"{grading} was open to others (mode {before}), and is closed now."
        print(f"{message} {CHANGE_THE_SEED}", file=sys.stderr)


def check_private(course: Course) -> None:
    """Check that no other account can read or replace what grading keeps.

    To be called before the settings are read, which would close what is open and say little.

    Raises:
        CourseError: One can; the message has the command that mends it.
    """
    if sys.platform == "win32":
        return
    for path in (course.root, course.root / CONFIG):
        if path.stat().st_mode & stat.S_IWOTH:
            raise CourseError(
                f"{path} can be changed by every account (mode {_mode(path)}), and its settings run"
                f" with your rights. Close it: chmod -R o-w {_quoted(course.root)}"
            )
    grading = course.root / GRADING
    shared = is_shared(grading)
    for path in _private_paths(grading):
        if not shared and path.stat().st_uid != os.geteuid():
            raise CourseError(f"{path} {_owner(path)}")
        if _open_to(path, shared):
            close = f"chmod -R {'o' if shared else 'go'}-rwx {_quoted(grading)}"
            entered = f". {CHANGE_THE_SEED}" if path == grading else ""
            message = f"{path} is open to others (mode {_mode(path)}). Close it: {close}{entered}"
            raise CourseError(message)


@contextmanager
def private_files(root: Path) -> Iterator[None]:
    """Files that are made meanwhile can be read by their owner alone, or by the group that shares.

    Args:
        root: Folder of the course.
    """
    before = os.umask(mask(root / GRADING))
    try:
        yield
    finally:
        os.umask(before)


def mask(grading: Path) -> int:
    """The umask for what belongs to this folder and may be written beside it."""
    return OTHERS if is_shared(grading) else OTHERS | GROUP


def _private_paths(grading: Path) -> list[Path]:
    return [path for path in (grading, grading / "secret.txt") if path.exists()]


def _open_to(path: Path, shared: bool) -> int:
    return path.stat().st_mode & (OTHERS if shared else OTHERS | GROUP)


def _mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):o}"


def _owner(path: Path) -> str:
    """The owner of a path, and the command to take it over."""
    mine, folder = account(os.geteuid()), path if path.is_dir() else path.parent
    belongs = f"belongs to {account(path.stat().st_uid)}, not to {mine}."
    return f"{belongs} Take it over: sudo chown -R {shlex.quote(mine)} {_quoted(folder)}"


def account(user: int) -> str:
    """The name of an account; its number if it has none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path.resolve()))
