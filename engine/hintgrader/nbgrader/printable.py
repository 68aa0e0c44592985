"""Words of strangers on a screen and in tables: nothing in them gives an order."""

import logging
from typing import Any

FORMULA = ("=", "+", "-", "@")  # with which a spreadsheet begins to compute


def plain(text: str) -> str:
    """A text on one line, without what a terminal would take for an order."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def plain_lines(text: str) -> str:
    """The same, line by line."""
    return "\n".join(map(plain, text.split("\n")))


def cell_of_csv(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    text = plain(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def print_plainly(text: object) -> None:
    """Print lines; what nbgrader's commands call."""
    print(plain_lines(str(text)))


class Plainly(logging.Filter):
    """Lets a record pass once it is plain: what it quotes on one line, the rest in its lines."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record."""
        quoted: Any = record.args
        if isinstance(quoted, tuple):
            quoted = tuple(plain(one) if isinstance(one, str) else one for one in quoted)
        record.msg, record.args = plain_lines(str(record.msg)), quoted
        record.msg, record.args = plain_lines(record.getMessage()), None
        if record.exc_info:
            record.exc_text = plain_lines(logging.Formatter().formatException(record.exc_info))
        return True
