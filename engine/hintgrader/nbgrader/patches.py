"""Functions of nbgrader's that stop, wait or lie, and for which it has no setting: exchanged."""

from datetime import datetime
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.apps import dbapp
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.formgrader import is_server
from hintgrader.nbgrader.gradebook import engine_of
from hintgrader.nbgrader.printable import print_plainly
from hintgrader.nbgrader.roster.table import import_table
from hintgrader.nbgrader.times import read_timestamp


def mend_nbgrader() -> None:
    """Exchange them, in this process; doing it again changes nothing."""
    nbgrader.api.create_engine = engine_of
    dbapp.DbGenericImportApp.start = import_table
    dbapp.print = print_plainly
    CourseDirectory.get_existing_timestamp = time_in
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


def let_go(handler: Any) -> None:
    """Close the gradebook after a page: nbgrader keeps one open, even of a file that is gone."""
    if gradebook := handler.settings.get("nbgrader_gradebook"):
        gradebook.db.remove()
