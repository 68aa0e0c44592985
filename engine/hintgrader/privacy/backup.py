"""A backup of all that grading keeps, and putting it back."""

import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from hintgrader.nbgrader.course import GRADING, Course, CourseError

# Python has the filter from 3.11.4 on, and Debian's is older; each member is looked at anyway.
SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def back_up(course: Course, target: Path) -> int:
    """Write `grading/` into a tar.gz, the gradebook as it is at one moment; its size in bytes.

    Raises:
        CourseError: The file is there already, or would be part of itself, or the gradebook is on
            a server, which has a command of its own for this.
    """
    grading, gradebook = course.root / GRADING, _gradebook_file(course)
    if target.exists():
        raise CourseError(f"{target} is there already.")
    if target.resolve().is_relative_to(grading):
        raise CourseError(f"{target} lies in {grading}, of which it should be a copy.")
    with tempfile.TemporaryDirectory(dir=grading, prefix=".backup-") as folder:
        copy = Path(folder, gradebook.name)
        if gradebook.is_file():
            with closing(sqlite3.connect(gradebook)) as here, closing(sqlite3.connect(copy)) as new:
                here.backup(new)  # whatever is being written meanwhile
        with tarfile.open(target, "x:gz") as packed:
            for path in sorted(grading.rglob("*")):
                inside = path.relative_to(course.root)
                if path == gradebook:
                    packed.add(copy, inside)
                elif path.is_file() and not inside.parts[1].startswith(
                    (".backup-", "gradebook.db")
                ):
                    packed.add(path, inside)
    return target.stat().st_size


def restore(course: Course, source: Path) -> int:
    """Put a backup back into an empty `grading/`; the number of files.

    Raises:
        CourseError: There is something already, or the file is no such backup.
    """
    grading = course.root / GRADING
    if grading.is_dir() and any(grading.iterdir()):
        raise CourseError(f"{grading} is not empty. Move it away first, or delete what is in it.")
    try:
        with tarfile.open(source, "r:gz") as packed:
            members = packed.getmembers()
            if strange := [member.name for member in members if not _is_ours(member)]:
                raise CourseError(f"{source} is no backup of a course: it holds {strange[0]}.")
            packed.extractall(course.root, **SAFELY)
            number = len(members)
    except tarfile.TarError as error:
        raise CourseError(f"{source} is no backup of a course: {error}") from None
    grading.chmod(0o700)
    return number


def _is_ours(member: tarfile.TarInfo) -> bool:
    """True for what a backup holds: plain files inside `grading/`."""
    parts = Path(member.name).parts
    return member.isfile() and parts[:1] == (GRADING,) and ".." not in parts


def _gradebook_file(course: Course) -> Path:
    url = make_url(course.directory.db_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        shown = url.render_as_string(hide_password=True)
        raise CourseError(f"The gradebook is at {shown}: back it up there, with pg_dump.")
    return Path(url.database)
