"""The files in a zip or tar archive, or in one packed by gzip, read piece by piece.

Of zip only its two usual methods are read: others take as much memory as the archive asks for.
"""

import gzip
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from hintgrader.nbgrader.safe_copy import PIECE

ENDINGS = (".zip", ".tar.gz", ".tgz", ".tar", ".gz")
Member = tuple[str, Iterator[bytes]]


class TooMuchError(Exception):
    """An archive holds more than is taken of anybody."""


def is_archive(name: str) -> bool:
    """True if a file of this name must be unpacked."""
    return name.lower().endswith(ENDINGS)


def folder_for(archive: Path) -> Path:
    """The folder beside an archive in which its files go: its path without the ending."""
    ending = next(one for one in ENDINGS if _ends(archive, one))
    return archive.with_name(archive.name[: -len(ending)] or "unpacked")


def members(archive: Path, most: int) -> Iterator[Member]:
    """The name of each file in an archive, and its bytes; links and folders are left out.

    Args:
        archive: Its path; the ending says what it is.
        most: Bytes that are read of a tar, however few of them belong to files.

    Raises:
        TooMuchError: The tar has more.
        Exception: Of whatever kind, where it cannot be read.
    """
    if _ends(archive, ".zip"):
        yield from _of_zip(archive)
        return
    with ExitStack() as opened:
        opening = archive.open if _ends(archive, ".tar") else partial(gzip.open, archive)
        file: Any = opened.enter_context(opening("rb"))
        is_tar = not _ends(archive, ".gz") or b"ustar" in file.read(512)
        file.seek(0)
        if is_tar or _ends(archive, ".tar.gz"):
            yield from _of_tar(file, most)
        else:
            yield archive.name[: -len(".gz")], _pieces(file)


def _ends(archive: Path, ending: str) -> bool:
    return archive.name.lower().endswith(ending)


def _of_zip(archive: Path) -> Iterator[Member]:
    with ZipFile(archive) as packed:
        for about in packed.infolist():
            kind = stat.S_IFMT(about.external_attr >> 16)  # 0 where the system has none
            if not about.is_dir() and kind in (0, stat.S_IFREG):
                yield about.filename, _of_member(packed, about)


def _of_member(packed: ZipFile, about: ZipInfo) -> Iterator[bytes]:
    if about.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(f"its compression, of type {about.compress_type}, is not a usual one")
    with packed.open(about) as file:
        yield from _pieces(file)


def _of_tar(file: IO[bytes], most: int) -> Iterator[Member]:
    bounded: Any = _Bounded(file, most)
    with tarfile.open(fileobj=bounded, mode="r|") as packed:  # each byte is read once
        for about in packed:
            if about.isreg() and (content := packed.extractfile(about)):
                yield about.name, _pieces(content)


class _Bounded:
    """A file of which no more than so many bytes can be read."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file, self._left, self._most = file, most, most

    def read(self, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise TooMuchError(f"it unpacks to more than {self._most:,} bytes")
        return self._file.read(size)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
