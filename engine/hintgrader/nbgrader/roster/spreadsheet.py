"""The rows of a table in plain text, as the spreadsheets of several countries write it."""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from hintgrader.nbgrader.course import CourseError

DELIMITERS = ",;\t|"
INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u2060\u00ad"))
KEPT_AS_TEXT = re.compile(r"=\"([^\"]*)\"|'(\d+)")  # a number that is to keep its zeros in front
AS_UTF8 = "Save it as UTF-8: in Excel, *Save As*, *CSV UTF-8 (Comma delimited)*."


def read_rows(path: Path, key: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something, each with its number in the file.

    Args:
        path: The file.
        key: A column that its first row should name.

    Raises:
        CourseError: It is no such table; the message names the row, and what mends it.
    """
    text = _text(path)
    first, _, rest = text.partition("\n")
    said, skipped = re.fullmatch(r"\"?sep=(.)\"?[,;\s]*", first.lstrip("\ufeff")), 0
    if said:  # with which Excel begins some
        text, skipped = rest, 1
    delimiter = said[1] if said else _delimiter(text, key)
    table = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        number = table.line_num + skipped + 1
        try:
            cells = next(table, None)
        except csv.Error as error:
            reason = f"{error}; look for a quotation mark without its other one"
            raise CourseError(f"{path}, row {number}: {reason}.") from None
        if cells is None:
            return
        if any("\n" in cell.strip() for cell in cells):
            why = "a field goes on over several lines; look for a quotation mark too many"
            raise CourseError(f"{path}, row {number}: {why}.")
        cells = [_clean(cell) for cell in cells]
        if any(cells):
            yield number, cells


def _text(path: Path) -> str:
    """The text of a file, whose line ends may be those of any system."""
    content = path.read_bytes()
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{path} is a workbook, and no table in plain text. {AS_UTF8}")
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in content and not is_utf16:
        raise CourseError(f"{path} holds NUL bytes, as UTF-16 without its mark does. {AS_UTF8}")
    encoding = "utf-16" if is_utf16 else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        number = content[: error.start].count(b"\n") + 1
        line = content.splitlines()[number - 1].decode("ascii", "backslashreplace")
        raise CourseError(f"{path}, row {number}: {line[:99]} is no UTF-8. {AS_UTF8}") from None
    return "\n".join(re.split(r"\r\n?|\n", text))


def _delimiter(text: str, key: str) -> str:
    """The sign between the fields: one that makes the first row name the key."""
    head = next((line for line in text.split("\n") if line.strip()), "")
    found = {sign: [column_name(name) for name in head.split(sign)] for sign in DELIMITERS}
    fits = [sign for sign, names in found.items() if key in [name.strip('"') for name in names]]
    return max(fits or DELIMITERS, key=lambda sign: len(found[sign]))


def column_name(name: str) -> str:
    """The name of a column, however it is spelt: `First Name` is `first_name`."""
    return re.sub(r"[ -]+", "_", _clean(name).casefold())


def _clean(cell: str) -> str:
    """A field without what nobody sees: spaces around it, non-breaking ones, marks, and what keeps
    a spreadsheet from taking a text for a number.
    """
    seen = " ".join(unicodedata.normalize("NFC", cell.translate(INVISIBLE)).split())
    as_text = KEPT_AS_TEXT.fullmatch(seen)
    return as_text[as_text.lastindex or 0] if as_text else seen
