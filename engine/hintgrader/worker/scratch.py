"""Folders for the files of submissions: each finds them as they were when they were new."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def empty(folder: Path) -> list[str]:
    """Remove all that a submission has left in a folder; the names of what lay there.

    Raises:
        OSError: That cannot be done.
    """
    with suppress(OSError):  # who does not own the folder could not change it either
        folder.chmod(0o700)
        for name in _attached(folder):
            os.removexattr(folder, name)
        os.utime(folder, (0, 0))
    found = list(folder.iterdir())
    remove(found)
    if any(folder.iterdir()):
        raise OSError(f"{folder} cannot be emptied")
    return [entry.name for entry in found]


def _attached(path: Path) -> list[str]:
    """Names of attributes and further rights that a user has given a file."""
    if sys.platform == "linux":
        with suppress(OSError):  # a file system that knows none
            return [n for n in os.listxattr(path) if n.startswith(("user.", "system.posix_acl_"))]
    return []


def remove(paths: Iterable[Path]) -> None:
    """Remove files and folders, if it can be done: though nobody may enter them, however deep."""
    left = []
    for path in paths:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except (OSError, RecursionError):
            left.append(str(path))
    if left:
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run([*command, *left], stderr=subprocess.DEVNULL)
