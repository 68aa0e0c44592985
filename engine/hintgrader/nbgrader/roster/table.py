"""Reads a roster as spreadsheets write it, or says in which row something is wrong.

`nbgrader db student import` takes commas and UTF-8 for granted, keeps the spaces behind the commas,
and has entered half of the class when it stumbles. Here all is read before anybody is entered.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps.dbapp import DbGenericImportApp

from hintgrader.nbgrader.course import CourseError
from hintgrader.nbgrader.roster.spreadsheet import column_name, read_rows

Row = dict[str, str | None]
MAX_LENGTH = 128  # of a field, in the gradebook's tables
NUMBERS = ("id", "lms_user_id")  # columns whose numbers a spreadsheet may have spoilt
ROUNDED = re.compile(r"\d+([.,]\d+)?E\+?\d+|\d+[.,]0+", re.I)
SPREADSHEET_ERROR = re.compile(r"#[A-Z/0-9]+[!?]?")
AS_TEXT = "Format the column as *Text* before you fill it in"


def read_table(path: Path, key: str, known: Sequence[str]) -> tuple[dict[str, Row], list[str]]:
    """Read a table of students, or of whatever else nbgrader imports.

    Args:
        path: The file.
        key: The column that must be there, and differs from row to row.
        known: All columns that mean something.

    Returns:
        What the other columns say, by the key; and sentences on what looks odd.

    Raises:
        CourseError: Something is wrong; the message names the row, and what mends it.
    """
    lines = read_rows(path, key)
    _, head = next(lines, (0, []))
    columns = [column_name(name) for name in head]
    if columns.count(key) != 1:
        found = ", ".join(repr(name) for name in head) or "nothing"
        raise CourseError(f"{path}: the first row must have one column {key!r}; it has: {found}.")
    if twice := sorted({name for name in columns if name in known and columns.count(name) > 1}):
        raise CourseError(f"{path}: the first row names {twice[0]!r} twice.")
    rows: dict[str, Row] = {}
    places: dict[str, int] = {}
    for number, cells in lines:
        if [column_name(cell) for cell in cells] == columns:  # of a second table below the first
            continue
        where = f"{path}, row {number}"
        row = _row(where, columns, cells, known)
        name = _key(where, row.pop(key, None), key)
        _check_unique(where, name, places, number)
        rows[name] = row
    _check_numbers(path, rows, places)
    return rows, _remarks(key, head, rows, known)


def import_table(app: DbGenericImportApp) -> None:
    """Import a table into the gradebook, all of it or nothing; nbgrader's command calls this."""
    super(DbGenericImportApp, app).start()
    if len(app.extra_args) != 1:
        app.fail("Path to CSV file not provided.")
    try:
        rows, remarks = read_table(Path(app.extra_args[0]), app.primary_key, app.expected_keys)
    except (CourseError, OSError) as error:
        app.fail("Nothing was imported. %s", error)
    for remark in remarks:
        app.log.warning(remark)
    with Gradebook(app.coursedir.db_url, app.course_id, app.authenticator) as gradebook:
        if app.primary_key == "id":
            _check_spelling(app, gradebook, rows)
        for name, row in rows.items():
            app.log.info("Creating/updating %s %r: %s", app.table_class.__name__, name, row)
            getattr(gradebook, app.db_update_method_name)(name, **row)


def _row(where: str, columns: list[str], cells: list[str], known: Sequence[str]) -> Row:
    if any(cells[len(columns) :]):
        counted = f"{len(cells)} fields, and the first row {len(columns)}"
        raise CourseError(f"{where} has {counted}: put quotation marks around one with a comma.")
    row = {name: cell or None for name, cell in zip(columns, cells, strict=False) if name in known}
    for name, cell in row.items():
        if cell and (len(cell) > MAX_LENGTH or not cell.isprintable()):
            why = f"longer than {MAX_LENGTH} characters" if cell.isprintable() else "unprintable"
            raise CourseError(f"{where}: {name} {cell[:MAX_LENGTH]!r} is {why}.")
        if cell and SPREADSHEET_ERROR.fullmatch(cell):
            raise CourseError(f"{where}: {name} is {cell}, an error of the spreadsheet's.")
        if cell and name in NUMBERS and ROUNDED.fullmatch(cell):
            raise CourseError(f"{where}: {name} is {cell}, as a spreadsheet rounds it. {AS_TEXT}.")
    return row


def _key(where: str, name: str | None, key: str) -> str:
    if not name:
        raise CourseError(f"{where} has no {key}.")
    if name in (".", "..") or "/" in name or "\\" in name:
        raise CourseError(f"{where}: {key} {name!r} cannot be the name of a folder.")
    return name


def _check_unique(where: str, name: str, places: dict[str, int], number: int) -> None:
    before = places.setdefault(name.casefold(), number)
    if before != number:
        raise CourseError(f"{where}: {name!r} is in row {before} already. Keep one of them.")


def _check_numbers(path: Path, rows: dict[str, Row], places: dict[str, int]) -> None:
    """Check that no two students have one number in the learning system."""
    owners: dict[str, int] = {}
    for name, row in rows.items():
        if number := row.get("lms_user_id"):
            here = places[name.casefold()]
            if (before := owners.setdefault(number, here)) != here:
                said = f"lms_user_id {number} is in row {before} already"
                raise CourseError(f"{path}, row {here}: {said}. A number is of one student.")


def _check_spelling(app: DbGenericImportApp, gradebook: Gradebook, rows: dict[str, Row]) -> None:
    """Check that the gradebook knows nobody under another spelling of the id."""
    known = {student.id.casefold(): student.id for student in gradebook.students}
    for name in rows:
        if (other := known.get(name.casefold(), name)) != name:
            said = "Nothing was imported. %r is in the gradebook as %r: write it the same, or"
            app.fail(f"{said} remove that one: nbgrader db student remove %s", name, other, other)


def _remarks(key: str, head: list[str], rows: dict[str, Row], known: Sequence[str]) -> list[str]:
    said = []
    if unknown := [name for name in head if name and column_name(name) not in known]:
        said.append(f"Columns that mean nothing here, and are left out: {', '.join(unknown)}")
    if not rows:
        said.append("There is nobody in the table.")
    digits = {len(name) for name in rows if name.isdigit()}
    if len(digits) > 1:
        short = next(name for name in rows if name.isdigit() and len(name) < max(digits))
        lost = f"a spreadsheet drops zeros in front. {AS_TEXT} if that happened"
        said.append(f"{key} {short} has fewer digits than others: {lost}.")
    return said
