"""The key of a cluster: whoever can read it runs programs on all its machines, and nobody else.

A port of Dask's obeys everybody who reaches it, on the loopback too, which all accounts of a
machine share. So all of it speaks TLS, and both ends have to show the one certificate whose key
lies in `grading/`, where the graders alone may read.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from distributed import Security

from hintgrader.nbgrader.course import GRADING, Course, CourseError

FILE = "cluster.pem"
DAYS, RENEWED_AFTER = 365, 180
# The certificate goes behind its key, into the same file.
MAKE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=hintgrader"


def make_secret(course: Course) -> None:
    """Make a key and its certificate, unless there are some that last.

    Raises:
        CourseError: The program openssl is missing, or cannot do it.
    """
    path = _path(course)
    if path.is_file() and time.time() - path.stat().st_mtime < RENEWED_AFTER * 86400:
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".key-") as folder:
        new = Path(folder, FILE)
        new.touch()  # as the umask says: for a group too, if graders share the folder
        command = [*MAKE.split(), "-days", f"{DAYS}", "-keyout", str(new), "-out", str(new)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except FileNotFoundError:
            raise CourseError("A cluster needs the program openssl for its key.") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace")
            raise CourseError(f"openssl cannot make the key of a cluster: {said}") from None
        os.replace(new, path)


def secret_file(course: Course) -> Path:
    """The file with the key and its certificate.

    Raises:
        CourseError: There is none.
    """
    path = _path(course)
    if not path.is_file():
        start = "Start the scheduler first, in this folder: hintgrader cluster scheduler"
        raise CourseError(f"There is no key of a cluster at {path}. {start}")
    return path


def security(course: Course) -> Security:
    """The key as Dask's client takes it, which then refuses whatever is not encrypted."""
    file = str(secret_file(course))
    files = {"tls_ca_file": file, "tls_client_cert": file, "tls_client_key": file}
    return Security(require_encryption=True, **files)


def closed_address(address: str) -> str:
    """An address of a scheduler, with `tls://` in front.

    Raises:
        CourseError: It names another protocol.
    """
    protocol, _, rest = address.rpartition("://")
    if protocol not in ("", "tls"):
        raise CourseError(
            f"{address} is open: every account that reaches it could run programs as you, and read"
            f" the seed. Start the scheduler with `hintgrader cluster scheduler`: tls://{rest}"
        )
    return f"tls://{rest}"


def _path(course: Course) -> Path:
    return course.root / GRADING / FILE
