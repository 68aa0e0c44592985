"""The report on a class as a page that needs nothing else."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from hintgrader.nbgrader.rubric.items import Item
from hintgrader.records.records import SubmissionRecord, replace_text
from hintgrader.report import pictures
from hintgrader.report.environment import page_environment
from hintgrader.report.tally import Tally

TEMPLATES = Path(__file__).parent / "templates"


def render_report(
    assignment: str,
    records: Sequence[SubmissionRecord],
    ungraded: Sequence[str] = (),
    outdated: Sequence[str] = (),
    rubric: Sequence[tuple[Item, int]] = (),
) -> str:
    """The page; what students wrote stands in it as text.

    Args:
        assignment: Name of the problem set.
        records: Of all students, those included who handed in nothing.
        ungraded: Names of those who handed in something that has not been graded.
        outdated: Names of those whose submission, or what it is graded by, is not what it was.
        rubric: Items that a person gives, each with the number of answers that have it.
    """
    tally = Tally(records)
    draw = {
        "points": pictures.draw_points,
        "exercises": pictures.draw_exercises,
        "checks": pictures.draw_checks,
    }
    drawn = {name: function(tally) for name, function in draw.items()} if tally.handed_in else {}
    page = _environment().get_template("report.html.j2")
    names = {"ungraded": ungraded, "outdated": outdated, "rubric": rubric}
    return page.render(assignment=assignment, tally=tally, pictures=drawn, **names)


def write_report(
    assignment: str,
    records: Sequence[SubmissionRecord],
    path: Path,
    ungraded: Sequence[str] = (),
    outdated: Sequence[str] = (),
    rubric: Sequence[tuple[Item, int]] = (),
) -> None:
    """Write the page atomically."""
    replace_text(path, render_report(assignment, records, ungraded, outdated, rubric))


def _environment() -> Environment:
    environment = page_environment(TEMPLATES)
    environment.filters |= {"code": mark_code, "short": pictures.shorten}
    return environment


def mark_code(text: str) -> Markup:
    """HTML of a text in which `code` is marked as in Markdown."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 and place < len(parts) - 1 else part
        for place, part in enumerate(parts)
    )
