"""A running formgrader, which tests ask by its addresses or open in a browser."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

SECONDS_TO_START = 90  # on a machine that does ten other things


@contextmanager
def formgrader(course: Path, token: str = "") -> Iterator[str]:
    """Run a server in the folder of a course, with no settings of this machine's.

    Args:
        course: The folder.
        token: What a visitor has to know; without one everybody is let in.

    Yields:
        The address of the formgrader, without a slash at its end.
    """
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port = one.getsockname()[1]
    extension = "{'nbgrader.server_extensions.formgrader': True}"
    options = [f"--port={port}", "--no-browser", "--allow-root"]
    options += [f"--IdentityProvider.token={token}", "--ServerApp.port_retries=0"]
    options += [f"--ServerApp.jpserver_extensions={extension}"]
    places = {"JUPYTER_CONFIG_DIR": str(course.parent / "none")}
    places |= {"JUPYTER_DATA_DIR": str(course.parent)}
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HINTGRADER")} | places
    command = [sys.executable, "-m", "jupyter_server", *options]
    with subprocess.Popen(
        command,
        cwd=course,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    ) as server:
        deadline = time.monotonic() + SECONDS_TO_START
        try:
            while time.monotonic() < deadline and server.poll() is None:
                with suppress(OSError):
                    urlopen(f"http://localhost:{port}/api/status?token={token}").close()
                    break
                time.sleep(0.1)
            yield f"http://localhost:{port}/formgrader"
        finally:
            server.terminate()
