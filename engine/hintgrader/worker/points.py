"""Points of an answer: a number for nbgrader, a table for people."""

import html
from dataclasses import dataclass, replace
from typing import Any

from hintgrader.worker.plain import Inputs

# JupyterLab pads the cells of a table; the pages of nbgrader's formgrader and feedback do not.
PADDED = "padding:0.4em 0.6em"
LEFT = f' style="{PADDED};text-align:left"'
SHORT_LEFT = f' style="{PADDED};text-align:left;white-space:nowrap"'
SHORT_RIGHT = f' style="{PADDED};text-align:right;white-space:nowrap"'


ONCE = ": one slip, which is counted once"


@dataclass(frozen=True)
class Row:
    """A check: the question, its points, and the problem, if there is one.

    For a slip that is counted elsewhere, some points may be `kept` in spite of a problem.
    """

    label: str
    points: float
    problem: str | None = None
    kept: float = 0.0

    @property
    def earned(self) -> float:
        return self.kept if self.problem else self.points


class Points(float):
    """Points earned; shown as a table of the checks.

    nbgrader reads the number. `rows` holds the checks, which a hint calls by number, `hint` what
    the grader recognised the mistake as, and `inputs` the inputs of the first public check that
    failed, to look into it. `mistake` is the name of that mistake in the bank of the exercise, for
    the instructor; `report_to` says whom to tell that the hint is wrong, with what they need to
    know for it. `unwritten` says that there was nothing to grade yet.
    """

    rows: tuple[Row, ...]
    hint: str | None
    inputs: Inputs | None
    mistake: str | None
    unwritten: bool
    report_to: str | None

    def __new__(
        cls,
        rows: tuple[Row, ...],
        hint: str | None = None,
        inputs: Inputs | None = None,
        mistake: str | None = None,
        unwritten: bool = False,
        report_to: str | None = None,
    ) -> "Points":
        points = super().__new__(cls, sum(row.earned for row in rows))
        points.rows, points.hint, points.inputs = rows, hint, inputs
        points.mistake, points.unwritten, points.report_to = mistake, unwritten, report_to
        return points

    def __getnewargs__(self) -> tuple[object, ...]:  # type: ignore[override]  # not a float's
        return self.rows, self.hint, self.inputs, self.mistake, self.unwritten, self.report_to

    def uncounted(self) -> "Points":
        """The same table, in which nothing is worth any points."""
        rows = tuple(replace(row, points=0.0, kept=0.0) for row in self.rows)
        return Points(rows, self.hint, self.inputs, self.mistake, self.unwritten)

    @property
    def of(self) -> float:
        """Points there are to earn."""
        return sum(row.points for row in self.rows)

    @property
    def total(self) -> str:
        """The points in words."""
        once = any(row.problem and row.kept for row in self.rows)
        return f"{float(self):g} of {self.of:g} points{ONCE if once else ''}"

    def __str__(self) -> str:
        lines = [
            f"{number}. [{'x' if row.problem else 'ok'}] {row.earned:g}/{row.points:g} {row.label}"
            + (f" -- {row.problem}" if row.problem else "")
            for number, row in enumerate(self.rows, start=1)
        ]
        hint = [f"hint: {self.hint}"] if self.hint else []
        hint += [self.report_to] if self.hint and self.report_to else []
        return "\n".join([*lines, *hint, self.total])

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """Show the number nbgrader reads, which `%precision` would have IPython round."""
        printer.text(float.__repr__(self))

    def _repr_html_(self) -> str:
        body = "".join(_html_row(number, row) for number, row in enumerate(self.rows, start=1))
        hint = f"<p><b>What to look at:</b> {_code(self.hint)}</p>" if self.hint else ""
        if self.hint and self.report_to:  # addresses are long words, and a phone is narrow
            hint += f'<p style="overflow-wrap:anywhere"><small>{_code(self.report_to)}</small></p>'
        return (
            f"<table><thead><tr><th{LEFT}>Check</th><th{SHORT_RIGHT}>Points</th>"
            f"<th{SHORT_LEFT}>What happened</th></tr></thead>"
            f"<tbody>{body}</tbody></table>{hint}"
            f"<p><b>{self.total}</b></p>"
        )


def _html_row(number: int, row: Row) -> str:
    happened = _code(row.problem) if row.problem else "✔ right"
    mark = "✘ " if row.problem else ""
    return (
        f"<tr><td{LEFT}>{number}. {_code(row.label)}</td>"
        f"<td{SHORT_RIGHT}>{row.earned:g} / {row.points:g}</td>"
        f"<td{LEFT}>{mark}{happened}</td></tr>"
    )


def _code(text: str) -> str:
    """HTML of a text in which `code` is marked as in Markdown."""
    parts = html.escape(text).split("`")
    return "".join(
        f"<code>{part}</code>" if index % 2 and index < len(parts) - 1 else part
        for index, part in enumerate(parts)
    )
