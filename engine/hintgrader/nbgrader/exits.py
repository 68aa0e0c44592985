"""The end of a command that cannot be carried out: a sentence, and a status of its own."""

import codecs
import io
import locale
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from nbgrader.api import InvalidEntry
from rich.console import Console
from sqlalchemy.exc import DBAPIError

from hintgrader.nbgrader.course import CourseError, GradingError
from hintgrader.nbgrader.printable import plain_lines


@contextmanager
def report_errors(force: bool = False) -> Iterator[None]:
    """Say why a command cannot be carried out, and end with the status that it has for that."""
    ends = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    before = {number: signal.getsignal(number) for number in ends}
    for number in ends:
        if before[number] != signal.SIG_IGN:  # as with nohup
            signal.signal(number, lambda number, _: sys.exit(128 + number))  # and so clear up
    console = Console(stderr=True)
    try:
        check_encoding()
        yield
    except (CourseError, GradingError, OSError, DBAPIError, InvalidEntry) as error:
        console.print(plain_lines(f"{error}"), markup=False, style="red", soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        then = "starts over" if force else "continues"
        console.print(f"Interrupted. Finished submissions are kept; the same command {then}.")
        raise typer.Exit(130) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_encoding() -> None:
    """Check that files are read and written in UTF-8; let the screen show what it can.

    nbgrader opens files in the encoding of the locale, and names in another are garbled for good.

    Raises:
        CourseError: The locale has another encoding.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_utf8(stream.encoding):
            stream.reconfigure(errors="backslashreplace")
    if not _is_utf8(found := locale.getpreferredencoding(False)):
        raise CourseError(
            f"The locale here writes {found}, which would garble names. Set one of UTF-8, such as"
            " LC_ALL=C.UTF-8, or export PYTHONUTF8=1."
        )


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"
