"""Accounts of this machine, made for a test, that try things as other people would."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("useradd") is None,
    reason="makes accounts, which takes root and useradd",
)


@dataclass(frozen=True)
class Account:
    """Somebody with an account, and with nothing else."""

    name: str

    @property
    def user(self) -> int:
        return pwd.getpwnam(self.name).pw_uid

    def runs(self, script: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Run lines of a shell as this person; `$1` is the first of the words."""
        command = ["sh", "-c", script, "sh", *map(str, words)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd="/",
            umask=0o022,
            user=self.user,
            group=self.user,
            extra_groups=[],
        )

    def does(self, script: str, *words: object) -> str:
        """Run lines of a shell that have to succeed; return what they print."""
        run = self.runs(f"set -e\n{script}", *words)
        assert run.returncode == 0, f"{run.stdout}{run.stderr}"
        return run.stdout


@contextmanager
def account(name: str) -> Iterator[Account]:
    """Make an account, and a group of the same name; take both away afterwards."""
    name = f"{name}-{os.getpid()}"  # tests run at the same time
    subprocess.run(["useradd", "--no-create-home", "--user-group", name], check=True)
    found = pwd.getpwnam(name)
    try:
        assert found.pw_uid == found.pw_gid, "accounts have groups of their own number here"
        yield Account(name)
    finally:
        subprocess.run(["userdel", name], check=True)


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="open-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
