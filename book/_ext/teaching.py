"""The teaching plan: the weeks of each path, what to show in each chapter, and its slides.

`book/teaching.yml` says which chapters and parts make a week, and which figures to show with which
questions. `:::{teaching-path} two` is the table of a path, `:::{teaching-notes}` what is said of
every chapter, and the role `{slides}` leads to the slides of one: a page that shows its figures
one by one, each with its question, for a projector.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from figures import ROOT
from laboratories import laboratories
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole, SphinxDirective

PLAN, STOPS = "teaching.yml", "road.yml"
MINUTES = re.compile(r"^ +minutes: (\d+)$", re.MULTILINE)
PART = re.compile(r"^\| ([A-Z]) \| .* \| ([\d.]+) \| (\d+) \|$", re.MULTILINE)
HEAD = """\
| Week | Read | Reading, min | Parts to set | Points | Work, min |
|---|---|---|---|---|---|
"""
NOTES = """\
**[{number} {title}]({name}.ipynb)**, {minutes} minutes; its {{slides}}`slides <{name}>`

- Show, and let everybody guess first:
{figures}
- Ask: {ask}
- What goes wrong: {wrong}
"""
PAGE = """<!doctype html>
<html lang="en" data-content_root="../">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slides of chapter {number}</title>
<link rel="stylesheet" href="../_static/fonts.css">
<link rel="stylesheet" href="../_static/laboratory.css">
<script defer src="../_static/slides.js"></script>
</head>
<body>
<header><a href="../book/teaching.html">Teaching plan</a>
<a href="../book/{name}.html">Chapter {number}</a>
<nav aria-label="Slides">
<button type="button" data-step="-1">Previous</button>
<span role="status"></span>
<button type="button" data-step="1">Next</button>
<button type="button" data-full>Full screen</button>
</nav></header>
<main>
<h1>{title}</h1>
<ol class="slides">
{questions}
</ol>
{figures}
</main>
</body>
</html>
"""


class Part(NamedTuple):
    """A part of a problem set, as the table at its top has it."""

    letter: str
    points: float
    minutes: int


@cache
def plan(book: Path) -> dict[str, Any]:
    """The content of the file, with the titles of the chapters."""
    read = {name: (book / name).read_text(encoding="utf-8") for name in (PLAN, STOPS)}
    said: dict[str, Any] = yaml.safe_load(read[PLAN])
    return said | {"titles": {k: v["name"] for k, v in yaml.safe_load(read[STOPS]).items()}}


def minutes_of(book: Path, chapter: str) -> int:
    """The minutes that the header of a chapter announces."""
    found = MINUTES.search((book / "text" / f"{chapter}.md").read_text(encoding="utf-8"))
    assert found is not None  # tools/check_chapters.py demands it
    return int(found[1])


def parts_of(book: Path, chapter: str, letters: str) -> list[Part]:
    """These parts of the problem set of a chapter; of one without a set, none.

    Args:
        letters: Such as ABF, or "all".

    Raises:
        ValueError: The set has no part of such a letter.
    """
    path = book.parent / "exercises" / chapter / f"{chapter}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    rows = PART.findall("\n".join("".join(cell["source"]) for cell in cells))
    there = {row[0]: Part(row[0], float(row[1]), int(row[2])) for row in rows}
    if letters == "all":
        return list(there.values())
    if lacking := set(letters) - set(there):
        raise ValueError(f"problem set {chapter} has no part {', '.join(sorted(lacking))}")
    return [there[letter] for letter in letters]


def row_of(book: Path, number: int, week: dict[str, str]) -> str:
    """A week of a path, as a row of its table."""
    titles = plan(book)["titles"]
    read = "<br>".join(f"[{name[:2]} {titles[name]}]({name}.ipynb)" for name in week)
    parts = {name: parts_of(book, name, letters) for name, letters in week.items()}
    chosen = [part for some in parts.values() for part in some]
    said = [
        f"{name[:2]} {' '.join(p.letter for p in some)}" for name, some in parts.items() if some
    ]
    minutes = sum(minutes_of(book, name) for name in week)
    points, at_home = sum(p.points for p in chosen), sum(p.minutes for p in chosen)
    told = f"{'<br>'.join(said)} | {points:g} | {at_home}" if chosen else "none yet | 0 | 0"
    return f"| {number} | {read} | {minutes} | {told} |\n"


def notes_of(book: Path, name: str) -> str:
    """The advice to a teacher on a chapter, as text."""
    about = plan(book)["chapters"][name]
    shown = (item for figure in about["figures"] for item in figure.items())
    return NOTES.format(
        name=name,
        number=name[:2],
        title=plan(book)["titles"][name],
        minutes=minutes_of(book, name),
        figures="\n".join(f"  1. {{lab}}`{question} <{state}>`" for state, question in shown),
        ask=about["ask"],
        wrong=about["wrong"],
    )


def slides_of(book: Path, name: str) -> str:
    """The page that shows the figures of a chapter one by one."""
    shown = [item for figure in plan(book)["chapters"][name]["figures"] for item in figure.items()]
    names = dict.fromkeys(state.partition("&")[0] for state, _ in shown)
    return PAGE.format(
        name=name,
        number=name[:2],
        title=escape(plan(book)["titles"][name]),
        questions="\n".join(
            f'<li><a href="#lab={escape(state)}">{escape(question)}</a></li>'
            for state, question in shown
        ),
        figures="\n".join(laboratories(book)[figure].figure.linked(ROOT) for figure in names),
    )


class Told(SphinxDirective):
    """A directive that is written as text, which stays in step with its sources."""

    def parsed(self, text: str) -> list[nodes.Node]:
        """The nodes of a text of MyST."""
        for place in (PLAN, STOPS):
            self.env.note_dependency(f"book/{place}")
        for name in plan(self.book)["chapters"]:
            self.env.note_dependency(f"book/text/{name}.md")
            self.env.note_dependency(f"exercises/{name}/{name}.ipynb")
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), ""), self.content_offset, holder)
        return holder.children

    @property
    def book(self) -> Path:
        return Path(self.env.srcdir) / "book"


class TeachingPath(Told):
    """The table of a path."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        weeks = enumerate(plan(self.book)["paths"][self.arguments[0]], start=1)
        return self.parsed(HEAD + "".join(row_of(self.book, *week) for week in weeks))


class TeachingNotes(Told):
    """The advice to a teacher, chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        chapters = plan(self.book)["chapters"]
        return self.parsed("\n".join(notes_of(self.book, name) for name in chapters))


class SlidesRole(ReferenceRole):
    """A link to the slides of a chapter, written `text <NN_slug>`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        root = "../" * self.env.docname.count("/")
        address = f"{root}slides/{self.target}.html"
        return [nodes.reference("", self.title, refuri=address, internal=False)], []


def put_slides(app: Sphinx, error: Exception | None) -> None:
    """Write the slides of the chapters into the built book."""
    book = Path(app.srcdir) / "book"
    if error is not None or app.builder.format != "html" or not (book / PLAN).is_file():
        return
    folder = Path(app.outdir) / "slides"
    folder.mkdir(exist_ok=True)
    there = laboratories(book)
    for name, about in plan(book)["chapters"].items():
        figures = {state.partition("&")[0] for figure in about["figures"] for state in figure}
        if figures <= set(there):  # all of them, but in a book of parts
            (folder / f"{name}.html").write_text(slides_of(book, name), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the directives, the role, and the slides at its end."""
    plan.cache_clear()
    app.add_role("slides", SlidesRole())
    app.add_directive("teaching-path", TeachingPath)
    app.add_directive("teaching-notes", TeachingNotes)
    app.connect("build-finished", put_slides)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
