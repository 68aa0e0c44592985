"""Gradings that have begun and not come to their end, with the reason: an export leaves them out.

Each has a sealed file beside its record, as long as there is no record. Marks in the gradebook with
neither were not given by `hintgrader`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hintgrader.records.records import replace_text
from hintgrader.records.seal import is_sealed, seal_of

INTERRUPTED = "its grading was interrupted"
SUFFIX = ".begun"


@contextmanager
def unfinished(record: Path) -> Iterator[None]:
    """Grade within the block, and leave a record behind; if that fails, the reason is kept.

    Args:
        record: Its path; what is there is removed, or it would speak for what is interrupted.
    """
    _write(record, INTERRUPTED)
    record.unlink(missing_ok=True)
    try:
        yield
    except Exception as error:
        with suppress(OSError):  # the disk may be full: then it was interrupted
            _write(record, f"{type(error).__name__}: {error}")
        raise
    record.with_suffix(SUFFIX).unlink(missing_ok=True)


def reason_unfinished(record: Path) -> str | None:
    """The reason why a submission has no marks, if its grading has begun; None otherwise."""
    try:
        found = json.loads(record.with_suffix(SUFFIX).read_bytes())
        reason, seal = str(found["reason"]), str(found["seal"])
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return reason if is_sealed(record.parent.parent, _text(record, reason), seal) else None


def _write(record: Path, reason: str) -> None:
    seal = seal_of(record.parent.parent, _text(record, reason))
    replace_text(record.with_suffix(SUFFIX), json.dumps({"reason": reason, "seal": seal}))


def _text(record: Path, reason: str) -> str:
    """The text that is sealed: the reason, and whose it is."""
    return json.dumps([record.parent.name, record.stem, reason])
