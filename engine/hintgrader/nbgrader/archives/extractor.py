"""Unpacks the archives of learning systems: each upload in them is taken, or left, by itself.

The archive of a system holds the uploads of a class, and an upload may be an archive as well, or
pretend to be one. What is wrong with one costs the others nothing: it stays as it was uploaded, and
the log says why.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from nbgrader.plugins import ExtractorPlugin

from hintgrader.nbgrader.archives.members import TooMuchError, folder_for, is_archive, members
from hintgrader.nbgrader.safe_copy import MAX_DEPTH, MAX_FILES

MAX_NESTED = 3  # archives within an upload, one in the other
MAX_UPLOADS = 100_000  # in the archive of a system
MAX_GROWTH = 100  # times its size that an archive of a system may unpack to
LEAST_ROOM = 2**30  # bytes that it may unpack to, however small it is
TAR_OVERHEAD = 2  # times what may be taken of a tar are read of it
JUNK = ("__MACOSX", "._*")  # what macOS adds to a zip, named like the files themselves


@dataclass
class _Room:
    """Files and bytes that may still be written."""

    files: int
    bytes: int
    said: str
    around: "_Room | None" = None

    def take(self, files: int = 0, bytes: int = 0) -> None:
        """Use some of it.

        Raises:
            TooMuchError: There is no more.
        """
        self.files, self.bytes = self.files - files, self.bytes - bytes
        if self.files < 0 or self.bytes < 0:
            raise TooMuchError(self.said)
        if self.around:
            self.around.take(files, bytes)

    def give_back(self, bytes: int) -> None:
        """Have so many bytes again, which were removed."""
        self.bytes += bytes
        if self.around:
            self.around.give_back(bytes)


class UploadExtractor(ExtractorPlugin):
    """Unpacks zip and tar archives, and single files packed by gzip, within bounds.

    An upload may unpack to as much as nbgrader takes through its exchange: see `max_file_size` and
    `max_dir_size` of the `CourseDirectory`.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack all archives in a folder into another, and copy the other files in it."""
        course = self.parent.coursedir
        self._junk = (*JUNK, *course.ignore)
        self._most = 1000 * course.max_file_size, 1000 * course.max_dir_size
        self._left = 0
        here, there = Path(archive_path), Path(extracted_path)
        files = [path for path in sorted(here.rglob("*")) if path.is_file()]
        if not files:
            self.log.warning("No files found in directory: %s", archive_path)
        for path in files:
            target = there / path.relative_to(here)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not is_archive(path.name):
                shutil.copyfile(path, target)
                continue
            try:
                self._unpack_class(path, folder_for(target))
            except Exception as error:  # it may hold anything
                self._leave(path.name, error)
                shutil.copyfile(path, target)
        if self._left:
            self.log.warning("Left packed, for the reasons above: %d", self._left)

    def _unpack_class(self, archive: Path, target: Path) -> None:
        """Unpack the archive of a system; the rest of it goes on where an upload cannot be taken.

        Raises:
            Exception: Of whatever kind, where the archive itself cannot be read.
        """
        most = max(LEAST_ROOM, MAX_GROWTH * archive.stat().st_size)
        room = _Room(MAX_UPLOADS, most, f"{archive.name} would unpack to more than {most:,} bytes")
        rooms: dict[tuple[str, ...], _Room] = defaultdict(lambda: self._room_of_upload(room))
        for name, reader in members(archive, most):
            path = PurePosixPath(name)
            try:
                self._take(path, reader, target, rooms[path.parts[:2]], 0)
            except Exception as error:
                self._leave(f"{archive.name}/{name}", error)

    def _room_of_upload(self, around: _Room) -> _Room:
        _, most = self._most
        said = f"it unpacks to more than {MAX_FILES} files or {most:,} bytes"
        return _Room(MAX_FILES, most, said, around)

    def _take(
        self, path: PurePosixPath, reader: Iterator[bytes], folder: Path, room: _Room, nested: int
    ) -> None:
        """Write a member of an archive, and unpack it if it is an archive itself.

        Raises:
            Exception: Of whatever kind; nothing of it is there then.
        """
        if any(fnmatch(part, one) for part in path.parts for one in self._junk):
            return
        if path.is_absolute() or ".." in path.parts or len(path.parts) > MAX_DEPTH:
            raise ValueError("its path leads out of the archive, or too deep")
        room.take(files=1)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, reader, self._most[0], room)
        if is_archive(target.name):
            inside, before = folder_for(target), room.bytes
            try:
                self._unpack_upload(target, inside, room, nested + 1)
            except TooMuchError:
                shutil.rmtree(inside, ignore_errors=True)
                room.give_back(before - room.bytes)
                raise
            except Exception as error:  # what could be read of it is kept beside it
                self._leave(str(target.relative_to(folder)), error)
            else:
                target.unlink()

    def _unpack_upload(self, archive: Path, target: Path, room: _Room, nested: int) -> None:
        if nested > MAX_NESTED:
            raise TooMuchError(f"it holds archives in archives, more than {MAX_NESTED} deep")
        before = room.files
        for name, reader in members(archive, TAR_OVERHEAD * self._most[1]):
            self._take(PurePosixPath(name), reader, target, room, nested)
        if room.files == before:
            raise ValueError("it holds no file that can be taken: links and folders, or nothing")

    def _leave(self, name: str, error: Exception) -> None:
        self._left += 1
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        self.log.warning("Left as it is: %r: %s", name, reason)  # its name may hold anything


def _write(target: Path, reader: Iterator[bytes], most: int, room: _Room) -> None:
    """Write a file that is not there yet; nothing of it stays if that fails."""
    length = 0
    with target.open("xb") as file:
        try:
            for piece in reader:
                length += len(piece)
                if length > most:
                    raise TooMuchError(f"it is larger than {most:,} bytes")
                room.take(bytes=len(piece))
                file.write(piece)
        except BaseException:
            os.unlink(target)
            raise
