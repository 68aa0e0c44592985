"""Functions of nbgrader's that stop, wait or lie, and for which it has no setting: exchanged."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.apps import dbapp
from nbgrader.apps.api import NbGraderAPI
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.formgrader import is_server
from hintgrader.nbgrader.gradebook import engine_of
from hintgrader.nbgrader.printable import print_plainly
from hintgrader.nbgrader.roster.table import import_table
from hintgrader.nbgrader.times import read_timestamp

_collect, _transfer = ZipCollectApp._collect_files, ZipCollectApp._transfer_files


def mend_nbgrader() -> None:
    """Exchange them, in this process; doing it again changes nothing."""
    nbgrader.api.create_engine = engine_of
    dbapp.DbGenericImportApp.start = import_table
    dbapp.print = print_plainly
    CourseDirectory.get_existing_timestamp = time_in
    ZipCollectApp._collect_files = collect_files
    ZipCollectApp._transfer_files = transfer_files
    NbGraderAPI.get_submitted_timestamp = time_of_submission
    if is_server():
        from nbgrader.server_extensions.formgrader.base import BaseHandler

        from hintgrader.nbgrader.formgrader_states import show_states
        from hintgrader.nbgrader.rubric.handlers import answer_for_items

        BaseHandler.on_finish = let_go
        show_states()
        answer_for_items()


def time_in(directory: CourseDirectory, folder: str) -> datetime | None:
    """The time of a submission; one that cannot be read stops neither a command nor a page."""
    found, problems = read_timestamp(Path(folder), directory.config)
    for problem in problems:
        directory.log.warning("%s: %s", folder, problem)
    return found


def time_of_submission(api: NbGraderAPI, assignment: str, student: str) -> datetime | None:
    """The same for the formgrader's page *Manage Submissions*."""
    place = api.coursedir.submitted_directory
    return time_in(api.coursedir, api.coursedir.format_path(place, student, assignment))


def collect_files(app: ZipCollectApp, files: list[str]) -> dict[str, object]:
    """Say of an archive what was left behind; nbgrader's lines on all the rest would hide it."""
    with _only(logging.WARNING, app.log):
        found: dict[str, object] = _collect(app, files)
    app.log.info("Collected: the work of %d", len(found))
    return found


def transfer_files(app: ZipCollectApp, found: dict[str, object]) -> None:
    """Copy it; that there was no folder for somebody is nothing to warn of."""
    with _only(logging.ERROR, app.log):
        _transfer(app, found)


@contextmanager
def _only(level: int, log: logging.Logger) -> Iterator[None]:
    """Log no less than this within the block."""

    def is_told(record: logging.LogRecord) -> bool:
        return record.levelno >= level

    log.addFilter(is_told)
    try:
        yield
    finally:
        log.removeFilter(is_told)


def let_go(handler: Any) -> None:
    """Close the gradebook after a page: nbgrader keeps one open, even of a file that is gone."""
    if gradebook := handler.settings.get("nbgrader_gradebook"):
        gradebook.db.remove()
