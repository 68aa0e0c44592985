"""A PostgreSQL server for one test, with the programs of the operating system."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Debian keeps the server's own programs, one folder for each version, off PATH.
PLACES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *os.get_exec_path()]
SECONDS_TO_START = 30


def program(name: str) -> str | None:
    """Return the path of PostgreSQL's program, in its newest version; None if there is none."""
    return shutil.which(name, path=os.pathsep.join(map(str, PLACES)))


def missing() -> str | None:
    """The reason why no server can be started here; None if one can."""
    lacking = [name for name in ("initdb", "postgres") if program(name) is None]
    if lacking:
        return (
            f"PostgreSQL is not installed (no {' or '.join(lacking)}): apt-get install postgresql"
        )
    return None


def account() -> str | None:
    """The account, and its group, to run a server under, which root may not; None for one's own."""
    return None if os.getuid() else "postgres"


@contextmanager
def running_server() -> Iterator[str]:
    """Start an empty server on a socket of its own; give the URL of its database, and end it.

    The folder is not pytest's, because root's is closed to the account that the server runs under,
    and because the path of a socket has at most 107 bytes.
    """
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder, user = Path(name), account()
        others: list[str] | None = None if user is None else []
        if user:
            shutil.chown(folder, user, user)
        options = ["--username=grader", "--auth=trust", "--encoding=UTF8", "--locale=C"]
        made = [program("initdb") or "initdb", f"--pgdata={folder / 'data'}", "--no-sync", *options]
        subprocess.run(
            made,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            user=user,
            group=user,
            extra_groups=others,
        )
        with (folder / "log").open("wb") as log:
            data = str(folder / "data")
            served = [program("postgres") or "postgres", "-D", data, "-k", str(folder), "-h", ""]
            server = subprocess.Popen(
                [*served, "-F"],
                stdout=log,
                stderr=log,
                cwd=folder,
                user=user,
                group=user,
                extra_groups=others,
            )
        try:
            wait_for(server, folder)
            yield f"postgresql+psycopg://grader@/postgres?host={folder}"
        finally:
            server.send_signal(2)  # SIGINT: close the connections and end at once
            server.wait(SECONDS_TO_START)


def wait_for(server: subprocess.Popen[bytes], folder: Path) -> None:
    """Return when the server answers.

    Raises:
        RuntimeError: It ended, or did not answer in time; with what it said.
    """
    import psycopg

    deadline = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(host=str(folder), user="grader", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL does not start: {(folder / 'log').read_text()}")
