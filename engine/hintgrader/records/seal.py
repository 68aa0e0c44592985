"""Seals on the records of grading: what is exported and reported is what was graded.

A seal is a digest with a key that lies beside the records. In a sandbox a submission sees neither.
Without one it could read the key and seal what it likes: so while one is graded at a weaker level
the key is in the memory of the grader alone, and on no disk.
"""

import ctypes
import hmac
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hintgrader.worker.time_limits import LOCK_POLL_SECONDS, LOCK_SECONDS

KEY = ".key"
SET_DUMPABLE = 4  # of Linux's prctl
_held: dict[str, bytes] = {}  # keys that are on no disk, by the folder of the records


class KeyHeldError(OSError):
    """The key is in the memory of another process, which grades at a weaker level."""


def seal_of(results: Path, text: str) -> str:
    """The seal of a text.

    Args:
        results: The folder of all records; its key is made if there is none.
        text: What a record says.
    """
    return hmac.new(_key(results), text.encode(), "sha256").hexdigest()


def is_sealed(results: Path, text: str, seal: str) -> bool:
    """True if this is the seal of a text."""
    return hmac.compare_digest(seal_of(results, text).encode(), seal.encode())


@contextmanager
def key_held(results: Path) -> Iterator[None]:
    """Keep the key in memory alone within the block, and this process from others of the user.

    If this process is killed the key is lost; then all is graded again.

    Raises:
        KeyHeldError: Another process holds it.
    """
    results.mkdir(parents=True, exist_ok=True)
    with _locked(results):
        key = _read_or_make(results)
        hold({str(results): key})
        (results / KEY).unlink()
        try:
            yield
        finally:
            del _held[str(results)]
            _set_dumpable(True)
            _write(results / KEY, key)  # in the place of one that a submission may have put there


def hold(keys: dict[str, bytes]) -> None:
    """Take over keys that another process of the grader's holds."""
    _held.update(keys)
    if keys:
        _set_dumpable(False)


def held_keys() -> dict[str, bytes]:
    """The keys that this process holds."""
    return dict(_held)


def _set_dumpable(yes: bool) -> None:
    """Let others of the user look into this process, or not: its memory is a file, too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DUMPABLE, int(yes), 0, 0, 0)


def _key(results: Path) -> bytes:
    if (key := _held.get(str(results))) is not None:
        return key
    with suppress(FileNotFoundError):
        return (results / KEY).read_bytes()
    with _locked(results):
        return _read_or_make(results)


def _read_or_make(results: Path) -> bytes:
    """The key, in the block of the lock."""
    with suppress(FileNotFoundError):
        return (results / KEY).read_bytes()
    _write(results / KEY, key := secrets.token_bytes(32))
    return key


def _write(path: Path, key: bytes) -> None:
    """Write the key, in the block of the lock: a reader without it finds all of it or none."""
    unfinished = path.with_name(f"{KEY}.unfinished")
    unfinished.unlink(missing_ok=True)  # of a process that was killed
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(unfinished, "wb", opener=lambda name, _: os.open(name, flags, 0o600)) as file:
        file.write(key)
    unfinished.replace(path)


@contextmanager
def _locked(results: Path) -> Iterator[None]:
    """One process at a time is in the block; one that ends, however it does, leaves it."""
    results.mkdir(parents=True, exist_ok=True)
    with (results / f"{KEY}.lock").open("w") as file:
        until = time.monotonic() + LOCK_SECONDS
        while not _has_lock(file.fileno()):
            if time.monotonic() > until:
                raise KeyHeldError(
                    "Something is being graded without a sandbox: wait until that is done."
                )
            time.sleep(LOCK_POLL_SECONDS)
        yield


def _has_lock(descriptor: int) -> bool:
    if sys.platform == "win32":  # where nothing is graded
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
