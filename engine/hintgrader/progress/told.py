"""Progress as lines, as a table below a cell, and as a page that opens from the disk."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from string import Template
from typing import Protocol

from hintgrader.progress.remembered import notebook_of_session
from hintgrader.progress.sets import EDITED, NOT_SAVED, ProblemSet, Step, sets_beside, sets_in

PAGE = "progress.html"
MADE_BY = '<meta name="generator" content="hintgrader">'
TEMPLATE = Path(__file__).with_name("page.html")
NONE_HERE = "There is no problem set in {folder}. Save the notebook, and open it from its folder."
GONE = "The folder of this notebook is no longer there."
ALL_DONE = "Nothing is left but the parts in words, which a person reads."
AGAIN = {
    EDITED: "edited since its check: run the answer, then its check",
    NOT_SAVED: "the answer that was checked is not saved",
}


class Printer(Protocol):
    """The part of IPython's printer that is used here."""

    def text(self, text: str) -> None: ...


class Progress:
    """Progress in some sets; a notebook shows it as a table, `print` as lines.

    Args:
        folder: Where the sets were looked for; None if it is gone.
        sets: The problem sets, in their order.
        here: The notebook that asks; None if none does.
    """

    def __init__(
        self, folder: Path | None, sets: Sequence[ProblemSet], here: Path | None = None
    ) -> None:
        self.folder, self.sets, self.here = folder, sets, here

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_pretty_(self, printer: Printer, _: bool) -> None:
        printer.text(str(self))

    def lines(self) -> Iterator[str]:
        """A line for each problem set, one for each that cannot be read, and what is next."""
        for one in self.sets:
            if one.steps:
                said = ", ".join(map(str, one.checked))
                yield f"{one.path.stem:22} {said}: {one.earned:g} of {one.points:g}"
            if one.fault:
                yield f"{one.path.stem:22} {one.fault}"
        yield self.following()

    def following(self) -> str:
        """The part to go on with, of the set that was saved last; if none is begun, the first."""
        if self.folder is None:
            return GONE
        if not any(one.steps for one in self.sets):
            return NONE_HERE.format(folder=self.folder)
        current = self._current()
        if all(step.is_full for step in current.checked):
            words = [step for step in current.steps if step.is_unwritten]
            if words:
                return f"Next: {current.path.stem}, part {words[0].name}"
            place = self.sets.index(current)
            ahead = [*self.sets[place + 1 :], *self.sets[:place]]
            behind = [one for one in ahead if not all(step.is_full for step in one.checked)]
            if not behind:
                return ALL_DONE
            current = behind[0]
        step = next(step for step in current.checked if not step.is_full)
        again = f" ({AGAIN[step.differs]})" if step.differs else ""
        return f"Next: {current.path.stem}, part {step.name}{again}"

    def _current(self) -> ProblemSet:
        """The set of this notebook; elsewhere the one saved last of those begun, or the first."""
        readable = [one for one in self.sets if one.steps]
        here = [one for one in readable if one.path == self.here]
        return max(here or readable, key=lambda each: each.is_begun * each.saved)

    def _repr_html_(self) -> str:
        rows = "".join(_row(one) for one in self.sets)
        head = '<tr><th style="text-align:left">Set</th><th style="text-align:left">Parts</th>'
        table = f"<table><thead>{head}<th>Points</th></tr></thead><tbody>{rows}</tbody></table>"
        return f"{table if rows else ''}<p><b>{escape(self.following())}</b></p>"

    def page(self) -> str:
        """The whole of it as a page."""
        return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
            made_by=MADE_BY,
            following=escape(self.following()),
            earned=f"{sum(one.earned for one in self.sets):g}",
            points=f"{sum(one.points for one in self.sets):g}",
            sets="\n".join(map(_section, self.sets)),
            time=time.strftime("%d %B %Y, %H:%M"),
        )


def progress() -> Progress:
    """Show which parts of this problem set, and of those beside it, are done, and what is next.

    A page that `write_page` has put beside the sets is brought up to date.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        return Progress(None, [])
    page = folder.parent / PAGE
    if _is_ours(page):
        with suppress(OSError, ValueError):  # a page that is out of date says when it was made
            write_page(folder.parent)
    sets = sets_beside(folder)
    here = {one.path for one in sets if one.path.parent == folder}
    if name := notebook_of_session(folder):
        here = {folder / name}
    return Progress(folder, sets, here.pop() if len(here) == 1 else None)


def write_page(exercises: Path) -> Path:
    """Write the page into the folder of the problem sets.

    Raises:
        ValueError: A file of that name is there, and somebody else's.
        OSError: It cannot be written.
    """
    page = exercises / PAGE
    if page.exists() and not _is_ours(page):
        raise ValueError(f"{page} is not a page of progress: it is left as it is.")
    draft = exercises / f".{PAGE}.draft"
    draft.write_text(Progress(exercises, sets_in(exercises)).page(), encoding="utf-8")
    return draft.replace(page)


def _is_ours(page: Path) -> bool:
    try:
        return MADE_BY in page.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def _row(one: ProblemSet) -> str:
    """A row of the table below a cell."""
    left = ' style="text-align:left"'
    parts = ", ".join(f"{'✔ ' * step.is_full}{step}" for step in one.checked)
    said = escape(". ".join(filter(None, (parts, one.fault))))
    cells = f"<td{left}>{escape(one.path.stem)}</td><td{left}>{said}</td>"
    return f"<tr>{cells}<td>{one.earned:g} / {one.points:g}</td></tr>"


def _section(one: ProblemSet) -> str:
    """A problem set on the page."""
    fault = f'<p class="fault">{escape(one.fault)}</p>' if one.fault else ""
    head = f"<h2>{escape(one.title)}</h2>"
    if not one.steps:
        return f"<section>{head}{fault}</section>"
    width = f"{100 * one.earned / one.points:.0f}%" if one.points else "0"
    bar = f'<div class="bar"><div style="width:{width}"></div></div>'
    total = f'<p class="total">{one.earned:g} of {one.points:g} points</p>'
    parts = "".join(map(_item, one.steps))
    return f"<section>{head}{total}{bar}{fault}<ul>{parts}</ul></section>"


def _item(step: Step) -> str:
    """A part on the page."""
    shown = "-" if step.shown is None else f"{step.shown:g}"
    if not step.exercise:
        kind, said = "words", f"{step.points:g} points, which a person gives"
    elif step.differs == EDITED:
        kind, said = "edited", f"edited since its check, which showed {shown} of {step.points:g}"
    elif step.differs:
        kind, said = "edited", f"the answer that showed {shown} of {step.points:g} is not saved"
    elif step.is_full:
        kind, said = "full", f"done, {shown} of {step.points:g}"
    elif step.shown is None:
        kind, said = "open", f"not checked yet, {step.points:g} points"
    else:
        kind, said = "begun", f"{shown} of {step.points:g}"
    return f'<li class="{kind}"><span>{escape(step.name)}</span><span>{escape(said)}</span></li>'
