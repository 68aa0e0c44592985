"""The state of a submission in the formgrader's tables, which know none but nbgrader's own.

To nbgrader, work that cannot be read is *graded* with 0 points, and so is work that only waited;
one that a person should read because it claims too much looks like any other.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.records.records import NOT_GRADED, UNREADABLE, read_record, record_path

Ask = Callable[..., list[dict[str, object]]]
CHEATED = "cheated?"
SCRIPT = Path(__file__).parent / "pages" / "templates" / "formgrader_states.js"
PAGES = ("manage_submissions.tpl", "gradebook_notebook_submissions.tpl")


def state_of(root: Path, assignment: str, student: str) -> str | None:
    """The state that a person should see beside a submission; None for one that is just graded."""
    try:
        record = read_record(record_path(Course(root).results, assignment, student))
    except (CourseError, OSError, ValueError):
        return None
    if record.unreadable:
        return UNREADABLE
    return record.state if record.state in (CHEATED, NOT_GRADED) else None


def show_states() -> None:
    """Exchange what the formgrader asks and shows; doing it again changes nothing."""
    from nbgrader.server_extensions.formgrader.base import BaseHandler

    for name in ("get_submissions", "get_notebook_submissions"):
        if not hasattr(getattr(NbGraderAPI, name), "__wrapped__"):
            setattr(NbGraderAPI, name, _with_states(getattr(NbGraderAPI, name)))
    if not hasattr(BaseHandler.render, "__wrapped__"):
        BaseHandler.render = _with_script(BaseHandler.render)


def _with_states(ask: Ask) -> Ask:
    @wraps(ask)
    def asked(api: NbGraderAPI, assignment: str, *rest: str) -> list[dict[str, object]]:
        found = ask(api, assignment, *rest)
        root = Path(api.coursedir.root)
        return [one | {"state": state_of(root, assignment, str(one["student"]))} for one in found]

    return asked


def _with_script(render: Callable[..., str]) -> Callable[..., str]:
    @wraps(render)
    def rendered(handler: object, name: str, **values: object) -> str:
        page = render(handler, name, **values)
        script = f"<script>{SCRIPT.read_text(encoding='utf-8')}</script></head>"
        return page.replace("</head>", script, 1) if name in PAGES else page

    return rendered
