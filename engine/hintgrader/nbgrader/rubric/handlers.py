"""Answers to the formgrader's page of a submission: its items, and what a click does.

A server adds it to its addresses; nbgrader's own handlers say who may ask.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from nbgrader.api import MissingEntry, SubmittedNotebook
from nbgrader.server_extensions.formgrader.base import (
    BaseApiHandler,
    check_notebook_dir,
    check_xsrf,
)
from tornado.web import HTTPError, authenticated

from hintgrader.nbgrader.course import GRADING, CourseError
from hintgrader.nbgrader.rubric.items import (
    COLUMNS,
    Item,
    edited,
    find_item,
    graded_by_hand,
    read_items,
    table_of,
    write_items,
)
from hintgrader.nbgrader.rubric.marks import follow, give

ADDRESS = "/formgrader/rubric/([^/]+)"
ADDED = "hintgrader_rubric"


def answer_for_items() -> None:
    """Let the running server answer; doing it again changes nothing."""
    application = getattr(ServerApp.instance(), "web_app", None)
    if application is None or application.settings.get(ADDED):
        return
    application.settings[ADDED] = True
    pattern = url_path_join(application.settings["base_url"], ADDRESS)
    application.add_handlers(".*$", [(pattern, RubricHandler)])
    rules = application.default_router.rules
    rules.insert(0, rules.pop(-2))  # nbgrader's last one answers for all of /formgrader/


def _for_graders(method: Callable[["RubricHandler", str], None]) -> Any:
    """Let in those whom nbgrader lets in; answer them with the sentence of an error."""

    def answer(handler: "RubricHandler", submission_id: str) -> None:
        try:
            method(handler, submission_id)
        except (CourseError, OSError, ValueError) as error:
            handler.gradebook.db.rollback()
            handler.set_status(400)
            handler.write({"message": f"{error}".rstrip(".") + "."})

    return authenticated(check_xsrf(check_notebook_dir(answer)))


class RubricHandler(BaseApiHandler):
    """Items of the problem set of one submission."""

    @_for_graders
    def get(self, submission_id: str) -> None:
        """Tell the items, and points and comments as they are."""
        notebook = self._notebook(submission_id)
        self._tell(notebook, self._items(notebook))

    @_for_graders
    def put(self, submission_id: str) -> None:
        """Give an answer an item, or take it away."""
        notebook, asked = self._notebook(submission_id), self._asked()
        items = self._items(notebook)
        item = find_item(items, asked["cell"], asked["item"])
        give(notebook, items, item, asked["applied"] == "yes")
        self._tell(notebook, items)

    @_for_graders
    def post(self, submission_id: str) -> None:
        """Make an item and give it to this answer; or change one, for everybody who has it."""
        notebook, asked = self._notebook(submission_id), self._asked()
        row = [asked[name] for name in COLUMNS]
        with FileLock(Path(self.coursedir.root, GRADING, "rubric.lock")):
            items, item = edited(self._items(notebook), *row, cells=self._cells(notebook))
            write_items(self._table(notebook), items)
        kept = 0
        if asked["item"]:
            kept = len(follow(notebook.notebook.submissions, items).kept)
        else:
            give(notebook, items, item, True)
        self._tell(notebook, items, f"Points that were typed stay, of {kept}." if kept else "")

    def _notebook(self, submission_id: str) -> SubmittedNotebook:
        try:
            return self.gradebook.find_submission_notebook_by_id(submission_id)
        except MissingEntry:
            raise HTTPError(404) from None

    def _asked(self) -> dict[str, str]:
        asked = self.get_json_body()
        if not isinstance(asked, dict) or not all(isinstance(x, str) for x in asked.values()):
            raise HTTPError(400)
        return dict.fromkeys((*COLUMNS, "applied"), "") | asked

    def _cells(self, notebook: SubmittedNotebook) -> dict[str, float]:
        return graded_by_hand(notebook.notebook)

    def _table(self, notebook: SubmittedNotebook) -> Path:
        return table_of(self.coursedir, notebook.assignment.assignment.name)

    def _items(self, notebook: SubmittedNotebook) -> list[Item]:
        return read_items(self._table(notebook), self._cells(notebook))

    def _tell(self, notebook: SubmittedNotebook, items: list[Item], message: str = "") -> None:
        """Save, and tell what the page shows."""
        self.gradebook.db.commit()
        cells = self._cells(notebook)
        told = {
            "message": message,
            "items": {name: [asdict(i) for i in items if i.cell == name] for name in cells},
            "grades": [grade.to_dict() for grade in notebook.grades if grade.name in cells],
            "comments": [one.to_dict() for one in notebook.comments if one.name in cells],
        }
        self.write(json.dumps(told))
