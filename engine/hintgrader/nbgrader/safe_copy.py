"""Copies a folder that a student made, and may be changing, believing only what the kernel says.

Everything is opened relative to the folder around it, never through a link, and looked at once it
is open: what a name stands for a moment later does not matter.
"""

import fnmatch
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath

from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.private import account
from hintgrader.nbgrader.times import TIMESTAMP

MAX_FILES, MAX_DEPTH = 1000, 16
PIECE = 2**20  # bytes read at a time
HERE = PurePath()


class RefusedError(Exception):
    """Raised when something is not copied; the message gives the reason."""


class TooMuchError(RefusedError):
    """A folder holds more than is taken of anybody."""


@contextmanager
def opened(name: str, within: int, owner: int | None) -> Iterator[tuple[int, os.stat_result]]:
    """A file or folder, opened without following a link, and what it is.

    Args:
        name: Its name.
        within: Descriptor of the folder around it.
        owner: The account that it has to belong to; None for any.

    Raises:
        RefusedError: It is something else, or somebody else's, or cannot be read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        # opening a device may do something, so look first, and again in case it was swapped since
        _require_plain(os.stat(name, dir_fd=within, follow_symlinks=False))
        descriptor = os.open(name, flags, dir_fd=within)
    except OSError as error:
        raise RefusedError(f"cannot be read: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        _require_plain(found)
        if owner not in (None, found.st_uid):
            raise RefusedError(f"belongs to {account(found.st_uid)}, not to {account(owner)}")
        yield descriptor, found
    finally:
        os.close(descriptor)


def _require_plain(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise RefusedError("is a link")
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise RefusedError("is neither a file nor a folder")


@dataclass
class SafeCopy:
    """A pass through a folder that was handed in.

    Args:
        course: Whose settings say what is ignored, how large a file may be, and who may read.
        owner: The account to which everything has to belong.

    Attributes:
        taken: Files, by their path in the folder.
        left: Other things there, and why each was not taken.
        changed: When the last of what was taken was changed, in nanoseconds of the epoch. The
            kernel writes this time, st_ctime; no account can set it.
    """

    course: CourseDirectory
    owner: int
    taken: list[PurePath] = field(default_factory=list)
    left: dict[PurePath, str] = field(default_factory=dict)
    changed: int = 0
    _bytes: int = 0
    _seen: int = 0

    def folder(self, source: int, target: Path | None, place: PurePath = HERE) -> None:
        """Copy a folder and all in it.

        Args:
            source: Its descriptor.
            target: What becomes of it, which must not exist; None only looks.
            place: Its path in the folder that was handed in.

        Raises:
            TooMuchError: It holds more than is taken; nothing of it should be kept.
            OSError: The copy cannot be written.
        """
        if target:
            target.mkdir(mode=0o770 if self.course.groupshared else 0o700)
        for name in self._names(source):
            path = place / name
            try:
                with opened(name, source, self.owner) as (descriptor, found):
                    beside = target / name if target else None
                    if stat.S_ISDIR(found.st_mode):
                        if len(path.parts) > MAX_DEPTH:
                            raise RefusedError(f"lies more than {MAX_DEPTH} folders deep")
                        self.folder(descriptor, beside, path)
                    elif path != PurePath(TIMESTAMP):
                        self._file(descriptor, beside, path)
            except TooMuchError:
                raise
            except RefusedError as error:
                self.left[path] = str(error)
        self._note_time(source)

    def _names(self, source: int) -> list[str]:
        with os.scandir(source) as entries:
            names = [entry.name for entry in islice(entries, MAX_FILES + 1)]
        self._seen += len(names)
        if self._seen > MAX_FILES:
            raise TooMuchError(f"holds more than {MAX_FILES} files")
        ignored = self.course.ignore
        return sorted(n for n in names if not any(fnmatch.fnmatch(n, each) for each in ignored))

    def _file(self, source: int, target: Path | None, path: PurePath) -> None:
        wanted = self.course.include
        if wanted and not any(fnmatch.fnmatch(path.name, each) for each in wanted):
            return
        size = os.fstat(source).st_size
        if size > 1000 * self.course.max_file_size:
            raise RefusedError(f"is larger than {self.course.max_file_size} kB")
        self._bytes += size
        if self._bytes > 1000 * self.course.max_dir_size:
            raise TooMuchError(f"is larger than {self.course.max_dir_size} kB")
        if target:
            self._copy_bytes(source, target, size)
        self._note_time(source)  # afterwards: it may have been written to meanwhile
        self.taken.append(path)

    def _copy_bytes(self, source: int, target: Path, size: int) -> None:
        mode = 0o660 if self.course.groupshared else 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(target, "wb", opener=lambda path, _: os.open(path, flags, mode)) as file:
            while size > 0 and (piece := os.read(source, min(size, PIECE))):
                file.write(piece)
                size -= len(piece)  # and no more, though it grow meanwhile

    def _note_time(self, descriptor: int) -> None:
        self.changed = max(self.changed, os.fstat(descriptor).st_ctime_ns)
